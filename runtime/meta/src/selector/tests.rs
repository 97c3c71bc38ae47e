//! Selectors compared with recorded answers of kube-apiserver, and tested by properties.
use proptest::prelude::*;

use super::*;
use crate::{LabelSelector, LabelSelectorRequirement};

fn labels(pairs: &[(&str, &str)]) -> Vec<(Box<str>, Box<str>)> {
    pairs.iter().map(|(key, value)| ((*key).into(), (*value).into())).collect()
}

#[test]
fn label_selectors_select_as_recorded() {
    let objects = [
        ("a", labels(&[("app", "web"), ("tier", "1")])),
        ("b", labels(&[("app", "web"), ("tier", "2")])),
        ("c", labels(&[("app", "db"), ("tier", "2")])),
        ("d", labels(&[])),
    ];
    for (selector, expected) in [
        ("", "abcd"),
        ("app", "abc"),
        ("app=web", "ab"),
        ("app==web", "ab"),
        ("app!=web,app", "c"),
        ("app!=web", "cd"),
        ("app in (web,db)", "abc"),
        ("app notin (web)", "cd"),
        ("!app", "d"),
        ("app,tier=2", "bc"),
        ("tier>1", "bc"),
        ("tier<2", "a"),
        ("tier > 0 , tier < 2", "a"),
        ("app>1", ""),
        ("app in (web),tier notin (1)", "b"),
        ("app in (,web)", "ab"),
        ("app=", ""),
        ("app in ()", ""),
        ("in in (in,notin)", ""),
    ] {
        let parsed = Labels::parse(selector).unwrap_or_else(|why| panic!("{selector:?}: {why}"));
        let selected: String = objects.iter().filter(|(_, labels)| parsed.matches(labels)).map(|(n, _)| *n).collect();
        assert_eq!(selected, expected, "{selector:?}");
    }
    assert!(Labels::parse("in in (in,notin)").expect("keywords as names").matches(&labels(&[("in", "notin")])));
}

#[test]
fn bad_label_selectors_are_refused_as_recorded() {
    for (selector, message) in [
        ("app in (", "unable to parse requirement: found '', expected: ',', ')' or identifier"),
        ("=x", "found '=', expected: !, identifier, or 'end of string'"),
        ("app=web,", "found '', expected: identifier after ','"),
        ("a b=c", "unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt"),
        ("app in (web", "unable to parse requirement: found '', expected: ',' or ')'"),
        ("app in web", "unable to parse requirement: found 'web' expected: '('"),
        ("app==(", "unable to parse requirement: found '(', expected: identifier"),
        ("!", "unable to parse requirement: found '', expected: identifier"),
        ("!a=b", "found '=', expected: ',' or 'end of string'"),
        ("a=b c", "found 'c', expected: ',' or 'end of string'"),
        (
            "a>b",
            "unable to parse requirement: values[0]: Invalid value: \"b\": for 'Gt', 'Lt' operators, the value must be an \
             integer",
        ),
    ] {
        assert_eq!(Labels::parse(selector), Err(message.to_owned()), "{selector:?}");
    }
    let long = "x".repeat(64);
    for selector in ["a/b/c", "-a", "a=-", "a in (b,-)", &format!("a={long}"), &long, "k=ä", "a\0b=c"] {
        assert!(Labels::parse(selector).is_err(), "{selector:?}");
    }
    let message = Labels::parse("a=-").expect_err("a bad value");
    assert!(
        message.starts_with("unable to parse requirement: values[0][a]: Invalid value: \"-\": a valid label"),
        "{message}"
    );
    let message = Labels::parse("-a=b").expect_err("a bad key");
    assert!(message.starts_with("unable to parse requirement: <nil>: Invalid value: \"-a\": name part"), "{message}");
    assert!(Labels::parse(&"a,".repeat(MAX_LENGTH)).expect_err("too long").contains("65536 bytes"));
}

#[test]
fn label_selectors_print_canonically() {
    for (selector, printed) in [
        ("z, a == b", "a=b,z"),
        ("a in (c,b,c)", "a in (b,c)"),
        ("a in (b)", "a=b"),
        ("a notin (b)", "a!=b"),
        ("a notin (b,,c)", "a notin (,b,c)"),
        ("!a,b>1,c<2,d=", "!a,b>1,c<2,d="),
    ] {
        assert_eq!(Labels::parse(selector).expect("a good selector").to_string(), printed);
    }
}

