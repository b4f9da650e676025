//! RFC 9309 corner by corner: rows of one file, one URL and the verdict on it, worked by hand.

use super::*;

/// A name, a robots.txt, what follows `http://example.org` in a URL, and whether freshet may fetch it.
type Case = (&'static str, &'static [u8], &'static str, bool);

fn check(cases: &[Case]) {
    let wrong: Vec<_> = cases
        .iter()
        .filter(|(_, body, path, allowed)| Robots::parse(body, "freshet").allows(&url(path)) != *allowed)
        .map(|(name, ..)| name)
        .collect();
    assert!(wrong.is_empty(), "{} of {} wrong: {wrong:#?}", wrong.len(), cases.len());
}

#[test]
fn the_longest_match_decides() {
    check(&[
        ("empty file", b"", "/a", true),
        ("one rule, below it", b"User-agent: *\nDisallow: /a\n", "/a/b", false),
        ("one rule, beside it", b"User-agent: *\nDisallow: /a\n", "/b", true),
        ("a rule is a prefix, not a folder", b"User-agent: *\nDisallow: /a\n", "/abc", false),
        ("a folder is not the page without its slash", b"User-agent: *\nDisallow: /a/\n", "/a", true),
        ("paths have case", b"User-agent: *\nDisallow: /A\n", "/a", true),
        ("disallow all", b"User-agent: *\nDisallow: /\n", "/", false),
        ("disallow all, deep", b"User-agent: *\nDisallow: /\n", "/a/b?c", false),
        ("longer allow wins", b"User-agent: *\nDisallow: /a\nAllow: /a/b\n", "/a/b/c", true),
        ("longer disallow wins", b"User-agent: *\nAllow: /a\nDisallow: /a/b\n", "/a/b/c", false),
        ("shorter allow still counts elsewhere", b"User-agent: *\nAllow: /a\nDisallow: /a/b\n", "/a/c", true),
        ("order: allow first", b"User-agent: *\nAllow: /a/b\nDisallow: /a\n", "/a/b", true),
        (
            "order: a disallow first, then all allowed",
            b"User-agent: *\nDisallow: /a\nAllow: /\n",
            "/a",
            false,
        ),
        ("tie: allow wins, written last", b"User-agent: *\nDisallow: /a\nAllow: /a\n", "/a", true),
        ("tie: allow wins, written first", b"User-agent: *\nAllow: /a\nDisallow: /a\n", "/a", true),
        ("a star has a length", b"User-agent: *\nAllow: /ab\nDisallow: /a*b\n", "/ab", false),
        ("the end sign has a length", b"User-agent: *\nAllow: /ab\nDisallow: /ab$\n", "/ab", false),
        (
            "RFC 5.2: longest match",
            b"User-agent: freshet\nAllow: /e/p/\nDisallow: /e/p/no.gif\n",
            "/e/p/no.gif",
            false,
        ),
        ("empty disallow", b"User-agent: *\nDisallow:\n", "/a", true),
        ("empty disallow beside disallow all", b"User-agent: *\nDisallow:\nDisallow: /\n", "/a", false),
        ("empty disallow after disallow all", b"User-agent: *\nDisallow: /\nDisallow:\n", "/a", false),
        ("empty allow beside disallow all", b"User-agent: *\nAllow:\nDisallow: /\n", "/a", false),
        ("allow only", b"User-agent: *\nAllow: /a\n", "/b", true),
        ("only the root", b"User-agent: *\nDisallow: /\nAllow: /$\n", "/", true),
        ("only the root, not below", b"User-agent: *\nDisallow: /\nAllow: /$\n", "/a", false),
        (
            "the same rule many times",
            b"User-agent: *\nDisallow: /a\nDisallow: /a\nDisallow: /a\n",
            "/a",
            false,
        ),
        ("robots.txt may be fetched", b"User-agent: *\nDisallow: /\n", "/robots.txt", true),
        (
            "robots.txt may be fetched, by name",
            b"User-agent: *\nDisallow: /robots.txt\n",
            "/robots.txt",
            true,
        ),
        ("another host's robots.txt may not", b"User-agent: *\nDisallow: /\n", "/x/robots.txt", false),
    ]);
}

#[test]
fn star_and_end_sign_are_special() {
    check(&[
        ("star inside", b"User-agent: *\nDisallow: /a*z\n", "/a/b/c/z", false),
        ("star matches nothing too", b"User-agent: *\nDisallow: /a*z\n", "/az", false),
        ("star inside, no match", b"User-agent: *\nDisallow: /a*z\n", "/a/b", true),
        ("star first", b"User-agent: *\nDisallow: *.gif\n", "/a/b.gif", false),
        ("star first matches the root of the path", b"User-agent: *\nDisallow: */foo\n", "/foo", false),
        ("star first, deeper", b"User-agent: *\nDisallow: */foo\n", "/a/foo", false),
        ("star alone", b"User-agent: *\nDisallow: *\n", "/a", false),
        ("star last is the plain prefix", b"User-agent: *\nDisallow: /a*\n", "/ab", false),
        ("star matches slashes and queries", b"User-agent: *\nDisallow: /*?id=\n", "/a/b?id=1", false),
        ("stretches are met in order", b"User-agent: *\nDisallow: /*b*a\n", "/ab", true),
        ("stretches do not overlap", b"User-agent: *\nDisallow: /aba*ab\n", "/abab", true),
        ("many stars", b"User-agent: *\nDisallow: /*a*b*c*d\n", "/xaxbxcxd", false),
        ("a run of stars is one", b"User-agent: *\nDisallow: /a********************b\n", "/a/b", false),
        ("end sign, at the end", b"User-agent: *\nDisallow: /a.php$\n", "/a.php", false),
        ("end sign, more follows", b"User-agent: *\nDisallow: /a.php$\n", "/a.php5", true),
        ("end sign, a query follows", b"User-agent: *\nDisallow: /a.php$\n", "/a.php?b", true),
        ("end sign, a fragment follows", b"User-agent: *\nDisallow: /a.php$\n", "/a.php#top", false),
        ("end sign after star", b"User-agent: *\nDisallow: /*.php$\n", "/b/a.php", false),
        (
            "end sign after star, the last of several",
            b"User-agent: *\nDisallow: /*.php$\n",
            "/a.php/b.php",
            false,
        ),
        ("end sign after star, more follows", b"User-agent: *\nDisallow: /*.php$\n", "/b/a.php/c", true),
        ("end sign right after star", b"User-agent: *\nDisallow: /a*$\n", "/a/b", false),
        ("end sign alone is the root", b"User-agent: *\nDisallow: $\n", "/", false),
        ("end sign alone is nothing else", b"User-agent: *\nDisallow: $\n", "/a", true),
        ("dollar in the middle is a dollar", b"User-agent: *\nDisallow: /a$b\n", "/a$b", false),
        ("dollar in the middle is no end", b"User-agent: *\nDisallow: /a$b\n", "/a", true),
        ("two dollars: the first is a dollar", b"User-agent: *\nDisallow: /a$$\n", "/a$", false),
        ("two dollars: the second is the end", b"User-agent: *\nDisallow: /a$$\n", "/a$b", true),
        ("escaped dollar is a dollar", b"User-agent: *\nDisallow: /a%24\n", "/a$b", false),
        ("escaped star is a star", b"User-agent: *\nDisallow: /a%2a\n", "/a*", false),
        ("escaped star is nothing else", b"User-agent: *\nDisallow: /a%2A\n", "/ab", true),
        ("the URL's own star is no wildcard", b"User-agent: *\nDisallow: /abc\n", "/a*c", true),
        ("our mark for the end is not the host's", b"User-agent: *\nDisallow: /a|\n", "/a", true),
        ("a bar is a bar", b"User-agent: *\nDisallow: /a|\n", "/a|b", false),
        ("an escaped bar is a bar", b"User-agent: *\nDisallow: /a|\n", "/a%7cb", false),
    ]);
}

#[test]
fn one_spelling_for_rules_and_urls() {
    check(&[
        ("rule without its slash", b"User-agent: *\nDisallow: a/b\n", "/a/b", false),
        ("escaped tilde in the rule", b"User-agent: *\nDisallow: /%7Ejoe\n", "/~joe", false),
        ("escaped tilde in the URL", b"User-agent: *\nDisallow: /~joe\n", "/%7ejoe", false),
        ("case of escapes: upper in the rule", b"User-agent: *\nDisallow: /%C3%A9\n", "/%c3%a9", false),
        ("case of escapes: lower in the rule", b"User-agent: *\nDisallow: /%c3%a9\n", "/%C3%A9", false),
        (
            "RFC 2.2.2: letters escaped in the rule",
            b"User-agent: *\nDisallow: /foo/bar/%62%61%7A\n",
            "/foo/bar/baz",
            false,
        ),
        (
            "letters escaped in the URL",
            b"User-agent: *\nDisallow: /foo/bar/baz\n",
            "/foo/bar/%62%61%7A",
            false,
        ),
        (
            "RFC 2.2.2: UTF-8 in the rule",
            "User-agent: *\nDisallow: /foo/bar/ツ\n".as_bytes(),
            "/foo/bar/%E3%83%84",
            false,
        ),
        ("UTF-8 in both", "User-agent: *\nDisallow: /ツ\n".as_bytes(), "/ツ", false),
        ("UTF-8 escaped in the rule", b"User-agent: *\nDisallow: /%e3%83%84\n", "/ツ", false),
        ("not UTF-8", b"User-agent: *\nDisallow: /caf\xe9\n", "/caf%E9", false),
        (
            "not UTF-8, and the other rules hold",
            b"User-agent: *\nDisallow: /caf\xe9\nDisallow: /b\n",
            "/b",
            false,
        ),
        ("braces", b"User-agent: *\nDisallow: /{x}\n", "/{x}", false),
        ("braces, escaped in the URL", b"User-agent: *\nDisallow: /{x}\n", "/%7bx%7D", false),
        ("braces in the query", b"User-agent: *\nDisallow: /a?{x}\n", "/a?{x}", false),
        ("quotes, angles and the rest", b"User-agent: *\nDisallow: /a?\"<>`^\\'\n", "/a?\"<>`^\\'", false),
        ("a quote in a query, which url escapes", b"User-agent: *\nDisallow: /a?b='\n", "/a?b='c", false),
        ("a space inside", b"User-agent: *\nDisallow: /a b\n", "/a%20b", false),
        ("an escaped slash is no slash", b"User-agent: *\nDisallow: /a/b\n", "/a%2Fb", true),
        ("an escaped slash is itself", b"User-agent: *\nDisallow: /a%2fb\n", "/a%2Fb", false),
        ("percent that escapes nothing", b"User-agent: *\nDisallow: /100%\n", "/100%", false),
        ("every escape", b"User-agent: *\nDisallow: /*%\n", "/a%20b", false),
        ("query, match", b"User-agent: *\nDisallow: /a?b=c\n", "/a?b=c&d", false),
        ("query, other value", b"User-agent: *\nDisallow: /a?b=c\n", "/a?b=d", true),
        ("query, none", b"User-agent: *\nDisallow: /a?\n", "/a", true),
        ("a path rule covers its queries", b"User-agent: *\nDisallow: /a\n", "/a?b", false),
        ("a question mark is no wildcard", b"User-agent: *\nDisallow: /a?c\n", "/abc", true),
        ("fragments do not count", b"User-agent: *\nDisallow: /*secret\n", "/a#secret", true),
        ("regex signs are themselves", b"User-agent: *\nDisallow: /a.c+(d)$\n", "/a.c+(d)", false),
        ("regex signs are nothing else", b"User-agent: *\nDisallow: /a.c$\n", "/abc", true),
    ]);
}

#[test]
fn groups_speak_to_whom_they_name() {
    check(&[
        ("our group", b"User-agent: freshet\nDisallow: /a\n", "/a", false),
        ("another's group", b"User-agent: other\nDisallow: /a\n", "/a", true),
        (
            "ours before everyone's",
            b"User-agent: *\nDisallow: /\nUser-agent: freshet\nDisallow: /b\n",
            "/a",
            true,
        ),
        (
            "ours before everyone's, in reverse",
            b"User-agent: freshet\nDisallow: /b\nUser-agent: *\nDisallow: /\n",
            "/a",
            true,
        ),
        (
            "everyone's if none is ours",
            b"User-agent: other\nAllow: /\nUser-agent: *\nDisallow: /\n",
            "/a",
            false,
        ),
        (
            "our groups are merged",
            b"User-agent:freshet\nDisallow:/a\nUser-agent:x\nAllow:/\nUser-agent:freshet\nDisallow:/b\n",
            "/b",
            false,
        ),
        (
            "our groups are merged, the first too",
            b"User-agent:freshet\nDisallow:/a\nUser-agent:x\nAllow:/\nUser-agent:freshet\nDisallow:/b\n",
            "/a",
            false,
        ),
        (
            "everyone's groups are merged",
            b"User-agent:*\nDisallow:/a\nUser-agent:x\nAllow:/\nUser-agent:*\nDisallow:/b\n",
            "/a",
            false,
        ),
        (
            "several agents, one group",
            b"User-agent: x\nUser-agent: freshet\nUser-agent: y\nDisallow: /a\n",
            "/a",
            false,
        ),
        ("we and everyone in one group", b"User-agent: freshet\nUser-agent: *\nDisallow: /a\n", "/a", false),
        (
            "blank lines do not end a group",
            b"User-agent: freshet\n\n\nDisallow: /a\n\nDisallow: /b\n",
            "/b",
            false,
        ),
        (
            "blank lines do not part agents",
            b"User-agent: freshet\n\nUser-agent: x\nDisallow: /a\n",
            "/a",
            false,
        ),
        ("a group of ours without rules", b"User-agent: *\nDisallow: /\nUser-agent: freshet\n", "/a", true),
        (
            "a group of ours with an empty rule",
            b"User-agent: freshet\nDisallow:\nUser-agent: *\nDisallow: /\n",
            "/a",
            true,
        ),
        ("case of the agent", b"User-agent: FresHET\nDisallow: /a\n", "/a", false),
        ("agent with a version", b"User-agent: freshet/2.1\nDisallow: /a\n", "/a", false),
        (
            "agent as a whole user agent string",
            b"User-agent: freshet/2.1 (+https://example.org)\nDisallow: /a\n",
            "/a",
            false,
        ),
        ("agent that begins like us", b"User-agent: freshetbot\nDisallow: /a\n", "/a", true),
        ("agent that begins like us, with a dash", b"User-agent: freshet-images\nDisallow: /a\n", "/a", true),
        ("agent that we begin like", b"User-agent: fresh\nDisallow: /a\n", "/a", true),
        ("agent that contains us", b"User-agent: notfreshet\nDisallow: /a\n", "/a", true),
        ("no agent named", b"User-agent:\nDisallow: /\n", "/a", true),
        ("star with words after it", b"User-agent: * (all)\nDisallow: /a\n", "/a", false),
        ("star stuck to a word is nobody", b"User-agent: *bot\nDisallow: /a\n", "/a", true),
        ("rules above the first group", b"Disallow: /a\nUser-agent: *\nDisallow: /b\n", "/a", true),
        ("rules without any group", b"Disallow: /\n", "/a", true),
        (
            "crawl-delay between agents",
            b"User-agent: freshet\nCrawl-delay: 5\nUser-agent: x\nDisallow: /a\n",
            "/a",
            false,
        ),
        (
            "crawl-delay between rules",
            b"User-agent: *\nDisallow: /a\nCrawl-delay: 5\nDisallow: /b\n",
            "/b",
            false,
        ),
        (
            "sitemap between agents",
            b"User-agent: freshet\nSitemap: http://h/s\nUser-agent: x\nDisallow: /a\n",
            "/a",
            false,
        ),
        (
            "sitemap between rules",
            b"User-agent: *\nDisallow: /a\nSitemap: http://h/s\nDisallow: /b\n",
            "/b",
            false,
        ),
        (
            "unknown record between agents",
            b"User-agent: freshet\nHost: h\nUser-agent: x\nDisallow: /a\n",
            "/a",
            false,
        ),
        (
            "unknown record between rules",
            b"User-agent: *\nDisallow: /a\nNoindex: /c\nDisallow: /b\n",
            "/b",
            false,
        ),
    ]);
}

#[test]
fn lines_are_read_with_forbearance() {
    check(&[
        ("byte order mark", b"\xef\xbb\xbfUser-agent: *\nDisallow: /a\n", "/a", false),
        ("CRLF", b"User-agent: *\r\nDisallow: /a\r\n", "/a", false),
        ("CRLF, end sign", b"User-agent: *\r\nDisallow: /a$\r\n", "/a", false),
        ("byte order mark and CRLF", b"\xef\xbb\xbfUser-agent: *\r\nDisallow: /a\r\n", "/a", false),
        ("lone CR", b"User-agent: *\rDisallow: /a\rDisallow: /b\r", "/b", false),
        ("lone CR, and no more than the line", b"User-agent: *\rDisallow: /a\rDisallow: /b\r", "/c", true),
        ("no last line end", b"User-agent: *\nDisallow: /a", "/a", false),
        ("NUL ends a line", b"User-agent: *\0Disallow: /a\0", "/a", false),
        ("NUL in a path widens it", b"User-agent: *\nDisallow: /a\0b\n", "/ac", false),
        ("comment line", b"# User-agent: *\n# Disallow: /\nUser-agent: *\nDisallow: /a\n", "/b", true),
        ("comment after a value", b"User-agent: * # all\nDisallow: /a # secret\n", "/a/b", false),
        ("comment stuck to a value", b"User-agent: *\nDisallow: /a#b\n", "/a", false),
        ("comment instead of a value", b"User-agent: *\nDisallow: # nothing\n", "/a", true),
        (
            "comment lines between agents",
            b"User-agent: freshet\n# and\nUser-agent: x\nDisallow: /a\n",
            "/a",
            false,
        ),
        ("case of names", b"USER-AGENT: *\ndisALLOW: /a\n", "/a", false),
        ("case of names, allow", b"user-agent: *\ndisallow: /\naLLOW: /a\n", "/a", true),
        ("no blank after the colon", b"User-agent:*\nDisallow:/a\n", "/a", false),
        ("blanks around the colon", b"User-agent : *\nDisallow \t:\t /a \t\n", "/a", false),
        ("blanks before the name", b"  User-agent: *\n\tDisallow: /a\n", "/a", false),
        ("no-break space after the colon", b"User-agent: *\nDisallow:\xc2\xa0/a\n", "/a", false),
        ("no colon", b"User-agent *\nDisallow /a\n", "/a", false),
        ("no colon but in the value", b"User-agent: *\nDisallow /a:b\n", "/a:b", false),
        ("prose is no rule", b"User-agent: *\nDisallow / unless you ask\n", "/a", true),
        ("misspelled", b"Useragent: *\nDissallow: /a\n", "/a", false),
        ("colons in values", b"User-agent: *\nDisallow: /a:b\n", "/a:b", false),
        (
            "HTML",
            b"<!doctype html>\n<html><head><title>Not found</title></head>\n<p>Disallow: /\n</html>",
            "/a",
            true,
        ),
        (
            "HTML with a script",
            b"<script>\nlet x = {\n  allow: 1,\n  disallow: '/',\n}\n</script>",
            "/a",
            true,
        ),
        ("binary junk", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\xff\xfe:\x80:\xc0\xc1", "/a", true),
        ("UTF-16 is not read", b"\xff\xfeU\0s\0e\0r\0-\0a\0g\0e\0n\0t\0:\0*\0\n\0D\0i\0s\0", "/a", true),
        ("only a byte order mark", b"\xef\xbb\xbf", "/a", true),
        ("only colons", b"::::\n:\n", "/a", true),
    ]);
}
