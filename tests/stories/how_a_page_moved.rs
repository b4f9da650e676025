//! `freshet history`: what is told of one page, on webs whose truth is known and on pages made for it.

use crate::a_web_that_changes::{Web, again, first};
use crate::support::{FAST, Freshet, Reply, Site, article, links_page};
use serde_json::{Value, json};

#[track_caller]
fn history(freshet: &Freshet, url: &str) -> Value {
    freshet.json(&["history", url, "--json"])
}

#[track_caller]
fn shown(freshet: &Freshet, arguments: &[&str]) -> String {
    let ran = freshet.run(&[&["history"], arguments].concat());
    assert_eq!(ran.code, Some(0), "{}", ran.output());
    ran.stdout
}

#[track_caller]
fn crawl(freshet: &Freshet, site: &Site, more: &[&str]) {
    let seeds = freshet.seeds(&[site.url("/")]);
    let ran = freshet.run(&[&["crawl", "--no-sitemaps", "--seeds", &seeds], &FAST[..], more].concat());
    assert_eq!(ran.code, Some(0), "{}", ran.output());
}

fn list<'a>(told: &'a Value, name: &str) -> &'a [Value] {
    told[name].as_array().unwrap_or_else(|| panic!("no {name} in {told:#}"))
}

fn names<'a>(list: &'a [Value], field: &str) -> Vec<&'a str> {
    list.iter().map(|value| value[field].as_str().unwrap_or_default()).collect()
}

/// Crawls a web every half day. Its pages never change, or all in the way that the flags say: each must be named so.
#[track_caller]
fn is_named(flags: &[&str], moving: &str) {
    let freshet = Freshet::new();
    let size = ["--hosts", "1", "--pages", "40", "--turnover", "0", "--sitemap-recall", "1"];
    let flags = [&size[..], flags].concat();
    let visits = 9;
    let mut web = Web::on_day(&freshet, 1.0, 0, &flags);
    let port = web.port();
    first(&freshet, &web);
    for visit in 1..visits {
        web.stop();
        web = Web::on_day(&freshet, 1.0 + f64::from(visit) / 2.0, port, &flags);
        again(&freshet);
    }

    let mut moved = 0;
    for (url, truth) in web.living() {
        let told = history(&freshet, &url);
        assert_eq!(list(&told, "visits").len() as i32, visits, "{url}");
        assert_eq!((&told["snapshots"], &told["rule_changes"]), (&json!(visits), &json!(0)));
        let changed = list(&told, "visits").iter().filter(|visit| visit["is_changed"] == true).count();
        assert_eq!(told["updates"], changed, "{told:#}");
        let shares =
            ["static", "churn", "scroll"].map(|kind| told["shares"][kind].as_f64().expect("a share"));
        assert!((shares.iter().sum::<f64>() - 1.0).abs() < 1e-9, "{shares:?}");
        // A page that did not happen to change looks like one that never does.
        if truth["behaviour"] == "static" || changed == 0 {
            assert_eq!((&told["behaviour"], changed), (&json!("static"), 0), "{url} {truth}");
            assert_eq!((&told["longevity_seconds"], &told["dominant_k"]), (&Value::Null, &Value::Null));
            assert_eq!(told["change_frequency_per_day"], 0.0);
            assert_eq!(list(&told, "lifetimes").len(), 1);
        } else if changed >= 3 {
            assert_eq!(told["behaviour"], moving, "{url} {told:#}");
            assert!(told["change_frequency_per_day"].as_f64() > Some(0.0));
            moved += 1;
        }
    }
    assert!(moved >= 5, "{moved}");
    web.stop();
}

#[test]
fn text_that_is_replaced_where_it_stands_is_churn() {
    is_named(&["--scroll-share", "0"], "churn");
}

#[test]
fn lists_that_push_old_items_away_are_scroll() {
    is_named(&["--scroll-share", "1"], "scroll");
}

