//! Pages that are no content though their status says so: title, text and body in, what is the matter out.
//!
//! Many servers answer 200 with "page not found", and those in front of them with "too many requests" or "verify you are
//! human". To take that for the page would be to see it change twice, and to lose what it held. What must stay true:
//! better to miss an error than to take a page for one. So the page must be short, and its title or its first line
//! must *be* one of the known phrases, or begin with one, give or take the site's name and what is polite. A phrase or
//! number that may also be the name of a film or a bus needs a second witness on the page. Around a menu, where other
//! lines come first, title and heading must both say so. A check for robots says it in its first lines, a question for
//! consent offers its answers. A page that only talks of such things is longer, or begins with something else. A plain
//! text has no title: all of it must be a server's message. Pages that this can't tell are left to their history.

mod phrases;
mod walls;

use memchr::memmem;
use phrases::{ERROR_WORDS, LACKS, MESSAGES, NUMBERS, PHRASES, SUBJECTS, SUBJECTS_WITH_ADDRESS, WORDING};
use walls::{ANSWERS, CONSENT, DEMANDS, GATES, GATES_WITHOUT_SPACES, MARKS};

use super::MediaKind;

/// The error that a page with status 200 shows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SoftError {
    /// There is no such page: it counts as 404.
    Missing,
    /// There may be one, but it is not shown now: it counts as 503.
    Busy,
    /// There may be one, but a check for robots, a block or a question for consent stands before it.
    Wall,
}
use SoftError::{Missing, Wall};

/// Words that an error page of a server has at the most: they have some 10 to 60.
const MAX_WORDS: usize = 80;
/// Words of a wall, which explains itself.
const MAX_WALL_WORDS: usize = 130;
/// Words of an error page with menus around it, and of its sentences: beyond that it can't be told from a page.
const MAX_MENU_WORDS: usize = 400;
const MAX_PROSE_WORDS: usize = 130;
/// Words of a line from which it is a sentence, not an entry of a menu.
const PROSE_LINE_WORDS: usize = 12;
/// Words of a line from which it may tell an error by itself.
const SENTENCE_WORDS: usize = 5;
/// Words of a wall that needs no second witness.
const SURE_WALL_WORDS: usize = 40;
/// Words that may stand beside the demand for scripts on a page that shows nothing without them.
const BESIDE_DEMAND_WORDS: usize = 15;
/// Lines at the top of a page in which a wall speaks.
const WALL_LINES: usize = 3;
/// Lines in which a short wall speaks that has no second witness.
const GATE_LINES: usize = 2;
/// Words below the answers of a question for consent: links to a policy, an imprint.
const BELOW_ANSWERS_WORDS: usize = 12;
/// Bytes of a title or line that are looked at: longer ones are sentences.
const MAX_LINE_BYTES: usize = 200;

/// Words of a plain text that is a server's message, at the most.
const MAX_MESSAGE_WORDS: usize = 12;

/// How much of a title or line a phrase has to be, and whether that is enough.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum PhraseFit {
    /// The beginning of it, or of a part of it: they are set apart by a dash or a bar. For phrases that begin no
    /// headline.
    Start,
    /// All of it, or of a part of it, or of its first sentence. For phrases that may begin a headline.
    Whole,
    /// As [`Whole`], but not alone: for phrases that may be a headline.
    Vague,
    /// The end of it, after a name, and not alone either.
    End,
}
use PhraseFit::{End, Start, Vague, Whole};

/// Whether a page that came with status 200 is an error after all. `title` and `text` are those of
/// [`Document`](super::Document), before any rule on what to ignore.
pub fn soft_error(kind: MediaKind, title: Option<&str>, text: &str, body: &[u8]) -> Option<SoftError> {
    match kind {
        MediaKind::Html => page(title, text, body),
        MediaKind::Text => message(text),
        // Data and feeds say of themselves what they are; an error page in their place is announced as HTML.
        MediaKind::Json | MediaKind::Xml | MediaKind::Feed | MediaKind::Other => None,
    }
}

fn message(text: &str) -> Option<SoftError> {
    if text.split_whitespace().nth(MAX_MESSAGE_WORDS).is_some() || text.len() > MAX_LINE_BYTES {
        return None;
    }
    let said = plain(text);
    let found = MESSAGES.iter().find(|(phrase, fit, ..)| match fit {
        Start => starts_with(&said, phrase),
        Whole | Vague | End => said == *phrase,
    });
    found.map(|(_, _, error, _)| *error)
}

