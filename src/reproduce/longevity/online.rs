//! Fig. 8 and 9: methods that learn, during the warm-up and after it.

use super::Corpus;
use super::by_threshold::{Method, ThresholdSettings};
use super::results::{ONLINE, ResultPart, Results, STEADY, WARM_UP, named, plot, refreshes};
use crate::reproduce::{CurveKind, Experiment, FigureCurve};

/// Fig. 8 and 9: methods that learn, during the warm-up and after it.
pub(super) fn online(corpus: &Corpus<'_>, all: &Results<'_>, settings: &ThresholdSettings) -> Experiment {
    let known = [Method::Uniform, Method::FragmentStatic];
    let curves = |part: ResultPart| {
        let mut curves: Vec<FigureCurve> =
            ONLINE.map(|method| all.curve(method.name(), method, part)).to_vec();
        curves.extend(known.map(|method| FigureCurve {
            kind: CurveKind::Reference,
            ..all.curve(method.name(), method, part)
        }));
        curves
    };
    let online = named(ONLINE);
    let warm = all.needed(&online, &format!("warm-up: {}", refreshes(corpus)), WARM_UP);
    let steady = all.needed(&online, &format!("after it: {}", refreshes(corpus)), STEADY);
    Experiment {
        name: "8-online",
        title: "Fig. 8 and 9: methods that learn, in the warm-up and after it".to_owned(),
        notes: vec![
            format!(
                "assumed: in the warm-up, the first {:.0} % of a page's time, a page that was refreshed n times waits at most \
                 {}·n {}s (l, §4.2), in all three; after it that binds no more. The two of the paper wait at most {}·T (ρ, \
                 §4.5); CGM has no such bound, and leaves pages alone that it thinks change 1/T times or more",
                100.0 * settings.warm_up,
                settings.learning_days,
                corpus.unit(),
                settings.risk
            ),
            "in the warm-up l·n decides at high thresholds: methods are alike there, and copies are never very stale".to_owned(),
        ],
        tables: vec![warm, steady],
        figures: vec![
            plot(corpus, "8-warm-up", "Methods that learn, in the warm-up", curves(WARM_UP)),
            plot(corpus, "9-steady", "Methods that learn, after the warm-up", curves(STEADY)),
        ],
    }
}
