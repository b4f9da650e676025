//! Log lines: in the one voice of the program where a person reads them, as a log where a log was asked for.
//!
//! A warning of the library is `warning: …` like any other, with its fields in brackets. With `-v`, or with `RUST_LOG` set,
//! each line has its time and level.

use std::fmt::{self, Write as _};

use tracing::field::{Field, Visit};
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::fmt::format::{Format, Full, Writer};
use tracing_subscriber::fmt::{FmtContext, FormatEvent, FormatFields};
use tracing_subscriber::registry::LookupSpan;

use freshet::report::diff::harmless;

/// How log lines are written.
pub(crate) struct Voice {
    /// The lines of a log, if one was asked for.
    log: Option<Format<Full>>,
}

impl Voice {
    /// The voice of the program, or the lines of a log.
    pub(crate) fn new(as_log: bool) -> Self {
        Self { log: as_log.then(|| Format::default().with_target(false)) }
    }
}

impl<S, N> FormatEvent<S, N> for Voice
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
{
    fn format_event(
        &self,
        context: &FmtContext<'_, S, N>,
        mut writer: Writer<'_>,
        event: &Event<'_>,
    ) -> fmt::Result {
        if let Some(log) = &self.log {
            return log.format_event(context, writer, event);
        }
        let mut said = Said::default();
        event.record(&mut said);
        // It may quote a stranger.
        writeln!(writer, "{}", harmless(&said.line(*event.metadata().level())))
    }
}

/// The message and the fields of an event.
#[derive(Default)]
struct Said {
    message: String,
    fields: String,
}

impl Said {
    fn line(&self, level: Level) -> String {
        let start = match level {
            Level::ERROR => "error: ",
            Level::WARN => "warning: ",
            _ => "",
        };
        match (self.message.is_empty(), self.fields.is_empty()) {
            (_, true) => format!("{start}{}", self.message),
            (true, false) => format!("{start}{}", self.fields),
            (false, false) => format!("{start}{} ({})", self.message, self.fields),
        }
    }

    fn add(&mut self, field: &Field, value: &str) {
        if field.name() == "message" {
            self.message.push_str(value);
            return;
        }
        let between = if self.fields.is_empty() { "" } else { ", " };
        // An error says itself what it is.
        let name = if field.name() == "error" { String::new() } else { format!("{} ", field.name()) };
        let _ = write!(self.fields, "{between}{name}{value}");
    }
}

impl Visit for Said {
    fn record_str(&mut self, field: &Field, value: &str) {
        self.add(field, value);
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.add(field, &format!("{value:?}"));
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::sync::{Arc, Mutex};

    use super::*;

    #[derive(Clone, Default)]
    struct Lines(Arc<Mutex<Vec<u8>>>);

    impl Write for Lines {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.lock().unwrap().write(bytes)
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    fn said(as_log: bool) -> String {
        let lines = Lines::default();
        let writer = lines.clone();
        let log = tracing_subscriber::fmt()
            .with_ansi(false)
            .event_format(Voice::new(as_log))
            .with_writer(move || writer.clone());
        tracing::subscriber::with_default(log.finish(), || {
            tracing::warn!(host = %"http://a.example", times = 3, "the host is skipped");
            tracing::error!(error = %"no room", "it failed");
            tracing::info!("more");
        });
        let bytes = lines.0.lock().unwrap().clone();
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn a_warning_of_the_library_sounds_like_one_of_the_program() {
        assert_eq!(
            said(false),
            "warning: the host is skipped (host http://a.example, times 3)\nerror: it failed (no room)\nmore\n"
        );
    }

    #[test]
    fn a_log_has_time_and_level() {
        let log = said(true);
        assert!(log.contains("Z  WARN the host is skipped host=http://a.example times=3\n"), "{log}");
    }
}
