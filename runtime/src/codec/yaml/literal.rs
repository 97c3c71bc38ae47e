//! Documents as Go shows them where it complains of one: `map[interface {}]interface {}{"a":1}`.
use super::scalar::text_of_float;
use crate::{codec::faults::quote, schema::Document};

/// How much of a document is shown, in bytes, about.
const MOST: usize = 4 << 10;

/// A document by itself.
pub(super) fn literal(document: &Document) -> String {
    let mut out = String::new();
    match document {
        Document::Null => out.push_str("<nil>"),
        document => show(document, &mut out),
    }
    out
}

fn show(document: &Document, out: &mut String) {
    match document {
        _ if out.len() > MOST => out.push_str("..."),
        Document::Null => out.push_str("interface {}(nil)"),
        Document::Bool(flag) => out.push_str(if *flag { "true" } else { "false" }),
        Document::Number(number) => match (number.as_i64(), number.as_f64()) {
            (None, Some(double)) => out.push_str(&text_of_float(double)),
            _ => out.push_str(&number.to_string()),
        },
        Document::String(text) => out.push_str(&quote(text)),
        Document::Array(items) => {
            out.push_str("[]interface {}{");
            for (index, item) in items.iter().take(MOST).enumerate() {
                out.push_str(if index > 0 { ", " } else { "" });
                show(item, out);
            }
            out.push('}');
        }
        Document::Object(fields) => {
            out.push_str("map[interface {}]interface {}{");
            for (index, (name, value)) in fields.iter().take(MOST).enumerate() {
                out.push_str(if index > 0 { ", " } else { "" });
                out.push_str(&quote(name));
                out.push(':');
                show(value, out);
            }
            out.push('}');
        }
    }
}
