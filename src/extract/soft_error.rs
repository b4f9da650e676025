//! Pages that are no content though their status says so: title and text in, what is the matter out.
//!
//! Many servers answer 200 with "page not found", and those in front of them with "too many requests" or "verify you are
//! human". To take that for the page would be to see it change twice, and to lose what it held. What must stay true:
//! better to miss an error than to take a page for one. So the page must be short, and its title or its first line
//! must *be* one of the known phrases, or begin with one, give or take the site's name and what is polite. A phrase or
//! number that may also be the name of a film or a bus needs a second witness on the page. A page that only talks of
//! such errors is long, or begins with something else. A plain text has no title: all of it must be a server's message.

use super::MediaKind;

/// The error that a page with status 200 shows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SoftError {
    /// There is no such page: it counts as 404.
    Missing,
    /// There may be one, but it is not shown now, or not to us: it counts as 503.
    Busy,
}
use SoftError::{Busy, Missing};

/// Words that an error page has at the most. Error pages of servers have some 10 to 60, with a menu around them more,
/// but then they can't be told from a page.
const MAX_WORDS: usize = 80;
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
}
use PhraseFit::{Start, Vague, Whole};

/// Phrases of error pages, in lower case, without punctuation and apostrophes; how each must stand; what it means; and
/// who says so, or why it is not stricter or looser.
const PHRASES: &[(&str, PhraseFit, SoftError, &str)] = &[
    // --- missing
    ("error 404", Whole, Missing, "IIS, and most hand-made ones"),
    ("http error 404", Whole, Missing, "IIS"),
    ("error 404 not found", Start, Missing, "search engines"),
    ("error 404 page not found", Start, Missing, "hand-made"),
    ("error page not found", Start, Missing, "hand-made"),
    ("http error 404 0", Whole, Missing, "IIS 7: “HTTP Error 404.0 - Not Found”"),
    ("http 404", Vague, Missing, "an article may be on it"),
    ("404 error", Vague, Missing, "an article may begin with it: “404 error pages we love”"),
    ("404 not found", Start, Missing, "nginx, Apache"),
    ("404 page not found", Start, Missing, "Go, WordPress themes"),
    ("404 file not found", Start, Missing, "GitHub Pages and others"),
    ("404 file or directory not found", Start, Missing, "IIS 7 and later"),
    ("not found", Vague, Missing, "Apache's heading; too common to begin with"),
    ("page not found", Whole, Missing, "WordPress, Drupal, most frameworks"),
    ("file not found", Vague, Missing, "Java servers; programs have such errors too"),
    ("nothing found", Vague, Missing, "WordPress"),
    ("nothing was found", Vague, Missing, "WordPress themes"),
    ("that page cant be found", Start, Missing, "WordPress"),
    ("this page cant be found", Start, Missing, "Wix, Squarespace"),
    ("page cant be found", Whole, Missing, "themes"),
    ("page cannot be found", Whole, Missing, "IIS 6"),
    ("the page cannot be found", Start, Missing, "IIS 6"),
    ("this page doesnt exist", Start, Missing, "hand-made"),
    ("this page does not exist", Start, Missing, "hand-made"),
    ("page does not exist", Whole, Missing, "hand-made"),
    ("page doesnt exist", Whole, Missing, "hand-made"),
    ("this page isnt available", Start, Missing, "social networks"),
    ("this page is no longer available", Start, Missing, "shops, news"),
    ("page no longer available", Whole, Missing, "shops, news"),
    ("this item is no longer available", Start, Missing, "shops"),
    ("this product is no longer available", Start, Missing, "shops"),
    ("no longer available", Vague, Missing, "a headline may end with it"),
    ("page unavailable", Vague, Missing, "hand-made"),
    ("there is currently no text in this page", Start, Missing, "MediaWiki"),
    ("no such page", Whole, Missing, "wikis"),
    ("410 gone", Start, Missing, "nginx, Apache"),
    ("seite nicht gefunden", Start, Missing, "German"),
    ("die seite wurde nicht gefunden", Start, Missing, "German"),
    ("diese seite existiert nicht", Start, Missing, "German"),
    ("page non trouvée", Start, Missing, "French"),
    ("page introuvable", Start, Missing, "French"),
    ("cette page nexiste pas", Start, Missing, "French"),
    ("cette page nexiste plus", Start, Missing, "French"),
    ("página no encontrada", Start, Missing, "Spanish"),
    ("la página no existe", Start, Missing, "Spanish"),
    ("esta página no existe", Start, Missing, "Spanish"),
    ("página não encontrada", Start, Missing, "Portuguese"),
    ("esta página não existe", Start, Missing, "Portuguese"),
    ("pagina non trovata", Start, Missing, "Italian"),
    ("la pagina non esiste", Start, Missing, "Italian"),
    ("nie znaleziono strony", Start, Missing, "Polish"),
    ("strona nie została znaleziona", Start, Missing, "Polish"),
    ("strona nie istnieje", Start, Missing, "Polish"),
    ("strony nie znaleziono", Start, Missing, "Polish"),
    ("страница не найдена", Start, Missing, "Russian"),
    ("такой страницы не существует", Start, Missing, "Russian"),
    ("страница не существует", Start, Missing, "Russian"),
    ("页面不存在", Start, Missing, "Chinese"),
    ("页面未找到", Start, Missing, "Chinese"),
    ("找不到页面", Start, Missing, "Chinese"),
    ("您访问的页面不存在", Start, Missing, "Chinese"),
    ("找不到頁面", Start, Missing, "Chinese, traditional"),
    ("ページが見つかりません", Start, Missing, "Japanese"),
    ("お探しのページは見つかりません", Start, Missing, "Japanese"),
    ("お探しのページが見つかりません", Start, Missing, "Japanese"),
    // --- busy, broken, or closed to us
    ("error 503", Whole, Busy, "Varnish"),
    ("error 503 service unavailable", Start, Busy, "Varnish"),
    ("error 503 backend fetch failed", Start, Busy, "Varnish"),
    ("error 502", Whole, Busy, "hand-made"),
    ("error 500", Whole, Busy, "hand-made"),
    ("error 429", Whole, Busy, "hand-made"),
    ("error 403", Whole, Busy, "hand-made"),
    ("http error 503", Whole, Busy, "IIS"),
    ("http error 500", Whole, Busy, "IIS"),
    ("503 service unavailable", Start, Busy, "Apache, HAProxy"),
    ("503 service temporarily unavailable", Start, Busy, "nginx"),
    ("503 backend fetch failed", Start, Busy, "Varnish"),
    ("502 bad gateway", Start, Busy, "nginx"),
    ("504 gateway timeout", Start, Busy, "Apache, IIS"),
    ("504 gateway time out", Start, Busy, "nginx"),
    ("500 internal server error", Start, Busy, "nginx, Apache"),
    ("429 too many requests", Start, Busy, "nginx"),
    ("403 forbidden", Start, Busy, "nginx, Apache"),
    ("service unavailable", Vague, Busy, "Apache, IIS; a railway's may be a headline"),
    ("service temporarily unavailable", Whole, Busy, "nginx"),
    ("the service is unavailable", Whole, Busy, "IIS"),
    ("temporarily unavailable", Vague, Busy, "hand-made"),
    ("site temporarily unavailable", Vague, Busy, "hosting panels"),
    ("this site is temporarily unavailable", Start, Busy, "hosting panels"),
    ("bad gateway", Whole, Busy, "Cloudflare's title after its number"),
    ("gateway timeout", Whole, Busy, "Akamai and others"),
    ("gateway time out", Whole, Busy, "nginx"),
    ("web server is down", Whole, Busy, "Cloudflare 521"),
    ("connection timed out", Vague, Busy, "Cloudflare 522"),
    ("internal server error", Whole, Busy, "Apache"),
    ("too many requests", Vague, Busy, "hand-made"),
    ("rate limit exceeded", Vague, Busy, "APIs, GitHub"),
    ("rate limited", Vague, Busy, "Cloudflare 1015: “you are being rate limited”"),
    ("you are being rate limited", Start, Busy, "Cloudflare 1015"),
    ("server is busy", Vague, Busy, "forums"),
    ("the server is busy", Start, Busy, "forums"),
    ("the server is too busy", Start, Busy, "vBulletin"),
    ("server too busy", Vague, Busy, "vBulletin, ASP.NET"),
    ("server is too busy", Whole, Busy, "IIS"),
    ("server busy", Vague, Busy, "hand-made"),
    ("server overloaded", Vague, Busy, "hand-made"),
    ("under maintenance", Vague, Busy, "a headline may end with it"),
    ("site under maintenance", Vague, Busy, "Drupal"),
    ("site is under maintenance", Whole, Busy, "WordPress plug-ins"),
    ("maintenance mode", Vague, Busy, "WordPress plug-ins"),
    ("briefly unavailable for scheduled maintenance", Start, Busy, "WordPress while it updates itself"),
    ("down for maintenance", Vague, Busy, "hand-made"),
    ("well be back soon", Vague, Busy, "hand-made"),
    ("be right back", Vague, Busy, "shops"),
    ("error establishing a database connection", Start, Busy, "WordPress"),
    ("database error", Vague, Busy, "WordPress, vBulletin; programs have such errors too"),
    ("database connection error", Whole, Busy, "hand-made"),
    ("this wiki has a problem", Start, Busy, "MediaWiki"),
    ("this site is experiencing technical difficulties", Start, Busy, "MediaWiki"),
    ("just a moment", Vague, Busy, "Cloudflare's check"),
    ("checking your browser", Start, Busy, "Cloudflare's check, the older one"),
    ("checking if the site connection is secure", Start, Busy, "Cloudflare's check"),
    ("attention required", Vague, Busy, "Cloudflare's block: “Attention Required! | Cloudflare”"),
    ("verify you are human", Start, Busy, "Cloudflare and other checks"),
    ("verifying you are human", Start, Busy, "Cloudflare's check"),
    ("please verify you are a human", Start, Busy, "PerimeterX"),
    ("are you a robot", Vague, Busy, "Bloomberg and others"),
    ("are you human", Vague, Busy, "checks"),
    ("robot check", Vague, Busy, "Amazon"),
    ("security check", Vague, Busy, "checks; travellers read of such too"),
    ("pardon our interruption", Vague, Busy, "Imperva, Akamai"),
    ("ddos protection by", Start, Busy, "DDoS-Guard, Cloudflare"),
    ("access denied", Vague, Busy, "Akamai, IIS, Cloudflare 1020"),
    ("access to this page has been denied", Start, Busy, "PerimeterX"),
    ("you have been blocked", Start, Busy, "Cloudflare, DataDome"),
    ("forbidden", Vague, Busy, "Apache's heading"),
    ("unusual traffic from your computer network", Start, Busy, "search engines"),
    ("zu viele anfragen", Start, Busy, "German"),
    ("wartungsarbeiten", Vague, Busy, "German; railways announce them too"),
    ("wartungsmodus", Vague, Busy, "German"),
    ("zugriff verweigert", Vague, Busy, "German"),
    ("dienst nicht verfügbar", Vague, Busy, "German"),
    ("der server ist überlastet", Start, Busy, "German"),
    ("trop de requêtes", Start, Busy, "French"),
    ("site en maintenance", Vague, Busy, "French"),
    ("accès refusé", Vague, Busy, "French"),
    ("service indisponible", Vague, Busy, "French"),
    ("service temporairement indisponible", Whole, Busy, "French"),
    ("demasiadas solicitudes", Start, Busy, "Spanish"),
    ("sitio en mantenimiento", Vague, Busy, "Spanish"),
    ("acceso denegado", Vague, Busy, "Spanish"),
    ("servicio no disponible", Vague, Busy, "Spanish"),
    ("muitas solicitações", Vague, Busy, "Portuguese"),
    ("site em manutenção", Vague, Busy, "Portuguese"),
    ("acesso negado", Vague, Busy, "Portuguese"),
    ("serviço indisponível", Vague, Busy, "Portuguese"),
    ("troppe richieste", Vague, Busy, "Italian"),
    ("sito in manutenzione", Vague, Busy, "Italian"),
    ("accesso negato", Vague, Busy, "Italian"),
    ("servizio non disponibile", Vague, Busy, "Italian"),
    ("zbyt wiele żądań", Start, Busy, "Polish"),
    ("przerwa techniczna", Vague, Busy, "Polish"),
    ("odmowa dostępu", Vague, Busy, "Polish"),
    ("serwis niedostępny", Vague, Busy, "Polish"),
    ("слишком много запросов", Start, Busy, "Russian"),
    ("технические работы", Vague, Busy, "Russian"),
    ("доступ запрещен", Whole, Busy, "Russian"),
    ("доступ запрещён", Whole, Busy, "Russian, with ё"),
    ("сервис временно недоступен", Whole, Busy, "Russian"),
    ("请求过于频繁", Start, Busy, "Chinese"),
    ("服务器繁忙", Start, Busy, "Chinese"),
    ("系统繁忙", Start, Busy, "Chinese"),
    ("系统维护中", Start, Busy, "Chinese"),
    ("访问被拒绝", Start, Busy, "Chinese"),
    ("アクセスが集中しています", Start, Busy, "Japanese"),
    ("ただいまメンテナンス中です", Start, Busy, "Japanese"),
    ("メンテナンス中", Vague, Busy, "Japanese"),
    ("アクセスが拒否されました", Start, Busy, "Japanese"),
    ("サーバーが混み合っています", Start, Busy, "Japanese"),
];

