//! Where a redirect leads, and which redirects are not followed.

use crate::fetch::visit::RedirectFault;
use crate::page::{Fingerprint, PageUrl, UrlError};

/// The page that a redirect leads to, if it may be asked for: it has a URL that we ask for, it was not passed on the way
/// here, and fewer than `most` redirects led here. Whether it is in scope is judged where pages are admitted.
pub fn follow(
    target: Result<PageUrl, UrlError>,
    was_passed: impl Fn(Fingerprint) -> bool,
    hops: u32,
    most: u32,
) -> Result<PageUrl, RedirectFault> {
    let target = target.map_err(|error| match error {
        UrlError::Scheme(_) | UrlError::UserInfo => RedirectFault::OutOfScope,
        _ => RedirectFault::BadLocation,
    })?;
    if was_passed(target.fingerprint()) {
        Err(RedirectFault::Loop)
    } else if hops >= most {
        Err(RedirectFault::TooMany)
    } else {
        Ok(target)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::Normaliser;

    #[test]
    fn a_redirect_is_followed_once_and_not_for_ever() {
        let url = |text: &str| Normaliser::default().parse(text);
        let here = url("https://example.org/a").expect("a page").fingerprint();
        let follow = |to: &str, hops| follow(url(to), |page| page == here, hops, 2);
        assert_eq!(follow("https://example.org/b", 1).expect("a page").as_str(), "https://example.org/b");
        assert_eq!(follow("https://example.org/b", 2), Err(RedirectFault::TooMany));
        // A loop is called a loop however long it is.
        assert_eq!(follow("https://example.org/a#top", 2), Err(RedirectFault::Loop));
        assert_eq!(follow("ftp://example.org/", 0), Err(RedirectFault::OutOfScope));
        assert_eq!(follow("https://me@example.org/", 0), Err(RedirectFault::OutOfScope));
        assert_eq!(follow("https://", 0), Err(RedirectFault::BadLocation));
    }
}
