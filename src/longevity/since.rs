//! What a refresh is worth by what a page did since the last one: no curve, only time and divergence as they passed.

/// Time since a refresh, and the area under the divergence from the copy in it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Since {
    days: f64,
    area: f64,
}

impl Since {
    /// So many days pass, at this divergence in the mean.
    pub fn pass(&mut self, days: f64, divergence: f64) {
        self.days += days;
        self.area += days * divergence;
    }

    pub fn days(&self) -> f64 {
        self.days
    }

    /// U(t) = t·D(t) − ∫₀ᵗ D (Olston & Pandey 2008, §2.2, eq. 4), the divergence being this one now. Below 0 where the
    /// page came back to what the copy says.
    pub fn utility(&self, divergence: f64) -> f64 {
        self.days * divergence - self.area
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn utility_is_the_area_above_the_curve() {
        let mut since = Since::default();
        assert_eq!(since.utility(1.0), 0.0);
        // Nothing for two days, then a half: the copy was as good as new for two days.
        since.pass(2.0, 0.0);
        assert_eq!(since.utility(0.5), 1.0);
        // It stays a half: nothing is gained by waiting.
        since.pass(3.0, 0.5);
        assert_eq!((since.days(), since.utility(0.5)), (5.0, 1.0));
        assert_eq!(since.utility(0.0), -1.5, "the page came back");
    }
}
