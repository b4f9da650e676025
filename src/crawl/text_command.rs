//! Commands of the operator that read what freshet can't: the bytes of a PDF in, its text out.
//!
//! A command is chosen by the type of the content alone. It gets the body on its standard input and nothing else that the
//! page says, so no page can choose a file or a flag. It runs in a group of its own and has a limit on time and on
//! output; one that fails, hangs or floods gives a reason, never an error of the crawl.

use std::collections::BTreeMap;
use std::io::{self, Read, Write as _};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use xxhash_rust::xxh3::xxh3_64;

use super::process_group::ProcessGroup;
use crate::extract::{MediaKind, essence, folded_lines, media_kind};

/// Commands that run at the same time: each takes a processor.
pub(super) const AT_ONCE: usize = 4;
/// Bytes of text that are taken from a command.
const MOST_BYTES: usize = 8 << 20;
/// Bytes of a command's messages that are told.
const MESSAGE_BYTES: usize = 300;
/// How often to look whether a command has ended: std can't wait with a limit.
const LOOK_EVERY: Duration = Duration::from_millis(5);

/// The commands, by the type of content that each reads.
#[derive(Clone, Debug, Default)]
pub struct TextCommands {
    by_type: BTreeMap<String, TextCommand>,
}

/// A command that reads one type of content.
#[derive(Clone, Debug)]
pub struct TextCommand {
    command: String,
    limit: Duration,
    hash: u64,
}

impl TextCommands {
    /// Commands by type of content, each with this time to run. The error names the type, and what is wrong.
    pub fn new(by_type: &BTreeMap<String, String>, limit: Duration) -> Result<Self, (String, &'static str)> {
        let mut commands = BTreeMap::new();
        for (kind, command) in by_type {
            let key = essence(Some(kind));
            let wrong = |said| Err((kind.clone(), said));
            let is_type = key.split_once('/').is_some_and(|(kind, sub)| !kind.is_empty() && !sub.is_empty());
            if !is_type || kind.contains(';') {
                return wrong("write a type of content such as `application/pdf`");
            }
            if command.trim().is_empty() {
                return wrong("write a command that reads it on its standard input, such as `pdftotext - -`");
            }
            if media_kind(Some(&key), b"") != MediaKind::Other {
                return wrong("freshet reads this type itself; take the line out");
            }
            // With the lengths, so that no two commands are written alike.
            let hash = xxh3_64(format!("{}:{key}{}:{command}", key.len(), command.len()).as_bytes()).max(1);
            commands.insert(key, TextCommand { command: command.clone(), limit, hash });
        }
        Ok(Self { by_type: commands })
    }

    /// The command for this type of content.
    pub fn of(&self, content_type: Option<&str>) -> Option<&TextCommand> {
        if self.by_type.is_empty() { None } else { self.by_type.get(&essence(content_type)) }
    }

    /// A hash of the command that reads this type of content; 0 if there is none. Only texts with the same hash can be
    /// compared.
    pub fn hash_of(&self, content_type: Option<&str>) -> u64 {
        self.of(content_type).map_or(0, |command| command.hash)
    }
}

impl TextCommand {
    /// The command as it was written.
    pub fn as_str(&self) -> &str {
        &self.command
    }

    /// The text of a body; the error says why there is none. It waits for the command: call it where waiting is allowed.
    pub fn run(&self, body: &[u8]) -> Result<String, String> {
        let deadline = Instant::now() + self.limit;
        let command = &self.command;
        let mut child = Command::new("sh")
            .arg("-c")
            .arg(command)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            // A group of its own, so that processes of the shell end with it.
            .process_group(0)
            .spawn()
            .map_err(|error| format!("`{command}` can't be started: {error}"))?;
        let group = ProcessGroup::of(Some(child.id()));
        let ended = self.talk(&mut child, body.to_vec(), deadline);
        if ended.is_ok() {
            group.leave();
        } else {
            drop(group);
            let _ = child.wait();
        }
        ended.and_then(|text| text)
    }

