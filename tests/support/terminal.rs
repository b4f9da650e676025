//! A terminal for the binary to print to: a pseudoterminal of a given width.

use super::Freshet;
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};
use std::ffi::OsStr;
use std::fs::OpenOptions;
use std::io::Read;
use std::os::unix::ffi::OsStrExt as _;
use std::process::Stdio;

/// What a command prints to a terminal with this number of columns, a line each. It must succeed.
#[track_caller]
pub fn printed(
    freshet: &Freshet,
    columns: u16,
    variables: &[(&str, &str)],
    arguments: &[&str],
) -> Vec<String> {
    let controller = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a pseudoterminal");
    grantpt(&controller).expect("it may be used");
    unlockpt(&controller).expect("it may be opened");
    tcsetwinsize(&controller, Winsize { ws_row: 50, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 })
        .expect("a size");
    let name = ptsname(&controller, Vec::new()).expect("its name");
    let path = OsStr::from_bytes(name.as_bytes());
    let terminal = OpenOptions::new().read(true).write(true).open(path).expect("the terminal");
    let mut command = freshet.command();
    command.args(arguments).envs(variables.iter().copied());
    command.stdout(Stdio::from(terminal)).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the binary runs");
    // The terminal is closed here, so that reading ends with the command.
    drop(command);
    let reader = std::thread::spawn(move || {
        let (mut bytes, mut piece) = (Vec::new(), [0; 4096]);
        let mut controller = std::fs::File::from(controller);
        while let Ok(length @ 1..) = controller.read(&mut piece) {
            bytes.extend_from_slice(&piece[..length]);
        }
        String::from_utf8_lossy(&bytes).into_owned()
    });
    let status = child.wait().expect("an end");
    let text = reader.join().expect("the output");
    assert!(status.success(), "{status}\n{text}");
    text.lines().map(|line| line.trim_end_matches('\r').to_owned()).collect()
}