/// A list of five items, the one with the number `first` last, under a heading and over a foot that stay.
fn news(first: usize) -> String {
    let words = |item: usize| (0..30).map(|word| format!("word{item}x{word} ")).collect::<String>();
    let items: String = (first..first + 5).rev().map(|item| format!("<li>{}</li>", words(item))).collect();
    format!("<h1>The news of our small town</h1><ul>{items}</ul><p>Written by the people who live here</p>")
}

#[test]
fn everything_is_told_of_a_list_of_news() {
    let site = Site::start();
    site.page("/", links_page("home", &["/news"]).as_str());
    let pages = (0..8).map(|first| Reply::html(news(first)).etag(format!("\"{first}\""))).collect();
    site.page("/news", Reply::sequence(pages));
    let freshet = Freshet::new();
    for _ in 0..8 {
        crawl(&freshet, &site, &[]);
    }
    let url = site.url("/news");
    let told = history(&freshet, &url);

    let visits = list(&told, "visits");
    assert_eq!((visits.len(), &told["visit_count"], &told["state"]), (8, &json!(8), &json!("alive")));
    let first = &visits[0];
    assert_eq!(
        (&first["is_changed"], &first["divergence"], &first["validator"]),
        (&Value::Null, &Value::Null, &Value::Null)
    );
    let last = &visits[7];
    assert_eq!(
        (&last["outcome"], &last["status"], &last["is_changed"]),
        (&json!("fetched"), &json!(200), &json!(true))
    );
    assert!(last["divergence"].as_f64() > Some(0.1) && last["body_bytes"].as_u64() > Some(100), "{last}");
    assert_eq!((&last["validator"], &last["url"]), (&json!("etag"), &json!(url)));
    assert!(last["took_ms"].is_u64() && last["version_id"].is_i64() && last["at"].is_string(), "{last}");

    // How far each visit found it from the base versions of then, which are visits before it.
    assert_eq!(list(first, "bases"), [] as [Value; 0]);
    for (place, visit) in visits.iter().enumerate().skip(1) {
        let bases = list(visit, "bases");
        assert!(!bases.is_empty(), "{visit:#}");
        for base in bases {
            let is_it = |visit: &Value| visit["version_id"] == base["base_version_id"];
            let then = visits.iter().position(is_it).expect("a visit");
            assert!(then < place && visits[then]["at"] == base["base_at"], "{visit:#}");
            assert!(base["divergence"].as_f64() > Some(0.0), "{visit:#}");
        }
    }
    assert_eq!(list(&visits[1], "bases").len(), 1);

    // The oldest profile has seen the list move on, visit by visit.
    let profile = &list(&told, "profiles")[0];
    let apart: Vec<f64> =
        list(profile, "points").iter().filter_map(|point| point["divergence"].as_f64()).collect();
    assert!(apart.len() >= 4 && apart.is_sorted() && apart[0] > 0.0, "{profile:#}");
    assert!(list(profile, "points").iter().all(|point| point["age_seconds"].as_f64() > Some(0.0)));

    // Items live for five updates, and two of them were seen to come and to go. What reaches from the heading into the
    // first item lives for one.
    assert_eq!((&told["behaviour"], &told["dominant_k"]), (&json!("scroll"), &json!(5)));
    assert!(told["survived"]["5"].as_u64() >= Some(2 * 27), "{}", told["survived"]);
    assert_eq!(
        (&told["updates"], &told["snapshots"], &told["fragment_words"]),
        (&json!(7), &json!(8), &json!(4))
    );
    assert!(told["longevity_seconds"].as_f64() > Some(0.0));
    let groups = list(&told, "lifetimes");
    let fixed: Vec<&Value> =
        groups.iter().filter(|group| group["born_at"].is_null() && group["died_at"].is_null()).collect();
    assert_eq!(fixed.len(), 1, "what was always there is one group");
    assert_eq!(fixed[0]["fragments"], told["fragment_counts"]["always"]);

    let text = shown(&freshet, &[&url]);
    for part in
        ["conditional", "base version of", "behaviour  scroll", "longevity ", "frequency ", "most K = 5", "█"]
    {
        assert!(text.contains(part), "no `{part}` in {text}");
    }
    assert_eq!(text.matches("fetched").count(), 8, "{text}");
    let short = shown(&freshet, &[&url, "--ascii", "--limit", "3"]);
    assert!(short.is_ascii() && short.contains("(5 visits before these"), "{short}");
    assert_eq!(short.matches("fetched").count(), 3, "{short}");
    let few = freshet.json(&["history", &url, "--json", "--limit", "2"]);
    assert_eq!((list(&few, "visits").len(), &few["visit_count"]), (2, &json!(8)));
    assert_eq!(few["survived"], told["survived"], "what is shown is less, not what is known");
    assert_eq!(list(&freshet.json(&["history", &url, "--json", "--limit", "0"]), "visits").len(), 8);
}

