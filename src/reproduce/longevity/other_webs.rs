//! What the gain depends on: the methods that learn on webs of other kinds.

use std::borrow::Cow;

use super::by_threshold::{Method, ThresholdJob, ThresholdSettings, mean, sweep};
use super::results::{ONLINE, RISKS, Results, learners, named, only, share_of_cgm, threads};
use super::{Corpus, DAYS_APART, made_up};
use crate::reproduce::{Effort, Experiment, Numbers};
use crate::simulate::synthetic::Spec;

/// What the gain depends on: pages that never change, adverts, how often pages may be refreshed, and the learning phase.
pub(super) fn other_webs(effort: Effort, told: &mut dyn FnMut(&str)) -> Experiment {
    let spec = made_up(effort);
    let spec = Spec { pages: spec.pages / 2, ..spec };
    let lively = Spec { quiet: 0.0, moving: 1.0, advert_part: 1.0 / 16.0, ..spec };
    let every = (DAYS_APART * spec.moments) as usize;
    let settings =
        ThresholdSettings { every, learning_days: f64::from(DAYS_APART), ..ThresholdSettings::default() };
    let any_time = ThresholdSettings::default();
    let webs = [
        ("as above", spec, settings),
        ("no adverts", Spec { adverts: 0.0, ..spec }, settings),
        ("adverts on 30 %", Spec { adverts: 0.3, ..spec }, settings),
        ("adverts on all", Spec { adverts: 1.0, ..spec }, settings),
        ("l·n for ever", spec, ThresholdSettings { keeps_learning: true, ..settings }),
        ("four times a day", spec, any_time),
        ("lively, four times a day", lively, any_time),
    ];
    told(&format!("what it depends on: {} other webs", webs.len()));
    let learning = only(&[ONLINE[1], ONLINE[2]]);
    let [uniform, known] = [Method::Uniform, Method::FragmentStatic];
    let jobs = only(&[ONLINE[0], Method::CgmBiasReduced, ONLINE[1], ONLINE[2], known, uniform]);
    let mut table = Numbers::new(Vec::<String>::new());
    for (name, spec, settings) in webs {
        let corpus = Corpus::new(Cow::Owned(spec.dataset()), spec.moments, true);
        let outcomes = |jobs: &[ThresholdJob], settings: ThresholdSettings| {
            let pages = sweep(corpus.pages.len(), &|at| corpus.watched(at), jobs, &settings, threads());
            mean(pages.iter().flatten())
        };
        let all = Results { jobs: &jobs, outcomes: outcomes(&jobs, settings) };
        let own = named([ONLINE[1], ONLINE[2], Method::CgmBiasReduced, known]);
        let own = share_of_cgm(&all, &all, &own, name);
        table.heads = own.heads;
        table.rows.extend(own.rows);
        if let Some((said, risk)) = RISKS.last() {
            let settings = ThresholdSettings { risk: *risk, ..settings };
            let loose = Results { jobs: &learning, outcomes: outcomes(&learning, settings) };
            table.rows.extend(share_of_cgm(&loose, &all, &learners(said), name).rows);
        }
    }
    Experiment {
        name: "12-webs",
        title: "What the gain depends on: refreshes as shares of those of CGM, half as many pages".to_owned(),
        notes: vec![
            "lively: no page is quiet, an eighth to all of the text changes where it does, and adverts are a sixteenth: only one \
             page in six never changes. Four times a day: pages may be refreshed at any moment, and l is a day"
                .to_owned(),
            "where no page has adverts a change is a change of text, and to count changes is not far wrong: what is gained \
             there is gained on pages that never change, which CGM goes on refreshing unless its estimate is the bias-reduced \
             one. If l·n binds for ever CGM never comes to be very stale: it refreshes the \
             pages that it would leave alone"
                .to_owned(),
            "ρ is what the paper's methods pay for what they don't know: at ρ = 10 a page that never changes is refreshed \
             once in 10·T, and where half of the pages never change that is half of all refreshes"
                .to_owned(),
        ],
        tables: vec![table],
        figures: Vec::new(),
    }
}
