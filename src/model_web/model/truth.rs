//! The truth about a page: its text without noise, and the words of its fragments.

use super::site::{Site, without_noise};
use super::turnover::Tenant;
use crate::extract;

/// Words of a fragment, whatever a crawl was told to count in: the truth of a page does not hang on who asks.
pub(crate) const FRAGMENT_WORDS: usize = 4;

/// The words that a reader of the page sees, without noise, as `extract` reads them.
pub fn text(site: &Site<'_>, page: &Tenant, day: f64) -> String {
    read(site.quiet_html(page, day).as_bytes())
}

/// The words of a body that a crawler holds, as [`text`] would tell them. Noise is not part of the truth, so it is
/// not compared with it. `text` is the text that was read off the body.
pub fn held_text(body: &[u8], text: String) -> String {
    without_noise(body).map_or(text, |quiet| read(&quiet))
}

fn read(html: &[u8]) -> String {
    extract::html(html, Some("text/html; charset=utf-8"), 0).text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model_web::model::spec::WebSpec;

    #[test]
    fn what_is_read_off_a_page_as_served_is_its_true_text_but_for_the_noise() {
        for noise in [false, true] {
            let spec = WebSpec { pages: 60, median_bytes: 3000, noise, ..WebSpec::default() };
            let site = Site::new(&spec, 0);
            for page in site.living(4.2) {
                let (served, truth) = (site.html(&page, 4.2), text(&site, &page, 4.2));
                let held = extract::html(served.as_bytes(), Some("text/html; charset=utf-8"), 9).text;
                assert_eq!(held == truth, !noise);
                assert_eq!(held_text(served.as_bytes(), held), truth);
                assert_eq!(without_noise(served.as_bytes()).is_some(), noise);
            }
        }
        assert_eq!(held_text(b"<p class=\"noise clock\">cut", "cut".to_owned()), "cut");
    }
}
