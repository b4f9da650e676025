//! `freshet demo`: a web that changes, crawled and revisited on a budget, compared with its true state. No network.
//!
//! All contenders start from one first crawl and visit the same web at the same time, each from a store of its own.

mod account;
mod place;
mod printed;

use std::io::Write as _;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};
use tokio::net::TcpStream;
use tokio::sync::watch;
use tokio::task::JoinSet;

use freshet::crawl::weights::counted_inlinks;
use freshet::crawl::{Counts, Progress};
use freshet::fetch::network::Network;
use freshet::follow::background::BackgroundIndex;
use freshet::follow::measuring::CountInlinks;
use freshet::follow::search_index::path_beside;
use freshet::model_web::judge::{TruthSource, Witness};
use freshet::model_web::model::queries::queries as model_queries;
use freshet::model_web::{Announcing, Clock, Server, ServerError, WebSpec};
use freshet::policy::registry::{self, PolicySettings};
use freshet::quality::search_workload::SearchWorkload;
use freshet::quality::terms::distinct_terms;
use freshet::quality::workload::Workload;
use freshet::report::number;
use freshet::signal::spec::SignalSpec;
use freshet::store;
use freshet::time::{Age, Timestamp};
use freshet::unique::seeds;

use crate::cli::{DemoArgs, Global};
use crate::interrupts::listen;
use crate::queries;
use crate::set_up::crawler;
use crate::settings::when;
use crate::settings::{Amount, ChangeGiven, CrawlGiven, Given, LongCount, Settings, Usage, with_formula};
use crate::terminal::{Steps, Talk, json};
use crate::threads;
use account::Account;
use place::Place;

/// The size of the web, and how often it is crawled.
#[derive(Clone, Copy, Debug)]
struct Course {
    hosts: u32,
    pages: u32,
    median_bytes: u32,
    /// A day of the web, and the time from the start of a cycle to that of the next.
    day: Duration,
    cycles: u32,
    /// Requests a cycle.
    budget: u64,
    /// Between requests on one host.
    delay: Duration,
    /// What sitemaps and feeds tell of changes.
    signals: Option<SignalSpec>,
}

const FULL: Course = Course {
    hosts: 3,
    pages: 80,
    median_bytes: 6000,
    day: Duration::from_millis(1000),
    cycles: 25,
    budget: 24,
    delay: Duration::from_millis(20),
    signals: None,
};
const SHORT: Course = Course {
    hosts: 2,
    pages: 40,
    median_bytes: 3000,
    day: Duration::from_millis(1000),
    cycles: 5,
    budget: 20,
    delay: Duration::from_millis(20),
    signals: None,
};

/// How often the bar moves.
const LOOK_EVERY: Duration = Duration::from_millis(100);

pub(crate) fn run(global: &Global, arguments: &DemoArgs, talk: &Talk) -> anyhow::Result<ExitCode> {
    let course = course(arguments)?;
    let searched = searched(arguments, talk)?;
    let policies = policies(arguments, searched.as_deref())?;
    let place = Place::make(global.store.as_deref(), &policies)?;
    let runtime = threads::all_cores()?;
    let signal = Arc::new(AtomicU8::new(0));
    let ran =
        runtime.block_on(perform(course, arguments.seed, (&policies, searched), &place, &signal, talk))?;
    runtime.shutdown_background();
    let Some(ran) = ran else {
        talk.say("stopped; what the demo had stored is removed");
        return Ok(ExitCode::from(signal.load(Ordering::SeqCst)));
    };
    let account = Account::of(&ran, &place)?;
    let text = if global.json { json(&account)? } else { printed::text(&account) };
    std::io::stdout().write_all(text.as_bytes())?;
    place.keep();
    Ok(ExitCode::SUCCESS)
}

/// The course that the flags ask for.
fn course(arguments: &DemoArgs) -> Result<Course, Usage> {
    let mut course = if arguments.short { SHORT } else { FULL };
    let usual_pages = course.hosts * course.pages;
    course.hosts = arguments.hosts.unwrap_or(course.hosts);
    course.pages = arguments.pages.unwrap_or(course.pages);
    course.cycles = arguments.cycles.unwrap_or(course.cycles);
    for (name, value, most) in
        [("hosts", course.hosts, 250), ("pages", course.pages, 10_000), ("cycles", course.cycles, 10_000)]
    {
        if !(1..=most).contains(&value) {
            return Err(Usage(format!("--{name} is `{value}`; it must be a number from 1 to {most}")));
        }
    }
    course.signals = match arguments.signals.as_str() {
        "none" => None,
        spec => Some(spec.parse().map_err(|error| Usage(format!("--signals: {error}")))?),
    };
    // The same share of the pages, unless it is named.
    let pages = u64::from(course.hosts) * u64::from(course.pages);
    course.budget = arguments.budget.unwrap_or((course.budget * pages).div_ceil(u64::from(usual_pages)));
    if course.budget == 0 {
        return Err(Usage("--budget is 0; it must be at least 1".to_owned()));
    }
    if let Some(text) = &arguments.day {
        let day = when::duration(text).filter(|day| *day >= SHORTEST_DAY);
        course.day = day.ok_or_else(|| {
            Usage(format!("--day is `{text}`; write a number and a unit, at least 100ms: 500ms, 2s, 1m"))
        })?;
    }
    Ok(course)
}

