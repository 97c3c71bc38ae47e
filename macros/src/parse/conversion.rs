//! `convert = …` and `convert(…)` in `#[resource(…)]`.
use super::{
    args::{Arg, Value},
    keys::{Key, Reader},
};
use crate::{
    model::{Change, Conversion},
    suggest::did_you_mean,
};

const CHANGE_KEYS: &[Key] = &[
    ("renamed", "renamed(spec.writer = spec.author)"),
    ("moved", "moved(spec.shelf = spec.place.shelf)"),
    ("added", "added(spec.copies)"),
    ("removed", "removed(spec.note)"),
];

/// Reads the argument `convert`.
pub(crate) fn convert(arg: &Arg, reader: &Reader<'_>) -> Option<Conversion> {
    if let Value::Args(args) = &arg.value {
        return Some(Conversion::Changes(changes(args, reader)));
    }
    let word = reader.word(arg)?;
    match word.to_string().as_str() {
        "none" => Some(Conversion::None),
        "from" => Some(Conversion::From(word.span())),
        other => {
            let near = did_you_mean(other, ["none", "from"]);
            let message =
                "a conversion must be `none`, `from`, or declared: `convert(renamed(spec.writer = spec.author))`";
            reader.errors.at(word.span(), format!("{message}{near}"));
            None
        }
    }
}

fn changes(args: &[Arg], outer: &Reader<'_>) -> Vec<Change> {
    let reader = Reader { attribute: "`convert`", keys: &[CHANGE_KEYS], errors: outer.errors };
    let mut changes = Vec::new();
    for arg in args {
        match reader.name(arg, &mut Vec::new(), &[]).as_deref() {
            Some("renamed" | "moved") => changes.extend(renamed(arg, &reader)),
            Some("added") => {
                let expected = "an added field must be a path in the storage version: `added(spec.copies)`";
                changes.extend(reader.paths(arg, expected).into_iter().map(Change::Added));
            }
            Some("removed") => {
                let expected = "a removed field must be a path in this version: `removed(spec.note)`";
                changes.extend(reader.paths(arg, expected).into_iter().map(Change::Removed));
            }
            _ => {}
        }
    }
    changes
}

fn renamed(arg: &Arg, reader: &Reader<'_>) -> Vec<Change> {
    let mut changes = Vec::new();
    for inner in reader.args(arg).unwrap_or_default() {
        match (&inner.name, &inner.value) {
            (None, Value::Pair(here, stored)) => changes.push(Change::Renamed(here.clone(), stored.clone())),
            (Some(here), Value::Dotted(stored)) => changes.push(Change::Renamed(vec![here.clone()], stored.clone())),
            _ => reader.errors.at(
                inner.span(),
                "expected the path in this version and that in the storage version: `renamed(spec.writer = spec.author)`",
            ),
        }
    }
    changes
}
