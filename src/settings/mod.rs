//! Settings: flags over environment over `freshet.toml` over defaults.
//!
//! [`sections`] declares every setting once; [`values`] has their types, which parse themselves where they are written;
//! [`file`](mod@file) reads `freshet.toml`. The sources are merged, the result is settled with the defaults, and
//! [`resolve`] makes of it the typed settings of the library, once: after [`Settings::load`] nothing is parsed again and
//! only the policy can still fail. [`template`] is the file that `freshet init` writes; [`effective`] says what holds and
//! where it comes from, which `freshet config` prints.

#[macro_use]
mod declare;
mod effective;
mod file;
mod header_text;
mod resolve;
mod sections;
mod serve;
mod template;
mod unknown;
mod values;
pub(crate) mod when;
mod words;

#[cfg(test)]
mod docs_tests;
#[cfg(test)]
mod tests;

use std::fmt;
use std::path::{Path, PathBuf};

use freshet::change::ChangeSettings;
use freshet::crawl::CrawlSettings;
use freshet::crawl::observe::{Observer, Reading};
pub(crate) use freshet::estimate::online::Damping;
use freshet::estimate::online::Step;
use freshet::estimate::registry::EstimatorSettings;
use freshet::evolve::champion::Champion;
use freshet::fetch::network::NetworkSettings;
use freshet::page::Normaliser;
use freshet::policy::Policy;
use freshet::policy::registry::{self, LongevitySettings, PolicySettings, RuleScale};
use freshet::quality::attention::Attention;
use freshet::quality::measure::MeasureId;
use freshet::quality::scoring::Scoring;
use freshet::time::Age;
use freshet::unique::Scope;

use crate::cli::Global;
pub(crate) use effective::{EffectiveSettings, GivenBy, SettingSource};
pub(crate) use file::{DEFAULT_FILE, said_of};
pub(crate) use sections::{ChangeGiven, CrawlGiven, Given, SearchGiven, SearchSection};
use sections::{LimitsGiven, Sections};
pub(crate) use serve::{ServeGiven, ServeSection};
pub(crate) use template::template;
pub(crate) use unknown::unknown_variables;
pub(crate) use values::{
    Aim, Amount, FragmentWords, Gamma, HashLength, LongCount, Profiles, SketchSize, TimeOfDay, TimeSpan,
    Written,
};
pub(crate) use words::in_words;

/// The caller's mistake: exit code 2.
#[derive(Debug)]
pub(crate) struct Usage(pub String);

impl fmt::Display for Usage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Usage {}

/// The settings as they hold, parsed and checked.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    pub store: PathBuf,
    pub crawl: CrawlSettings,
    pub change: ChangeSettings,
    pub network: NetworkSettings,
    /// The operator's rules on links; the seeds come from the store.
    pub scope: Scope,
    /// Parts of pages that count, and when a page has changed.
    pub reading: Reading,
    /// The time of day at which cycles begin, if one is set.
    pub at: Option<(u8, u8)>,
    /// Cycles of a monitor make up for those that did not run.
    pub catch_up: bool,
    /// A search index is made and kept beside the store.
    pub search: bool,
    sections: Sections,
}

impl Settings {
    /// Merges all sources.
    pub(crate) fn load(global: &Global, flags: &Given) -> Result<Settings, Usage> {
        let flags = Given { store: global.store.clone(), ..flags.clone() };
        let file = file::given(global.config.as_deref())?;
        Self::settle(flags.without_idle_switches().or(file))
    }

    /// The given values over the defaults: no file, no environment.
    pub(crate) fn of(given: Given) -> Result<Settings, Usage> {
        Self::settle(given)
    }

    /// Only where the store is: enough to look at it.
    pub(crate) fn store(global: &Global) -> Result<PathBuf, Usage> {
        match &global.store {
            Some(path) => Ok(path.clone()),
            None => Ok(file::given(global.config.as_deref())?.settle().store),
        }
    }

    fn settle(given: Given) -> Result<Settings, Usage> {
        let settings = resolve::resolve(given.settle())?;
        // A policy that can't be made is an error before anything begins. Queries are read later.
        let unread = Some(MeasureId(0));
        settings.make_policy(&settings.sections.crawl.policy, Age::from_days(1.0), unread)?;
        Ok(settings)
    }

    /// The policy of the settings.
    pub(crate) fn policy(&self) -> Result<Box<dyn Policy>, Usage> {
        self.policy_named(&self.sections.crawl.policy)
    }