/// Statuses that are told as nothing but a number, which says little: all of a title or first line, and not alone.
const NUMBERS: &[(&str, SoftError)] = &[
    ("404", Missing),
    ("410", Missing),
    ("403", Busy),
    ("429", Busy),
    ("500", Busy),
    ("502", Busy),
    ("503", Busy),
    ("504", Busy),
];

/// Beginnings of sentences of error pages, if one of [`LACKS`] follows: there are pages on “the page you requested at
/// the library” too. IIS, Rails, Django, Drupal, Apache and Tomcat say so.
const SUBJECTS: &[&str] = &[
    "the page you are looking for",
    "the page youre looking for",
    "the page you were looking for",
    "the page you requested",
    "the page you have requested",
    "the page that you requested",
    "the requested page",
    "the requested file",
    "the requested document",
    "the resource you are looking for",
];
/// As [`SUBJECTS`], with an address in between: Apache and Tomcat.
const SUBJECTS_WITH_ADDRESS: &[&str] = &["the requested url", "the requested resource"];
const LACKS: &[&str] = &[
    "was not",
    "wasnt",
    "could not",
    "couldnt",
    "cannot",
    "can not",
    "cant",
    "does not",
    "doesnt",
    "do not",
    "is not",
    "isnt",
    "is no longer",
    "is unavailable",
    "is temporarily unavailable",
    "no longer exists",
    "has moved",
    "has been moved",
    "has been removed",
    "has been deleted",
    "was removed",
    "was deleted",
    "might have been",
    "may have been",
    "may have moved",
];

