//! Fig. 6: methods that know the truth of each page.

use super::by_threshold::ThresholdSettings;
use super::results::{OFFLINE, Results, STEADY, named, plot, refreshes};
use super::{Corpus, FEWEST_MOMENTS};
use crate::reproduce::Experiment;

/// Fig. 6: methods that know the truth of each page.
pub(super) fn offline(corpus: &Corpus<'_>, all: &Results<'_>, settings: &ThresholdSettings) -> Experiment {
    let curves = OFFLINE.map(|method| all.curve(method.name(), method, STEADY)).to_vec();
    Experiment {
        name: "6-offline",
        title: format!(
            "Fig. 6: methods that know each page's truth; copies that are never refreshed are stale by {:.3}",
            all.never(STEADY)
        ),
        notes: vec![
            population(corpus),
            format!(
                "measured after the first {:.0} % of each page's time, as the others are; a row is empty where no threshold \
                 of the sweep comes to that staleness",
                100.0 * settings.warm_up
            ),
            "FS-S and HS-S take the mean curve and the rate of the very time they are measured in; FS-D and HS-D see what \
             the page did since the last refresh, so they never refresh for nothing"
                .to_owned(),
        ],
        tables: vec![all.needed(&named(OFFLINE), &refreshes(corpus), STEADY)],
        figures: vec![plot(corpus, "6-offline", "Methods that know the truth", curves)],
    }
}

fn population(corpus: &Corpus<'_>) -> String {
    if corpus.is_made_up() {
        return format!(
            "{} made-up pages, {} days, moments a day: {}; by what the paper says of its pages: half of the pages never \
             change (§3.4), nine tenths of the content don't, 3 % is gone within two days (§5.3), and pages are refreshed once \
             in two days at most. 40 % are quiet. Of the others the text of 40 % is static; elsewhere a twentieth to two fifths of \
             it churns or scrolls (6 items) at log-normal rates, 0.1 a day in the middle, σ = 1.2; 60 % have adverts, \
             a twelfth of the page, replaced 3 times a day in the middle. The two are drawn apart from each other",
            corpus.pages.len(),
            corpus.dataset.groups.first().map_or(0, |group| group.cycles / corpus.moments),
            corpus.moments
        );
    }
    let between = "between moments divergence is interpolated by the page's eagerness (appendix B)";
    format!(
        "{} pages, watched at {FEWEST_MOMENTS} cycles or more, of a dataset with {} groups; time counts in cycles of each group; \
         {between}",
        corpus.pages.len(),
        corpus.dataset.groups.len()
    )
}
