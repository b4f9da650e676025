use proptest::prelude::*;

use super::*;

fn read_text(text: &str) -> SeedFile {
    read("seeds/news.txt", text.as_bytes(), &Normaliser::default())
}

fn urls(file: &SeedFile) -> Vec<&str> {
    file.seeds.iter().map(|seed| seed.url.as_str()).collect()
}

fn problem(line: &str) -> (String, String) {
    let file = read_text(line);
    assert_eq!((file.seeds.len(), file.bad.len()), (0, 1), "{line}");
    (file.bad[0].what.clone(), file.bad[0].hint.clone())
}

#[test]
fn a_file_gives_its_seeds_in_order() {
    let file = read_text(
        "\u{FEFF}# news\r\n\r\nhttps://news.example.org/\tweight=2\tdepth=1 scope=domain\r\n  example.org/docs/  # docs\n\
         http://example.org/#top\nlocalhost:8080\n",
    );
    assert_eq!(file.bad, []);
    assert_eq!(
        urls(&file),
        [
            "https://news.example.org/",
            "https://example.org/docs/",
            "http://example.org/",
            "https://localhost:8080/"
        ]
    );
    let first = &file.seeds[0];
    assert_eq!((first.weight, first.max_depth, first.scope), (2.0, Some(1), Some(ScopeKind::Domain)));
    let second = &file.seeds[1];
    assert_eq!((second.weight, second.max_depth, second.scope), (1.0, None, None));
    assert_eq!(file.seeds.iter().filter_map(|seed| seed.line).collect::<Vec<_>>(), [3, 4, 5, 6]);
}

#[test]
fn a_bare_host_means_https() {
    for (given, expected) in [
        ("example.org", "https://example.org/"),
        ("Example.org:8080/a?b=c:d", "https://example.org:8080/a?b=c:d"),
        ("127.0.0.1/a", "https://127.0.0.1/a"),
        ("[::1]:8080", "https://[::1]:8080/"),
        ("bücher.example", "https://xn--bcher-kva.example/"),
        ("intranet:8080", "https://intranet:8080/"),
        ("HTTP://example.org", "http://example.org/"),
        ("http:example.org", "http://example.org/"),
    ] {
        assert_eq!(urls(&read_text(given)), [expected], "{given}");
    }
}

#[test]
fn the_same_page_twice_is_one_seed() {
    let file = read_text("https://example.org/?b&a weight=3\nhttps://EXAMPLE.org:443/?a&b#c weight=5");
    assert_eq!((file.seeds.len(), file.bad.len()), (1, 0));
    assert_eq!(file.seeds[0].weight, 3.0);
}

#[test]
fn a_bad_line_says_where_it_is_what_is_wrong_and_what_to_do() {
    let file =
        read_text("# one\n\nhttps://good.example/\nhtp://example.org\nhttps://better.example/\nnonsense");
    assert_eq!(urls(&file), ["https://good.example/", "https://better.example/"]);
    assert_eq!(
        file.bad.iter().map(ToString::to_string).collect::<Vec<_>>(),
        [
            "seeds/news.txt:4: `htp://example.org` has unknown scheme `htp`",
            "seeds/news.txt:6: `nonsense` is neither a URL nor a host name"
        ]
    );
    assert_eq!(file.bad[0].hint, "write `https://`, or put `#` before the line to skip it");
}

#[test]
fn every_kind_of_slip_is_named() {
    for (line, what) in [
        ("mailto:someone@example.org", "`mailto:someone@example.org` has unknown scheme `mailto`"),
        ("https://", "`https://` is not a URL: empty host"),
        ("https://./", "`https://./` has no host"),
        ("/docs/", "`/docs/` is neither a URL nor a host name"),
        ("weight=2", "`weight=2` is neither a URL nor a host name"),
        ("example.org weight=0", "weight `0` is not a number above 0"),
        ("example.org weight=inf", "weight `inf` is not a number above 0"),
        ("example.org weight=nan", "weight `nan` is not a number above 0"),
        ("example.org depth=-1", "depth `-1` is not a number of links"),
        ("example.org scope=all", "unknown scope `all`"),
        ("example.org color=red", "unknown field `color`"),
        ("example.org depth=1 depth=2", "field `depth` is given twice"),
        ("https://example.org/my page", "`page` after the URL is not a field"),
    ] {
        assert_eq!(problem(line).0, what);
    }
    for line in [
        "https://someone:secret@example.org/",
        "someone:secret@example.org",
        "htp://someone:secret@example.org/",
        "https://someone:secret@[1/",
    ] {
        let (what, hint) = problem(line);
        assert!(!what.contains("secret") && !hint.contains("secret"), "{what}");
    }
    assert_eq!(
        problem("https://me@example.org/a").0,
        "`https://…@example.org/a` carries a user name or password"
    );
    assert!(problem(&format!("htp://{}", "x".repeat(500))).0.len() < 150);
}

#[test]
fn bytes_that_are_not_text_are_bad_lines() {
    let file = read("f", b"example.org\n\xFF\xFF\x00\nexample.com", &Normaliser::default());
    assert_eq!(urls(&file), ["https://example.org/", "https://example.com/"]);
    assert_eq!(file.bad[0].line, 2);
    assert!(file.bad[0].what.ends_with("is not UTF-8"), "{}", file.bad[0].what);
    let wide = read("f", b"\xFF\xFEe\0x\0\n\0", &Normaliser::default());
    assert_eq!((wide.seeds.len(), wide.bad.len()), (0, 1));
}

proptest! {
    #[test]
    fn any_bytes_are_read(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        read("f", &bytes, &Normaliser::default());
    }

    /// Every line is a seed, a bad line, a repetition or nothing; and bad lines never cost good ones.
    #[test]
    fn lines_do_not_disturb_each_other(lines in prop::collection::vec("[a-c:/.#= \t]{0,12}|example.org/[a-c]", 0..20)) {
        let file = read_text(&lines.join("\n"));
        let alone: Vec<SeedFile> = lines.iter().map(|line| read_text(line)).collect();
        prop_assert_eq!(file.bad.len(), alone.iter().map(|file| file.bad.len()).sum::<usize>());
        for one in alone.iter().flat_map(|file| &file.seeds) {
            prop_assert_eq!(file.seeds.iter().filter(|seed| seed.url.fingerprint() == one.url.fingerprint()).count(), 1);
        }
    }
}
