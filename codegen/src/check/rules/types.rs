//! Rules about types and formats.
use kindsmith::schema::Type;
use kindsmith_model::schema::format::is_known as is_known_format;

use crate::check::{
    node::Node,
    rule::{
        Check, Field,
        Level::{Breaking, Warning},
        Party::{Json, Protobuf, Stored, Watchers},
        Rule, source,
    },
};

pub(super) static RULES: [Rule; 9] = [
    Rule {
        name: "type-changed",
        level: Breaking,
        breaks: &[Json, Protobuf, Stored, Watchers],
        about: "A value has another type.",
        harm: "requests with values of the old type are refused, stored ones no longer fit, and readers do not decode \
               the new ones",
        instead: "Add a field of another name, and keep both in step.",
        source: source::COMPATIBILITY,
        check: Check::Field(|field, notes| notes.some(types(field, &Turn::Other))),
    },
    Rule {
        name: "type-widened",
        level: Breaking,
        breaks: &[Json, Protobuf, Watchers],
        about: "A value may have further types.",
        harm: "readers of typed languages do not decode the values that are new",
        instead: "Add a field of another name for the further values.",
        source: source::GOTCHAS,
        check: Check::Field(|field, notes| notes.some(types(field, &Turn::Wider))),
    },
    Rule {
        name: "type-narrowed",
        level: Breaking,
        breaks: &[Json, Protobuf, Stored],
        about: "A value may no longer have all the types that it could have.",
        harm: "requests with the other values are refused, and stored ones no longer fit",
        instead: "Keep the type, and warn of the other values in admission.",
        source: source::COMPATIBILITY,
        check: Check::Field(|field, notes| notes.some(types(field, &Turn::Narrower))),
    },
    Rule {
        name: "format-changed",
        level: Breaking,
        breaks: &[Json, Protobuf, Stored],
        about: "Text has another format that is checked, or one where it had none.",
        harm: "requests with text of the old form are refused, and stored text no longer fits",
        instead: "Add a field of another name.",
        source: source::VALIDATION,
        check: Check::Field(|field, notes| {
            let (old, new) = (format(field.old), format(field.new));
            if is_text(field) && old != new && is_known_format(&new) {
                notes.here(format!("the format was {}, is {new}", or_absent(&old)));
            }
        }),
    },
    Rule {
        name: "format-removed",
        level: Warning,
        breaks: &[Json, Watchers],
        about: "The format of text is no longer checked.",
        harm: "readers that parse the text may meet one that they do not understand",
        instead: "Keep the format.",
        source: source::GOTCHAS,
        check: Check::Field(|field, notes| {
            let (old, new) = (format(field.old), format(field.new));
            if is_text(field) && old != new && is_known_format(&old) && !is_known_format(&new) {
                notes.here(format!("the format was {old}, is {}", or_absent(&new)));
            }
        }),
    },
    Rule {
        name: "integer-narrowed",
        level: Breaking,
        breaks: &[Json, Stored],
        about: "An integer has 32 bits, and had 64.",
        harm: "larger numbers are refused, and stored ones no longer fit",
        instead: "Keep int64.",
        source: source::TYPES,
        check: Check::Field(|field, notes| {
            if is_integer(field) && format(field.old) != "int32" && format(field.new) == "int32" {
                notes.here("the format is int32, and was int64");
            }
        }),
    },
    Rule {
        name: "integer-widened",
        level: Warning,
        breaks: &[Json, Protobuf, Watchers],
        about: "An integer has 64 bits, and had 32.",
        harm: "readers that hold it in 32 bits fail on larger numbers, or cut them off",
        instead: "Set a maximum of 2147483647.",
        source: source::TYPES,
        check: Check::Field(|field, notes| {
            if is_integer(field) && format(field.old) == "int32" && format(field.new) != "int32" {
                notes.here("the format is int64, and was int32");
            }
        }),
    },
    Rule {
        name: "number-precision-changed",
        level: Warning,
        breaks: &[Json, Protobuf],
        about: "A number has another precision.",
        harm: "readers round it, or do not decode it",
        instead: "Keep the format.",
        source: source::TYPES,
        check: Check::Field(|field, notes| {
            let is_float = |node: Node<'_>| format(node) == "float";
            if field.old.kind == Type::Number
                && field.new.kind == Type::Number
                && is_float(field.old) != is_float(field.new)
            {
                let shown = |node: Node<'_>| if is_float(node) { "float" } else { "double" };
                notes.here(format!("the format was {}, is {}", shown(field.old), shown(field.new)));
            }
        }),
    },
    Rule::compatible(
        "format-note-changed",
        "A format that is not checked is another one.",
        Check::Field(|field, notes| {
            let (old, new) = (format(field.old), format(field.new));
            if is_text(field) && old != new && !is_known_format(&old) && !is_known_format(&new) {
                notes.here(format!("the format was {}, is {}", or_absent(&old), or_absent(&new)));
            }
        }),
    ),
];

/// How the values of a type are among those of another.
#[derive(PartialEq)]
enum Turn {
    Wider,
    Narrower,
    Other,
}

fn types(field: &Field<'_>, wanted: &Turn) -> Option<String> {
    let (old, new) = (field.old.kind, field.new.kind);
    let turn = match (old, new) {
        _ if old == new => return None,
        _ if contains(new, old) => Turn::Wider,
        _ if contains(old, new) => Turn::Narrower,
        _ => Turn::Other,
    };
    (turn == *wanted).then(|| format!("the type was {}, is {}", shown(old), shown(new)))
}

/// All values of the second type are of the first.
fn contains(wide: Type, narrow: Type) -> bool {
    match wide {
        Type::Any => true,
        Type::Number => narrow == Type::Integer,
        Type::IntOrString => matches!(narrow, Type::Integer | Type::String),
        _ => false,
    }
}

fn shown(kind: Type) -> &'static str {
    match kind {
        Type::Object => "object",
        Type::Array => "array",
        Type::String => "string",
        Type::Integer => "integer",
        Type::Number => "number",
        Type::Boolean => "boolean",
        Type::IntOrString => "integer or string",
        Type::Any => "anything",
    }
}

fn is_text(field: &Field<'_>) -> bool {
    field.old.kind == Type::String && field.new.kind == Type::String
}

fn is_integer(field: &Field<'_>) -> bool {
    field.old.kind == Type::Integer && field.new.kind == Type::Integer
}

fn format(node: Node<'_>) -> String {
    node.format.clone().unwrap_or_default()
}

fn or_absent(format: &str) -> &str {
    if format.is_empty() { "absent" } else { format }
}
