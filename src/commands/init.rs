//! `freshet init`: a settings file to start from, which is never written over another.

use std::fs::OpenOptions;
use std::io::{ErrorKind, Write as _};
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context as _, bail};
use serde::Serialize;

use crate::cli::{Global, InitArgs};
use crate::settings::template;
use crate::terminal::{Talk, json, print};

/// The file that was written.
#[derive(Serialize)]
struct InitReport<'a> {
    file: &'a Path,
}

pub(crate) fn run(global: &Global, arguments: &InitArgs, talk: &Talk) -> anyhow::Result<ExitCode> {
    let text = template()?;
    let path = arguments.out.as_path();
    if path == Path::new("-") {
        return print(&text);
    }
    let shown = path.display();
    let mut file = match OpenOptions::new().write(true).create_new(true).open(path) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => bail!(
            "`{shown}` exists and is not overwritten\nhint: `freshet init --out FILE` writes another file, `freshet \
             config` prints what holds"
        ),
        opened => opened.with_context(|| format!("`{shown}` can't be written"))?,
    };
    file.write_all(text.as_bytes()).with_context(|| format!("`{shown}` can't be written"))?;
    talk.say(&format!("wrote `{shown}`; it changes nothing until you remove the `#` before a setting"));
    if global.json { print(&json(&InitReport { file: path })?) } else { Ok(ExitCode::SUCCESS) }
}
