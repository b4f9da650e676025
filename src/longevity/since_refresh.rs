//! The utility of a refresh from the divergence that was measured since the last one; no curve is assumed.

/// The time since a refresh, and the area under the divergence from the copy in that time.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SinceRefresh {
    days: f64,
    area: f64,
}

impl SinceRefresh {
    /// Lets `days` pass, at this mean divergence.
    pub fn pass(&mut self, days: f64, divergence: f64) {
        self.days += days;
        self.area += days * divergence;
    }

    /// Days since the refresh.
    pub fn days(&self) -> f64 {
        self.days
    }

    /// U(t) = t·D(t) − ∫₀ᵗ D (Olston & Pandey 2008, §2.2, eq. 4), where D(t) is the present `divergence`. Below 0 if the page has
    /// returned to the content of the copy.
    pub fn utility(&self, divergence: f64) -> f64 {
        self.days * divergence - self.area
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn utility_is_the_area_above_the_curve() {
        let mut since = SinceRefresh::default();
        assert_eq!(since.utility(1.0), 0.0);
        // Nothing for two days, then a half: the copy was fresh for two days.
        since.pass(2.0, 0.0);
        assert_eq!(since.utility(0.5), 1.0);
        // It stays a half: nothing is gained by waiting.
        since.pass(3.0, 0.5);
        assert_eq!((since.days(), since.utility(0.5)), (5.0, 1.0));
        assert_eq!(since.utility(0.0), -1.5, "the page came back");
    }
}
