//! Beyond the paper: what the gain depends on. The methods that learn, on webs of other kinds.

use super::beyond::{RISKS, learners, settings};
use super::by_threshold::{LearningPhase, Method, ThresholdSettings};
use super::results::{BOUND, CURVE, jobs, named, share_of_cgm};
use super::{Corpus, webs};
use crate::reproduce::{Effort, Experiment, Numbers};
use crate::simulate::synthetic::Spec;

/// What the gain depends on: pages that never change, adverts, how often pages may be refreshed, and the learning phase.
pub(super) fn other_webs(effort: Effort, told: &mut dyn FnMut(&str)) -> Experiment {
    let spec = webs::long(effort);
    let spec = Spec { pages: spec.pages / 2, ..spec };
    let lively = Spec { quiet: 0.0, moving: 1.0, advert_part: 1.0 / 16.0, ..spec };
    let usual = |corpus: &Corpus<'_>| settings(corpus);
    let for_ever = |corpus: &Corpus<'_>| {
        let learning = LearningPhase::AtMost { days: corpus.chance_days() };
        ThresholdSettings { learning, ..settings(corpus) }
    };
    type Make<'a> = &'a dyn Fn(&Corpus<'_>) -> ThresholdSettings;
    // A name, the pages, whether they may be refreshed at any moment, and the settings.
    let webs: [(&str, Spec, bool, Make<'_>); 7] = [
        ("as above", spec, false, &usual),
        ("no adverts", Spec { adverts: 0.0, ..spec }, false, &usual),
        ("adverts on 30 %", Spec { adverts: 0.3, ..spec }, false, &usual),
        ("adverts on all", Spec { adverts: 1.0, ..spec }, false, &usual),
        ("l·n for ever", spec, false, &for_ever),
        ("four times a day", spec, true, &usual),
        ("lively, four times a day", lively, true, &usual),
    ];
    told(&format!("beyond the paper: what the gain depends on, {} other webs", webs.len()));
    let learning = [CURVE, BOUND];
    let methods =
        [Method::Uniform, Method::FragmentStatic, Method::Cgm, Method::CgmBiasReduced, CURVE, BOUND];
    let mut table = Numbers::new(Vec::<String>::new());
    for (name, spec, any_time, make) in webs {
        let mut corpus = Corpus::of_spec(&spec);
        if any_time {
            corpus.every = 1;
        }
        let settings = make(&corpus);
        let all = corpus.results(jobs(&methods), &settings);
        let shown = [CURVE, BOUND, Method::CgmBiasReduced, Method::FragmentStatic];
        let own = share_of_cgm(&all, &named(&all, &shown), name);
        table.heads = own.heads;
        table.rows.extend(own.rows);
        if let Some((said, risk)) = RISKS.last() {
            let loose = corpus.results(jobs(&learning), &ThresholdSettings { risk: *risk, ..settings });
            table.rows.extend(share_of_cgm(&all, &learners(said, &loose), name).rows);
        }
    }
    Experiment {
        name: "beyond-webs",
        title: "Beyond: what the gain depends on; costs as shares of those of CGM, half as many pages".to_owned(),
        notes: vec![
            "lively: no page is quiet, an eighth to all of the text changes where it does, and adverts are a sixteenth: only one \
             page in six never changes. Four times a day: pages may be refreshed at any moment, and l is a day"
                .to_owned(),
            "where no page has adverts a change is a change of text, and to count changes is not far wrong: the gain \
             there is on pages that never change, which CGM goes on refreshing unless its estimate is the bias-reduced \
             one. If l·n binds for ever CGM never comes to be very stale: it refreshes the \
             pages that it would leave alone"
                .to_owned(),
            "ρ is the price of what the paper's methods don't know: at ρ = 10 a page that never changes is refreshed \
             once in 10·T, and where half of the pages never change that is half of all refreshes"
                .to_owned(),
        ],
        tables: vec![table],
        figures: Vec::new(),
    }
}
