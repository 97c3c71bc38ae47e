//! Values as ownership compares, orders and prints them.
use std::cmp::Ordering;

use crate::{meta::go, schema::Document};

/// A total order over values of any type: numbers, text, booleans, lists, maps, null.
pub(super) fn compare(a: &Document, b: &Document) -> Ordering {
    match (a, b) {
        (Document::Number(a), Document::Number(b)) => match (a.as_i64(), b.as_i64()) {
            (Some(a), Some(b)) => a.cmp(&b),
            _ => a.as_f64().partial_cmp(&b.as_f64()).unwrap_or(Ordering::Equal),
        },
        (Document::String(a), Document::String(b)) => a.cmp(b),
        (Document::Bool(a), Document::Bool(b)) => a.cmp(b),
        (Document::Array(a), Document::Array(b)) => {
            let differ = a.iter().zip(b).map(|(a, b)| compare(a, b)).find(|order| order.is_ne());
            differ.unwrap_or_else(|| a.len().cmp(&b.len()))
        }
        (Document::Object(a), Document::Object(b)) => {
            let entries = a.iter().zip(b);
            let differ = entries.map(|(a, b)| a.0.cmp(b.0).then_with(|| compare(a.1, b.1))).find(|order| order.is_ne());
            differ.unwrap_or_else(|| a.len().cmp(&b.len()))
        }
        _ => rank(a).cmp(&rank(b)),
    }
}

fn rank(value: &Document) -> u8 {
    match value {
        Document::Number(_) => 0,
        Document::String(_) => 1,
        Document::Bool(_) => 2,
        Document::Array(_) => 3,
        Document::Object(_) => 4,
        Document::Null => 5,
    }
}

/// A key's or item's value in a path: text is quoted.
pub(super) fn print(value: &Document, out: &mut String) {
    match value {
        Document::String(text) => out.push_str(&go::quoted(text)),
        Document::Array(items) => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                print(item, out);
            }
            out.push(']');
        }
        Document::Object(fields) => {
            for (name, value) in fields {
                out.push_str(name);
                out.push('=');
                print(value, out);
            }
        }
        Document::Null => out.push_str("null"),
        scalar => out.push_str(&go::plain(scalar)),
    }
}