/// A shorter day is over before its cycle is.
const SHORTEST_DAY: Duration = Duration::from_millis(100);

/// What is searched for, if the quality of search results is to be shown.
fn searched(arguments: &DemoArgs, talk: &Talk) -> Result<Option<Arc<SearchWorkload>>, Usage> {
    let Some(file) = &arguments.queries else { return Ok(None) };
    let workload = match file {
        Some(path) => queries::of_file(path, Some(talk))?,
        None => {
            let made = model_queries(arguments.seed).into_iter();
            let made = made.map(|(query, frequency)| (distinct_terms(&query), frequency));
            Workload::of(made).map_err(|fault| Usage(fault.to_string()))?
        }
    };
    let settings = Settings::of(arguments.flags.0.clone())?;
    let (scoring, attention) = (settings.scoring(), settings.attention());
    Ok(Some(Arc::new(SearchWorkload { workload, scoring, attention })))
}

/// Those that were named; else the one that a crawl takes, and others to hold it against.
fn policies(arguments: &DemoArgs, searched: Option<&SearchWorkload>) -> Result<Vec<String>, Usage> {
    let named = arguments.policy.iter().flat_map(|list| registry::split_names(list));
    let mut names = named.map(with_formula).collect::<Result<Vec<String>, Usage>>()?;
    if names.is_empty() {
        names.extend(CONTENDERS.map(str::to_owned));
        names.extend(searched.map(|_| FOR_SEARCHES.to_owned()));
    }
    let settings =
        PolicySettings { queries: searched.map(SearchWorkload::measure), ..PolicySettings::default() };
    for (place, name) in names.iter().enumerate() {
        registry::find(name, &settings).map_err(Usage)?;
        if names.iter().take(place).any(|before| before == name) {
            return Err(Usage(format!(
                "--policy names `{name}` twice; each is compared with the others once"
            )));
        }
    }
    Ok(names)
}

/// The default policy, the same deaf to signals, all pages alike, and a rule that follows changes.
const CONTENDERS: [&str; 4] = [registry::DEFAULT, "calibrated-alone", "uniform", "nutch"];
/// Beside them, where searches are judged.
const FOR_SEARCHES: &str = "user-centric";

/// The crawls that were made, before they are judged.
struct Ran {
    course: Course,
    seed: u64,
    /// What is searched for.
    searched: Option<Arc<SearchWorkload>>,
    web: Vec<Witness>,
    /// The counts of the first crawl, and when it ended.
    first: Counts,
    first_ended: Timestamp,
    contenders: Vec<DemoContender>,
    ended: Timestamp,
    took: Duration,
}

/// One policy on its way.
struct DemoContender {
    policy: String,
    cycles: Vec<DemoCycle>,
}

/// The counts of a cycle, and when it ended.
struct DemoCycle {
    counts: Counts,
    ended: Timestamp,
}

/// The demo's web, which is up.
struct DemoWeb {
    spec: WebSpec,
    clock: Clock,
    origins: Vec<String>,
    /// The server ends when this is dropped.
    _serving: watch::Sender<bool>,
}

impl DemoWeb {
    async fn put_up(course: Course, seed: u64) -> anyhow::Result<Self> {
        let (pages, median_bytes) = (course.pages, course.median_bytes);
        let mut spec = WebSpec { seed, pages, median_bytes, ..WebSpec::default() };
        if let Some(signals) = course.signals.as_ref().map(Announcing::of) {
            (spec.sitemap, spec.feed) = (signals, signals);
        }
        // On a whole second, so that the same web can be put up again with --start.
        let start = Timestamp::from_seconds(Timestamp::now().millis().div_euclid(1000));
        let clock = Clock { start, day: course.day };
        let server = Server::bind(spec.clone(), course.hosts, 0, clock).await.map_err(no_web)?;
        let origins: Vec<String> = server.origins().map(str::to_owned).collect();
        is_reachable(&origins).await?;
        let (serving, stop) = watch::channel(false);
        tokio::spawn(server.serve(stop));
        Ok(Self { spec, clock, origins, _serving: serving })
    }

