//! A client of `freshet serve`: the running server, and requests to it over a socket, byte for byte as a test wants them.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::{Freshet, Running};

/// How long the server may take to say that it is up, or to answer.
const PATIENCE: Duration = Duration::from_secs(60);

/// A server that is up; it is killed when this is dropped.
pub struct Served {
    running: Running,
    /// `127.0.0.1:40123`
    pub host: String,
}

/// An answer.
#[derive(Clone, Debug)]
pub struct Answered {
    pub status: u16,
    head: String,
    pub body: String,
}

impl Answered {
    /// A header by its name in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        let lines = self.head.lines().skip(1).filter_map(|line| line.split_once(':'));
        lines.into_iter().find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value.trim())
    }

    /// The body as JSON.
    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }
}

impl Served {
    /// Starts `freshet serve` on a free port, with more flags.
    #[track_caller]
    pub fn start(freshet: &Freshet, flags: &[&str]) -> Served {
        let running = freshet.start(&[&["serve", "--listen", "127.0.0.1:0"], flags].concat());
        let deadline = Instant::now() + PATIENCE;
        loop {
            let said = running.stdout();
            if let Some(host) = said.strip_prefix("http://").and_then(|said| said.strip_suffix("/\n")) {
                let host = host.to_owned();
                return Served { running, host };
            }
            assert!(Instant::now() < deadline, "it does not say that it is up: {said} {}", running.stderr());
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// The process.
    pub fn id(&self) -> u32 {
        self.running.id()
    }

    /// Waits for its end.
    #[track_caller]
    pub fn wait(self, limit: Duration) -> super::Ran {
        self.running.wait(limit)
    }

    /// A page.
    #[track_caller]
    pub fn get(&self, path: &str) -> Answered {
        self.ask("GET", path, &[], "")
    }

    /// A request with these headers; `Host` is the server's own unless it is among them.
    #[track_caller]
    pub fn ask(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> Answered {
        let mut text = format!("{method} {path} HTTP/1.1\r\nConnection: close\r\n");
        if !headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("host")) {
            text += &format!("Host: {}\r\n", self.host);
        }
        for (name, value) in headers {
            text += &format!("{name}: {value}\r\n");
        }
        if !body.is_empty() {
            text += &format!("Content-Length: {}\r\n", body.len());
        }
        let mut stream = self.send(&(text + "\r\n" + body));
        let mut bytes = Vec::new();
        stream.read_to_end(&mut bytes).expect("an answer");
        let whole = String::from_utf8(bytes).expect("text");
        let (head, body) = whole.split_once("\r\n\r\n").unwrap_or_else(|| panic!("no answer: {whole}"));
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok());
        let mut answered =
            Answered { status: status.expect("a status"), head: head.to_owned(), body: body.to_owned() };
        if answered.header("transfer-encoding") == Some("chunked") {
            answered.body = without_chunks(&answered.body);
        }
        answered
    }

    /// Sends bytes and gives the connection, for a test that reads as they come.
    #[track_caller]
    pub fn send(&self, text: &str) -> TcpStream {
        let mut stream = TcpStream::connect(&self.host).expect("the server is up");
        stream.set_read_timeout(Some(PATIENCE)).expect("a limit can be set");
        stream.write_all(text.as_bytes()).expect("the request is sent");
        stream
    }
}

fn without_chunks(mut text: &str) -> String {
    let mut whole = String::new();
    while let Some((length, rest)) = text.split_once("\r\n") {
        let length = usize::from_str_radix(length.trim(), 16).unwrap_or(0);
        if length == 0 {
            break;
        }
        whole += rest.get(..length).unwrap_or_default();
        text = rest.get(length + 2..).unwrap_or_default();
    }
    whole
}