#[test]
fn a_page_that_moved_has_the_history_of_both_addresses() {
    let site = Site::start();
    site.page("/", links_page("home", &["/old"]).as_str());
    site.page("/old", article("page", 200, 1, &[]).as_str());
    let freshet = Freshet::new();
    crawl(&freshet, &site, &[]);
    crawl(&freshet, &site, &[]);
    site.page("/old", Reply::redirect(301, "/new"));
    // It has grown meanwhile.
    site.page("/new", article("page", 280, 1, &[]).as_str());
    crawl(&freshet, &site, &[]);
    crawl(&freshet, &site, &[]);

    let told = history(&freshet, &site.url("/old"));
    assert_eq!(told, history(&freshet, &site.url("/new")), "either address will do");
    assert_eq!(told["url"], site.url("/new"));
    let visits = list(&told, "visits");
    let outcomes = names(visits, "outcome");
    assert_eq!(outcomes[..4], ["fetched", "fetched", "moved", "fetched"]);
    // The move is believed when the next cycle confirms it.
    assert!(outcomes.len() == 6 && outcomes[4..].contains(&"moved"), "{outcomes:?}");
    assert_eq!(visits[2]["redirect_to"], site.url("/new"));
    assert_eq!(visits[0]["url"], site.url("/old"));
    assert_eq!(
        told["spellings"],
        json!([{ "url": site.url("/old"), "moved": true, "left_at": visits[2]["at"] }])
    );
    // What it said before it moved is held against what it says now.
    assert_eq!(
        (&told["snapshots"], &told["updates"], &told["behaviour"]),
        (&json!(4), &json!(1), &json!("churn"))
    );
    let text = shown(&freshet, &[&site.url("/old")]);
    let until = visits[2]["at"].as_str().expect("a time").replace('T', " ").replace('Z', " UTC");
    assert!(text.contains(&format!("[1] until {until} it lived at {}", site.url("/old"))), "{text}");
    assert_eq!(
        text.lines().filter(|line| line.contains(" [1] ") || line.ends_with(" [1]")).count(),
        4,
        "{text}"
    );
    let tables = text.lines().take_while(|line| !line.starts_with("fragments of"));
    let wide = tables.filter(|line| !line.contains("://")).find(|line| line.chars().count() > 80);
    assert_eq!(wide, None, "what is no address fits a small terminal");
}

#[test]
fn another_spelling_is_named_and_not_compared() {
    let site = Site::start();
    site.page("/", links_page("home", &["/page", "/page?view=print"]).as_str());
    let canonical = "<link rel=\"canonical\" href=\"/page\">";
    site.page("/page", article("page", 100, 1, &[]).as_str());
    site.page(
        "/page?view=print",
        article("page, to print", 100, 1, &[]).replace("<meta", &format!("{canonical}<meta")).as_str(),
    );
    let freshet = Freshet::new();
    crawl(&freshet, &site, &[]);
    crawl(&freshet, &site, &[]);
    let told = history(&freshet, &site.url("/page"));
    assert_eq!(list(&told, "spellings")[0]["moved"], false, "{told:#}");
    assert_eq!((&told["snapshots"], &told["updates"]), (&json!(2), &json!(0)), "{told:#}");
    assert!(shown(&freshet, &[&site.url("/page")]).contains("view=print shows it too"));
}