    /// Who knows its true state.
    fn witnesses(self) -> Vec<Witness> {
        let Self { spec, clock, origins, .. } = self;
        let witness =
            |(host, origin)| Witness { origin, host, clock, source: TruthSource::Model(spec.clone()) };
        (0..).zip(origins).map(witness).collect()
    }
}

/// Puts the web up, crawls it and visits it again; `None` if it was stopped on the way.
async fn perform(
    course: Course,
    seed: u64,
    (policies, searched): (&[String], Option<Arc<SearchWorkload>>),
    place: &Place,
    signal: &Arc<AtomicU8>,
    talk: &Talk,
) -> anyhow::Result<Option<Ran>> {
    let began = Instant::now();
    let (stop, stopped) = watch::channel(false);
    let stopping = "stopping; press Ctrl-C again to quit now";
    tokio::spawn(listen(stop, Arc::clone(signal), talk.clone(), stopping));
    let web = DemoWeb::put_up(course, seed).await?;
    let steps = talk.steps(u64::from(course.cycles) + 1);
    talk.say(&format!(
        "a web of {} pages is up at {} …; a day of it lasts {} s",
        number(u64::from(course.hosts * course.pages)),
        web.origins.first().map_or("", String::as_str),
        course.day.as_secs_f64()
    ));
    let Some(first_policy) = policies.first() else { bail!("there is no policy to try") };
    add_seeds(place.store(first_policy), &web.origins)?;
    let crawl = visit(course, (first_policy, searched.as_ref()), place, None)?;
    let first = watched(vec![crawl], &stopped, &steps, "first crawl").await?;
    let Some(first) = first.into_iter().next().filter(|_| !*stopped.borrow()) else { return Ok(None) };
    if first.counts.fetched == 0 {
        bail!("nothing of the demo's own web at `{}` could be fetched", web.origins.join("`, `"));
    }
    steps.step(&[figures("first crawl", &first.counts)]);
    for policy in policies.iter().filter(|policy| *policy != first_policy) {
        let (from, to) = (place.store(first_policy), place.store(policy));
        std::fs::copy(from, to).with_context(|| format!("`{}` can't be written", to.display()))?;
    }
    let Some(contenders) = revisit(course, (policies, searched.as_ref()), place, &stopped, &steps).await?
    else {
        return Ok(None);
    };
    steps.finish();
    let (first_ended, ended, took) = (first.ended, Timestamp::now(), began.elapsed());
    let (web, first) = (web.witnesses(), first.counts);
    Ok(Some(Ran { course, seed, searched, web, first, first_ended, contenders, ended, took }))
}

/// Runs a cycle of every policy each day; `None` if it was stopped on the way.
async fn revisit(
    course: Course,
    (policies, searched): (&[String], Option<&Arc<SearchWorkload>>),
    place: &Place,
    stopped: &watch::Receiver<bool>,
    steps: &Steps,
) -> anyhow::Result<Option<Vec<DemoContender>>> {
    let contender = |policy: &String| DemoContender { policy: policy.clone(), cycles: Vec::new() };
    let mut contenders: Vec<DemoContender> = policies.iter().map(contender).collect();
    let began = Instant::now();
    for cycle in 1..=course.cycles {
        let what = format!("cycle {cycle} of {}", course.cycles);
        let visits =
            policies.iter().map(|policy| visit(course, (policy, searched), place, Some(course.budget)));
        let done = watched(visits.collect::<anyhow::Result<_>>()?, stopped, steps, &what).await?;
        let mut lines = Vec::new();
        for (contender, cycle) in contenders.iter_mut().zip(done) {
            let name =
                if policies.len() > 1 { format!("{what}, {}", contender.policy) } else { what.clone() };
            lines.push(figures(&name, &cycle.counts));
            contender.cycles.push(cycle);
        }
        steps.step(&lines);
        let mut stopped = stopped.clone();
        tokio::select! {
            () = tokio::time::sleep_until((began + course.day * cycle).into()) => {}
            _ = stopped.wait_for(|stopped| *stopped) => return Ok(None),
        }
    }
    Ok(Some(contenders))
}

fn figures(what: &str, counts: &Counts) -> String {
    format!(
        "{what}: {} requests, {} pages fetched, {} changed, {} new",
        number(counts.requests),
        number(counts.fetched),
        number(counts.changed),
        number(counts.new)
    )
}

const LOOPBACK_DOWN: &str =
    "the loopback interface seems to be down; switch it on with `ip link set lo up` (as root)";
/// Loopback that takes longer is no loopback.
const REACH_LIMIT: Duration = Duration::from_secs(5);

