//! Pages that are no content though their status says so: title and text in, what is the matter out.
//!
//! Many servers answer 200 with "page not found", and those in front of them with "too many requests" or "verify you are
//! human". To take that for the page would be to see it change twice, and to lose what it held. What must stay true:
//! better to miss an error than to take a page for one. So the page must be short, and its title or its first line
//! must *be* one of the known phrases, or begin with one, give or take the site's name and what is polite; a page that
//! only talks of such errors is long, or begins with something else.

/// What is the matter with a page whose status is 200.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SoftError {
    /// There is no such page: as good as 404.
    Missing,
    /// There may be one, but it is not shown now, or not to us: as good as 503.
    Busy,
}
use SoftError::{Busy, Missing};

/// Words that an error page has at the most. Error pages of servers have some 10 to 60, with a menu around them more,
/// but then they can't be told from a page.
const MAX_WORDS: usize = 80;
/// Bytes of a title or line that are looked at: longer ones are sentences.
const MAX_LINE_BYTES: usize = 200;

/// How much of a title or line a phrase has to be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Fit {
    /// All of it, or of a part of it: they are set apart by a dash, a bar, a colon or a full stop. For phrases that may
    /// stand in a headline.
    Whole,
    /// The beginning of it, or of a part of it. For phrases that begin no headline.
    Start,
}
use Fit::{Start, Whole};

