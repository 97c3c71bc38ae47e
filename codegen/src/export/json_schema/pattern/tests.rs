//! Tests of patterns in JavaScript.
use super::*;

#[test]
fn patterns_are_written_for_javascript() {
    for (given, expected) in [
        ("^[a-z]([-a-z0-9]*[a-z0-9])?$", Some("^[a-z]([-a-z0-9]*[a-z0-9])?$")),
        (r"\A\d+\s\z", Some(r"^\d+[\t\n\f\r ]$")),
        (r"[[:alpha:]_\-]+", Some(r"[A-Za-z_\-]+")),
        (r"[^]\s]", Some(r"[^\]\t\n\f\r ]")),
        (r"(?P<year>\d{4})\-x", Some(r"(?<year>\d{4})-x")),
        (r"a{,2}{b}]", Some(r"a\{,2\}\{b\}\]")),
        (r"\pL\p{Greek}\x{1F600}", Some(r"\p{L}\p{Greek}\u{1F600}")),
        (r#"\"\@\/\."#, Some(r#""@\/\."#)),
        ("(?i)abc", None),
        (r"\Qa.b\E", None),
        ("[a-z&&[^b]]", None),
    ] {
        assert_eq!(ecma(given).as_deref(), expected, "{given}");
    }
}
