//! Documents as the reference's messages print them: `map[name:one ports:[80 443]]`.
use std::fmt::Write;

use serde_json::Map;

use crate::schema::Document;

/// How many bytes of a document a message repeats. The reference has no limit; a patch of megabytes would be answered with
/// megabytes.
const LONGEST: usize = 4_000;

/// A document as text, cut where it gets long.
pub(crate) fn printed(document: &Document) -> String {
    let mut text = String::new();
    print(document, &mut text);
    cut(text)
}

/// Items as the text of one list.
pub(super) fn printed_list<'d>(items: impl IntoIterator<Item = &'d Document>) -> String {
    let mut text = String::new();
    print_list(items, &mut text);
    cut(text)
}

/// An object's fields as text.
pub(super) fn printed_fields(fields: &Map<String, Document>) -> String {
    let mut text = String::new();
    print_fields(fields, &mut text);
    cut(text)
}

fn cut(mut text: String) -> String {
    if text.len() > LONGEST {
        text.truncate(text.floor_char_boundary(LONGEST));
        text.push('…');
    }
    text
}

fn print(document: &Document, text: &mut String) {
    if text.len() > LONGEST {
        return;
    }
    match document {
        Document::Null => text.push_str("<nil>"),
        Document::String(value) => text.push_str(value),
        Document::Array(items) => print_list(items, text),
        Document::Object(fields) => print_fields(fields, text),
        Document::Bool(_) | Document::Number(_) => write!(text, "{document}").expect("writing to a String cannot fail"),
    }
}

fn print_fields(fields: &Map<String, Document>, text: &mut String) {
    text.push_str("map[");
    for (index, (name, value)) in fields.iter().enumerate() {
        if text.len() > LONGEST {
            break;
        }
        if index > 0 {
            text.push(' ');
        }
        text.push_str(name);
        text.push(':');
        print(value, text);
    }
    text.push(']');
}

fn print_list<'d>(items: impl IntoIterator<Item = &'d Document>, text: &mut String) {
    text.push('[');
    for (index, item) in items.into_iter().enumerate() {
        if text.len() > LONGEST {
            break;
        }
        if index > 0 {
            text.push(' ');
        }
        print(item, text);
    }
    text.push(']');
}
