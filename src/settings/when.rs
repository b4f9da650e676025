//! Moments as people type them after a flag, and the zone that they mean.

use freshet::look::when::{self, MOMENT_FORMS};
use freshet::time::Timestamp;

use super::Usage;

pub(crate) use freshet::look::when::duration;

/// The zone of the person at the terminal (`TZ`, or the system's); UTC if it can't be found out.
pub(crate) fn zone() -> jiff::tz::TimeZone {
    jiff::tz::TimeZone::try_system().unwrap_or(jiff::tz::TimeZone::UTC)
}

/// A date or a date with a time, in the zone of the person unless it says otherwise, or how long ago. `flag` is named in the error.
pub(crate) fn moment(flag: &str, text: &str, now: Timestamp) -> Result<Timestamp, Usage> {
    when::moment(text, now, &zone()).ok_or_else(|| Usage(format!("{flag} is `{text}`; {MOMENT_FORMS}")))
}
