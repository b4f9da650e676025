//! Fig. 6: methods that know the truth of each page. §2.3: the naive utility.

use super::Corpus;
use super::by_threshold::{Method, ThresholdSettings};
use super::results::{STEADY, costs, jobs, named, plot};
use crate::reproduce::Experiment;

const OFFLINE: [Method; 5] = [
    Method::Uniform,
    Method::FragmentStatic,
    Method::HolisticStatic,
    Method::FragmentDynamic,
    Method::HolisticDynamic,
];
const NAIVE: [Method; 5] = [
    Method::Uniform,
    Method::FragmentStatic,
    Method::DivergenceStatic,
    Method::FragmentDynamic,
    Method::DivergenceDynamic,
];

/// Fig. 6 and §2.3, over the whole time of all pages.
pub(super) fn run(corpus: &Corpus<'_>, told: &mut dyn FnMut(&str)) -> Experiment {
    told(&format!("figure 6 and the naive utility: {} pages", corpus.pages.len()));
    let settings = ThresholdSettings { warm_up: 0.0, ..corpus.settings() };
    let methods: Vec<Method> =
        OFFLINE.into_iter().chain([Method::DivergenceStatic, Method::DivergenceDynamic]).collect();
    let all = corpus.results(jobs(&methods), &settings);
    let curves =
        |methods: [Method; 5]| methods.map(|method| all.curve(method.name(), method, STEADY)).to_vec();
    Experiment {
        name: "6-offline",
        title: "Fig. 6: methods that know each page's truth; §2.3: the naive utility U = D".to_owned(),
        notes: vec![
            corpus.about(),
            all.about_field(STEADY),
            "as printed, on other pages: Uniform leaves static pages out; FS-S has the mean divergence of all pairs of snapshots, \
             HS-S the number of changes ÷ the time; FS-D and HS-D see what the page did since the last refresh. U = D refreshes \
             when the mean divergence (static) or the present one (dynamic) reaches a threshold"
                .to_owned(),
            "the paper prints no number of Fig. 6. It says that FS-S is significantly better than HS-S, that the dynamic methods \
             vastly outperform the static ones, and that U = D is worse than Uniform (§2.3)"
                .to_owned(),
        ],
        tables: vec![
            costs(&all, &named(&all, &OFFLINE), "Fig. 6: refresh cost", STEADY),
            costs(&all, &named(&all, &NAIVE), "§2.3: refresh cost", STEADY),
        ],
        figures: vec![
            plot("6-offline", "Fig. 6: methods that know the truth", curves(OFFLINE)),
            plot("section-2-3-naive", "§2.3: the naive utility U = D", curves(NAIVE)),
        ],
    }
}
