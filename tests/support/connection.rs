//! One connection of a site: request bytes come in, one after another; answers and log entries go out.
//!
//! What must stay true: a hit ends in the log before the byte that ends it for the client is sent, and a
//! client that hangs up ends its hit at once, even while the site waits. Otherwise a crawler that gave up on
//! a slow page, kept its delay and asked for the next would be accused of asking for two at once.

use super::log::Hit;
use super::reply::{Action, Drip, Parcel, Reply, Request, has_token};
use super::site::Backstage;
use std::io::{self, ErrorKind, Read as _, Write as _};
use std::net::{Shutdown, TcpStream};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Longer heads are refused: no crawler of ours has a reason to send one.
const MAX_HEAD_BYTES: usize = 64 * 1024;

/// How long a closed connection waits for the client to close as well.
const LINGER: Duration = Duration::from_secs(1);

/// The longest single wait: longer delays are a day, a silence is many of them.
const LONGEST_PAUSE: Duration = Duration::from_secs(24 * 60 * 60);

/// A connection that a client has opened, and what is under way on it.
pub(super) struct Connection {
    stream: TcpStream,
    host: usize,
    number: u64,
    backstage: Arc<Backstage>,
    open_hit: Option<u64>,
    /// When bytes of the next request were seen before this one was answered: a client that pipelines.
    next_began: Option<f64>,
}

/// A request head as it came, but for its last bytes: they are still in the socket.
struct Head {
    start: f64,
    bytes: Vec<u8>,
    unread: usize,
    complete: bool,
}

/// What a connection does after an answer.
enum Then {
    Stay,
    HangUp,
    Vanish,
}

impl Connection {
    /// Takes over a connection; nothing once the site is closing.
    pub(super) fn open(stream: TcpStream, host: usize, backstage: &Arc<Backstage>) -> Option<Connection> {
        // Without this the last byte of an answer, sent apart, would wait for the client to acknowledge the
        // others.
        let _ = stream.set_nodelay(true);
        let number = backstage.admit(&stream)?;
        let backstage = Arc::clone(backstage);
        Some(Connection { stream, host, number, backstage, open_hit: None, next_began: None })
    }

    /// Answers one request after another until the client, a reply or the end of the site closes the
    /// connection.
    pub(super) fn serve(mut self) {
        while let Some(head) = self.await_head() {
            match self.answer(head) {
                Then::Stay => {}
                Then::HangUp => return self.hang_up(),
                Then::Vanish => return,
            }
        }
    }

    /// Waits for a whole head; none when the client has gone.
    fn await_head(&mut self) -> Option<Head> {
        let mut start = self.next_began.take();
        let mut bytes = Vec::new();
        let mut window = vec![0; 16 * 1024];
        loop {
            // Peeked first, so that the end of the head stays unread until the reply is known: see `answer`.
            let seen = match self.stream.peek(&mut window) {
                Ok(0) => return None,
                Ok(seen) => seen,
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(_) => return None,
            };
            let start = *start.get_or_insert_with(|| self.backstage.now());
            let known = bytes.len();
            bytes.extend_from_slice(window.get(..seen)?);
            if let Some(length) = length_of_head(&bytes, known) {
                bytes.truncate(length);
                return Some(Head { start, unread: length - known, bytes, complete: true });
            }
            if bytes.len() > MAX_HEAD_BYTES {
                return Some(Head { start, unread: seen, bytes, complete: false });
            }
            self.consume(seen as u64).ok()?;
        }
    }

    fn answer(&mut self, head: Head) -> Then {
        let text = String::from_utf8_lossy(&head.bytes);
        let parsed = parse(&text, self.host).filter(|_| head.complete);
        self.open_hit(head.start, &text, parsed.as_ref().map(|(request, _)| request));
        let Some((mut request, is_current_version)) = parsed else {
            let status = if head.complete { 400 } else { 431 };
            return self.refuse(status, head.unread);
        };
        let (reply, turn) = self.backstage.reply_to(&mut request);
        let answer = reply.settle(&request, turn).answer(&request);
        if let Action::Reset = answer.action {
            // A socket closed with bytes unread is reset by the kernel. Those of this head still are, so
            // there is nothing to do but wait as told, and go; waiting blind, as the client's bytes hide its
            // hanging up.
            self.backstage.closes_within(answer.delay);
            self.end_hit(0);
            return Then::Vanish;
        }
        if request.header("Transfer-Encoding").is_some() {
            return self.refuse(411, head.unread);
        }
        let body = request.header("Content-Length").and_then(|length| length.parse().ok()).unwrap_or(0);
        if self.consume(head.unread as u64).and_then(|()| self.consume(body)).is_err() {
            return self.give_up(0);
        }
        if !self.pause(answer.delay) {
            return self.give_up(0);
        }
        match answer.action {
            Action::Send(parcel) => {
                let close = parcel.close || !is_current_version;
                if self.send(parcel) && !close { Then::Stay } else { Then::HangUp }
            }
            Action::Silent | Action::Reset => {
                while self.pause(LONGEST_PAUSE) {}
                self.give_up(0)
            }
        }
    }

    fn open_hit(&mut self, start: f64, text: &str, request: Option<&Request>) {
        let first_line = text.lines().next().unwrap_or_default();
        self.open_hit = Some(self.backstage.open_hit(Hit {
            start,
            end: f64::INFINITY,
            host: self.host,
            connection: self.number,
            method: request.map(|request| request.method.clone()).unwrap_or_default(),
            path: request.map_or(first_line, |request| &request.path).to_string(),
            status: 0,
            headers: request.map(|request| request.headers.clone()).unwrap_or_default(),
        }));
    }

