use super::*;

fn network(site: &str) -> Network {
    let mut sites = Sites::default();
    let key = SiteKey::parse(site).unwrap();
    let secret = [("X-Key".to_owned(), "s3cret".to_owned())];
    let headers = SiteHeaders::new(key.clone(), Some("special/1.0"), secret.into_iter()).unwrap();
    assert!(!format!("{headers:?}").contains("s3cret"));
    assert!(sites.add(key.site(), headers));
    Network::new(NetworkSettings {
        user_agent: "freshet".to_owned(),
        limits: Limits::default(),
        keep_alive: Duration::from_secs(1),
        addresses: AddressRules::default(),
        sites,
    })
    .unwrap()
}

/// The user agent and the key that a URL is sent.
fn sent(network: &Network, url: &str) -> (String, bool) {
    let url = Url::parse(url).unwrap();
    let ask = Ask { url, validators: Default::default(), max_bytes: 1, wants_beginning: false };
    let request = network.request(&ask);
    let agent = request.headers()[header::USER_AGENT].to_str().unwrap().to_owned();
    (agent, request.headers().contains_key("x-key"))
}

#[test]
fn a_key_is_sent_to_the_named_host_over_https_and_an_agent_to_the_whole_site() {
    let special = |secret| ("special/1.0".to_owned(), secret);
    let network = network("example.org");
    assert_eq!(sent(&network, "https://example.org/a"), special(true));
    for url in ["http://example.org/a", "https://a.example.org/", "https://example.org:8443/"] {
        assert_eq!(sent(&network, url), special(false), "{url}");
    }
    assert_eq!(sent(&network, "https://example.com/"), ("freshet".to_owned(), false));
}
