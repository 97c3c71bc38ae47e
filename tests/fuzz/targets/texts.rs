//! Selectors, quantities, times.
use std::cmp::Ordering;

use kindsmith::{
    MicroTime, Quantity, Time,
    meta::selector::{self, Fields as FieldSelector, Labels as LabelSelector},
};
use kindsmith_tests::Random;

use crate::engine::Target;

/// A text of some words.
fn text(random: &mut Random, words: &[&str]) -> Vec<u8> {
    (0..random.below(12)).map(|_| *random.pick(words)).collect::<String>().into_bytes()
}

/// Label selectors.
pub(crate) struct Labels;

impl Target for Labels {
    const WORDS: &'static [&'static str] = &[
        "a",
        "b",
        "example.com/app",
        "=",
        "==",
        "!=",
        "!",
        " in ",
        " notin ",
        "(",
        ")",
        ",",
        "(a,b)",
        ">",
        "<",
        "5",
        " ",
        "-",
        "_",
        ".",
        "\u{e9}",
        "\u{0}",
    ];
    const LONGEST: usize = selector::MAX_LENGTH + 10;

    fn make(&self, random: &mut Random) -> Vec<u8> {
        let one = |random: &mut Random| match random.below(7) {
            0 => "a=b".to_owned(),
            1 => format!("a in ({})", ["b", "b,c", "", ","][random.below(4)]),
            2 => "!x/y".to_owned(),
            3 => format!("n>{}", random.below(9)),
            4 => "k notin (a,b,a)".to_owned(),
            5 => "a".repeat(random.below(70)),
            _ => String::from_utf8(text(random, Self::WORDS)).expect("words are text"),
        };
        let requirements: Vec<String> = (0..random.below(6)).map(|_| one(random)).collect();
        let times = if random.one_in(40) { 2_000 } else { 1 };
        requirements.join(",").repeat(times).into_bytes()
    }

    fn attempt(&self, input: &[u8]) -> String {
        let input = String::from_utf8_lossy(input);
        match LabelSelector::parse(&input) {
            Ok(selector) => {
                let printed = selector.to_string();
                assert_eq!(LabelSelector::parse(&printed).as_ref(), Ok(&selector), "{printed}");
                let value = |key: &str| key.len().is_multiple_of(2).then_some("5");
                let each = selector.requirements().iter().all(|one| one.allows(value(&one.key)));
                assert_eq!(selector.matches_by(value), each);
                let operators: Vec<_> = selector.requirements().iter().map(|one| one.operator).collect();
                format!("{operators:?}")
            }
            Err(message) => {
                assert!(
                    !message.is_empty() && message.len() < 4 * Self::LONGEST,
                    "a message of {} bytes",
                    message.len()
                );
                message
            }
        }
    }
}

/// Field selectors.
pub(crate) struct Fields;

impl Target for Fields {
    const WORDS: &'static [&'static str] =
        &["metadata.name", "spec.color", "=", "==", "!=", ",", "\\", "\\,", "\\=", "\\\\", "a", "", " ", "!", "\u{e9}"];
    const LONGEST: usize = selector::MAX_LENGTH + 10;

    fn make(&self, random: &mut Random) -> Vec<u8> {
        let times = if random.one_in(40) { 2_000 } else { 1 };
        text(random, Self::WORDS).repeat(times)
    }

    fn attempt(&self, input: &[u8]) -> String {
        let input = String::from_utf8_lossy(input);
        match FieldSelector::parse(&input) {
            Ok(selector) => {
                let printed = selector.to_string();
                assert_eq!(FieldSelector::parse(&printed).as_ref(), Ok(&selector), "{printed}");
                for term in selector.terms().iter().take(20) {
                    assert!(
                        selector.pins(&term.field).is_some()
                            || selector.terms().iter().all(|t| t.field != term.field || !t.equal)
                    );
                }
                format!(
                    "{} {}",
                    selector.matches(|_| ""),
                    selector.terms().iter().map(|term| if term.equal { '=' } else { '!' }).collect::<String>()
                )
            }
            Err(message) => {
                assert!(!message.is_empty() && message.len() < 4 * Self::LONGEST);
                message
            }
        }
    }
}

/// Quantities.
pub(crate) struct Quantities;

impl Target for Quantities {
    const WORDS: &'static [&'static str] = &[
        "0",
        "1",
        "9",
        "00",
        ".",
        "-",
        "+",
        "e",
        "E",
        "e3",
        "E-9",
        "Ki",
        "Mi",
        "Ei",
        "n",
        "u",
        "m",
        "k",
        "M",
        "T",
        "P",
        "9223372036854775807",
        "1024",
        "000000000",
        "e99999999999",
    ];

    fn make(&self, random: &mut Random) -> Vec<u8> {
        text(random, Self::WORDS)
    }

    fn attempt(&self, input: &[u8]) -> String {
        let Ok(quantity) = String::from_utf8_lossy(input).parse::<Quantity>() else { return "none".to_owned() };
        let canonical = quantity.canonical();
        let again: Quantity = canonical.parse().expect("a canonical quantity is one");
        // Rounding to a number without a suffix changes the format to decimal.
        let settled: Quantity = again.canonical().parse().expect("canonical text parses");
        assert_eq!(settled.canonical(), again.canonical());
        assert_eq!(again.compare(&settled), Ordering::Equal, "{canonical}");
        assert_eq!(quantity.whole() < 0, again.whole() < 0, "{canonical}");
        canonical
    }
}

/// Times.
pub(crate) struct Times;

impl Target for Times {
    const WORDS: &'static [&'static str] = &[
        "2026-01-02T03:04:05Z",
        "2024-02-29",
        "0000-01-01T00:00:00Z",
        "9999-12-31T23:59:59.999999999Z",
        "T",
        "Z",
        "+14:00",
        "-23:59",
        ".",
        "000000",
        ":60",
        "t",
        "-",
        "60",
        "99",
    ];

    fn make(&self, random: &mut Random) -> Vec<u8> {
        let number = |random: &mut Random, below| random.below(below);
        let (year, month, day) = (number(random, 10_000), number(random, 14), number(random, 33));
        let (hour, minute, second) = (number(random, 26), number(random, 62), number(random, 62));
        let zone = ["Z", "+00:00", "-01:30", "+23:59", "", "z", "+24:00"][random.below(7)];
        let part = ["", ".5", ".123456", ".999999999", "."][random.below(5)];
        format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}{part}{zone}").into_bytes()
    }

    fn attempt(&self, input: &[u8]) -> String {
        let input = String::from_utf8_lossy(input);
        let Ok(time) = input.parse::<Time>() else {
            // Go reads a sign before the microseconds, but not before the fraction of a time.
            let is_signed = [".+", ".-", ",+", ",-"].iter().any(|sign| input.contains(sign));
            assert!(is_signed || input.parse::<MicroTime>().is_err(), "a time in microseconds is a time");
            return "none".to_owned();
        };
        // A zone may lead to a year that has no four digits, which Go prints and does not read.
        if time.to_string().len() != 20 {
            return "far".to_owned();
        }
        assert_eq!(time.to_string().parse(), Ok(time));
        // It has six digits of a second.
        let Ok(exact) = input.parse::<MicroTime>() else { return "whole".to_owned() };
        assert_eq!(exact.to_string().parse(), Ok(exact));
        format!("{} {}", input.len(), time.to_string().len())
    }
}
