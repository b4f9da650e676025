//! `freshet config`: the settings that hold and where each comes from, in the form of the settings file.

use std::fs::{File, Metadata};
use std::os::fd::AsFd as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::process::ExitCode;

use crate::cli::{ConfigArgs, Global};
use crate::settings::{EffectiveSettings, Usage, file_in_use};
use crate::terminal::{Talk, json, print};

pub(crate) fn run(global: &Global, arguments: &ConfigArgs, talk: &Talk) -> anyhow::Result<ExitCode> {
    if let Some(path) = file_in_use(global) {
        refuse_own_file(path)?;
        if std::fs::metadata(path).is_ok_and(|file| file.is_file() && file.len() == 0) {
            talk.say(&format!("warning: the settings file `{}` is empty", path.display()));
        }
    }
    let mut flags = arguments.flags.clone();
    (flags.crawl.every, flags.crawl.at) = (arguments.every.clone(), arguments.at.clone());
    flags.crawl.catch_up = Some(arguments.catch_up);
    flags.serve = arguments.serve.clone();
    let settings = EffectiveSettings::load(global, &flags, &arguments.given_by)?;
    print(&if global.json { json(&settings)? } else { settings.toml() })
}

/// `freshet config > freshet.toml`: the shell empties the file before it is read, so that only defaults would come back.
fn refuse_own_file(path: &Path) -> Result<(), Usage> {
    let stdout = std::io::stdout().as_fd().try_clone_to_owned().and_then(|fd| File::from(fd).metadata());
    let is_same = |a: &Metadata, b: &Metadata| a.is_file() && (a.dev(), a.ino()) == (b.dev(), b.ino());
    match (stdout, std::fs::metadata(path)) {
        (Ok(stdout), Ok(file)) if is_same(&stdout, &file) => {
            let path = path.display();
            Err(Usage(format!(
                "standard output is `{path}`, the settings file itself: a shell that writes with `>` emptied or made it before \
                 freshet could read it\nhint: restore `{path}` from a copy, or remove it and run `freshet init`; save the \
                 output under another name, such as `freshet config > draft.toml`"
            )))
        }
        _ => Ok(()),
    }
}
