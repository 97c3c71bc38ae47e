//! Tests of words, and of the lists of them.
use super::*;

#[test]
fn acronyms_are_words_and_so_are_their_plurals() {
    for (name, expected) in [
        ("podIPAddress", &["pod", "IP", "Address"][..]),
        ("clusterIPs", &["cluster", "IPs"]),
        ("nonResourceURLs", &["non", "Resource", "URLs"]),
        ("setHostnameAsFQDN", &["set", "Hostname", "As", "FQDN"]),
        ("podIp", &["pod", "Ip"]),
        ("name", &["name"]),
        ("HTTPSettings", &["HTTP", "Settings"]),
        ("jwks_uri", &["jwks", "uri"]),
        ("-max-IP.range", &["max", "IP", "range"]),
        ("", &[]),
    ] {
        assert_eq!(words(name), expected, "{name}");
    }
}

#[test]
fn lists_are_in_order_so_that_a_word_is_not_in_them_twice() {
    for list in [&ACRONYMS[..], &DURATIONS, &SIZED, &AMOUNTS] {
        assert!(list.is_sorted() && list.windows(2).all(|pair| pair[0] != pair[1]), "{list:?}");
    }
    assert!(ABBREVIATIONS.windows(2).all(|pair| pair[0].0 < pair[1].0));
}