/// Titles and lines that say only that there is an error; the next line tells more.
const ERROR_WORDS: &[&str] = &[
    "error",
    "server error",
    "http error",
    "fehler",
    "erreur",
    "errore",
    "erro",
    "błąd",
    "ошибка",
    "错误",
    "エラー",
];

/// Wording that error pages have somewhere, and others seldom: a second witness.
const WORDING: &[&str] = &[
    "page not found",
    "was not found",
    "cant be found",
    "cannot be found",
    "could not be found",
    "couldnt be found",
    "couldnt find",
    "could not find",
    "cant find",
    "cant seem to find",
    "page doesnt exist",
    "page does not exist",
    "page no longer exists",
    "permission to access",
    "on this server",
    "temporarily unable",
    "temporarily unavailable",
    "bad gateway",
    "service unavailable",
    "too many requests",
    "try again later",
    "try again in a few",
    "slow down",
    "rate limit",
    "you have exceeded",
    "sent too many",
    "checking your browser",
    "enable javascript and cookies",
    "unusual traffic",
    "you are human",
    "you are not a robot",
    "nicht gefunden",
    "später erneut",
    "später noch einmal",
];

/// Plain texts that are a server's message, and who sends it.
const MESSAGES: &[(&str, PhraseFit, SoftError, &str)] = &[
    ("404 page not found", Whole, Missing, "Go"),
    ("404 not found", Whole, Missing, "many frameworks"),
    ("error 404 not found", Whole, Missing, "hand-made"),
    ("404 file not found", Whole, Missing, "hand-made"),
    ("default backend 404", Whole, Missing, "Kubernetes"),
    ("page not found", Whole, Missing, "hand-made"),
    ("not found", Whole, Missing, "many frameworks"),
    ("410 gone", Whole, Missing, "many frameworks"),
    ("403 forbidden", Whole, Busy, "many frameworks"),
    ("429 too many requests", Whole, Busy, "many frameworks"),
    ("too many requests", Whole, Busy, "many frameworks"),
    ("rate limit exceeded", Whole, Busy, "APIs"),
    ("500 internal server error", Whole, Busy, "many frameworks"),
    ("internal server error", Whole, Busy, "many frameworks"),
    ("502 bad gateway", Whole, Busy, "proxies"),
    ("bad gateway", Whole, Busy, "proxies"),
    ("503 service unavailable", Whole, Busy, "many frameworks"),
    ("503 service temporarily unavailable", Whole, Busy, "nginx"),
    ("service unavailable", Whole, Busy, "many frameworks"),
    ("504 gateway timeout", Whole, Busy, "proxies"),
    ("504 gateway time out", Whole, Busy, "proxies"),
    ("gateway timeout", Whole, Busy, "proxies"),
    ("upstream connect error", Start, Busy, "Envoy, with the reason"),
    ("upstream request timeout", Whole, Busy, "Envoy"),
    ("no healthy upstream", Whole, Busy, "Envoy"),
];

