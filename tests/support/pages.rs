//! Pages for a site: a title, words and links come in, a small valid HTML document comes out.
//!
//! The same arguments give the same page, on every machine: the words are drawn with a generator of our own.

/// Words to draw from: short and long, common and less so, none that HTML would need to escape.
const WORDS: &str = "river water stone bridge morning winter market village harbour letter garden \
    window people story paper number question answer reason season distance evening \
    mountain valley the a of in on under after before with without toward because \
    while until and but old new quiet bright early late small heavy careful common \
    runs carries keeps finds leaves remembers changes returns measures follows \
    slowly often again together";

/// A page that is little more than its links, each with its address as the text. Title and links are escaped.
pub fn links_page(title: &str, links: &[&str]) -> String {
    document(title, "", links)
}

/// A page of exactly `words` words in sentences and paragraphs, then its links. Title and links come on top
/// of the count. Two seeds give two texts; the same seed gives one text whatever the title and the links are.
pub fn article(title: &str, words: usize, seed: u64, links: &[&str]) -> String {
    document(title, &paragraphs(words, seed), links)
}

fn document(title: &str, content: &str, links: &[&str]) -> String {
    let title = escape(title);
    let mut page = format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head><meta charset=\"utf-8\"><title>{title}</title></head>\n\
         <body>\n<h1>{title}</h1>\n{content}"
    );
    if !links.is_empty() {
        page.push_str("<ul>\n");
        for link in links.iter().map(|link| escape(link)) {
            page.push_str(&format!("<li><a href=\"{link}\">{link}</a></li>\n"));
        }
        page.push_str("</ul>\n");
    }
    page.push_str("</body>\n</html>\n");
    page
}

fn paragraphs(words: usize, seed: u64) -> String {
    let vocabulary: Vec<&str> = WORDS.split(' ').collect();
    let mut draw = Draw { state: seed };
    let mut text = String::new();
    let mut left = words;
    while left > 0 {
        text.push_str("<p>");
        for sentence in 0..3 + draw.below(4) {
            let length = (6 + draw.below(10)).min(left);
            if length == 0 {
                break;
            }
            if sentence > 0 {
                text.push(' ');
            }
            push_sentence(&mut text, length, &vocabulary, &mut draw);
            left -= length;
        }
        text.push_str("</p>\n");
    }
    text
}

fn push_sentence(text: &mut String, length: usize, vocabulary: &[&str], draw: &mut Draw) {
    for position in 0..length {
        let word = vocabulary.get(draw.below(vocabulary.len())).copied().unwrap_or_default();
        if position > 0 {
            text.push(' ');
            text.push_str(word);
        } else {
            let mut letters = word.chars();
            text.extend(letters.next().map(|letter| letter.to_ascii_uppercase()));
            text.push_str(letters.as_str());
        }
    }
    text.push('.');
}

/// SplitMix64 (Steele, Lea & Flood 2014): enough chance for words, and the same on every machine.
struct Draw {
    state: u64,
}

impl Draw {
    fn below(&mut self, bound: usize) -> usize {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^= mixed >> 31;
        (mixed % bound.max(1) as u64) as usize
    }
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
