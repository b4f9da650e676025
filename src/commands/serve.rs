//! `freshet serve`: the store in a browser, until it is stopped.

use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicU8;

use anyhow::Context as _;
use serde::Serialize;
use tokio::net::TcpListener;
use tokio::sync::watch;

use freshet::dashboard::guard::{AccessToken, GuardSettings, LEAST_TOKEN};
use freshet::dashboard::{Dashboard, DashboardSettings, listen::serve, router};
use freshet::time::Timestamp;

use crate::cli::{Global, ServeArgs};
use crate::interrupts;
use crate::settings::when::zone;
use crate::settings::{Given, Settings, Usage};
use crate::terminal::{Talk, json, print};
use crate::threads;

use super::plan::looking;

/// Said at the first signal.
const STOPPING: &str = "stopping after the open requests; press Ctrl-C again to quit now";

/// The server that is up, as JSON has it.
#[derive(Serialize)]
struct ServedDashboard {
    url: String,
    has_token: bool,
}

pub(crate) fn run(global: &Global, arguments: &ServeArgs, talk: &Talk) -> anyhow::Result<ExitCode> {
    let given = Given { serve: arguments.given.clone(), ..Given::default() };
    let settings = Settings::load(global, &given)?;
    let guard = guard(&settings, arguments.token.as_deref())?;
    let runtime = threads::all_cores()?;
    runtime.block_on(async {
        let address = guard.listen;
        let bound = TcpListener::bind(address).await;
        let listener = bound.with_context(|| {
            format!("`{address}` can't be listened on; another address is chosen with --listen, a free port with --listen 127.0.0.1:0")
        })?;
        let (stop, stopped) = watch::channel(false);
        let signal = Arc::new(AtomicU8::new(0));
        tokio::spawn(interrupts::listen(stop, Arc::clone(&signal), talk.clone(), STOPPING));
        let url = format!("http://{}/", listener.local_addr()?);
        let has_token = guard.token.is_some();
        let site = Dashboard::new(dashboard(global, &settings, guard, stopped.clone()));
        if global.json {
            print(&json(&ServedDashboard { url, has_token })?)?;
        } else {
            print(&format!("{url}\n"))?;
        }
        let opened = if has_token { "; it asks for the token" } else { "" };
        talk.say(&format!("the dashboard of `{}` is up{opened}; Ctrl-C stops it", settings.store.display()));
        serve(listener, router(site), stopped).await;
        talk.say("stopped");
        anyhow::Ok(())
    })?;
    // What still reads the store is of no use to anyone.
    runtime.shutdown_background();
    Ok(ExitCode::SUCCESS)
}

/// Who may look. An address that other machines can reach needs a token.
fn guard(settings: &Settings, token: Option<&str>) -> anyhow::Result<GuardSettings> {
    let serve = settings.serve();
    let from_file = match (token, &serve.token_file) {
        (None, Some(path)) => Some(token_in(path)?),
        _ => None,
    };
    let token = token.or(from_file.as_deref()).map(|text| {
        AccessToken::new(text.trim()).ok_or_else(|| {
            Usage(format!("the token is too short: it must have {LEAST_TOKEN} characters or more, as `openssl rand -hex 16` makes them"))
        })
    });
    let guard =
        GuardSettings { listen: *serve.listen.get(), hosts: serve.host.clone(), token: token.transpose()? };
    if !guard.is_safe() {
        return Err(Usage(format!(
            "`{}` can be reached by other machines, so it needs a token: --token-file FILE, or the variable FRESHET_TOKEN",
            guard.listen
        ))
        .into());
    }
    Ok(guard)
}

/// The first line of a file.
fn token_in(path: &Path) -> Result<String, Usage> {
    let text = std::fs::read_to_string(path)
        .map_err(|error| Usage(format!("the token file `{}` can't be read: {error}", path.display())))?;
    Ok(text.lines().next().unwrap_or_default().to_owned())
}

fn dashboard(
    global: &Global,
    settings: &Settings,
    guard: GuardSettings,
    stopped: watch::Receiver<bool>,
) -> DashboardSettings {
    let global = global.clone();
    DashboardSettings {
        store: settings.store.clone(),
        every: settings.crawl.every,
        pace: settings.crawl.fetch.sites.clone(),
        observer: settings.observer(),
        scope: settings.scope.clone(),
        scoring: settings.scoring(),
        zone: zone(),
        // As `freshet plan` and `freshet why` do, with the settings of now.
        looking: Box::new(move || {
            looking(&global, &Given::default(), None, None).map_err(|error| format!("{error:#}"))
        }),
        now: Timestamp::now,
        stopped,
        guard,
    }
}
