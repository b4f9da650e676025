//! A cycle never sends more requests than its budget, whatever the web answers; and cycles of named pages.

use proptest::prelude::*;

use super::*;
use crate::page::PageUrl;
use crate::store::CycleCommand;

/// Answers of a page, most of them trouble.
fn answers() -> impl Strategy<Value = Vec<ScriptedAnswer>> {
    let html = || ScriptedAnswer::html("<a href=/1>a</a> <a href=/2>b</a> <a href=/new>c</a> Words.");
    let one = prop_oneof![
        Just(html()),
        Just(html().with_etag("\"1\"")),
        (0_usize..9).prop_map(|to| ScriptedAnswer::redirect(301, &format!("/{to}"))),
        (0_usize..9).prop_map(|to| ScriptedAnswer::redirect(302, &format!("/{to}"))),
        prop_oneof![Just(404_u16), Just(410), Just(429), Just(500), Just(503)]
            .prop_map(ScriptedAnswer::status),
        Just(ScriptedAnswer::status(503).with_header(reqwest::header::RETRY_AFTER, "5")),
        prop_oneof![
            Just(Failure::NoAnswer),
            Just(Failure::HungUp),
            Just(Failure::Dns),
            Just(Failure::TooSlow)
        ]
        .prop_map(ScriptedAnswer::failure),
        Just(html().after(SECOND * 30)),
    ];
    prop::collection::vec(one, 1..4)
}

fn robots() -> impl Strategy<Value = Vec<ScriptedAnswer>> {
    let text = "User-agent: *\nDisallow: /3\nSitemap: /maps.xml";
    prop_oneof![
        Just(vec![ScriptedAnswer::body("text/plain", text)]),
        Just(vec![ScriptedAnswer::redirect(301, "/robots2.txt")]),
        Just(vec![ScriptedAnswer::status(503), ScriptedAnswer::body("text/plain", text)]),
        Just(vec![ScriptedAnswer::status(404)]),
        Just(vec![ScriptedAnswer::failure(Failure::NoAnswer)]),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn no_cycle_sends_more_than_its_budget(
        budgets in prop::collection::vec(0_u64..12, 1..4),
        robots in robots(),
        pages in prop::collection::vec(answers(), 9),
        hosts in 1_usize..3,
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build();
        runtime.expect("a runtime").block_on(async {
            let seeds: Vec<String> = (0..hosts).map(|host| format!("https://h{host}.example/")).collect();
            let seeds: Vec<(&str, f64)> = seeds.iter().map(|seed| (seed.as_str(), 1.0)).collect();
            let world = World::new(&seeds, "every", |settings| settings.sitemaps = true);
            let web = ScriptedWeb::default();
            for (origin, _) in &seeds {
                web.set(&format!("{origin}robots.txt"), robots.clone());
                let listed = format!("<urlset><url><loc>{origin}8</loc></url><url><loc>{origin}7</loc></url></urlset>");
                web.set(&format!("{origin}maps.xml"), [ScriptedAnswer::body("text/xml", listed)]);
                web.set_page(origin, &hub(6));
                for (page, answers) in pages.iter().enumerate() {
                    web.set(&format!("{origin}{page}"), answers.clone());
                }
            }
            let mut crawler = world.crawler(web);
            let mut before = 0;
            for budget in budgets {
                crawler.settings.budget = Some(budget);
                cycle(&mut crawler).await;
                let sent = crawler.web.log().len() as u64 - before;
                before += sent;
                prop_assert!(sent <= budget, "{sent} of {budget}: {:?}", crawler.web.log());
                let row = crawler.store().expect("the store").cycles(1).expect("cycles").remove(0);
                prop_assert_eq!(row.requests, sent, "the store counts what was sent");
            }
            Ok(())
        })?;
    }
}

fn page(url: &str) -> PageUrl {
    Normaliser::default().parse(url).expect("a URL")
}

#[tokio::test(start_paused = true)]
async fn named_pages_are_visited_and_no_others() {
    let world = World::new(&[("https://a.example/", 1.0)], "nutch", |settings| settings.sitemaps = true);
    let web = hub_web("https://a.example", 5);
    web.set_page("https://a.example/new", "A page that links on. <a href=/3>3</a> <a href=/newer>newer</a>");
    web.set_page("https://b.example/far", "A page of no seed. <a href=/further>further</a>");
    let mut crawler = world.crawler(web);
    let first = cycle(&mut crawler).await.counts;
    let before = crawler.web.log().len();
    let named = ["https://a.example/2", "https://a.example/new", "https://b.example/far"].map(page);
    let own = crawler.visit_only(&named, Timestamp::now()).expect("they are taken in");
    assert_eq!(own, [page("https://b.example/far")], "the others are in the scope of a seed");
    let report = cycle(&mut crawler).await;
    let mut asked: Vec<String> = crawler.web.log()[before..].iter().map(|one| one.url.to_string()).collect();
    asked.sort();
    assert_eq!(
        asked,
        [
            "https://a.example/2",
            "https://a.example/new",
            "https://b.example/far",
            "https://b.example/robots.txt"
        ],
        "no sitemap, no page that was found, and no page that is due"
    );
    assert_eq!(report.counts.fetched - first.fetched, 3);
    assert_eq!(report.counts.new - first.new, 1, "`/newer` is known from now on; `/further` is in no scope");
    let row = crawler.store().expect("the store").cycles(1).expect("cycles").remove(0);
    assert_eq!((row.command, row.ended_at.is_some()), (Some(CycleCommand::Only), true));
}

#[tokio::test(start_paused = true)]
async fn a_policy_of_all_pages_visits_those_that_are_gone_or_fail() {
    for (policy, visits) in [("every", 4), ("age", 2)] {
        let world = World::new(&[("https://a.example/", 1.0)], policy, |settings| {
            settings.fetch.politeness.attempts = 1;
        });
        let web = hub_web("https://a.example", 3);
        web.set("https://a.example/1", [ScriptedAnswer::status(404)]);
        web.set("https://a.example/2", [ScriptedAnswer::failure(Failure::TooLarge)]);
        let mut crawler = world.crawler(web);
        for _ in 0..4 {
            cycle(&mut crawler).await;
        }
        for page in ["https://a.example/1", "https://a.example/2"] {
            assert_eq!(asked_of(&crawler.web, page), visits, "{policy} {page}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_stopped_cycle_says_how_many_pages_it_leaves() {
    for (budget, left) in
        [(None, [("stopped", 8), ("budget", 0)]), (Some(9), [("stopped", 3), ("budget", 5)])]
    {
        let world = World::new(&[("https://a.example/", 1.0)], "every", |_| {});
        let mut crawler = world.crawler(hub_web("https://a.example", 12));
        crawler.settings.budget = budget;
        let (stop, stopped) = watch::channel(false);
        let timer = tokio::spawn(async move {
            tokio::time::sleep(Duration::from_millis(5500)).await;
            let _ = stop.send(true);
            stop
        });
        let counts = cycle_until(&mut crawler, stopped).await.counts;
        timer.await.expect("the stop");
        assert_eq!((counts.fetched, counts.deferred), (5, 8), "13 pages are known");
        for (why, visits) in left {
            assert_eq!(counts.put_off.get(why).copied().unwrap_or(0), visits, "{why} of {budget:?}");
        }
        let row = crawler.store().expect("the store").cycles(1).expect("cycles").remove(0);
        assert_eq!((row.ended_at, row.deferred), (None, 0), "the next run goes on with it");
    }
}
