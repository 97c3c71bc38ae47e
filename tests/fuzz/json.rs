//! Generates documents, and JSON text in unusual forms.
use std::fmt::Write;

use kindsmith::schema::Document;
use kindsmith_tests::Random;
use serde_json::{Map, Number};

/// Words of JSON, and numbers at the limits.
pub(crate) const WORDS: &[&str] = &[
    "null",
    "true",
    "false",
    "{}",
    "[]",
    "\"\"",
    "{\"a\":",
    "[[[[[[[[",
    "{\"a\":{\"a\":{\"a\":",
    "\\u0000",
    "\\ud800",
    "\\udc00",
    "\\ud83d\\ude00",
    "\\",
    "1e999999",
    "-0",
    "1.0",
    "1e2",
    "9223372036854775807",
    "9223372036854775808",
    "-9223372036854775809",
    "18446744073709551616",
    "1e-400",
    "0.1e1",
    "4.9e-324",
    "1.7976931348623157e308",
    "01",
    "+1",
    "NaN",
    "\u{feff}",
    "\u{2028}",
    "apiVersion",
    "kind",
    "metadata",
    "name",
    "spec",
    "\"a\":1,\"a\":2",
];

const TEXTS: &[&str] = &[
    "",
    "a",
    "b",
    "c",
    "name",
    "null",
    "true",
    "~",
    "0",
    "1",
    "-1",
    "1.5",
    "no",
    "on",
    "0x1f",
    "0o7",
    "1_000",
    "2026-01-02T03:04:05Z",
    "é\u{301}",
    "\u{1F600}",
    "\u{0}",
    "\"\\/\n\t",
    "a.b/c~d[0]",
    ": ",
    "- a",
    "# b",
    "&a",
    "*a",
    "|",
    "<<",
    "$patch",
    "\u{2028}",
    "500m",
    "YWJj",
    " x ",
];

/// Field names.
pub(crate) const NAMES: &[&str] =
    &["a", "b", "c", "name", "", "a/b", "m~n", "0", "1", "-", "é", "apiVersion", "kind", "metadata", "$patch", "<<"];

/// Any document.
pub(crate) fn document(random: &mut Random, depth: usize) -> Document {
    let kinds = if depth == 0 { 6 } else { 10 };
    match random.below(kinds) {
        0 => Document::Null,
        1 => random.one_in(2).into(),
        2 => number(random),
        3..=5 => text(random).into(),
        6 | 7 => (0..random.below(5)).map(|_| document(random, depth - 1)).collect(),
        _ => Document::Object(fields(random, depth - 1, NAMES)),
    }
}

/// Fields of some names.
pub(crate) fn fields(random: &mut Random, depth: usize, names: &[&str]) -> Map<String, Document> {
    (0..random.below(6)).map(|_| ((*random.pick(names)).to_owned(), document(random, depth))).collect()
}

fn number(random: &mut Random) -> Document {
    match random.below(6) {
        0 => i64::MAX.into(),
        1 => i64::MIN.into(),
        2 => Number::from_f64(f64::from_bits(random.number())).map_or(Document::Null, Document::Number),
        3 => Number::from_f64(1e300).map_or(Document::Null, Document::Number),
        _ => (i64::try_from(random.below(11)).unwrap_or(0) - 3).into(),
    }
}

pub(crate) fn text(random: &mut Random) -> &'static str {
    random.pick::<&'static str>(TEXTS)
}

/// A document as text, with unusual white space, escapes and numbers.
pub(crate) fn write(document: &Document, random: &mut Random, out: &mut String) {
    if random.one_in(16) {
        out.push_str(random.pick::<&str>(&[" ", "\n", "\t", "\r\n  "]));
    }
    match document {
        Document::Array(items) => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                out.push_str(if index > 0 { "," } else { "" });
                write(item, random, out);
            }
            out.push(']');
        }
        Document::Object(fields) => {
            out.push('{');
            for (index, (name, value)) in fields.iter().enumerate() {
                out.push_str(if index > 0 { "," } else { "" });
                write_text(name, random, out);
                out.push(':');
                write(value, random, out);
                if random.one_in(40) {
                    out.push(',');
                    write_text(name, random, out);
                    out.push_str(":0");
                }
            }
            out.push('}');
        }
        Document::String(text) => write_text(text, random, out),
        Document::Number(number) if random.one_in(8) => {
            write!(out, "{number}e0").expect("writing to a String cannot fail");
        }
        scalar => out.push_str(&scalar.to_string()),
    }
}

fn write_text(text: &str, random: &mut Random, out: &mut String) {
    if !random.one_in(8) {
        out.push_str(&Document::from(text).to_string());
        return;
    }
    out.push('"');
    for unit in text.encode_utf16() {
        write!(out, "\\u{unit:04x}").expect("writing to a String cannot fail");
    }
    out.push('"');
}

/// A document as bytes.
pub(crate) fn bytes(document: &Document, random: &mut Random) -> Vec<u8> {
    let mut out = String::new();
    write(document, random, &mut out);
    out.into_bytes()
}