#[test]
fn label_selector_fields_become_selectors() {
    let expression = |key: &str, operator: &str, values: &[&str]| LabelSelectorRequirement {
        key: key.to_owned(),
        operator: operator.to_owned(),
        values: values.iter().map(|v| (*v).to_owned()).collect(),
    };
    let mut field = LabelSelector::default();
    assert!(Labels::from_field(&field).expect("an empty selector").is_empty());
    field.match_labels.insert("app".to_owned(), "web".to_owned());
    field.match_expressions = vec![
        expression("tier", "In", &["2", "1"]),
        expression("old", "DoesNotExist", &[]),
        expression("x", "Exists", &[]),
    ];
    assert_eq!(Labels::from_field(&field).expect("a selector").to_string(), "app=web,!old,tier in (1,2),x");
    for bad in [expression("a", "Near", &[]), expression("a", "In", &[]), expression("a", "Exists", &["b"])] {
        field.match_expressions = vec![bad.clone()];
        assert!(Labels::from_field(&field).is_err(), "{bad:?}");
    }
}

fn value_of<'a>(field: &str) -> &'a str {
    match field {
        "metadata.name" => "b",
        "metadata.namespace" => "t",
        "spec.text" => r"a,b=c\d",
        _ => "",
    }
}

#[test]
fn field_selectors_select() {
    for (selector, expected) in [
        ("", true),
        ("metadata.name=b", true),
        ("metadata.name==b", true),
        ("metadata.name!=b", false),
        ("metadata.name=a", false),
        ("metadata.name=b,metadata.namespace=t", true),
        ("metadata.name=b,metadata.namespace!=t", false),
        (",metadata.name=b,,", true),
        (r"spec.text=a\,b\=c\\d", true),
        ("spec.absent=", true),
        ("spec.absent!=x", true),
    ] {
        let parsed = Fields::parse(selector).unwrap_or_else(|why| panic!("{selector:?}: {why}"));
        assert_eq!(parsed.matches(value_of), expected, "{selector:?}");
    }
    let parsed = Fields::parse("metadata.namespace!=t,metadata.name=b").expect("a good selector");
    assert_eq!((parsed.pins("metadata.name"), parsed.pins("metadata.namespace")), (Some("b"), None));
}

#[test]
fn bad_field_selectors_are_refused_as_recorded() {
    for (selector, message) in [
        ("metadata.name", "invalid selector: 'metadata.name'; can't understand 'metadata.name'"),
        ("a=b,c", "invalid selector: 'a=b,c'; can't understand 'c'"),
        ("a=b=c", "invalid field selector: unescaped character in value: 61"),
        (r"a=\x", r"invalid field selector: invalid escape sequence: \x"),
        (r"a=b\", r"invalid field selector: invalid escape sequence: \"),
    ] {
        assert_eq!(Fields::parse(selector), Err(message.to_owned()), "{selector:?}");
    }
    assert!(Fields::parse(&"a=b,".repeat(MAX_LENGTH)).is_err());
}

proptest! {
    #[test]
    fn any_text_is_refused_or_parses_and_round_trips(text in r"[a-c,=!()<> \\é\x00inot1.]{0,24}") {
        if let Ok(parsed) = Labels::parse(&text) {
            prop_assert_eq!(Labels::parse(&parsed.to_string()), Ok(parsed));
        }
        if let Ok(parsed) = Fields::parse(&text) {
            let again = Fields::parse(&parsed.to_string()).expect("printed text parses");
            let by_text = |fields: &Fields| {
                let mut terms: Vec<String> = fields.terms().iter().map(|t| format!("{t:?}")).collect();
                terms.sort();
                terms
            };
            prop_assert_eq!(by_text(&again), by_text(&parsed));
        }
    }

    #[test]
    fn wild_text_never_panics(text in any::<String>()) {
        let _ = Labels::parse(&text);
        let _ = Fields::parse(&text);
    }

    #[test]
    fn made_selectors_parse(keys in prop::collection::vec("[a-z]{1,5}", 1..5), values in prop::collection::vec("[a-z0-9]{0,5}", 1..4)) {
        let text: Vec<String> = keys.iter().map(|key| format!("{key} in ({})", values.join(","))).collect();
        let parsed = Labels::parse(&text.join(",")).expect("a good selector");
        prop_assert_eq!(parsed.requirements().len(), keys.len());
        let all: Vec<_> = keys.iter().map(|key| (key.as_str().into(), values[0].as_str().into())).collect();
        prop_assert!(parsed.matches(&all));
    }
}