    fn end_hit(&mut self, status: u16) {
        if let Some(hit) = self.open_hit.take() {
            self.backstage.end_hit(hit, status);
        }
    }

    fn give_up(&mut self, status: u16) -> Then {
        self.end_hit(status);
        Then::Vanish
    }

    fn refuse(&mut self, status: u16, unread: usize) -> Then {
        if self.consume(unread as u64).is_err() {
            return self.give_up(0);
        }
        let head = format!("HTTP/1.1 {status} refused\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
        self.send(Parcel { status, head: head.into_bytes(), body: Vec::new(), drip: None, close: true });
        Then::HangUp
    }

    /// Sends an answer at its pace, and ends the hit; whether all of it was sent.
    fn send(&mut self, parcel: Parcel) -> bool {
        let Parcel { status, head, body, drip, .. } = parcel;
        let piece_length = drip.map_or(body.len(), |drip| drip.bytes_per_piece).max(1);
        let mut pieces = body.chunks(piece_length);
        let mut piece = [head.as_slice(), pieces.next().unwrap_or_default()].concat();
        for next in pieces {
            let pause = drip.map_or(Duration::ZERO, |Drip { every, .. }| every);
            if self.stream.write_all(&piece).is_err() || !self.pause(pause) {
                self.end_hit(status);
                return false;
            }
            piece = next.to_vec();
        }
        self.send_last(&piece, status)
    }

    /// Sends all but the last byte, ends the hit, sends the last byte: so the client can't know the end
    /// before the log does, and a last piece that had to wait for the client to read still counts as time in
    /// flight.
    fn send_last(&mut self, piece: &[u8], status: u16) -> bool {
        let (last, others) = piece.split_last().map_or((None, piece), |(last, others)| (Some(*last), others));
        let sent = self.stream.write_all(others).is_ok();
        self.notice_next();
        self.end_hit(status);
        sent && last.is_none_or(|last| self.stream.write_all(&[last]).is_ok())
    }

    /// Waits, unless the client hangs up or the site is dropped; whether there is still someone to answer.
    fn pause(&mut self, length: Duration) -> bool {
        if length.is_zero() {
            return true;
        }
        let until = Instant::now() + length.min(LONGEST_PAUSE);
        let still_there = loop {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break true;
            }
            if self.next_began.is_some() {
                // Bytes that wait in the socket hide the client's hanging up, so only the site is watched.
                break !self.backstage.closes_within(left);
            }
            // The socket itself is the alarm clock: it also wakes when the client, or the site, closes it.
            let _ = self.stream.set_read_timeout(Some(left));
            match self.stream.peek(&mut [0]) {
                Ok(0) => break false,
                Ok(_) => self.next_began = Some(self.backstage.now()),
                Err(error) if is_only_waiting(&error) => {}
                Err(_) => break false,
            }
        };
        let _ = self.stream.set_read_timeout(None);
        still_there
    }

    /// Notes whether the next request has begun although this one is not answered yet.
    fn notice_next(&mut self) {
        if self.next_began.is_none() && self.stream.set_nonblocking(true).is_ok() {
            if let Ok(1..) = self.stream.peek(&mut [0]) {
                self.next_began = Some(self.backstage.now());
            }
            let _ = self.stream.set_nonblocking(false);
        }
    }

    fn consume(&mut self, bytes: u64) -> io::Result<()> {
        let read = io::copy(&mut (&self.stream).take(bytes), &mut io::sink())?;
        if read < bytes { Err(ErrorKind::UnexpectedEof.into()) } else { Ok(()) }
    }

    /// Says that no more will come, and reads on until the client closes as well: to close with bytes unread
    /// would reset the connection, and take back what the client has not read yet.
    fn hang_up(self) {
        let _ = self.stream.shutdown(Shutdown::Write);
        let until = Instant::now() + LINGER;
        let mut scraps = vec![0; 16 * 1024];
        loop {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() || self.stream.set_read_timeout(Some(left)).is_err() {
                return;
            }
            if let Ok(0) | Err(_) = (&self.stream).read(&mut scraps) {
                return;
            }
        }
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        // Still open only when a script panicked.
        self.end_hit(0);
        self.backstage.dismiss(self.number);
    }
}

fn is_only_waiting(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted)
}

/// How long the head is, its empty line included. The first `searched` bytes are known not to hold the end.
fn length_of_head(bytes: &[u8], searched: usize) -> Option<usize> {
    const END: &[u8] = b"\r\n\r\n";
    let from = searched.saturating_sub(END.len() - 1);
    let found = bytes.get(from..)?.windows(END.len()).position(|window| window == END)?;
    Some(from + found + END.len())
}

/// The request in a head, and whether it is of HTTP/1.1, the version that keeps connections open by itself.
fn parse(head: &str, host: usize) -> Option<(Request, bool)> {
    let mut lines = head.trim_end_matches("\r\n").split("\r\n");
    let mut words = lines.next()?.split(' ');
    let (method, path, version) = (words.next()?, words.next()?, words.next()?);
    if method.is_empty() || path.is_empty() || !version.starts_with("HTTP/1.") || words.next().is_some() {
        return None;
    }
    let header = |line: &str| {
        let (name, value) = line.split_once(':')?;
        Some((name.to_string(), value.trim().to_string()))
    };
    let headers = lines.map(header).collect::<Option<Vec<_>>>()?;
    let request = Request { method: method.to_string(), path: path.to_string(), headers, host, count: 0 };
    Some((request, version == "HTTP/1.1"))
}