/// Whether a page that came with status 200 is an error after all. `title` and `text` are those of
/// [`Document`](super::Document), before any rule on what to ignore.
pub fn soft_error(kind: MediaKind, title: Option<&str>, text: &str) -> Option<SoftError> {
    match kind {
        MediaKind::Html => page(title, text),
        MediaKind::Text => message(text),
        MediaKind::Sitemap | MediaKind::Other => None,
    }
}

fn message(text: &str) -> Option<SoftError> {
    if text.split_whitespace().nth(MAX_MESSAGE_WORDS).is_some() || text.len() > MAX_LINE_BYTES {
        return None;
    }
    let said = plain(text);
    let found = MESSAGES.iter().find(|(phrase, fit, ..)| match fit {
        Start => starts_with(&said, phrase),
        Whole | Vague => said == *phrase,
    });
    found.map(|(_, _, error, _)| *error)
}

fn page(title: Option<&str>, text: &str) -> Option<SoftError> {
    if text.split_whitespace().nth(MAX_WORDS).is_some() || is_long_without_spaces(text) {
        return None;
    }
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

/// Chinese and Japanese have no spaces between words: some two characters are one, of three bytes each.
fn is_long_without_spaces(text: &str) -> bool {
    text.len() > MAX_WORDS * 12
}

/// Whether the text says in other words, too, that this is an error.
fn has_witness(text: &str, vague: &FoundPhrase) -> bool {
    let is_other = |words: &str| !words.contains(vague.phrase) && !vague.phrase.contains(words);
    text.lines().any(|line| {
        let said = format!(" {} ", plain(line));
        let is_worded =
            WORDING.iter().any(|wording| is_other(wording) && said.contains(&format!(" {wording} ")));
        let tells =
            |sentence: &str| read(sentence).is_some_and(|found| !found.is_number && is_other(found.phrase));
        is_worded || line.split_inclusive(ENDS).any(tells)
    })
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
            };
            if fits {
                let found = FoundPhrase { phrase, error: *error, is_sure: *fit != Vague, is_number: false };
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

/// At whole words; a language without spaces has none.
fn starts_with(part: &str, phrase: &str) -> bool {
    part.strip_prefix(phrase).is_some_and(|rest| {
        rest.is_empty() || rest.starts_with(' ') || phrase.chars().all(|character| character > '\u{2e7f}')
    })
}

#[cfg(test)]
#[path = "soft_error_tests.rs"]
mod tests;