    /// Feeds the command and waits for it. The outer error: it has not ended, and is to be killed.
    fn talk(
        &self,
        child: &mut Child,
        body: Vec<u8>,
        deadline: Instant,
    ) -> Result<Result<String, String>, String> {
        let Self { command, limit, .. } = self;
        let too_slow = || format!("`{command}` took longer than {limit:?} and was ended");
        if let Some(mut input) = child.stdin.take() {
            // A command that does not read all of its input has not failed.
            thread::spawn(move || drop(input.write_all(&body)));
        }
        let output = child.stdout.take().map(|output| read_aside(output, MOST_BYTES + 1));
        let messages = child.stderr.take().map(|output| read_aside(output, MESSAGE_BYTES));
        let left = || deadline.saturating_duration_since(Instant::now());
        let text = match output.map(|output| output.recv_timeout(left())) {
            Some(Err(RecvTimeoutError::Timeout)) => return Err(too_slow()),
            Some(Ok(text)) if text.len() > MOST_BYTES => {
                return Err(format!("`{command}` wrote more than {} MiB and was ended", MOST_BYTES >> 20));
            }
            Some(Ok(text)) => text,
            Some(Err(RecvTimeoutError::Disconnected)) | None => Vec::new(),
        };
        loop {
            match child.try_wait() {
                Ok(Some(status)) if status.success() => {
                    return Ok(Ok(folded_lines(&String::from_utf8_lossy(&text))));
                }
                Ok(Some(status)) => {
                    let said = messages.and_then(|messages| messages.recv_timeout(LOOK_EVERY).ok());
                    let said = first_line(&said.unwrap_or_default());
                    return Ok(Err(format!("`{command}` ended with {status}{said}")));
                }
                Ok(None) if left().is_zero() => return Err(too_slow()),
                Ok(None) => thread::sleep(LOOK_EVERY),
                Err(error) => return Err(format!("`{command}` can't be waited for: {error}")),
            }
        }
    }
}

/// Reads up to `most` bytes of an output on a thread of its own. The rest is read and dropped: a command whose output is closed
/// would be ended by that. A process that the command left behind may hold it open for ever; then nothing comes.
fn read_aside(mut output: impl Read + Send + 'static, most: usize) -> Receiver<Vec<u8>> {
    let (tell, told) = channel();
    thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = output.by_ref().take(most as u64).read_to_end(&mut bytes);
        let _ = tell.send(bytes);
        let _ = io::copy(&mut output, &mut io::sink());
    });
    told
}

/// The first line of a message, without characters that a terminal would obey: the page may have chosen them.
fn first_line(said: &[u8]) -> String {
    let said = String::from_utf8_lossy(said);
    let line: String =
        said.trim().lines().next().unwrap_or_default().chars().filter(|c| !c.is_control()).collect();
    if line.is_empty() { line } else { format!(": {line}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn command(text: &str, seconds: f64) -> TextCommand {
        let by_type = BTreeMap::from([("application/pdf".to_owned(), text.to_owned())]);
        let commands = TextCommands::new(&by_type, Duration::from_secs_f64(seconds)).unwrap();
        commands.of(Some("Application/PDF; a=b")).unwrap().clone()
    }

    #[test]
    fn a_body_goes_in_and_its_text_comes_out() {
        assert_eq!(command("tr a-z A-Z", 20.0).run(b"two  words\n\xff").unwrap(), "TWO WORDS\n\u{fffd}");
        let large = vec![b'x'; 3 << 20];
        assert_eq!(command("cat", 20.0).run(&large).unwrap().len(), large.len());
        assert_eq!(command("echo done", 20.0).run(&large).unwrap(), "done", "it need not read its input");
    }

    #[test]
    fn a_command_may_have_many_messages() {
        let warns = "i=0; while [ $i -lt 5000 ]; do echo 'Syntax Warning: a font is not embedded' >&2 || exit 9; i=$((i+1)); done; echo text";
        assert_eq!(command(warns, 60.0).run(b"").unwrap(), "text");
    }

    #[test]
    fn one_that_fails_hangs_or_floods_gives_a_reason() {
        let said = command("printf 'not a \\033[31mPDF' >&2; exit 3", 20.0).run(b"").unwrap_err();
        assert!(said.contains("ended with exit status: 3") && !said.contains('\u{1b}'), "{said}");
        let said = command("sleep 60; echo late", 0.2).run(b"").unwrap_err();
        assert!(said.contains("took longer than 200ms and was ended"), "{said}");
        let said = command("yes", 20.0).run(b"").unwrap_err();
        assert!(said.contains("wrote more than 8 MiB"), "{said}");
    }

    #[test]
    fn types_that_can_have_no_command_are_refused() {
        let of = |kind: &str, command: &str| {
            let by_type = BTreeMap::from([(kind.to_owned(), command.to_owned())]);
            TextCommands::new(&by_type, Duration::from_secs(1)).map(|_| ())
        };
        assert!(of("application/pdf", "cat").is_ok());
        for (kind, command) in
            [("pdf", "cat"), ("/", "cat"), ("a/b; c", "cat"), ("application/pdf", " "), ("text/html", "cat")]
        {
            assert_eq!(of(kind, command).unwrap_err().0, kind);
        }
    }

    #[test]
    fn another_command_has_another_hash() {
        let [one, other] = ["cat", "cat "].map(|text| command(text, 1.0).hash);
        assert!(one != 0 && one != other);
        assert_eq!(TextCommands::default().hash_of(Some("application/pdf")), 0);
    }
}