fn page(title: Option<&str>, text: &str, body: &[u8]) -> Option<SoftError> {
    if is_longer(text, MAX_MENU_WORDS) {
        return None;
    }
    let short = || if is_longer(text, MAX_WORDS) { None } else { short_error(title, text) };
    let wall = || if is_longer(text, MAX_WALL_WORDS) { None } else { wall(title, text, body) };
    short().or_else(wall).or_else(|| error_among_menus(title, text))
}

/// Whether a text has more than `words` words. Chinese and Japanese have no spaces between words: some two characters
/// are one, of three bytes each.
fn is_longer(text: &str, words: usize) -> bool {
    text.len() > words * 12 || text.split_whitespace().nth(words).is_some()
}

/// The error that a short page names in its title or first line.
fn short_error(title: Option<&str>, text: &str) -> Option<SoftError> {
    let heads = [title, text.lines().next()];
    let found = heads.map(|line| line.and_then(read));
    if let Some(sure) = found.iter().flatten().find(|found| found.is_sure) {
        return Some(sure.error);
    }
    let vague = found.iter().flatten().next()?;
    let whole = heads.map(|line| line.map(plain).unwrap_or_default());
    let agree = whole.iter().all(|line| line == vague.phrase) && !vague.is_number;
    let is_named = whole.iter().any(|line| ERROR_WORDS.contains(&line.as_str()));
    let tells_two = matches!(&found, [Some(title), Some(first)] if title.phrase != first.phrase);
    (agree || is_named || tells_two || has_witness(text, vague)).then_some(vague.error)
}

/// A check for robots, a block, a demand for scripts, or a question for consent.
fn wall(title: Option<&str>, text: &str, body: &[u8]) -> Option<SoftError> {
    let words = text.split_whitespace().count();
    let lines: Vec<String> = text.lines().map(plain).filter(|line| !line.is_empty()).collect();
    let title_said = title.map(plain).unwrap_or_default();
    let top =
        || lines.iter().take(WALL_LINES).chain([&title_said]).filter(|line| line.len() <= 2 * MAX_LINE_BYTES);
    let named = title.and_then(read).filter(|found| found.error == Wall && !found.is_number);
    let marked = MARKS.iter().any(|(mark, _)| memmem::find(body, mark.as_bytes()).is_some());
    let gates = || {
        let spaced = GATES.iter().filter(|(gate, _)| lines.iter().any(|line| has_words(line, gate)));
        let others =
            GATES_WITHOUT_SPACES.iter().filter(|(gate, _)| lines.iter().any(|line| line.contains(gate)));
        spaced.chain(others).count()
    };
    let gate_on_top = GATES.iter().any(|(gate, _)| top().any(|line| has_words(line, gate)))
        || GATES_WITHOUT_SPACES.iter().any(|(gate, _)| top().any(|line| line.contains(gate)));
    // A short page may ask the same at the end of a form, below what it is about.
    let begins_with_gate = || {
        let mut beginning = lines.iter().take(GATE_LINES).chain([&title_said]);
        beginning.any(|line| {
            GATES.iter().any(|(gate, _)| has_words(line, gate))
                || GATES_WITHOUT_SPACES.iter().any(|(gate, _)| line.contains(gate))
        })
    };
    if gate_on_top
        && (words <= SURE_WALL_WORDS && begins_with_gate() || marked || named.is_some() || gates() > 1)
    {
        return Some(Wall);
    }
    if marked && (words <= BESIDE_DEMAND_WORDS || gates() > 0) {
        return Some(Wall);
    }
    // A title that says so and nothing that says otherwise.
    if let Some(named) = &named
        && ((named.is_sure && lines.is_empty()) || gates() > 0 || has_witness(text, named))
    {
        return Some(Wall);
    }
    let is_demand = |line: &&String| DEMANDS.iter().any(|(demand, _)| has_words(line, demand));
    let demanding: usize = lines.iter().filter(is_demand).map(|line| line.split(' ').count()).sum();
    if demanding > 0
        && (words <= demanding + BESIDE_DEMAND_WORDS && top().any(|line| is_demand(&line)) || named.is_some())
    {
        return Some(Wall);
    }
    asks_for_consent(title, &lines).then_some(Wall)
}

