//! Errors of the HTTP client in our words: the kind of failure, and its reason.

use std::error::Error as StdError;
use std::io::{Error as IoError, ErrorKind};

use super::certificates;
use super::resolver::{LookUpError, is_out_of_files};
use super::visit::Failure;
use super::web::NoAnswer;

/// How far an answer had come when the error came.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum AnswerPhase {
    Head,
    Body,
}

impl AnswerPhase {
    /// The failure when the connection ends in this phase.
    fn cut(self) -> Failure {
        if self == AnswerPhase::Head { Failure::HungUp } else { Failure::CutOff }
    }
}

/// How tokio-rustls says that the connection ended before TLS was agreed on.
const HANDSHAKE_ENDED: &str = "tls handshake eof";

/// Puts the HTTP client's error into our words, by what lies at its root.
pub(super) fn classify(error: &reqwest::Error, phase: AnswerPhase) -> NoAnswer {
    let mut found = None;
    for current in chain(error) {
        if let Some(looked_up) = current.downcast_ref::<LookUpError>() {
            return looked_up.clone().into_answer();
        }
        if let Some(tls) = current.downcast_ref::<rustls::Error>() {
            found = Some(NoAnswer::because(Failure::Tls, certificates::fault(tls)));
        }
        if let Some(io) = current.downcast_ref::<IoError>() {
            if is_out_of_files(io) {
                return Failure::OutOfFiles.into();
            }
            found =
                found.or_else(|| if error.is_connect() { not_connected(io) } else { broken_off(io, phase) });
        }
    }
    if error.is_timeout() {
        return match phase {
            // The handshake of TLS counts as a part of connecting.
            _ if error.is_connect() && error.url().is_some_and(|url| url.scheme() == "https") => {
                NoAnswer::because(
                    Failure::ConnectionTimedOut,
                    "connection timed out: no secure connection in time",
                )
            }
            _ if error.is_connect() => Failure::ConnectionTimedOut.into(),
            AnswerPhase::Head => Failure::NoAnswer.into(),
            AnswerPhase::Body => Failure::TooSlow.into(),
        };
    }
    found.unwrap_or_else(|| {
        if error.is_connect() {
            NoAnswer::because(Failure::Connect, format!("no connection: {}", root(error)))
        } else if error.is_decode() {
            Failure::Encoding.into()
        } else {
            by_message(error, phase)
        }
    })
}

/// An error before there was a connection to send a request on. After the address answered, it is one of TLS.
fn not_connected(io: &IoError) -> Option<NoAnswer> {
    Some(match io.kind() {
        ErrorKind::ConnectionRefused => Failure::ConnectionRefused.into(),
        ErrorKind::TimedOut => Failure::ConnectionTimedOut.into(),
        ErrorKind::UnexpectedEof if io.to_string() == HANDSHAKE_ENDED => NoAnswer::because(
            Failure::Tls,
            "TLS: the server closed the connection during the handshake; it may not speak TLS",
        ),
        ErrorKind::ConnectionReset | ErrorKind::BrokenPipe | ErrorKind::UnexpectedEof => NoAnswer::because(
            Failure::Tls,
            "TLS: the connection was reset during the handshake; the server may not speak TLS",
        ),
        ErrorKind::HostUnreachable => NoAnswer::because(Failure::Connect, "no route to the host"),
        ErrorKind::NetworkUnreachable => NoAnswer::because(Failure::Connect, "the network is unreachable"),
        _ => return None,
    })
}

/// An error on a connection.
fn broken_off(io: &IoError, phase: AnswerPhase) -> Option<NoAnswer> {
    match io.kind() {
        ErrorKind::ConnectionReset => Some(reset(phase)),
        ErrorKind::UnexpectedEof | ErrorKind::BrokenPipe => Some(phase.cut().into()),
        // Both the framing and the decoder speak like this.
        ErrorKind::InvalidData | ErrorKind::InvalidInput if phase == AnswerPhase::Body => {
            let is_framing = io.to_string().to_ascii_lowercase().contains("chunk");
            Some(if is_framing {
                NoAnswer::because(Failure::Malformed, not_http(io))
            } else {
                Failure::Encoding.into()
            })
        }
        _ => None,
    }
}

fn reset(phase: AnswerPhase) -> NoAnswer {
    let when = if phase == AnswerPhase::Head { "before an answer came" } else { "within the body" };
    NoAnswer::because(phase.cut(), format!("connection reset {when}"))
}

fn not_http(error: &dyn StdError) -> String {
    format!("the answer is not valid HTTP: {error}")
}

/// The HTTP parser's errors are told apart by their words alone: its types are private.
fn by_message(error: &reqwest::Error, phase: AnswerPhase) -> NoAnswer {
    let root = root(error);
    let words = root.to_string();
    let closed = ["connection closed before message completed", "end of file", "unexpected EOF"];
    if words.contains("connection reset") {
        reset(phase)
    } else if closed.iter().any(|phrase| words.contains(phrase)) {
        phase.cut().into()
    } else {
        NoAnswer::because(Failure::Malformed, not_http(root))
    }
}

/// An error, and those that lie behind it. An `io::Error` may carry another error inside, which `source` passes over.
fn chain<'a>(error: &'a (dyn StdError + 'static)) -> impl Iterator<Item = &'a (dyn StdError + 'static)> {
    std::iter::successors(Some(error), |current| {
        let current: &'a (dyn StdError + 'static) = *current;
        match current.downcast_ref::<IoError>().and_then(IoError::get_ref) {
            Some(carried) => Some(carried),
            None => current.source(),
        }
    })
}

/// The error at the bottom.
fn root<'a>(error: &'a (dyn StdError + 'static)) -> &'a (dyn StdError + 'static) {
    chain(error).last().unwrap_or(error)
}
