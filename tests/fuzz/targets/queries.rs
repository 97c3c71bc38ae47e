//! Queries as bytes: nothing is dropped or added, so that no damage widens the effect of a request.
use std::fmt::Write;

use kindsmith::meta::{
    options::{DeleteOptions, ListOptions, Query, WriteOptions},
    selector::{Fields, Labels},
};
use kindsmith_tests::Random;

use crate::engine::Target;

/// An input is a raw query.
pub(crate) struct Queries;

/// Parameters of lists and deletions that may occur once.
const LIST: [&str; 10] = [
    "labelSelector",
    "fieldSelector",
    "watch",
    "allowWatchBookmarks",
    "timeoutSeconds",
    "limit",
    "continue",
    "sendInitialEvents",
    "resourceVersion",
    "resourceVersionMatch",
];
const DELETE: [&str; 3] = ["gracePeriodSeconds", "propagationPolicy", "orphanDependents"];
const CREATE: [&str; 2] = ["fieldManager", "fieldValidation"];
const VALUES: [&str; 10] =
    ["a=b", "a in (b, c),!d", "metadata.name=x", "All", "1", "true", "", "Strict", "Orphan", "\u{e9};&%+"];

/// The pairs of a query, parsed by the specification; `None` for one that must be refused.
fn expected(query: &str) -> Option<Vec<(String, String)>> {
    fn text(encoded: &[u8]) -> Option<String> {
        let mut bytes = Vec::new();
        let mut at = 0;
        while at < encoded.len() {
            match encoded[at] {
                b'+' => bytes.push(b' '),
                b'%' => {
                    let digits = encoded.get(at + 1..at + 3).filter(|two| two.iter().all(u8::is_ascii_hexdigit))?;
                    bytes.push(u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?);
                    at += 2;
                }
                plain => bytes.push(plain),
            }
            at += 1;
        }
        String::from_utf8(bytes).ok()
    }
    let mut pairs = Vec::new();
    for pair in query.as_bytes().split(|byte| *byte == b'&') {
        if pair.contains(&b';') {
            return None;
        }
        let equals = pair.iter().position(|byte| *byte == b'=');
        let (name, value) = equals.map_or((pair, &[][..]), |at| (&pair[..at], &pair[at + 1..]));
        if !pair.is_empty() {
            pairs.push((text(name)?, text(value)?));
        }
    }
    Some(pairs)
}

/// Compares the parsed options with the query.
fn check_options(query: &Query, pairs: &[(String, String)]) -> String {
    let all = |name: &str| pairs.iter().filter(|(key, _)| key == name).map(|(_, v)| v.as_str()).collect::<Vec<_>>();
    let once = |names: &[&str]| names.iter().all(|name| all(name).len() <= 1);
    let value = |name: &str| all(name).first().copied().unwrap_or_default();
    let is_dry = all("dryRun").contains(&"All");
    let list = ListOptions::parse(query, false).map(|options| {
        assert!(once(&LIST), "a parameter of a list counts that is given twice");
        assert_eq!(Ok(options.labels), Labels::parse(value("labelSelector")));
        assert_eq!(Ok(options.fields), Fields::parse(value("fieldSelector")));
        assert_eq!(options.continue_token, value("continue"));
    });
    let delete = DeleteOptions::parse(query, None).map(|options| {
        assert!(once(&DELETE), "a parameter of a deletion counts that is given twice");
        assert_eq!(options.dry_run, is_dry);
        assert_eq!(options.grace_period_seconds, value("gracePeriodSeconds").parse().ok());
    });
    let create = WriteOptions::for_create(query).map(|options| {
        assert!(once(&CREATE), "a parameter of a write counts that is given twice");
        assert_eq!((options.dry_run, options.field_manager.as_str()), (is_dry, value("fieldManager")));
    });
    format!("{} {} {}", list.is_ok(), delete.is_ok(), create.is_ok())
}

impl Target for Queries {
    const WORDS: &'static [&'static str] = &[
        "&",
        "=",
        ";",
        "+",
        "%",
        "%2",
        "%ff",
        "%26",
        "%3D",
        "%3B",
        "%00",
        "%c3%a9",
        "dryRun=All",
        "labelSelector=",
        "&limit=1",
        "=a%3Db",
    ];
    const LONGEST: usize = 2 << 10;

    fn make(&self, random: &mut Random) -> Vec<u8> {
        let mut query = String::new();
        for _ in 0..random.below(6) {
            let name = *random.pick(&[&LIST[..], &DELETE, &CREATE, &["dryRun", "x"]].concat());
            write!(query, "{}{name}=", if query.is_empty() { "" } else { "&" }).expect("writing to text");
            for byte in random.pick(&VALUES).bytes() {
                if byte.is_ascii_alphanumeric() && !random.one_in(10) {
                    query.push(char::from(byte));
                } else {
                    write!(query, "%{byte:02X}").expect("writing to text");
                }
            }
        }
        query.into_bytes()
    }

    fn attempt(&self, input: &[u8]) -> String {
        let Ok(text) = std::str::from_utf8(input) else { return "not text".to_owned() };
        match (Query::parse(text), expected(text)) {
            (Err(error), None) => {
                let message = error.to_string();
                assert!(message.starts_with("the query parameter \"") && message.len() < 1_000, "{message}");
                message.rsplit(':').next().unwrap_or_default().to_owned()
            }
            (Ok(query), Some(pairs)) => {
                assert_eq!(query, pairs.iter().cloned().collect());
                check_options(&query, &pairs)
            }
            (read, expected) => panic!("{text:?} is read as {read:?}, not as {expected:?}"),
        }
    }
}