/// Whether a page asks for consent before it shows anything: its title or first line says so, it offers answers, and hardly
/// anything follows them. A page with a banner on top goes on below it.
fn asks_for_consent(title: Option<&str>, lines: &[String]) -> bool {
    let tells = |line: &str| parts(line).iter().any(|part| CONSENT.contains(&part.all.as_str()));
    let begins =
        |line: &String| CONSENT.iter().any(|phrase| phrase.contains(' ') && starts_with(line, phrase));
    // Buttons may stand on one line; an answer of one word must have a line of its own.
    let offers = |line: &String, answer: &str| {
        line == answer
            || answer.contains(' ') && line.split(' ').count() <= PROSE_LINE_WORDS && has_words(line, answer)
    };
    let is_offered = |answer: &&&str| lines.iter().any(|line| offers(line, answer));
    let has_answer = |line: &String| ANSWERS.iter().any(|answer| offers(line, answer));
    let below = || {
        let lines = lines.iter().rev().take_while(|line| !has_answer(line));
        lines.map(|line| line.split(' ').count()).sum::<usize>()
    };
    let is_told =
        title.is_some_and(tells) || lines.first().is_some_and(begins) && below() <= BELOW_ANSWERS_WORDS;
    is_told && ANSWERS.iter().filter(is_offered).count() > 1
}

/// The error of a page that has menus around it: a line of its own names it, and the title or a sentence does, too.
fn error_among_menus(title: Option<&str>, text: &str) -> Option<SoftError> {
    let words = |line: &str| line.split_whitespace().count();
    let prose: usize = text.lines().map(words).filter(|words| *words >= PROSE_LINE_WORDS).sum();
    if prose > MAX_PROSE_WORDS {
        return None;
    }
    let titled = title.and_then(read).filter(|found| !found.is_number);
    let lines: Vec<FoundPhrase> = text.lines().filter_map(read).filter(|found| !found.is_number).collect();
    let line = lines.iter().find(|found| found.is_sure).or(lines.first())?;
    // A list of errors is not an error.
    if lines.iter().any(|other| other.error != line.error) {
        return None;
    }
    let has_sentence = || {
        let sentences = text.lines().filter(|line| words(line) >= SENTENCE_WORDS);
        sentences.map(plain).any(|said| is_worded(&said, line.phrase))
    };
    match &titled {
        Some(title) if title.error == line.error && (title.is_sure || line.is_sure) => {
            (title.phrase != line.phrase || has_witness(text, line)).then_some(line.error)
        }
        Some(_) => None,
        None => (line.is_sure && !is_longer(text, MAX_WALL_WORDS) && has_sentence()).then_some(line.error),
    }
}

/// Whether the text says in other words, too, that this is an error.
fn has_witness(text: &str, vague: &FoundPhrase) -> bool {
    text.lines().any(|line| {
        let tells = |sentence: &str| {
            read(sentence).is_some_and(|found| !found.is_number && is_other(found.phrase, vague.phrase))
        };
        is_worded(&plain(line), vague.phrase) || line.split_inclusive(ENDS).any(tells)
    })
}

/// Whether a plain line has the wording of errors, beyond `phrase`.
fn is_worded(said: &str, phrase: &str) -> bool {
    // Chinese and Japanese wording stands without spaces around it.
    let has = |wording: &str| {
        has_words(said, wording) || (!wording.contains(' ') && !wording.is_ascii() && said.contains(wording))
    };
    WORDING.iter().any(|wording| is_other(wording, phrase) && has(wording))
}

fn is_other(words: &str, phrase: &str) -> bool {
    !words.contains(phrase) && !phrase.contains(words)
}

/// The error that a title or line names.
struct FoundPhrase {
    phrase: &'static str,
    error: SoftError,
    /// Whether it needs no witness.
    is_sure: bool,
    is_number: bool,
}

