//! Keywords of single values: the type, the format, allowed values and the default.
use serde_json::{Number, json};

use super::node::Node;
use crate::{
    openapi::findings::{Findings, Location, shown},
    schema::Document,
};

/// Integers of Rust by schemars' formats: the format of Kubernetes, and the bounds that it does not imply.
const INTEGERS: [(&str, &str, Option<i64>, Option<i64>); 10] = [
    ("int8", "int32", Some(-128), Some(127)),
    ("int16", "int32", Some(-32_768), Some(32_767)),
    ("uint8", "int32", Some(0), Some(255)),
    ("uint16", "int32", Some(0), Some(65_535)),
    ("uint32", "int64", Some(0), Some(4_294_967_295)),
    ("uint64", "int64", Some(0), None),
    ("uint128", "int64", Some(0), None),
    ("uint", "int64", Some(0), None),
    ("int128", "int64", None, None),
    ("int", "int64", None, None),
];

/// Reads the keywords of single values.
pub(super) fn read(raw: &Node, node: &mut Node, location: &Location<'_>, findings: &mut Findings) {
    let mut nullable = raw.get("nullable") == Some(&true.into());
    let allowed = match (raw.get("const"), raw.get("enum")) {
        (Some(only), _) => vec![only.clone()],
        (None, Some(Document::Array(values))) => values.clone(),
        _ => Vec::new(),
    };
    nullable |= allowed.iter().any(Document::is_null);
    let (is_limited, allowed): (bool, Vec<_>) =
        (!allowed.is_empty(), allowed.into_iter().filter(|value| !value.is_null()).collect());
    if is_limited && allowed.is_empty() {
        findings.error(
            location,
            "found null as the only value; supported: a value of some type, which may be null as well",
        );
    }
    read_type(raw, node, &mut nullable, location, findings);
    if !node.contains_key("type")
        && let Some(kind) = type_of_all(&allowed)
    {
        node.insert("type".to_owned(), kind.into());
    }
    if !allowed.is_empty() {
        node.insert("enum".to_owned(), allowed.into());
    }
    if nullable {
        node.insert("nullable".to_owned(), true.into());
    }
    format(raw, node);
    if let Some(default) = raw.get("default").filter(|default| !default.is_null()) {
        node.insert("default".to_owned(), without_null(default));
    }
}

/// Returns true for a schema that only null matches.
pub(super) fn is_null(raw: &Document) -> bool {
    raw.get("type").is_some_and(|kind| kind == "null")
        || raw.get("const").is_some_and(Document::is_null)
        || raw.get("enum").and_then(Document::as_array).is_some_and(|values| values.iter().all(Document::is_null))
}

/// The type. Several types are one if null is the other, or if there is a type for both.
fn read_type(raw: &Node, node: &mut Node, nullable: &mut bool, location: &Location<'_>, findings: &mut Findings) {
    let location = location.key("type");
    let types: Vec<&str> = match raw.get("type") {
        None => return,
        Some(Document::String(one)) => vec![one],
        Some(Document::Array(several)) => several.iter().filter_map(Document::as_str).collect(),
        Some(other) => return findings.wrong_type(&location, other, "a type or a list of types"),
    };
    *nullable |= types.contains(&"null");
    let mut types: Vec<_> = types.into_iter().filter(|one| *one != "null").collect();
    types.sort_unstable();
    match types[..] {
        [] => findings.error(&location, "found null as the only type; supported: a type, which may be null as well"),
        [one] => {
            node.insert("type".to_owned(), one.into());
        }
        ["integer", "number"] => {
            node.insert("type".to_owned(), "number".into());
        }
        ["integer", "string"] => {
            node.insert("x-kubernetes-int-or-string".to_owned(), true.into());
        }
        _ => findings.error(&location, format!("found the types {}; supported: one type, and null", types.join(", "))),
    }
}

/// The type of values that are all of one.
fn type_of_all(values: &[Document]) -> Option<&'static str> {
    let of = |value: &Document| match value {
        Document::String(_) => Some("string"),
        Document::Bool(_) => Some("boolean"),
        Document::Number(number) if number.is_i64() => Some("integer"),
        _ => None,
    };
    let first = of(values.first()?)?;
    values.iter().all(|value| of(value) == Some(first)).then_some(first)
}

/// The format and the bounds of numbers.
fn format(raw: &Node, node: &mut Node) {
    let mut bounds = ["minimum", "maximum"].map(|name| raw.get(name).cloned());
    let format = raw.get("format").and_then(Document::as_str);
    let of_rust = INTEGERS.iter().find(|(name, ..)| Some(*name) == format);
    match (of_rust, format) {
        (Some((_, format, least, most)), _) => {
            node.insert("format".to_owned(), (*format).into());
            for (bound, implied) in bounds.iter_mut().zip([least, most]) {
                *bound = bound.take().or_else(|| implied.map(Document::from));
            }
        }
        // Addresses of either version have no format in Kubernetes.
        (None, Some("ip")) => {
            node.insert("anyOf".to_owned(), json!([{"format": "ipv4"}, {"format": "ipv6"}]));
        }
        (None, Some(format)) => {
            node.insert("format".to_owned(), format.into());
        }
        (None, None) => {}
    }
    for (name, bound) in ["minimum", "maximum"].into_iter().zip(bounds) {
        // A bound beyond all numbers of the format says nothing: `u64::MAX`, `i128::MIN`.
        let is_beyond = |bound: &Document| of_rust.is_some() && bound.as_number().is_none_or(|number| !fits(number));
        if let Some(bound) = bound.filter(|bound| !is_beyond(bound)) {
            node.insert(name.to_owned(), bound);
        }
    }
}

fn fits(number: &Number) -> bool {
    number.is_i64() || number.as_f64().is_some_and(|number| number.abs() < 9e18)
}

/// A default without members that are null, which are absent. Types write an `Option` without a value as null.
fn without_null(value: &Document) -> Document {
    match value {
        Document::Object(members) => {
            let given = members.iter().filter(|(_, value)| !value.is_null());
            given.map(|(name, value)| (name.clone(), without_null(value))).collect()
        }
        Document::Array(items) => items.iter().map(without_null).collect(),
        other => other.clone(),
    }
}

/// The text of a value for messages.
pub(super) fn named(node: &Node) -> String {
    match node.get("type").and_then(Document::as_str) {
        Some("object") => "an object".to_owned(),
        Some("array") => "a list".to_owned(),
        Some("string") => "text".to_owned(),
        Some("integer") => "an integer".to_owned(),
        Some("number") => "a number".to_owned(),
        Some("boolean") => "a boolean".to_owned(),
        Some(other) => other.to_owned(),
        None => shown(&node.clone().into()),
    }
}