/// What error pages say, in lower case, without punctuation and apostrophes; how it must stand; what it means; and
/// who says so, or why it is not stricter or looser.
const PHRASES: &[(&str, Fit, SoftError, &str)] = &[
    // --- missing
    ("404", Whole, Missing, "title of many; a headline may begin with a number"),
    ("error 404", Start, Missing, "IIS, and most hand-made ones"),
    ("http error 404", Start, Missing, "IIS"),
    ("http 404", Whole, Missing, "an article may be on it"),
    ("404 error", Whole, Missing, "an article may begin with it: “404 error pages we love”"),
    ("404 not found", Start, Missing, "nginx, Apache"),
    ("404 page not found", Start, Missing, "Go, WordPress themes"),
    ("404 file not found", Start, Missing, "GitHub Pages and others"),
    ("404 file or directory not found", Start, Missing, "IIS 7 and later"),
    ("not found", Whole, Missing, "Apache's heading; too common to begin with"),
    ("page not found", Whole, Missing, "WordPress, Drupal, most frameworks"),
    ("file not found", Whole, Missing, "Java servers; programs have such errors too"),
    ("nothing found", Whole, Missing, "WordPress"),
    ("nothing was found", Whole, Missing, "WordPress themes"),
    ("that page cant be found", Start, Missing, "WordPress"),
    ("this page cant be found", Start, Missing, "Wix, Squarespace"),
    ("page cant be found", Whole, Missing, "themes"),
    ("page cannot be found", Whole, Missing, "IIS 6"),
    ("the page cannot be found", Start, Missing, "IIS 6"),
    ("the page you are looking for", Start, Missing, "IIS, and many after it: … cannot be found, has moved"),
    ("the page you were looking for", Start, Missing, "Rails: … doesn't exist"),
    ("the page you requested", Start, Missing, "Django and hand-made: … was not found, could not be found"),
    ("the requested page", Start, Missing, "Drupal: … could not be found"),
    ("the requested url was not found on this server", Start, Missing, "Apache"),
    ("the requested resource", Start, Missing, "Tomcat: … is not available"),
    ("this page doesnt exist", Start, Missing, "hand-made"),
    ("this page does not exist", Start, Missing, "hand-made"),
    ("page does not exist", Whole, Missing, "hand-made"),
    ("page doesnt exist", Whole, Missing, "hand-made"),
    ("this page isnt available", Start, Missing, "social networks"),
    ("this page is no longer available", Start, Missing, "shops, news"),
    ("page no longer available", Whole, Missing, "shops, news"),
    ("this item is no longer available", Start, Missing, "shops"),
    ("this product is no longer available", Start, Missing, "shops"),
    ("no longer available", Whole, Missing, "a headline may end with it"),
    ("page unavailable", Whole, Missing, "hand-made"),
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
    ("503", Whole, Busy, "a headline may begin with a number"),
    ("502", Whole, Busy, "as 503"),
    ("429", Whole, Busy, "as 503"),
    ("error 503", Start, Busy, "Varnish"),
    ("error 502", Start, Busy, "hand-made"),
    ("error 500", Start, Busy, "hand-made"),
    ("error 429", Start, Busy, "hand-made"),
    ("error 403", Start, Busy, "hand-made"),
    ("http error 503", Start, Busy, "IIS"),
    ("http error 500", Start, Busy, "IIS"),
    ("503 service unavailable", Start, Busy, "Apache, HAProxy"),
    ("503 service temporarily unavailable", Start, Busy, "nginx"),
    ("503 backend fetch failed", Start, Busy, "Varnish"),
    ("502 bad gateway", Start, Busy, "nginx"),
    ("504 gateway timeout", Start, Busy, "Apache, IIS"),
    ("504 gateway time out", Start, Busy, "nginx"),
    ("500 internal server error", Start, Busy, "nginx, Apache"),
    ("429 too many requests", Start, Busy, "nginx"),
    ("403 forbidden", Start, Busy, "nginx, Apache"),
    ("service unavailable", Whole, Busy, "Apache, IIS; a railway's may be a headline"),
    ("service temporarily unavailable", Whole, Busy, "nginx"),
    ("the service is unavailable", Whole, Busy, "IIS"),
    ("temporarily unavailable", Whole, Busy, "hand-made"),
    ("site temporarily unavailable", Whole, Busy, "hosting panels"),
    ("this site is temporarily unavailable", Start, Busy, "hosting panels"),
    ("bad gateway", Whole, Busy, "Cloudflare's title after its number"),
    ("gateway timeout", Whole, Busy, "Akamai and others"),
    ("gateway time out", Whole, Busy, "nginx"),
    ("web server is down", Whole, Busy, "Cloudflare 521"),
    ("connection timed out", Whole, Busy, "Cloudflare 522"),
    ("internal server error", Whole, Busy, "Apache"),
    ("too many requests", Whole, Busy, "hand-made"),
    ("rate limit exceeded", Whole, Busy, "APIs, GitHub"),
    ("rate limited", Whole, Busy, "Cloudflare 1015: “you are being rate limited”"),
    ("you are being rate limited", Start, Busy, "Cloudflare 1015"),
    ("server is busy", Whole, Busy, "forums"),
    ("the server is busy", Start, Busy, "forums"),
    ("the server is too busy", Start, Busy, "vBulletin"),
    ("server too busy", Whole, Busy, "vBulletin, ASP.NET"),
    ("server is too busy", Whole, Busy, "IIS"),
    ("server busy", Whole, Busy, "hand-made"),
    ("server overloaded", Whole, Busy, "hand-made"),
    ("under maintenance", Whole, Busy, "a headline may end with it"),
    ("site under maintenance", Whole, Busy, "Drupal"),
    ("site is under maintenance", Whole, Busy, "WordPress plug-ins"),
    ("maintenance mode", Whole, Busy, "WordPress plug-ins"),
    ("briefly unavailable for scheduled maintenance", Start, Busy, "WordPress while it updates itself"),
    ("down for maintenance", Whole, Busy, "hand-made"),
    ("well be back soon", Whole, Busy, "hand-made"),
    ("be right back", Whole, Busy, "shops"),
    ("error establishing a database connection", Start, Busy, "WordPress"),
    ("database error", Whole, Busy, "WordPress, vBulletin; programs have such errors too"),
    ("database connection error", Whole, Busy, "hand-made"),
    ("this wiki has a problem", Start, Busy, "MediaWiki"),
    ("this site is experiencing technical difficulties", Start, Busy, "MediaWiki"),
    ("just a moment", Whole, Busy, "Cloudflare's check"),
    ("checking your browser", Start, Busy, "Cloudflare's check, the older one"),
    ("checking if the site connection is secure", Start, Busy, "Cloudflare's check"),
    ("attention required", Whole, Busy, "Cloudflare's block: “Attention Required! | Cloudflare”"),
    ("verify you are human", Start, Busy, "Cloudflare and other checks"),
    ("verifying you are human", Start, Busy, "Cloudflare's check"),
    ("please verify you are a human", Start, Busy, "PerimeterX"),
    ("are you a robot", Whole, Busy, "Bloomberg and others"),
    ("are you human", Whole, Busy, "checks"),
    ("robot check", Whole, Busy, "Amazon"),
    ("security check", Whole, Busy, "checks; travellers read of such too"),
    ("pardon our interruption", Whole, Busy, "Imperva, Akamai"),
    ("ddos protection by", Start, Busy, "DDoS-Guard, Cloudflare"),
    ("access denied", Whole, Busy, "Akamai, IIS, Cloudflare 1020"),
    ("access to this page has been denied", Start, Busy, "PerimeterX"),
    ("you have been blocked", Start, Busy, "Cloudflare, DataDome"),
    ("forbidden", Whole, Busy, "Apache's heading"),
    ("unusual traffic from your computer network", Start, Busy, "search engines"),
    ("zu viele anfragen", Start, Busy, "German"),
    ("wartungsarbeiten", Whole, Busy, "German; railways announce them too"),
    ("wartungsmodus", Whole, Busy, "German"),
    ("zugriff verweigert", Whole, Busy, "German"),
    ("dienst nicht verfügbar", Whole, Busy, "German"),
    ("der server ist überlastet", Start, Busy, "German"),
    ("trop de requêtes", Start, Busy, "French"),
    ("site en maintenance", Whole, Busy, "French"),
    ("accès refusé", Whole, Busy, "French"),
    ("service indisponible", Whole, Busy, "French"),
    ("service temporairement indisponible", Whole, Busy, "French"),
    ("demasiadas solicitudes", Start, Busy, "Spanish"),
    ("sitio en mantenimiento", Whole, Busy, "Spanish"),
    ("acceso denegado", Whole, Busy, "Spanish"),
    ("servicio no disponible", Whole, Busy, "Spanish"),
    ("muitas solicitações", Whole, Busy, "Portuguese"),
    ("site em manutenção", Whole, Busy, "Portuguese"),
    ("acesso negado", Whole, Busy, "Portuguese"),
    ("serviço indisponível", Whole, Busy, "Portuguese"),
    ("troppe richieste", Whole, Busy, "Italian"),
    ("sito in manutenzione", Whole, Busy, "Italian"),
    ("accesso negato", Whole, Busy, "Italian"),
    ("servizio non disponibile", Whole, Busy, "Italian"),
    ("zbyt wiele żądań", Start, Busy, "Polish"),
    ("przerwa techniczna", Whole, Busy, "Polish"),
    ("odmowa dostępu", Whole, Busy, "Polish"),
    ("serwis niedostępny", Whole, Busy, "Polish"),
    ("слишком много запросов", Start, Busy, "Russian"),
    ("технические работы", Whole, Busy, "Russian"),
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
    ("メンテナンス中", Whole, Busy, "Japanese"),
    ("アクセスが拒否されました", Start, Busy, "Japanese"),
    ("サーバーが混み合っています", Start, Busy, "Japanese"),
];

