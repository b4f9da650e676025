//! Fig. 11 and 12: the curve-fitting method against CGM, after one warm-up schedule for both.

use super::Corpus;
use super::by_threshold::{LearningPhase, Method, ThresholdSettings};
use super::results::{CURVE, NamedMethod, Results, STEADY, costs, jobs, plot, share_of_cgm};
use crate::reproduce::{Experiment, FigureCurve};

/// Days of the warm-up: as in §5.1. §5.3 does not say.
const WARM_UP_DAYS: f64 = 30.0;

/// Fig. 11: on the data set "High-quality", or on a dataset.
pub(super) fn figure_11(corpus: &Corpus<'_>, told: &mut dyn FnMut(&str)) -> Experiment {
    told(&format!("figure 11: {} pages against CGM", corpus.pages.len()));
    let compared = ComparedWithCgm::on(corpus);
    let mut experiment =
        compared.experiment(corpus, "11-cgm", "Fig. 11: against CGM, after one warm-up schedule for both");
    experiment.notes.push(
        "the paper: at moderate staleness a cost of 0.2 instead of 0.4, half of CGM's; the playing field spans staleness from 0.03 \
         to 0.1 (§5.3)"
            .to_owned(),
    );
    experiment
}

/// Fig. 12: on the data set "Random".
pub(super) fn figure_12(corpus: &Corpus<'_>, told: &mut dyn FnMut(&str)) -> Experiment {
    told(&format!("figure 12: {} pages against CGM", corpus.pages.len()));
    let compared = ComparedWithCgm::on(corpus);
    let mut experiment =
        compared.experiment(corpus, "12-cgm-random", "Fig. 12: the same on pages after the data set Random");
    experiment.notes.push(
        "the paper prints no number. It says that the lowest staleness that can be reached is much higher than on \
         the other data set, and that its method is better than CGM here, too"
            .to_owned(),
    );
    experiment
}

/// CGM and the curve-fitting method, with the bound on risk and without.
struct ComparedWithCgm {
    bounded: Results,
    loose: Results,
}

impl ComparedWithCgm {
    fn on(corpus: &Corpus<'_>) -> Self {
        let settings = settings(corpus);
        let methods = [Method::Uniform, Method::FragmentDynamic, Method::Cgm, Method::CgmBiasReduced, CURVE];
        let bounded = corpus.results(jobs(&methods), &settings);
        let no_risk = ThresholdSettings { risk: f64::INFINITY, ..settings };
        let loose = corpus.results(jobs(&[CURVE]), &no_risk);
        Self { bounded, loose }
    }

    fn methods(&self) -> Vec<NamedMethod<'_>> {
        let all = &self.bounded;
        vec![
            ("CGM".to_owned(), Method::Cgm, all),
            ("CGM, bias-reduced".to_owned(), Method::CgmBiasReduced, all),
            ("curve-fitting, ρ = 10".to_owned(), CURVE, all),
            ("curve-fitting, no ρ".to_owned(), CURVE, &self.loose),
        ]
    }

    fn experiment(&self, corpus: &Corpus<'_>, name: &'static str, title: &str) -> Experiment {
        let all = &self.bounded;
        let methods = self.methods();
        let curves: Vec<FigureCurve> = methods
            .iter()
            .map(|(name, method, results)| results.curve(name.clone(), *method, STEADY))
            .collect();
        let uniform = ("Uniform, knows which pages are static".to_owned(), Method::Uniform, all);
        let rows: Vec<NamedMethod<'_>> = methods.iter().cloned().chain([uniform]).collect();
        Experiment {
            name,
            title: title.to_owned(),
            notes: vec![
                corpus.about(),
                all.about_field(STEADY),
                format!(
                    "as printed, on other pages: a warm-up schedule that grows linearly, the same for both methods (waits of {0}, \
                     {1}, {2}, … {3}s), then each sets its own; measured after it. Assumed: how fast the schedule grows, and that \
                     the warm-up lasts {WARM_UP_DAYS} days (for a dataset, half of the time)",
                    corpus.chance_days(),
                    2.0 * corpus.chance_days(),
                    3.0 * corpus.chance_days(),
                    corpus.unit()
                ),
                "§5.3 names neither ρ nor which of the estimators of Cho & Garcia-Molina CGM has, so both are shown: the most \
                 likely rate, for uneven intervals, and the bias-reduced one. CGM has no bound on risk"
                    .to_owned(),
            ],
            tables: vec![
                costs(all, &rows, "refresh cost", STEADY),
                share_of_cgm(all, &rows, ""),
            ],
            figures: vec![plot(name, title, curves)],
        }
    }
}

/// One schedule for all in the warm-up (§5.3).
fn settings(corpus: &Corpus<'_>) -> ThresholdSettings {
    let learning = LearningPhase::Schedule { days: corpus.chance_days() };
    ThresholdSettings {
        learning,
        warm_up: corpus.share_of_days(WARM_UP_DAYS).unwrap_or(0.5),
        ..corpus.settings()
    }
}
