//! ETag and Last-Modified: right, wrong or absent, by the page.
//!
//! A right ETag follows the content and ignores noise, so it is weak when there is noise. A right Last-Modified is the
//! second of the last change, and is held back until that second is over, so that no later change can share it
//! (RFC 9110, §8.8.2.2). A wrong validator errs in one of two ways, by the page: it never moves, and a change goes
//! unseen; or it moves all the time, and every visit seems a change.

use super::draw::{sub_seed, unit};
use super::site::Site;
use super::spec::Validity;
use super::turnover::Tenant;

/// The validators that a page sends of its version.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ServedValidators {
    /// The `ETag`, if the page has one.
    pub etag: Option<String>,
    /// The date in `Last-Modified`, if the page has one.
    pub last_modified: Option<Modified>,
}

/// When a page says that it changed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Modified {
    /// The truth.
    At(f64),
    /// When it was written, though it changed since; or the truth by chance.
    Written(f64),
    /// Whenever it is asked.
    Now,
}

enum ValidatorClass {
    Right,
    Stuck,
    Restless,
    Absent,
}

/// How often a day a restless ETag moves: every ten minutes.
const RESTLESS_PER_DAY: f64 = 144.0;

/// The validators of a page at a moment.
pub fn of(site: &Site<'_>, page: &Tenant, day: f64) -> ServedValidators {
    let weak = if site.spec.noise { "W/" } else { "" };
    let tag = |number: u64| format!("{weak}\"{number:016x}\"");
    let etag = match class(site.spec.etag, sub_seed(page.seed, 8)) {
        ValidatorClass::Right => Some(tag(site.version(page, day))),
        ValidatorClass::Stuck => Some(tag(page.seed)),
        ValidatorClass::Restless => {
            Some(tag(sub_seed(page.seed, (day * RESTLESS_PER_DAY).floor() as i64 as u64)))
        }
        ValidatorClass::Absent => None,
    };
    let last_modified = match class(site.spec.last_modified, sub_seed(page.seed, 9)) {
        ValidatorClass::Right => Some(Modified::At(site.last_change(page, day))),
        ValidatorClass::Stuck => Some(Modified::Written(site.born(page))),
        ValidatorClass::Restless => Some(Modified::Now),
        ValidatorClass::Absent => None,
    };
    ServedValidators { etag, last_modified }
}

fn class(validity: Validity, seed: u64) -> ValidatorClass {
    let drawn = unit(seed);
    if drawn < validity.right {
        ValidatorClass::Right
    } else if drawn >= validity.right + validity.wrong {
        ValidatorClass::Absent
    } else if sub_seed(seed, 1).is_multiple_of(2) {
        ValidatorClass::Stuck
    } else {
        ValidatorClass::Restless
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model_web::model::spec::WebSpec;

    #[test]
    fn right_ones_follow_the_content_and_wrong_ones_do_not() {
        let all = |right, wrong| WebSpec {
            pages: 200,
            etag: Validity { right, wrong },
            last_modified: Validity { right, wrong },
            turnover: 0.0,
            ..WebSpec::default()
        };
        let spec = all(1.0, 0.0);
        let site = Site::new(&spec, 0);
        for page in site.living(1.0) {
            let (then, now) = (of(&site, &page, 1.0), of(&site, &page, 3.0));
            let changed = !site.changes(&page, 1.0, 3.0).is_empty();
            assert_eq!(then.etag != now.etag, changed);
            assert_eq!(then.last_modified != now.last_modified, changed);
        }
        let spec = all(0.0, 1.0);
        let site = Site::new(&spec, 0);
        let stuck =
            site.living(1.0).filter(|page| of(&site, page, 1.0).etag == of(&site, page, 3.0).etag).count();
        assert!((70..130).contains(&stuck), "about half: {stuck}");
        let spec = all(0.0, 0.0);
        let site = Site::new(&spec, 0);
        assert!(site.living(1.0).all(|page| of(&site, &page, 1.0) == ServedValidators::default()));
    }
}
