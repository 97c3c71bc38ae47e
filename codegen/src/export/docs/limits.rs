//! The limits of values, in words.

use std::fmt::Display;

use kindsmith::schema::{ListType, Pattern, Schema, Type};

use super::markdown::{cell, code};

/// The limits of a value, in Markdown.
pub(super) fn of(schema: &Schema) -> String {
    let mut all = Vec::new();
    if !schema.enumeration.is_empty() {
        let values: Vec<_> = schema.enumeration.iter().map(value).collect();
        all.push(format!("one of {}", values.join(", ")));
    }
    numbers(schema, &mut all);
    for (what, least, most) in [
        ("character", schema.min_length, schema.max_length),
        ("item", schema.min_items, schema.max_items),
        ("entry", schema.min_properties, schema.max_properties),
    ] {
        all.extend(counted(what, least, most));
    }
    if let Some(pattern) = schema.pattern.as_ref().filter(|_| !is_quantity(schema)) {
        all.push(format!("matches {}", code(pattern.text())));
    }
    match &schema.list {
        ListType::Atomic => {}
        ListType::Set => all.push("each item once".to_owned()),
        ListType::Map(keys) => {
            let keys: Vec<_> = keys.iter().map(|key| code(key)).collect();
            all.push(format!("unique by {}", keys.join(", ")));
        }
    }
    for (holds, what) in [
        (schema.immutable, "cannot be changed"),
        (schema.nullable, "may be null"),
        (schema.union, "exactly one of its fields"),
        (schema.junctors.is_some() && !is_quantity(schema), "further rules by combination of fields"),
    ] {
        if holds {
            all.push(what.to_owned());
        }
    }
    for rule in &schema.rules {
        let text = if rule.message.is_empty() { code(&rule.rule) } else { cell(&rule.message) };
        all.push(text);
    }
    all.join("; ")
}

/// A quantity, or what stands for one in definitions: a number or a text with the pattern of quantities.
pub(super) fn is_quantity(schema: &Schema) -> bool {
    let has_pattern = schema.pattern.as_ref().is_some_and(Pattern::is_quantity);
    schema.format.as_deref() == Some("quantity") || schema.kind == Type::IntOrString && has_pattern
}

fn numbers(schema: &Schema, all: &mut Vec<String>) {
    if let Some(minimum) = schema.minimum {
        all.push(format!("{} {minimum}", if schema.exclusive_minimum { "more than" } else { "at least" }));
    }
    if let Some(maximum) = schema.maximum {
        all.push(format!("{} {maximum}", if schema.exclusive_maximum { "less than" } else { "at most" }));
    }
    if let Some(factor) = schema.multiple_of {
        all.push(format!("a multiple of {factor}"));
    }
}

/// A number of things.
fn counted(what: &str, least: Option<u64>, most: Option<u64>) -> Option<String> {
    let things = |count: u64| match what {
        _ if count == 1 => what.to_owned(),
        "entry" => "entries".to_owned(),
        _ => format!("{what}s"),
    };
    let said = |said: &dyn Display, count: u64| Some(format!("{said} {count} {}", things(count)));
    match (least.filter(|least| *least > 0), most) {
        (None, None) => None,
        (Some(least), Some(most)) if least == most => said(&"exactly", most),
        (Some(least), Some(most)) => Some(format!("{least} to {most} {}", things(most))),
        (Some(least), None) => said(&"at least", least),
        (None, Some(most)) => said(&"at most", most),
    }
}

/// A value as JSON, or as plain text.
pub(super) fn value(value: &serde_json::Value) -> String {
    value.as_str().filter(|text| !text.is_empty()).map_or_else(|| code(&value.to_string()), code)
}
