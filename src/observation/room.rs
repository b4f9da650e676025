//! How much one page and one host may store.
//!
//! A page of random text is another one at every visit, and would fill the disk in time. Beyond the limits a new version
//! is known by its hashes, its lengths and its sketch, so that changes are still found and measured; its body and text are
//! not stored. Whatever is stored stays.

/// Bytes of packed bodies and texts that may be stored; 0: no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StoreLimits {
    /// Of one page.
    pub page_bytes: u64,
    /// Of all pages of one host.
    pub host_bytes: u64,
}

impl StoreLimits {
    /// Is there room for this number of bytes more, where a page and its host have stored so much?
    pub fn have_room(self, of_page: u64, of_host: u64, more: u64) -> bool {
        let fits = |limit: u64, stored: u64| limit == 0 || stored.saturating_add(more) <= limit;
        fits(self.page_bytes, of_page) && fits(self.host_bytes, of_host)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_fits_if_page_and_host_have_room_for_it() {
        let limits = StoreLimits { page_bytes: 100, host_bytes: 1000 };
        assert!(limits.have_room(60, 960, 40));
        assert!(!limits.have_room(61, 61, 40), "the page is full");
        assert!(!limits.have_room(0, 961, 40), "the host is full");
        assert!(!limits.have_room(u64::MAX, 0, 40));
    }

    #[test]
    fn zero_is_no_limit() {
        assert!(StoreLimits::default().have_room(u64::MAX, u64::MAX, 1));
        assert!(StoreLimits { page_bytes: 0, host_bytes: 10 }.have_room(500, 5, 5));
    }
}