/// Whether a page that came with status 200 is an error after all. `title` and `text` are those of
/// [`Document`](super::Document).
pub fn soft_error(title: Option<&str>, text: &str) -> Option<SoftError> {
    if text.split_whitespace().nth(MAX_WORDS).is_some() || is_long_without_spaces(text) {
        return None;
    }
    let first = text.lines().next();
    [title, first].into_iter().flatten().find_map(read)
}

/// Chinese and Japanese have no spaces between words: some two characters are one, of three bytes each.
fn is_long_without_spaces(text: &str) -> bool {
    text.len() > MAX_WORDS * 12
}

/// What a title or line says, if that is an error.
fn read(line: &str) -> Option<SoftError> {
    if line.len() > MAX_LINE_BYTES {
        return None;
    }
    parts(line).iter().find_map(|part| {
        let found = PHRASES.iter().find(|(phrase, fit, ..)| match fit {
            Whole => part == phrase,
            Start => starts_with(part, phrase),
        });
        found.map(|(_, _, error, _)| *error)
    })
}

/// The line itself, and what stands between its dashes, bars, colons and full stops: plain words, in lower case.
fn parts(line: &str) -> Vec<String> {
    let line = line.replace(" - ", "|");
    let separators =
        ['|', '–', '—', '·', '•', '»', '«', ':', '.', '!', '?', '…', '/', '(', ')', '。', '！', '｜', '：'];
    let pieces = line.split(separators);
    std::iter::once(line.as_str()).chain(pieces).map(plain).filter(|part| !part.is_empty()).collect()
}

/// Lower case, one space between words, no punctuation; and without the politeness in front.
fn plain(part: &str) -> String {
    let spoken = part.chars().filter(|character| !matches!(character, '\'' | '’' | '‘' | '`'));
    let spaced: String =
        spoken.map(|character| if character.is_alphanumeric() { character } else { ' ' }).collect();
    let lower = spaced.to_lowercase();
    let words: Vec<&str> = lower.split_whitespace().collect();
    let polite = ["sorry", "oops", "ooops", "whoops", "uh", "oh", "hmm", "ups"];
    let from = words.iter().position(|word| !polite.contains(word)).unwrap_or(0);
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
