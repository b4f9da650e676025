//! The scripted web site: scripts come in from a test, requests from sockets; replies and a log go out.
//!
//! One thread accepts for each host, and one serves each connection. All of them sleep in the kernel until
//! there is something to do, and end when the [`Site`] is dropped: their sockets are shut down under them. A
//! page may be scripted anew at any time, which is how the tests' web changes.

use super::connection::Connection;
use super::log::{Hit, Log};
use super::reply::{Reply, Request};
use std::collections::{BTreeMap, HashMap};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// How often to look for a port that is free on every address before giving each host one of its own.
const PORT_ATTEMPTS: usize = 20;

/// How long a dropped site waits for its threads: a script may be blocked in code of the test's own.
const FAREWELL: Duration = Duration::from_secs(5);

/// A web of one or more hosts on loopback, each with its own pages. Everything ends when it is dropped.
pub struct Site {
    addresses: Vec<SocketAddr>,
    backstage: Arc<Backstage>,
    acceptors: Vec<JoinHandle<()>>,
}

impl Site {
    /// One host, on a free port of 127.0.0.1.
    pub fn start() -> Site {
        Site::with_hosts(1)
    }

    /// `n` hosts: 127.0.0.1, 127.0.0.2, …, all on one port where one is free on all of them, else on one
    /// each. Addresses beyond the first exist by default on Linux, not on every system.
    pub fn with_hosts(n: usize) -> Site {
        let addresses: Vec<Ipv4Addr> =
            (0..n).map(|host| Ipv4Addr::from_bits(Ipv4Addr::LOCALHOST.to_bits() + host as u32)).collect();
        let on_one_port = (0..PORT_ATTEMPTS).find_map(|_| listen_on_one_port(&addresses));
        Site::serve(on_one_port.unwrap_or_else(|| addresses.into_iter().map(listen).collect()))
    }

    /// `n` hosts that share the address 127.0.0.1, each on a port of its own.
    pub fn with_ports(n: usize) -> Site {
        Site::serve((0..n).map(|_| listen(Ipv4Addr::LOCALHOST)).collect())
    }

    /// The URL of a path on host 0.
    pub fn url(&self, path: &str) -> String {
        self.url_on(0, path)
    }

    /// The URL of a path on a host.
    pub fn url_on(&self, host: usize, path: &str) -> String {
        format!("{}{path}", self.origin(host))
    }

    /// Scheme, address and port of a host, as in `http://127.0.0.1:4321`.
    pub fn origin(&self, host: usize) -> String {
        let address = self.addresses.get(host).unwrap_or_else(|| panic!("there is no host {host}"));
        format!("http://{address}")
    }

    /// Scripts a path on every host. One with a query answers that query only; one without answers any query
    /// that is not scripted itself. The last call for a path holds.
    pub fn page(&self, path: &str, reply: impl Into<Reply>) {
        let reply = reply.into();
        for host in 0..self.addresses.len() {
            self.page_on(host, path, reply.clone());
        }
    }

    /// Scripts a path on one host.
    pub fn page_on(&self, host: usize, path: &str, reply: impl Into<Reply>) {
        assert!(path.starts_with('/'), "the path `{path}` does not begin with `/`, so no one can ask for it");
        let mut scripts = held(&self.backstage.scripts);
        let script = scripts.get_mut(host).unwrap_or_else(|| panic!("there is no host {host}"));
        script.pages.insert(path.to_string(), Scripted { reply: reply.into(), turns: 0 });
    }

    /// Takes a path back from every host: from now on it is answered as if it never was.
    pub fn remove(&self, path: &str) {
        for script in held(&self.backstage.scripts).iter_mut() {
            script.pages.remove(path);
        }
    }

    /// Answers what is not scripted, on every host; without this it is 404.
    pub fn otherwise(&self, answer: impl Fn(&Request) -> Reply + Send + Sync + 'static) {
        *held(&self.backstage.otherwise) = Reply::dynamic(answer);
    }

    /// Every request so far, those in flight included. A client that has read its response finds it here,
    /// ended.
    pub fn log(&self) -> Log {
        Log::of(held(&self.backstage.ledger).hits.values().cloned().collect())
    }

    /// Forgets every request so far, those in flight included. Turns of sequences and counts of requests go
    /// on.
    pub fn clear_log(&self) {
        held(&self.backstage.ledger).hits.clear();
    }

    fn serve(listeners: Vec<TcpListener>) -> Site {
        assert!(!listeners.is_empty(), "a site needs at least one host");
        let addresses = listeners.iter().map(|one| one.local_addr().expect("a listener has an address"));
        let addresses: Vec<SocketAddr> = addresses.collect();
        let backstage = Arc::new(Backstage::new(addresses.len()));
        let acceptors = listeners.into_iter().enumerate().map(|(host, listener)| {
            let backstage = Arc::clone(&backstage);
            thread::spawn(move || accept_all(&listener, host, &backstage))
        });
        let acceptors = acceptors.collect();
        Site { addresses, backstage, acceptors }
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        self.backstage.close();
        for (address, acceptor) in self.addresses.iter().zip(self.acceptors.drain(..)) {
            // std cannot interrupt an accept: a connection of our own wakes it. Should that fail, the thread
            // is left behind, rather than the test waiting for it.
            if TcpStream::connect_timeout(address, Duration::from_secs(1)).is_ok() {
                let _ = acceptor.join();
            }
        }
        let script_panicked = self.backstage.wait_for_connections(FAREWELL);
        if script_panicked && !thread::panicking() {
            panic!("a closure that answers for the site has panicked");
        }
    }
}

fn listen(address: Ipv4Addr) -> TcpListener {
    TcpListener::bind((address, 0)).unwrap_or_else(|error| panic!("cannot listen on `{address}`: {error}"))
}

