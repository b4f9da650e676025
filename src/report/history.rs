//! How a page moved, drawn: its visits as a table, its profiles as rows of bars, its fragments as stripes.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::time::Duration;

use crate::look::history::{PageHistory, PageVisit, VisitFound};

use super::diff::harmless;
use super::spark::spark;
use super::stripes::Stripes;
use super::{Align, Screen, Shorten, Table, bytes, counted, number, percent, span};

/// Points of a profile that are drawn, the latest; a page rarely keeps more.
const PROFILE_POINTS: usize = 30;
const SECONDS_PER_DAY: f64 = 86_400.0;

/// The history of a page in `width` columns; `ascii` draws without block characters.
pub fn history(history: &PageHistory, width: usize, ascii: bool, screen: &Screen) -> String {
    let mut text = heading(history, screen);
    if history.visit_count == 0 {
        return match &history.host_reason {
            Some(reason) => text + &format!("\nit has not been visited yet: {}\n", harmless(reason)),
            None => text + "\nit has not been visited yet\n",
        };
    }
    text += "\n";
    text += &visits(history, screen);
    if let Some(reason) = &history.host_reason {
        let _ = writeln!(text, "\nits host waits, or waited last: {}", harmless(reason));
    }
    if history.times.is_empty() {
        return text + "\nno visit brought anything, so there is nothing to compare yet\n";
    }
    text + &profiles(history, ascii, screen) + &lives(history, width, ascii, screen)
}

/// Its names, now and before, and how often it was seen.
fn heading(history: &PageHistory, screen: &Screen) -> String {
    let mut text = format!(
        "{}\n{}, {}, {}, known since {}\n",
        harmless(&history.url),
        history.state,
        counted(history.visit_count, "visit"),
        counted(history.change_count, "change"),
        screen.time(history.known_since),
    );
    if let Some(title) = &history.title {
        let _ = writeln!(text, "title: {}", harmless(title));
    }
    if let Some(page) = &history.found_on {
        let _ = writeln!(text, "found on {}", harmless(page));
    }
    if history.without_room > 0 {
        let _ = writeln!(
            text,
            "{} found a version that is not stored: `page_store_bytes` or `host_store_bytes` left no room for it",
            counted(history.without_room, "visit")
        );
    }
    for (place, other) in history.spellings.iter().enumerate() {
        let url = harmless(&other.url);
        let told = match (other.moved, other.lived_there_until) {
            (true, Some(until)) => format!("until {} it lived at {url}", screen.time(until)),
            (true, None) => format!("{url} leads here for good"),
            (false, _) => format!("{url} shows it too"),
        };
        let _ = writeln!(text, "[{}] {told}", place + 1);
    }
    text
}

fn visits(history: &PageHistory, screen: &Screen) -> String {
    let mut heads = vec![
        ("when", Align::Left),
        ("outcome", Align::Left),
        ("HTTP", Align::Right),
        ("changed", Align::Left),
        ("by", Align::Right),
        ("bytes", Align::Right),
        ("took", Align::Right),
    ];
    let is_conditional = history.visits.iter().any(|visit| visit.validator.is_some());
    if is_conditional {
        heads.push(("conditional", Align::Left));
    }
    if !history.spellings.is_empty() {
        heads.push(("at", Align::Left));
    }
    let has_reasons = history.visits.iter().any(|visit| reason(visit).is_some());
    if has_reasons {
        heads.push(("why", Align::Left));
    }
    let mut table =
        Table::new(&heads).shorten("why", Shorten::End).leave_out(&["conditional", "took", "bytes", "by"]);
    for visit in &history.visits {
        let mut cells = vec![
            screen.time(visit.at),
            visit.outcome.clone(),
            visit.status.map_or("-".to_owned(), |status| status.to_string()),
            found(visit.found).to_owned(),
            visit.divergence.map_or("-".to_owned(), |apart| format!("{apart:.3}")),
            if visit.bytes == 0 { "-".to_owned() } else { bytes(visit.bytes) },
            span(Duration::from_millis(visit.took_ms)),
        ];
        if is_conditional {
            cells.push(validator(visit).to_owned());
        }
        if !history.spellings.is_empty() {
            cells.push(visit.spelling.map_or(String::new(), |place| format!("[{}]", place + 1)));
        }
        if has_reasons {
            cells.push(reason(visit).unwrap_or_else(|| "-".to_owned()));
        }
        table.row(cells);
    }
    let mut text = table.fitted(screen.width);
    let earlier = history.visit_count - history.visits.len();
    if earlier > 0 {
        let _ = writeln!(text, "({} before these; --limit 0 shows them all)", counted(earlier, "visit"));
    }
    text
}

/// Why a visit brought nothing, or where it led.
pub(crate) fn reason(visit: &PageVisit) -> Option<String> {
    let to = visit.redirect_to.as_deref().map(|to| format!("→ {to}"));
    let told: Vec<String> = visit.reason.clone().into_iter().chain(to).collect();
    (!told.is_empty()).then(|| told.join(" "))
}

