//! Chinese, Japanese and Thai: words are pairs of characters, so that one changed character is a small change; and a
//! store whose fragments were made otherwise is brought up to date.

use crate::support::{FAST, Freshet, Reply, Site};
use crate::what_changed::{changes, crawl};
use rusqlite::Connection;
use serde_json::{Value, json};

const CHINESE: &str = "<html><head><meta charset=utf-8><title>公告</title></head><body><h1>产品公告</h1>\
    <p>公司今天发布了新的产品，售价为5999元，即日起接受预订。</p>\
    <p>我们的客服中心每天从早上八点到晚上九点为您服务，欢迎来电咨询。</p>\
    <p>如需退货，请在收到商品后的三十天内与我们联系，并保留原始包装。</p></body></html>";
const JAPANESE: &str = "<html><head><meta charset=utf-8></head><body>\
    <p>当社のソフトウェアは毎月第1火曜日に更新されます。詳細はお知らせをご覧ください。</p>\
    <p>お問い合わせは、平日の午前九時から午後六時までメールで受け付けています。</p></body></html>";
const THAI: &str = "<html><head><meta charset=utf-8></head><body>\
    <p>ร้านของเราเปิดทุกวันตั้งแต่เวลา 9 นาฬิกาถึงสองทุ่มและหยุดในวันหยุดนักขัตฤกษ์เท่านั้น</p>\
    <p>กรุณาติดต่อเจ้าหน้าที่ล่วงหน้าก่อนเข้ามาใช้บริการเพื่อความสะดวกรวดเร็ว</p></body></html>";

#[test]
fn one_changed_character_is_a_small_change() {
    let site = Site::start();
    let pages = [
        ("/zh", CHINESE, CHINESE.replace("5999", "6999"), "6999"),
        ("/zh-word", CHINESE, CHINESE.replace("三十天", "六十天"), "六"),
        ("/ja", JAPANESE, JAPANESE.replace("午後六時", "午後七時"), "七"),
        ("/th", THAI, THAI.replace("เปิดทุกวัน", "เปิดทุกคัน"), "ทุกคัน"),
    ];
    for (path, old, new, _) in &pages {
        site.page(path, Reply::sequence(vec![(*old).into(), new.as_str().into()]));
    }
    let freshet = Freshet::new();
    let seeds: Vec<String> = pages.iter().map(|(path, ..)| site.url(path)).collect();
    crawl(&freshet, &seeds, &[]);
    crawl(&freshet, &seeds, &[]);
    let told = changes(&freshet, &[]);
    assert_eq!(told.len(), pages.len(), "{told:#?}");
    for change in &told {
        let divergence = change["divergence"].as_f64().expect("a divergence");
        assert!(divergence > 0.0 && divergence < 0.2, "{change:#}");
    }
    // The characters that changed are counted, and not the sentence they stand in.
    for (path, _, _, added) in &pages {
        let diff = freshet.json(&["diff", &site.url(path), "--json"]);
        assert_eq!((&diff["words_added"], &diff["words_removed"]), (&json!(1), &json!(1)), "{diff:#}");
        assert!(diff.to_string().contains(added), "{diff:#}");
    }
}

#[test]
fn check_counts_the_characters_of_such_a_text() {
    let site = Site::start();
    site.page("/zh", CHINESE);
    let freshet = Freshet::new();
    let found = freshet.json(&[&["check", &site.url("/zh"), "--json"], &FAST[..]].concat());
    let page = &found["document"];
    let (words, fragments) = (page["words"].as_u64().unwrap(), page["fragments"].as_u64().unwrap());
    assert!(words > 70 && fragments > 60, "{words} words, {fragments} fragments");
}

/// What a store of the release before held: sketches of scheme 1, and no note of a scheme.
fn age(freshet: &Freshet) -> Vec<(i64, i64, Vec<u8>)> {
    let store = Connection::open(freshet.path("freshet.db")).expect("the store");
    let made = sketches(&store);
    store.execute("DELETE FROM note WHERE name = 'fragment-scheme'", []).expect("the note is taken away");
    // A whole sketch of one made-up fragment for the Chinese page; the others are what both schemes make of them.
    store
        .execute(
            "UPDATE sketch SET hashes = x'010102030405060708' WHERE version_id IN
             (SELECT observation.version_id FROM observation JOIN page ON page.id = page_id WHERE url LIKE '%/zh')",
            [],
        )
        .expect("sketches of another scheme");
    store.execute("UPDATE page SET profiles = NULL", []).expect("profiles of another scheme");
    store.execute("UPDATE sketch SET scheme = 1", []).expect("an older scheme");
    made
}

fn sketches(store: &Connection) -> Vec<(i64, i64, Vec<u8>)> {
    let mut statement =
        store.prepare("SELECT version_id, scheme, hashes FROM sketch ORDER BY version_id").expect("a query");
    let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)));
    rows.expect("rows").map(|row| row.expect("a row")).collect()
}

#[test]
fn sketches_of_an_earlier_scheme_are_made_again_when_a_crawl_opens_the_store() {
    let site = Site::start();
    site.page("/zh", Reply::sequence(vec![CHINESE.into(), CHINESE.replace("5999", "6999").into()]));
    site.page("/en", "<p>Nothing here is written without blanks, and nothing here will ever change.</p>");
    let freshet = Freshet::new();
    let seeds = [site.url("/zh"), site.url("/en")];
    crawl(&freshet, &seeds, &[]);
    crawl(&freshet, &seeds, &[]);
    let before = age(&freshet);
    // Commands that look at the store work on it as it is.
    for command in [&["status"][..], &["changes"], &["pages"], &["history", &seeds[0]], &["diff", &seeds[0]]]
    {
        let ran = freshet.run(command);
        assert_eq!(ran.code, Some(0), "{command:?}\n{}", ran.output());
    }
    crawl(&freshet, &seeds, &[]);
    let store = Connection::open(freshet.path("freshet.db")).expect("the store");
    assert_eq!(sketches(&store), before, "made again from the stored texts, to the bit");
    assert!(before.iter().all(|(_, scheme, _)| *scheme == 2), "{before:?}");
    let exported = freshet.run(&["export", "--format", "fragments", "--out", "f.parquet"]);
    assert_eq!(exported.code, Some(0), "{}", exported.output());
    let meta = std::fs::read_to_string(freshet.path("f.parquet.meta.json")).expect("metadata");
    let meta: Value = serde_json::from_str(&meta).expect("JSON");
    assert_eq!(meta["fragments"], json!({"scheme": 2, "words": 4}));
    let checked = freshet.run(&["store", "rebuild", "--check"]);
    assert_eq!(checked.code, Some(0), "profiles are measured by the same scheme\n{}", checked.output());
}
