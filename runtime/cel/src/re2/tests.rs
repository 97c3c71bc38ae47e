//! Patterns are shared, compiled late, bounded in sum, and measured.
use proptest::prelude::*;
use regex::RegexBuilder;

use super::{Arc, Pattern, compilation};

/// The size by the estimate, and true if it compiles within that.
fn fits(text: &str) -> (u64, bool) {
    let pattern = Pattern::new(text).unwrap_or_else(|error| panic!("{text}: {error}"));
    (pattern.size(), pattern.0.compile().is_ok())
}

/// Patterns of all constructs, with repetitions that multiply.
fn patterns() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        "[a-zé]{1,6}",
        prop::sample::select(vec![
            "[a-z0-9]",
            "[^/]",
            r"\d",
            r"\w",
            r"\pL",
            r"[\p{Greek}0-9]",
            ".",
            "(?s:.)",
            r"\b",
            "^",
            "$",
            "(?i:straße)",
            "ab|abc|b|",
            "",
            r"[\x{80}-\x{10ffff}]",
            r"[\x{7ff}-\x{801}]",
            "(?-u:[a-f])",
            "[[:alpha:]-]",
            "(?i:[^k])",
            r"\P{Lu}",
        ])
        .prop_map(str::to_owned),
    ];
    leaf.prop_recursive(5, 24, 4, |inner| {
        let operator =
            prop::sample::select(vec!["*", "+", "?", "{3}", "{0}", "{2,}", "{1,4}", "{0,2}", "*?", "{0,}", "{1,1}"]);
        prop_oneof![
            (inner.clone(), operator).prop_map(|(part, operator)| format!("(?:{part}){operator}")),
            prop::collection::vec(inner.clone(), 1..4).prop_map(|parts| parts.join("")),
            prop::collection::vec(inner.clone(), 2..5).prop_map(|parts| format!("(?:{})", parts.join("|"))),
            inner.prop_map(|part| format!("({part})")),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn every_pattern_compiles_within_its_estimated_size(text in patterns()) {
        let (size, compiles) = fits(&text);
        prop_assert!(size > 1 << 20 || compiles, "{} {}", size, text);
    }
}

#[test]
fn groups_of_literals_compile_within_their_estimated_size() {
    for text in ["(?:(aé)|(éééééé))", "((a)|(b)|(cd))", "(?:((ab))|(abc)|)"] {
        assert!(fits(text).1, "{text}");
    }
}

#[test]
fn the_estimate_is_near_what_ordinary_patterns_take() {
    for text in [
        "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$",
        "^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$",
        r"^([0-9]|[1-9][0-9]|1[0-9]{2})(\.([0-9]|[1-9][0-9])){3}$",
        "^(Always|Never|IfNotPresent)$",
        "^.{1,253}$",
    ] {
        let (size, compiles) = fits(text);
        let half = RegexBuilder::new(text).size_limit(usize::try_from(size / 4).unwrap()).build();
        assert!(compiles && half.is_err(), "{text} {size}");
    }
}

#[test]
fn a_pattern_that_would_take_terabytes_is_measured_at_once() {
    let huge = "(?:".repeat(20) + "a" + &"){1000}".repeat(20);
    assert_eq!(Pattern::new(&huge).unwrap().size(), u64::MAX);
    assert_eq!(Pattern::new(&huge).unwrap().cost(usize::MAX), u64::MAX);
    // It does not compile, which is an error of its own.
    let large = Pattern::new("(?:a{1000}){1000}").unwrap();
    assert!(large.size() > 32_000_000 && large.size() < 100_000_000);
}

#[test]
fn equal_patterns_are_one_until_the_last_is_dropped() {
    let text = "^equal patterns are one$";
    let (first, second) = (Pattern::new(text).unwrap(), Pattern::new(text).unwrap());
    assert!(Arc::ptr_eq(&first.0, &second.0) && first == second);
    assert!(!first.0.compilation.is_ready());
    assert!(first.is_match("equal patterns are one") && second.0.compilation.is_ready());
    assert!(!second.is_match("other"));
    drop(first);
    let known = || super::ALL.lock().unwrap()[super::Dialect::Rust as usize].contains_key(text);
    assert!(known());
    drop(second);
    assert!(!known());
}

#[test]
fn compiled_patterns_are_bounded_in_sum_and_those_in_use_match_all_the_same() {
    let all: Vec<_> = (0..3_000).map(|number| Pattern::new(&format!("^kept[a-z]{{8}}{number}$")).unwrap()).collect();
    for (number, pattern) in all.iter().enumerate() {
        assert!(pattern.is_match(&format!("keptabcdefgh{number}")) && !pattern.is_match("keptabcdefgh"), "{number}");
        assert!(compilation::bytes() <= compilation::MOST);
    }
    let ready = all.iter().filter(|pattern| pattern.0.compilation.is_ready()).count();
    assert!((1_000..3_000).contains(&ready), "{ready}");
    assert!(all[0].is_match("keptabcdefgh0"));
}

#[test]
fn a_match_costs_what_its_states_and_its_text_are() {
    let name = Pattern::new("^[a-z0-9]([-a-z0-9]*[a-z0-9])?$").unwrap();
    assert!(name.is_match("a"));
    assert!(name.cost(30) < 1_000, "{}", name.cost(30));
    let large = Pattern::new("^(?:[ab]{1000}c?){90}$").unwrap();
    assert!(!large.is_match("a"));
    assert!(large.cost(64 << 10) > 5_000_000_000, "{}", large.cost(64 << 10));
}

#[test]
fn long_texts_and_large_patterns_match_too() {
    let long = "ab".repeat(100_000);
    let few = Pattern::new("^(?:[ab]*a[ab]{15})+$").unwrap();
    assert!(few.is_match(&long) && !few.is_match(&(long + "c")));
    let large = Pattern::new(r"^\p{L}{0,300}$").unwrap();
    assert!(large.size() > 32 << 10 && large.is_match("é") && !large.is_match("1"));
}

#[test]
fn patterns_that_nest_as_deeply_as_they_may_compile() {
    for (open, close) in [("(?:", ")*"), ("(?:a|b", ")"), ("(?:a", "b)?"), ("(", "|a)"), ("(?:a|a", "){1,2}?")] {
        let nested = |depth: usize| Pattern::new(&format!("{}x{}", open.repeat(depth), close.repeat(depth)));
        let deepest = (1..260).rev().find_map(|depth| nested(depth).ok()).expect("a pattern");
        assert!(deepest.size() > 1 << 24 || deepest.matches("x").is_ok(), "{open} {close} {:?}", deepest.matches("x"));
    }
}
