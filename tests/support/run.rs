//! The real binary, run as a user would: arguments in, exit code and output out.
//!
//! Each [`Freshet`] has a folder of its own, which is where the binary runs, and which goes with it. Nothing
//! of the tester's settings leaks in, and nothing runs on: a command that outstays its time limit is killed,
//! and so is one whose test has failed.

use serde_json::Value;
use std::ffi::OsStr;
use std::fs;
use std::io::Read;
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::thread;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// How long a command may take before it is taken to hang.
const TIME_LIMIT: Duration = Duration::from_secs(240);

/// How often to look whether a command has ended: std can't wait with a limit.
const LOOK_EVERY: Duration = Duration::from_millis(5);

/// How long the output of an ended command may stay open: a process it left behind may hold on to it.
const OUTPUT_LIMIT: Duration = Duration::from_secs(5);

/// Flags of a story that needs no pauses: loopback is a private address, and the delay is 0.
pub const FAST: [&str; 3] = ["--allow-private", "--delay", "0"];

/// The binary, and a folder to run it in.
pub struct Freshet {
    dir: TempDir,
}

impl Freshet {
    /// An empty folder; it is removed when this is dropped.
    pub fn new() -> Freshet {
        Freshet { dir: TempDir::new().expect("a temporary folder can be made") }
    }

    /// Where a file of that name is, or would be.
    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// Writes a file, and the folders on the way to it; returns where it is.
    pub fn write(&self, name: &str, contents: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        let written =
            path.parent().map_or(Ok(()), fs::create_dir_all).and_then(|()| fs::write(&path, contents));
        written.unwrap_or_else(|error| panic!("cannot write `{}`: {error}", path.display()));
        path
    }

    /// Writes the URLs into `seeds.txt`, one a line; returns its name.
    pub fn seeds(&self, urls: &[impl AsRef<str>]) -> String {
        let lines: String = urls.iter().map(|url| format!("{}\n", url.as_ref())).collect();
        self.write("seeds.txt", lines);
        "seeds.txt".to_string()
    }

    /// The binary without arguments, in the folder, without input, and without the environment of the
    /// tester's own that could change what it does: see [`is_withheld`].
    pub fn command(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_freshet"));
        command.current_dir(self.dir.path()).stdin(Stdio::null());
        for (name, _) in std::env::vars_os().filter(|(name, _)| is_withheld(name)) {
            command.env_remove(name);
        }
        // Tables show local time: everywhere the same.
        command.env("TZ", "UTC");
        command
    }

    /// Runs the binary to its end, whatever its exit code. Panics with the output so far after four minutes: a run that hangs is not waited for.
    #[track_caller]
    pub fn run(&self, arguments: &[&str]) -> Ran {
        self.start(arguments).wait(TIME_LIMIT)
    }

    /// Runs the binary, which must succeed, and reads what it prints as JSON. Panics with the output
    /// otherwise.
    #[track_caller]
    pub fn json(&self, arguments: &[&str]) -> Value {
        self.run(arguments).json()
    }

    /// Starts the binary and leaves it running; it is killed when the value returned is dropped.
    #[track_caller]
    pub fn start(&self, arguments: &[&str]) -> Running {
        let mut command = self.command();
        command.args(arguments);
        Running::start(command)
    }
}

/// Whether a variable is kept from the binary: its own settings, the log's, and proxies, which would come
/// between it and a site on loopback.
pub fn is_withheld(name: &OsStr) -> bool {
    let name = name.to_string_lossy();
    let proxies = ["http_proxy", "https_proxy", "all_proxy", "no_proxy"];
    name.starts_with("FRESHET_")
        || name == "RUST_LOG"
        || proxies.iter().any(|one| name.eq_ignore_ascii_case(one))
}

/// What a command that has ended left behind.
#[derive(Clone, Debug)]
pub struct Ran {
    /// The exit code; none when a signal ended it.
    pub code: Option<i32>,
    /// All it wrote to stdout; what is not UTF-8 is replaced.
    pub stdout: String,
    /// All it wrote to stderr; what is not UTF-8 is replaced.
    pub stderr: String,
}

impl Ran {
    /// Stdout as JSON. Panics with all output unless the exit code is 0 and stdout is one JSON value.
    #[track_caller]
    pub fn json(&self) -> Value {
        assert_eq!(self.code, Some(0), "the command failed\n{}", self.output());
        match serde_json::from_str(&self.stdout) {
            Ok(value) => value,
            Err(error) => panic!("stdout is not JSON: {error}\n{}", self.output()),
        }
    }