fn listen_on_one_port(addresses: &[Ipv4Addr]) -> Option<Vec<TcpListener>> {
    let (first, others) = addresses.split_first()?;
    let first = listen(*first);
    let port = first.local_addr().ok()?.port();
    let others = others.iter().map(|address| TcpListener::bind((*address, port)).ok());
    std::iter::once(Some(first)).chain(others).collect()
}

fn accept_all(listener: &TcpListener, host: usize, backstage: &Arc<Backstage>) {
    loop {
        match listener.accept() {
            Ok((stream, _)) => {
                let Some(connection) = Connection::open(stream, host, backstage) else { return };
                // Without a thread the connection is dropped with the closure, and so closed.
                let _ = thread::Builder::new().name(format!("host {host}")).spawn(|| connection.serve());
            }
            // Out of file descriptors, most likely: others must close before it is worth another try.
            Err(_) if backstage.closes_within(Duration::from_millis(10)) => return,
            Err(_) => {}
        }
    }
}

/// What the threads of a site share. Each lock is held for a moment only, never while a script's own code
/// runs.
pub(super) struct Backstage {
    started: Instant,
    scripts: Mutex<Vec<Script>>,
    otherwise: Mutex<Reply>,
    ledger: Mutex<Ledger>,
    lines: Mutex<Lines>,
    lines_changed: Condvar,
}

/// The pages of one host, and how often each path was asked for.
#[derive(Default)]
struct Script {
    pages: HashMap<String, Scripted>,
    asked: HashMap<String, usize>,
}

struct Scripted {
    reply: Reply,
    turns: usize,
}

#[derive(Default)]
struct Ledger {
    opened: u64,
    hits: BTreeMap<u64, Hit>,
}

/// The open connections, each with a second handle on its socket by which to end it.
#[derive(Default)]
struct Lines {
    opened: u64,
    open: HashMap<u64, TcpStream>,
    closing: bool,
    script_panicked: bool,
}

impl Backstage {
    fn new(hosts: usize) -> Backstage {
        Backstage {
            started: Instant::now(),
            scripts: Mutex::new((0..hosts).map(|_| Script::default()).collect()),
            otherwise: Mutex::new(Reply::status(404, "not found")),
            ledger: Mutex::default(),
            lines: Mutex::default(),
            lines_changed: Condvar::new(),
        }
    }

    /// Seconds since the site started.
    pub(super) fn now(&self) -> f64 {
        self.started.elapsed().as_secs_f64()
    }

    /// The reply scripted for a request, and whose turn it is in a sequence. Writes the count into the
    /// request.
    pub(super) fn reply_to(&self, request: &mut Request) -> (Reply, usize) {
        if let Some(script) = held(&self.scripts).get_mut(request.host) {
            let count = script.asked.entry(request.path.clone()).or_default();
            *count += 1;
            request.count = *count;
            let bare = request.path.split('?').next().unwrap_or_default();
            let exact = script.pages.contains_key(&request.path);
            if let Some(scripted) = script.pages.get_mut(if exact { request.path.as_str() } else { bare }) {
                scripted.turns += 1;
                return (scripted.reply.clone(), scripted.turns);
            }
        }
        (held(&self.otherwise).clone(), request.count)
    }

    /// Writes a request into the log; the number is for [`Backstage::end_hit`].
    pub(super) fn open_hit(&self, hit: Hit) -> u64 {
        let mut ledger = held(&self.ledger);
        ledger.opened += 1;
        let number = ledger.opened;
        ledger.hits.insert(number, hit);
        number
    }

    /// Writes into the log that a request has ended now. One that was cleared meanwhile stays cleared.
    pub(super) fn end_hit(&self, number: u64, status: u16) {
        if let Some(hit) = held(&self.ledger).hits.get_mut(&number) {
            // Read under the lock: time spent waiting for it belongs to the exchange.
            hit.end = self.now();
            hit.status = status;
        }
    }

    /// Enters a connection, so that it can be ended from here; nothing once the site is closing.
    pub(super) fn admit(&self, stream: &TcpStream) -> Option<u64> {
        let handle = stream.try_clone();
        let mut lines = held(&self.lines);
        if lines.closing {
            return None;
        }
        lines.opened += 1;
        let number = lines.opened;
        // Without a second handle (no file descriptor left) it cannot be ended from here, only by its client.
        lines.open.extend(handle.ok().map(|handle| (number, handle)));
        Some(number)
    }

    /// Forgets a connection. Must come before its socket is dropped, or the handle kept here holds it open.
    pub(super) fn dismiss(&self, number: u64) {
        let mut lines = held(&self.lines);
        lines.open.remove(&number);
        lines.script_panicked |= thread::panicking();
        self.lines_changed.notify_all();
    }

    /// Waits for the site to close, but not longer than this; whether it does.
    pub(super) fn closes_within(&self, wait: Duration) -> bool {
        let lines = held(&self.lines);
        let waited = self.lines_changed.wait_timeout_while(lines, wait, |lines| !lines.closing);
        waited.unwrap_or_else(PoisonError::into_inner).0.closing
    }

    fn close(&self) {
        let mut lines = held(&self.lines);
        lines.closing = true;
        for stream in lines.open.values() {
            let _ = stream.shutdown(Shutdown::Both);
        }
        self.lines_changed.notify_all();
    }

    fn wait_for_connections(&self, wait: Duration) -> bool {
        let lines = held(&self.lines);
        let waited = self.lines_changed.wait_timeout_while(lines, wait, |lines| !lines.open.is_empty());
        waited.unwrap_or_else(PoisonError::into_inner).0.script_panicked
    }
}

/// Locks what a panicking thread may have held: no lock here is held over code that can leave things half
/// done.
fn held<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
