//! Reading and classifying, tried on pages whose truth is known.

use crate::change::behaviour::{Behaviour, Moves, classify};
use crate::change::fragment::Fragments;
use crate::change::lifetime::Lifetimes;
use crate::extract::soft_error::soft_error;
use crate::extract::text_rules::TextRules;
use crate::extract::{MediaKind, html};
use crate::model_web::model::turnover::HostPlaces;
use crate::model_web::model::{ModelBehaviour, Site, Tenant, WebSpec, truth};
use crate::time::Timestamp;

#[test]
fn no_page_of_the_model_is_a_soft_error() {
    let spec = WebSpec { pages: 100, ..WebSpec::default() };
    for host in 0..3 {
        let site = Site::new(&spec, host);
        for page in site.living(2.5) {
            let document = html(site.html(&page, 2.5).as_bytes(), Some("text/html; charset=utf-8"), 10);
            assert_eq!(soft_error(MediaKind::Html, document.title.as_deref(), &document.text, b""), None);
        }
    }
}

#[test]
fn a_text_rule_that_finds_nothing_changes_nothing() {
    let rules = |ignore: &[&str], only: &[&str]| {
        let list = |rules: &[&str]| rules.iter().map(ToString::to_string).collect::<Vec<_>>();
        TextRules::new(&list(ignore), &list(only), &[]).unwrap()
    };
    let (ignore, every) = (rules(&[".nothing"], &[]), rules(&[], &["html"]));
    // Pages with clocks, adverts and sessions on them.
    let spec = WebSpec { pages: 30, ..WebSpec::default() };
    let site = Site::new(&spec, 1);
    for day in [0.0, 9.5] {
        for page in site.living(day) {
            let page = site.html(&page, day);
            let whole = html(page.as_bytes(), None, 10).text;
            assert_eq!(ignore.html(page.as_bytes(), None), whole);
            assert_eq!(every.html(page.as_bytes(), None), whole);
        }
    }
}

/// What a page is called, and how its words are shared out, from its texts on these days.
fn judged(site: &Site<'_>, page: &Tenant, days: &[f64]) -> (Behaviour, Behaviour, u32) {
    let mut lives = Lifetimes::default();
    let mut moves = Moves::default();
    let mut before: Option<String> = None;
    for day in days {
        let text = truth::text(site, page, *day);
        if before.as_ref() != Some(&text) {
            let at = Timestamp::from_millis((day * 86_400_000.0) as i64);
            lives.see(at, Fragments::of(&text, 4).as_slice());
        }
        if let Some(before) = &before {
            moves.add(&Moves::between(before, &text));
        }
        before = Some(text);
    }
    let from_lives = classify(lives.static_share(), &moves).0;
    (from_lives, classify(moves.static_share(), &moves).0, moves.updates())
}

/// Shortly after each of a page's first 30 changes; of one that never changes, ten days.
fn after_changes(site: &Site<'_>, page: &Tenant) -> Vec<f64> {
    let mut until = 8.0;
    let mut changes = Vec::new();
    while changes.len() < 30 && until < 4000.0 {
        changes = site.changes(page, 0.0, until);
        until *= 2.0;
    }
    if changes.is_empty() {
        return (0..10).map(f64::from).collect();
    }
    [0.0].into_iter().chain(changes.into_iter().take(30).map(|day| day + 1e-6)).collect()
}

/// Right and all of the pages that have one kind of region or none and lead nowhere, by their true behaviour.
fn right(pages: u32, days: impl Fn(&Site<'_>, &Tenant) -> Vec<f64>) -> [(u32, u32); 3] {
    let spec = WebSpec { pages, noise: false, median_bytes: 3000, ..WebSpec::default() };
    let site = Site::new(&spec, 0);
    let mut right = [(0, 0); 3];
    let mut rest = std::collections::BTreeMap::<_, u32>::new();
    for page in site.living(0.0) {
        let mix = site.content(&page).mix;
        let (is, folded, updates) = judged(&site, &page, &days(&site, &page));
        let (kind, wanted) = match mix.behaviour() {
            ModelBehaviour::Static => (0, Behaviour::Static),
            ModelBehaviour::Churn => (1, Behaviour::Churn),
            ModelBehaviour::Scroll => (2, Behaviour::Scroll),
        };
        let leads = !HostPlaces::new(&spec, 0).below(page.place).is_empty();
        let unseen = updates == 0 && !mix.regions.is_empty();
        if leads || unseen || mix.regions.len() > 1 {
            *rest.entry((leads, unseen, wanted, mix.regions.len(), is)).or_default() += 1;
            continue;
        }
        if is != wanted || folded != wanted {
            println!("{wanted} called {is}, folded {folded}: {:?}", mix.regions);
        }
        right[kind].0 += u32::from(is == wanted && folded == wanted);
        right[kind].1 += 1;
    }
    for ((leads, unseen, wanted, regions, is), pages) in rest {
        println!("leads {leads}, unseen {unseen}, {regions} regions: {wanted} called {is}: {pages}");
    }
    println!("static, churn, scroll: {right:?}");
    right
}

#[test]
fn pages_seen_after_each_change_are_called_what_they_are() {
    for (right, all) in right(200, after_changes) {
        assert!(all >= 10 && right * 10 >= all * 9, "{right} of {all}");
    }
}

#[test]
fn pages_seen_once_a_day_are_called_what_they_are() {
    let daily = |_: &Site<'_>, _: &Tenant| (0..30).map(f64::from).collect();
    let [fixed, churn, scroll] = right(200, daily);
    assert_eq!(fixed.0, fixed.1);
    assert_eq!(churn.0, churn.1);
    // Short lists that turn over as a whole every day can't be told from churn.
    assert!(scroll.0 * 10 >= scroll.1 * 7, "{scroll:?}");
}