    /// The policy of the settings, where a day lasts as long as this.
    pub(crate) fn policy_with(&self, day: Age) -> Result<Box<dyn Policy>, Usage> {
        self.make_policy(&self.sections.crawl.policy, day, self.measure())
    }

    /// Another policy, with these settings.
    pub(crate) fn policy_named(&self, name: &str) -> Result<Box<dyn Policy>, Usage> {
        self.make_policy(name, Age::from_days(1.0), self.measure())
    }

    /// How gains in search results are measured, if queries were read.
    fn measure(&self) -> Option<MeasureId> {
        self.crawl.workload.as_ref().map(|search| search.measure())
    }

    fn make_policy(
        &self,
        name: &str,
        day: Age,
        queries: Option<MeasureId>,
    ) -> Result<Box<dyn Policy>, Usage> {
        let crawl = &self.sections.crawl;
        let longevity = LongevitySettings {
            risk: crawl.risk.get(),
            learning_days: crawl.learning.get().days() * day.days(),
            threshold: self.crawl.threshold,
            cycle_days: self.crawl.every.map_or(day.days(), |every| TimeSpan(every).days()),
        };
        let settings = PolicySettings {
            estimator: estimator_settings(crawl.sa_gamma, &crawl.lln_alpha),
            rules: RuleScale::Day(day),
            interval: Age::from_days(crawl.interval.get().days()),
            longevity,
            tau: crawl.tau.get(),
            queries,
        };
        registry::find(&with_formula(name)?, &settings).map_err(Usage)
    }

    /// The name of the policy, as it was given.
    pub(crate) fn policy_name(&self) -> &str {
        &self.sections.crawl.policy
    }

    /// What people search for, as it was given.
    pub(crate) fn searches(&self) -> &SearchSection {
        &self.sections.search
    }

    /// Where the dashboard listens, and who may look at it.
    pub(crate) fn serve(&self) -> &ServeSection {
        &self.sections.serve
    }

    /// How results of searches are ranked.
    pub(crate) fn scoring(&self) -> Scoring {
        *self.sections.search.score.get()
    }

    /// How far down searchers look.
    pub(crate) fn attention(&self) -> Attention {
        self.sections.search.attention.attention()
    }

    /// Where site owners can reach the operator.
    pub(crate) fn contact(&self) -> Option<&str> {
        self.sections.crawl.contact.as_ref()?.get()
    }

    /// The spelling of URLs.
    pub(crate) fn normaliser(&self) -> Normaliser {
        Normaliser::new(&self.sections.crawl.drop_parameters, self.sections.limits.url_length)
    }

    /// How pages are read.
    pub(crate) fn observer(&self) -> Observer {
        Observer {
            normaliser: self.normaliser(),
            links_per_page: self.sections.limits.links_per_page,
            obey_nofollow: !self.sections.crawl.follow_nofollow,
            product_tokens: self.crawl.fetch.product_tokens.clone(),
            sitemap_bytes: self.sections.limits.sitemap_bytes,
            reading: self.reading.clone(),
            change: self.change,
            anchors: self.crawl.workload.is_some(),
        }
    }
}

/// `evolved:FILE` as the formula that is in the file; any other policy is its own name. So a store remembers the formula
/// that it ran with, even if the file changes later.
pub(crate) fn with_formula(policy: &str) -> Result<String, Usage> {
    let Some(path) = policy.strip_prefix(registry::EVOLVED) else { return Ok(policy.to_owned()) };
    let champion = Champion::read(Path::new(path))
        .map_err(|error| Usage(format!("policy `{policy}`: {error}; `freshet evolve` writes such files")))?;
    Ok(format!("{}{}", registry::FORMULA, champion.formula))
}

/// The settings of the estimators: γ of `sa` and α of `lln`.
pub(crate) fn estimator_settings(sa_gamma: Gamma, lln_alpha: &Written<Damping>) -> EstimatorSettings {
    let step = Step::Falling { gamma: sa_gamma.get(), first: 0 };
    EstimatorSettings { step, damping: *lln_alpha.get(), ..EstimatorSettings::default() }
}

/// The settings file in use: the one that is named, else the default one if it exists.
pub(crate) fn file_in_use(global: &Global) -> Option<&Path> {
    file::find(global.config.as_deref())
}

/// Whether a section other than those of sites has such a key.
pub(crate) fn is_key(name: &str) -> bool {
    [CrawlGiven::KEYS, LimitsGiven::KEYS, ChangeGiven::KEYS, SearchGiven::KEYS, ServeGiven::KEYS]
        .concat()
        .contains(&name)
}
