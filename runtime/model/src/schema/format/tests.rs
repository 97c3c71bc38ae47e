//! Texts are judged as kube-apiserver judges them: `formats.tsv` says for each format and text whether the Go code of `strfmt`
//! allows it, and for `bytes` what Go's decoder of JSON prints for it, or why it refuses it.
use serde_json::json;

use super::{KNOWN, allows, is_known};
use crate::schema::{Scalar, Schema, Type};

const FORMATS: &str = include_str!("formats.tsv");

/// The rows that differ.
fn differing(table: &str) -> Vec<String> {
    let judged = |row: &str| {
        let [name, text, go] = row.split('\t').collect::<Vec<_>>()[..] else { panic!("{row}") };
        let text: String = serde_json::from_str(text).expect("JSON");
        if name == "bytes" {
            let read = Scalar::Bytes.read(&text);
            let read = read.map_or_else(|error| format!("-{}", json!(error)), |printed| format!("+{}", json!(printed)));
            return (read != go).then(|| format!("{row}: {read}"));
        }
        let schema = Schema { kind: Type::String, format: Some(name.to_owned()), ..Schema::default() };
        (allows(&schema, &text) != (go == "+")).then(|| row.to_owned())
    };
    table.lines().filter_map(judged).collect()
}

#[test]
fn formats_allow_what_go_allows() {
    let wrong = differing(FORMATS);
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), FORMATS.lines().count(), wrong.join("\n"));
    let names = || FORMATS.lines().filter_map(|row| row.split('\t').next());
    assert!(KNOWN.iter().all(|(format, ..)| names().any(|name| name == *format)));
}

#[test]
fn examples_are_allowed() {
    assert!(KNOWN.iter().all(|(_, example, allows)| allows(example)));
}

#[test]
fn dashes_of_names_do_not_count() {
    assert!(KNOWN.is_sorted_by_key(|(name, ..)| *name));
    for known in ["date-time", "datetime", "da-te-ti-me", "k8s-short-name", "u-u-i-d-4", "isbn-10"] {
        assert!(is_known(known), "{known}");
    }
    for unknown in ["", "-", "Date", "date time", "date_time", "quantity", "micro-time", "binary", "int32", "uuid6"] {
        let schema = Schema { kind: Type::String, format: Some(unknown.to_owned()), ..Schema::default() };
        assert!(!is_known(unknown) && allows(&schema, "\u{0}"), "{unknown}");
    }
}