#[test]
fn texts_that_other_rules_left_are_not_compared() {
    let site = Site::start();
    site.page("/", links_page("home", &["/page"]).as_str());
    let text = article("page", 100, 1, &[]);
    site.page(
        "/page",
        text.replace("<h1>", "<time>It is a quarter past nine in the morning</time><h1>").as_str(),
    );
    let freshet = Freshet::new();
    crawl(&freshet, &site, &[]);
    crawl(&freshet, &site, &[]);
    freshet.write("freshet.toml", "[change]\nignore = [\"time\"]\n");
    crawl(&freshet, &site, &[]);
    let told = history(&freshet, &site.url("/page"));
    assert_eq!((&told["snapshots"], &told["rule_changes"]), (&json!(1), &json!(1)), "{told:#}");
    assert_eq!((&told["behaviour"], &told["shares"]), (&Value::Null, &Value::Null));
    crawl(&freshet, &site, &[]);
    let told = history(&freshet, &site.url("/page"));
    assert_eq!((&told["snapshots"], &told["updates"]), (&json!(2), &json!(0)));
    assert_eq!(told["behaviour"], "static");
    let text = shown(&freshet, &[&site.url("/page")]);
    assert!(text.contains("noise rules changed on ") && text.contains("  rules changed  "), "{text}");
}

#[test]
fn pages_without_words_or_without_visits_say_so() {
    let site = Site::start();
    site.page("/", links_page("home", &["/picture", "/broken", "/later"]).as_str());
    site.page("/picture", Reply::bytes("image/png", vec![7; 400]));
    site.page("/broken", Reply::status(404, "nothing"));
    site.page("/later", "later");
    let freshet = Freshet::new();
    // Robots, the front page and two more.
    crawl(&freshet, &site, &["--budget", "4"]);
    let later = history(&freshet, &site.url("/later"));
    assert_eq!((list(&later, "visits").len(), &later["behaviour"]), (0, &Value::Null));
    assert!(shown(&freshet, &[&site.url("/later")]).contains("it has not been visited yet"));
    let broken = history(&freshet, &site.url("/broken"));
    assert_eq!(names(list(&broken, "visits"), "outcome"), ["missing"]);
    let text = shown(&freshet, &[&site.url("/broken")]);
    assert!(text.contains("missing") && text.contains("nothing to compare yet"), "{text}");
    let text = shown(&freshet, &[&site.url("/picture")]);
    assert!(text.contains("it has no words"), "{text}");
    let text = shown(&freshet, &[&site.url("/")]);
    assert!(text.contains("not known yet: it was seen once"), "{text}");
}

#[test]
fn what_is_no_page_of_the_store_is_refused_with_the_reason() {
    let freshet = Freshet::new();
    let ran = freshet.run(&["history", "http://127.0.0.1/"]);
    assert_eq!(ran.code, Some(1), "there is no store: {}", ran.output());
    let site = Site::start();
    site.page("/", "home");
    crawl(&freshet, &site, &[]);
    let cases: [(&[&str], i32, &str); 5] = [
        (&["history", "no page"], 2, "`no page`"),
        (&["history", "ftp://example.org/"], 2, "ftp"),
        (&["history"], 2, "URL"),
        (&["history", &site.url("/"), "--limit", "many"], 2, "many"),
        (&["history", &site.url("/unknown")], 1, "freshet pages --url"),
    ];
    for (arguments, code, said) in cases {
        let ran = freshet.run(arguments);
        assert_eq!(ran.code, Some(code), "{arguments:?} {}", ran.output());
        assert!(ran.stderr.contains(said) && ran.stdout.is_empty(), "{arguments:?} {}", ran.output());
    }
}