/// Whether a visit found a change, in a word.
pub(crate) fn found(found: VisitFound) -> &'static str {
    match found {
        VisitFound::Nothing => "-",
        VisitFound::First => "first",
        VisitFound::Same => "no",
        VisitFound::Changed => "yes",
        VisitFound::Returned => "back",
        VisitFound::OtherRules => "rules changed",
    }
}

/// The validators that were sent, in a word.
fn validator(visit: &PageVisit) -> &str {
    match visit.validator.as_deref() {
        None => "-",
        Some("last-modified") => "date",
        Some("etag, last-modified") => "ETag+date",
        Some("etag") => "ETag",
        Some(other) => other,
    }
}

fn profiles(history: &PageHistory, ascii: bool, screen: &Screen) -> String {
    let mut table = Table::new(&[
        ("base version of", Align::Left),
        ("visits since", Align::Right),
        ("up to", Align::Right),
        ("divergence from it", Align::Left),
    ])
    .shorten("divergence from it", Shorten::End);
    let mut any = false;
    for profile in &history.profiles {
        let Some(last) = profile.points.last() else { continue };
        any = true;
        let latest = profile.points.len().saturating_sub(PROFILE_POINTS);
        let points = profile.points.iter().skip(latest).map(|point| point.divergence);
        table.row([
            screen.time(profile.base_at),
            number(profile.points.len() as u64),
            span(seconds(last.age_seconds)),
            format!("{} {:.3}", spark(points, ascii), last.divergence),
        ]);
    }
    if any { format!("\n{}", table.fitted(screen.width)) } else { String::new() }
}

/// When fragments came and went, and what that says of the page.
fn lives(history: &PageHistory, width: usize, ascii: bool, screen: &Screen) -> String {
    let mut text = String::from("\n");
    if let (1.., Some(first)) = (history.began_anew, history.times.first()) {
        let _ =
            writeln!(text, "noise rules changed on {}; older text is not compared\n", screen.time(*first));
    }
    if history.lives.is_empty() {
        return text + "it has no words, so there are no fragments to follow\n";
    }
    let _ = writeln!(
        text,
        "fragments of {}, from when they came to when they went",
        counted(history.fragment_words, "word")
    );
    text +=
        &Stripes { width, ascii, ..Stripes::default() }.draw(&history.lives, &history.times, &screen.zone);
    text.push('\n');
    let (Some(behaviour), Some(shares)) = (history.behaviour, history.shares) else {
        return text + "behaviour  not known yet: it was seen once\n";
    };
    let _ = writeln!(
        text,
        "behaviour  {behaviour}, by fragments: {} static, {} churn, {} scroll",
        percent(shares.static_share),
        percent(shares.churn),
        percent(shares.scroll)
    );
    text + &longevity(history) + &frequency(history) + &survival(history)
}

fn longevity(history: &PageHistory) -> String {
    match history.longevity_seconds {
        Some(mean) => format!(
            "longevity  {}: the mean of {} seen to come and to go\n",
            span(seconds(mean)),
            counted(history.fragment_counts.whole, "fragment")
        ),
        None => "longevity  not known: no fragment was seen to come and to go\n".to_owned(),
    }
}

fn frequency(history: &PageHistory) -> String {
    let among =
        format!("{} among {}", counted(history.updates, "update"), counted(history.times.len(), "snapshot"));
    match history.change_frequency_per_day {
        Some(a_day) if a_day > 0.0 => format!(
            "frequency  {} a day, one in {}: {among}\n",
            if a_day < 100.0 { format!("{a_day:.2}") } else { number(a_day.round() as u64) },
            span(seconds(SECONDS_PER_DAY / a_day)),
        ),
        _ => format!("frequency  {among}\n"),
    }
}

/// How many updates fragments survive (Olston & Pandey 2008, §3.3: replaced at the Kth after they came).
fn survival(history: &PageHistory) -> String {
    let Some(dominant) = history.dominant_k else { return String::new() };
    let [next, second, later] = by_k(&history.survived);
    format!(
        "lifetime   fragments are replaced at the next update (K = 1) {}, at the second {}, later {}; most K = {dominant}\n",
        percent(next),
        percent(second),
        percent(later)
    )
}

/// The shares of fragments with K = 1, K = 2 and above.
fn by_k(survived: &BTreeMap<usize, usize>) -> [f64; 3] {
    let all: usize = survived.values().sum();
    let mut shares = [0.0; 3];
    for (k, fragments) in survived {
        if let Some(share) = shares.get_mut(k.saturating_sub(1).min(2)) {
            *share += *fragments as f64 / all.max(1) as f64;
        }
    }
    shares
}

fn seconds(seconds: f64) -> Duration {
    Duration::try_from_secs_f64(seconds).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replacements_fall_in_three_classes() {
        let shares = by_k(&BTreeMap::from([(1, 2), (2, 1), (3, 4), (9, 1)]));
        assert_eq!(shares, [0.25, 0.125, 0.625]);
        assert_eq!(by_k(&BTreeMap::new()), [0.0; 3]);
    }
}
