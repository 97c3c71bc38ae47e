//! Tests of patterns by what they allow.
use super::*;

#[expect(clippy::unnecessary_wraps, reason = "it is compared with answers")]
fn refuses(text: &str) -> Option<Relation> {
    Some(Relation::Refuses(text.to_owned()))
}

#[test]
fn patterns_are_compared_by_the_texts_that_they_allow() {
    for (old, new, expected) in [
        ("^[a-z]+$", "^[a-z]+$", Some(Relation::Same)),
        ("^[a-z]+$", "^[a-m]*[a-z]$", refuses("na")),
        ("^[a-z]+$", "^[a-z]*$", Some(Relation::Wider)),
        ("^[a-z]*$", "^[a-z]+$", refuses("")),
        ("^[a-z]+$", "^[a-y]+$", refuses("z")),
        ("^[a-z]{1,3}$", "^[a-z]{1,2}$", refuses("aaa")),
        ("^(a|b)c?$", "^a|bc?$", Some(Relation::Wider)),
        ("^a|bc?$", "^(a|b)c?$", refuses("aa")),
        ("^a$", "a", Some(Relation::Wider)),
        ("a", "^a", refuses("ba")),
        ("a", "", Some(Relation::Wider)),
        ("", "a", refuses("")),
        ("^(a*)*$", "^a*$", Some(Relation::Same)),
        ("^[a-zA-Z0-9]([-a-zSA-Z0-9]*[a-zA-Z0-9])?$", "^[a-zA-Z0-9]([-a-zA-Z0-9]*[a-zA-Z0-9])?$", Some(Relation::Same)),
        ("^[^a]$", "^[b-z]$", refuses("A")),
        ("^\\PC+$", "^.*$", Some(Relation::Wider)),
        (r"\ba", "a", None),
    ] {
        assert_eq!(compare(old, new), expected, "{old:?} {new:?}");
    }
}

#[test]
fn large_patterns_take_no_long_time() {
    let begun = std::time::Instant::now();
    let old = "^(([a-zA-Z0-9]|[a-zA-Z0-9][a-zA-Z0-9-]*[a-zA-Z0-9])\\.)*[a-z]{1,500}$";
    compare(old, "^.*[ab].{300}$");
    compare("^(a|b)*a(a|b){16}$", "^(a|b)*b(a|b){16}$");
    assert!(begun.elapsed().as_secs() < 60, "{:?}", begun.elapsed());
}
