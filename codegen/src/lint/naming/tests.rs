//! Tests of the names that are suggested.
use super::*;

#[test]
fn a_name_is_spelled_out_with_acronyms_in_capitals() {
    for (name, expected) in [
        ("jwks_uri", Some("jwksURI")),
        ("daemon_id", Some("daemonID")),
        ("DAEMON-IDS", Some("daemonIDs")),
        ("URLPath", Some("urlPath")),
        ("pub_addr", Some("pubAddress")),
        ("podIPv4Address", Some("podIPv4Address")),
        ("max_QPS", Some("maxQPS")),
        ("_Other", Some("other")),
        ("1st", None),
        ("größe", None),
        ("日本", None),
        ("__", None),
    ] {
        assert_eq!(spelled_out(name).map(|all| joined(&all)).as_deref(), expected, "{name}");
    }
}
