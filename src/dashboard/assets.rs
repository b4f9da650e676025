//! Style, scripts and the icon: files of the program, named in pages with a hash, so that a browser keeps them for good.

use std::sync::LazyLock;

use axum::extract::Path;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use xxhash_rust::xxh3::xxh3_64;

use super::trouble::Trouble;

/// A file that is part of the program.
struct Asset {
    name: &'static str,
    kind: &'static str,
    content: &'static str,
}

const CSS: &str = "text/css; charset=utf-8";
const JS: &str = "text/javascript; charset=utf-8";
const TEXT: &str = "text/plain; charset=utf-8";
const SVG: &str = "image/svg+xml";

/// All there are.
const ASSETS: &[Asset] = &[
    Asset { name: "style.css", kind: CSS, content: include_str!("assets/style.css") },
    Asset { name: "keys.js", kind: JS, content: include_str!("assets/keys.js") },
    Asset { name: "live.js", kind: JS, content: include_str!("assets/live.js") },
    Asset { name: "page.js", kind: JS, content: include_str!("assets/page.js") },
    Asset { name: "series.js", kind: JS, content: include_str!("assets/series.js") },
    Asset { name: "uPlot.iife.min.js", kind: JS, content: include_str!("assets/uplot/uPlot.iife.min.js") },
    Asset { name: "uPlot.min.css", kind: CSS, content: include_str!("assets/uplot/uPlot.min.css") },
    Asset { name: "uPlot.LICENSE.txt", kind: TEXT, content: include_str!("assets/uplot/LICENSE") },
    Asset { name: "icon.svg", kind: SVG, content: include_str!("assets/icon.svg") },
];

/// Another release has another one, so a browser never uses files of an earlier one.
static VERSION: LazyLock<String> = LazyLock::new(|| {
    let all: String = ASSETS.iter().map(|asset| asset.content).collect();
    format!("{:016x}", xxh3_64(all.as_bytes()))
});

/// What stands behind the `?` in addresses of these files.
pub(crate) fn version() -> &'static str {
    &VERSION
}

/// A file by its name.
pub(super) async fn asset(Path(name): Path<String>) -> Result<Response, Trouble> {
    let found = ASSETS.iter().find(|asset| asset.name == name);
    let asset = found.ok_or_else(|| Trouble::NotFound("there is no such file".to_owned()))?;
    let headers =
        [(header::CONTENT_TYPE, asset.kind), (header::CACHE_CONTROL, "public, max-age=31536000, immutable")];
    Ok((headers, asset.content).into_response())
}