/// A new network namespace has a loopback interface that is down: there one can listen, but not connect.
async fn is_reachable(origins: &[String]) -> anyhow::Result<()> {
    for origin in origins {
        let address = origin.strip_prefix("http://").unwrap_or(origin);
        let connected = tokio::time::timeout(REACH_LIMIT, TcpStream::connect(address)).await;
        let connected = connected.unwrap_or_else(|_| Err(std::io::ErrorKind::TimedOut.into()));
        connected.with_context(|| format!("`{origin}` can't be reached: {LOOPBACK_DOWN}"))?;
    }
    Ok(())
}

fn no_web(error: ServerError) -> anyhow::Error {
    let is_down = |source: &std::io::Error| source.kind() == std::io::ErrorKind::AddrNotAvailable;
    let why = match &error {
        ServerError::Bind { source, .. } if is_down(source) => LOOPBACK_DOWN,
        _ => "the demo's web can't be put up on loopback",
    };
    anyhow::Error::new(error).context(why)
}

fn add_seeds(path: &std::path::Path, origins: &[String]) -> anyhow::Result<()> {
    let settings = Settings::of(Given::default())?;
    let lines: String = origins.iter().map(|origin| format!("{origin}/\n")).collect();
    let seeds = seeds::read("the demo's web", lines.as_bytes(), &settings.normaliser());
    store::open(path)?.add_seeds(&seeds.seeds, Timestamp::now())?;
    Ok(())
}

/// A cycle that is ready to go.
struct DemoVisit {
    crawler: freshet::crawl::Crawler<Network>,
    /// The follower that measures what refreshes gain.
    index: Option<BackgroundIndex>,
    progress: watch::Sender<Progress>,
}

fn visit(
    course: Course,
    (policy, searched): (&str, Option<&Arc<SearchWorkload>>),
    place: &Place,
    budget: Option<u64>,
) -> anyhow::Result<DemoVisit> {
    let store = store::open(place.store(policy))?;
    let crawl = CrawlGiven {
        delay: Some(Amount::new(course.delay.as_secs_f64()).map_err(Usage)?),
        allow_private: Some(vec!["127.0.0.0/16".parse().map_err(Usage)?]),
        budget: budget.map(LongCount::new).transpose().map_err(Usage)?,
        policy: Some(policy.to_owned()),
        ..CrawlGiven::default()
    };
    // A clock, an advert and a session token on every page: a difference in them is not a change.
    let change = ChangeGiven { ignore: Some(vec![".noise".to_owned()]), ..ChangeGiven::default() };
    let mut settings = Settings::of(Given { crawl, change, ..Given::default() })?;
    settings.crawl.list_day = course.day;
    settings.crawl.workload = searched.cloned();
    let (path, name) = (place.store(policy), policy);
    settings.crawl.index = Some(path_beside(path));
    let network = Network::new(settings.network.clone())?;
    let policy = settings.policy_with(Age::from_days(course.day.as_secs_f64() / 86_400.0))?;
    let mut crawler = crawler(&settings, network, store, policy)?;
    // The index measures what refreshes gain, for a policy that learns from it.
    let measured = searched.filter(|_| registry::NEED_QUERIES.contains(&name)).cloned();
    let measured = measured.map(|searched| (searched, counted_inlinks as CountInlinks));
    let index = measured.map(|measured| BackgroundIndex::start(path, &path_beside(path), Some(measured)));
    let index = index.transpose()?;
    index.iter().for_each(|index| crawler.plan_after(index.handle()));
    Ok(DemoVisit { crawler, index, progress: watch::channel(Progress::default()).0 })
}

/// Runs one cycle of each at the same time, and shows how it goes; what they did, in their order.
async fn watched(
    visits: Vec<DemoVisit>,
    stopped: &watch::Receiver<bool>,
    steps: &Steps,
    what: &str,
) -> anyhow::Result<Vec<DemoCycle>> {
    let mut running = JoinSet::new();
    let mut looks = Vec::new();
    for (place, DemoVisit { crawler, index, progress }) in visits.into_iter().enumerate() {
        looks.push(progress.subscribe());
        let stopped = stopped.clone();
        running.spawn(async move {
            let report = crawler.run(stopped, &progress).await?;
            if let Some(index) = index {
                tokio::task::spawn_blocking(|| index.finish(None)).await??;
            }
            anyhow::Ok((place, DemoCycle { counts: report.counts, ended: Timestamp::now() }))
        });
    }
    let mut done = Vec::new();
    let mut tick = tokio::time::interval(LOOK_EVERY);
    loop {
        tokio::select! {
            ended = running.join_next() => match ended {
                Some(ended) => done.push(ended.context("a crawl ended unexpectedly")??),
                None => break,
            },
            _ = tick.tick() => {
                let requests: u64 = looks.iter().map(|look| look.borrow().counts.requests).sum();
                steps.show(&format!("{what}: {} requests", number(requests)));
            }
        }
    }
    done.sort_by_key(|(place, _)| *place);
    Ok(done.into_iter().map(|(_, cycle)| cycle).collect())
}