fn read(line: &str) -> Option<FoundPhrase> {
    if line.len() > MAX_LINE_BYTES {
        return None;
    }
    let (mut best, parts): (Option<FoundPhrase>, _) = (None, parts(line));
    for part in &parts {
        if let Some(subject) = lacking(&part.all) {
            return Some(FoundPhrase { phrase: subject, error: Missing, is_sure: true, is_number: false });
        }
        for (phrase, fit, error, _) in PHRASES {
            let fits = match fit {
                Start => starts_with(&part.all, phrase) || starts_with(&part.sentence, phrase),
                Whole | Vague => part.all == *phrase || part.sentence == *phrase,
                End => ends_with(&part.all, phrase) || ends_with(&part.sentence, phrase),
            };
            if fits {
                let found = FoundPhrase {
                    phrase,
                    error: *error,
                    is_sure: !matches!(fit, Vague | End),
                    is_number: false,
                };
                if found.is_sure {
                    return Some(found);
                }
                best = best.or(Some(found));
            }
        }
    }
    let whole = plain(line);
    let number = NUMBERS.iter().find(|(number, _)| whole == *number);
    best.or(number.map(|(phrase, error)| FoundPhrase {
        phrase,
        error: *error,
        is_sure: false,
        is_number: true,
    }))
}

/// The subject that a sentence says is not there.
fn lacking(part: &str) -> Option<&'static str> {
    let lacks = |rest: &str| LACKS.iter().any(|lack| starts_with(rest, lack));
    let near =
        SUBJECTS.iter().find(|subject| part.strip_prefix(**subject).is_some_and(|rest| lacks(rest.trim())));
    let far = || {
        SUBJECTS_WITH_ADDRESS.iter().find(|subject| {
            part.strip_prefix(**subject).is_some_and(|rest| {
                LACKS.iter().any(|lack| format!("{rest} ").contains(&format!(" {lack} ")))
            })
        })
    };
    near.or_else(far).copied()
}

/// Characters that end a sentence.
const ENDS: [char; 6] = ['.', '!', '?', '…', '。', '！'];

/// A title or line, or what stands between its dashes and bars: plain words, in lower case.
struct LinePart {
    all: String,
    /// The first sentence of it that is more than polite.
    sentence: String,
}

fn parts(line: &str) -> Vec<LinePart> {
    let apart = line.replace(" - ", "|");
    let pieces = apart.split(['|', '–', '—', '·', '•', '»', '«', '｜']);
    let part = |piece: &str| {
        let mut sentences = piece.split(ENDS).map(plain);
        let sentence = sentences.find(|sentence| !sentence.is_empty()).unwrap_or_default();
        LinePart { all: plain(piece), sentence }
    };
    std::iter::once(line).chain(pieces).map(part).filter(|part| !part.all.is_empty()).collect()
}

/// Lower case, one space between words, no punctuation; and without the politeness in front.
fn plain(part: &str) -> String {
    let spoken = part.chars().filter(|character| !matches!(character, '\'' | '’' | '‘' | '`'));
    let spaced: String =
        spoken.map(|character| if character.is_alphanumeric() { character } else { ' ' }).collect();
    let lower = spaced.to_lowercase();
    let words: Vec<&str> = lower.split_whitespace().collect();
    let polite = ["sorry", "oops", "ooops", "whoops", "uh", "oh", "hmm", "ups"];
    let from = words.iter().position(|word| !polite.contains(word)).unwrap_or(words.len());
    words.get(from..).unwrap_or_default().join(" ")
}

/// At whole words.
fn ends_with(part: &str, phrase: &str) -> bool {
    part.strip_suffix(phrase).is_some_and(|name| name.is_empty() || name.ends_with(' '))
}

/// Whether a plain text has these words, one after the other.
fn has_words(said: &str, words: &str) -> bool {
    memmem::find_iter(said.as_bytes(), words).any(|at| {
        let before = said.as_bytes().get(..at).and_then(|before| before.last());
        let after = said.as_bytes().get(at + words.len());
        before.is_none_or(|byte| *byte == b' ') && after.is_none_or(|byte| *byte == b' ')
    })
}

/// At whole words; a language without spaces has none.
fn starts_with(part: &str, phrase: &str) -> bool {
    part.strip_prefix(phrase).is_some_and(|rest| {
        rest.is_empty() || rest.starts_with(' ') || phrase.chars().all(|character| character > '\u{2e7f}')
    })
}

#[cfg(test)]
mod tests;