    /// Both outputs under their names, as the messages of panics show them.
    pub fn output(&self) -> String {
        format!("--- stdout\n{}\n--- stderr\n{}", self.stdout, self.stderr)
    }
}

/// A command under way. It is killed, and waited for, when this is dropped.
pub struct Running {
    child: Child,
    stdout: Output,
    stderr: Output,
}

impl Running {
    /// Starts any command, its outputs read as they come, so that it never waits for a reader.
    #[track_caller]
    pub fn start(mut command: Command) -> Running {
        let spawned = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
        let mut child = spawned.unwrap_or_else(|error| panic!("cannot run {command:?}: {error}"));
        let stdout = Output::follow(child.stdout.take());
        let stderr = Output::follow(child.stderr.take());
        Running { child, stdout, stderr }
    }

    /// The process id, for a test that sends signals.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// What it wrote to stdout so far.
    pub fn stdout(&self) -> String {
        self.stdout.so_far()
    }

    /// What it wrote to stderr so far.
    pub fn stderr(&self) -> String {
        self.stderr.so_far()
    }

    /// Whether it has not ended yet.
    pub fn is_running(&mut self) -> bool {
        matches!(self.child.try_wait(), Ok(None))
    }

    /// Kills it without a chance to tidy up, as a crash would, and returns what it had written.
    #[track_caller]
    pub fn kill(mut self) -> Ran {
        let _ = self.child.kill();
        self.ended_within(TIME_LIMIT)
    }

    /// Waits for its end. Past the limit it is killed, and this panics with the output so far.
    #[track_caller]
    pub fn wait(mut self, limit: Duration) -> Ran {
        self.ended_within(limit)
    }

    #[track_caller]
    fn ended_within(&mut self, limit: Duration) -> Ran {
        let deadline = Instant::now() + limit;
        let status: ExitStatus = loop {
            match self.child.try_wait() {
                Ok(Some(status)) => break status,
                Ok(None) if Instant::now() < deadline => thread::sleep(LOOK_EVERY),
                Ok(None) => {
                    let _ = self.child.kill();
                    let output = self.so_far(None).output();
                    panic!("still running after {limit:?}, so it was killed; its output so far\n{output}");
                }
                Err(error) => panic!("cannot wait for the command: {error}"),
            }
        };
        let deadline = Instant::now() + OUTPUT_LIMIT;
        self.stdout.wait_for_end(deadline);
        self.stderr.wait_for_end(deadline);
        self.so_far(status.code())
    }

    fn so_far(&self, code: Option<i32>) -> Ran {
        Ran { code, stdout: self.stdout(), stderr: self.stderr() }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // Both are harmless on a process that has ended and been waited for.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// One output of a command, read by a thread of its own until it is closed.
struct Output {
    bytes: Arc<Mutex<Vec<u8>>>,
    ended: mpsc::Receiver<()>,
}

impl Output {
    fn follow(pipe: Option<impl Read + Send + 'static>) -> Output {
        let bytes = Arc::new(Mutex::new(Vec::new()));
        let (at_end, ended) = mpsc::channel::<()>();
        if let Some(mut pipe) = pipe {
            let bytes = Arc::clone(&bytes);
            thread::spawn(move || {
                let mut piece = vec![0; 16 * 1024];
                loop {
                    match pipe.read(&mut piece) {
                        Ok(0) => break,
                        Ok(length) => lock(&bytes).extend_from_slice(piece.get(..length).unwrap_or_default()),
                        Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                        Err(_) => break,
                    }
                }
                // Nothing is ever sent: that the sender is gone is the signal, so a panic here would give it
                // too.
                drop(at_end);
            });
        }
        Output { bytes, ended }
    }

    fn so_far(&self) -> String {
        String::from_utf8_lossy(&lock(&self.bytes)).into_owned()
    }

    fn wait_for_end(&self, deadline: Instant) {
        let _ = self.ended.recv_timeout(deadline.saturating_duration_since(Instant::now()));
    }
}

fn lock(bytes: &Mutex<Vec<u8>>) -> std::sync::MutexGuard<'_, Vec<u8>> {
    bytes.lock().unwrap_or_else(PoisonError::into_inner)
}
