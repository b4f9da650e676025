//! A change rate with its interval as a small bar for a page of HTML, on a logarithmic scale that several bars share.

use std::fmt::Write as _;

use super::plot::inks::IN_A_PAGE;
use crate::estimate::Estimate;

/// Size of a bar, in pixels.
const WIDTH: f64 = 160.0;
const HEIGHT: f64 = 14.0;
/// Rates beyond are drawn at the end of the scale.
const SLOWEST: f64 = 1e-5;
const FASTEST: f64 = 1e5;

/// The scale of several bars, in powers of ten of changes a day.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RateScale {
    from: f64,
    to: f64,
}

impl RateScale {
    /// A scale on which all of these can be drawn.
    pub fn of<'a>(estimates: impl IntoIterator<Item = &'a Estimate>) -> Self {
        let rates =
            estimates.into_iter().flat_map(|found| [found.low.get(), found.rate.get(), found.high.get()]);
        let powers = rates.filter(|rate| *rate > 0.0).map(power);
        let (from, to) =
            powers.fold((f64::INFINITY, f64::NEG_INFINITY), |(from, to), at| (from.min(at), to.max(at)));
        if from > to {
            return Self { from: -1.0, to: 1.0 };
        }
        let (from, to) = (from.floor(), to.ceil());
        Self { from, to: to.max(from + 1.0) }
    }

    /// The bar of an estimate: a line from the lower to the upper bound, and a dot at the rate. What is 0 stands at the left end.
    pub fn bar(&self, found: &Estimate) -> String {
        let x = |rate: f64| {
            4.0 + (WIDTH - 8.0) * ((power(rate) - self.from) / (self.to - self.from)).clamp(0.0, 1.0)
        };
        let [low, at, high] = [found.low, found.rate, found.high].map(|rate| x(rate.get()));
        let middle = HEIGHT / 2.0;
        let mut svg = format!(
            r#"<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" viewBox="0 0 {WIDTH} {HEIGHT}" aria-hidden="true">"#
        );
        let mut ten = self.from;
        while ten <= self.to {
            let tick = x(10_f64.powf(ten));
            let _ = write!(svg, r#"<path d="M{tick:.1},0v{HEIGHT}" stroke="{}"/>"#, IN_A_PAGE.grid);
            ten += 1.0;
        }
        let colour = IN_A_PAGE.colour(0);
        let _ = write!(
            svg,
            r#"<path d="M{low:.1},{middle}H{high:.1}" stroke="{colour}" stroke-width="3" stroke-opacity="0.45"/><circle cx="{at:.1}" cy="{middle}" r="4" fill="{colour}"/></svg>"#
        );
        svg
    }

    /// The ends of the scale, in changes a day.
    pub fn ends(&self) -> (f64, f64) {
        (10_f64.powf(self.from), 10_f64.powf(self.to))
    }
}

fn power(rate: f64) -> f64 {
    rate.clamp(SLOWEST, FASTEST).max(SLOWEST).log10()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::report::plot::tests::read;

    #[test]
    fn bars_share_a_scale_of_powers_of_ten() {
        let (one, other) = (Estimate::new(0.5, 0.2, 1.0), Estimate::new(7.0, 0.0, 20.0));
        let scale = RateScale::of([&one, &other]);
        assert_eq!(scale, RateScale { from: -1.0, to: 2.0 });
        let svg = scale.bar(&Estimate::new(1.0, 0.1, 100.0));
        assert!(svg.contains("M4.0,7H156.0") && svg.contains(r#"cx="54.7""#), "{svg}");
        assert_eq!(RateScale::of([]).ends(), (0.1, 10.0));
    }

    proptest! {
        #[test]
        fn any_rates_make_a_finite_bar(rate in any::<f64>(), low in any::<f64>(), high in any::<f64>()) {
            let found = Estimate::new(rate, low, high);
            let svg = RateScale::of([&found]).bar(&found);
            read(&svg);
            prop_assert!(!svg.contains("NaN") && !svg.contains("inf"), "{}", svg);
        }
    }
}
