//! Rules of list types, merge keys and Protobuf numbers.
use std::collections::BTreeMap;

use proc_macro2::Span;
use syn::{LitInt, ext::IdentExt};

use crate::{
    diag::Errors,
    model::{List, Merge},
    parse::{
        field::{FieldArgs, ListArg},
        types::{Look, look},
    },
};

/// A list type says how items are identified: a set has scalars, a list map has objects with keys.
pub(crate) fn check_list(args: &FieldArgs, look: Look<'_>, errors: &Errors) -> List {
    let Some(list) = &args.list else { return List::Atomic };
    let span = match list {
        ListArg::Atomic(span) | ListArg::Set(span) | ListArg::Map(span, _) => *span,
    };
    let item = match look {
        Look::List(item) => self::look(item).look,
        Look::Other => Look::Other,
        other => {
            let hint = if matches!(other, Look::Map(_)) { "; for a map, use `map = atomic`" } else { "" };
            errors.at(span, format!("`list` applies to lists, but this is {}{hint}", other.called()));
            return List::Atomic;
        }
    };
    match list {
        ListArg::Atomic(_) => List::Atomic,
        ListArg::Set(span) => match item {
            Look::List(_) | Look::Map(_) | Look::Float => {
                errors.at(
                    *span,
                    format!("the items of a set must be scalars, but these are {}; use `list = atomic`", many(item)),
                );
                List::Atomic
            }
            _ => List::Set(*span),
        },
        ListArg::Map(span, keys) => {
            if !matches!(item, Look::Other) {
                errors.at(*span, format!(
                    "the items of a list map must be structs with a key, but these are {}; use `list = set` or `list = atomic`",
                    many(item)
                ));
                return List::Atomic;
            }
            check_keys_differ(keys, errors);
            List::Map(keys.clone())
        }
    }
}

fn many(item: Look<'_>) -> &'static str {
    match item {
        Look::Bool => "booleans",
        Look::Int(..) => "integers",
        Look::Float => "floats",
        Look::Text => "text",
        Look::List(_) => "lists",
        Look::Map(_) => "maps",
        Look::Other => "of other types",
    }
}

/// A repeated key is probably a mistake for another one.
fn check_keys_differ(keys: &[syn::Ident], errors: &Errors) {
    for (at, key) in keys.iter().enumerate() {
        if keys[..at].contains(key) {
            errors.at(key.span(), format!("the key `{key}` is named twice"));
        }
    }
}

/// Strategic merge patch identifies the items of a list by a key, or as scalars.
pub(crate) fn check_merge(args: &FieldArgs, list: &List, look: Look<'_>, errors: &Errors) -> Option<Merge> {
    let has_keys = matches!(look, Look::Map(_) | Look::Other) || matches!(look, Look::List(_)) && args.merge.is_some();
    if let Some(span) = args.retain_keys.filter(|_| !has_keys) {
        let called = look.called();
        errors.at(span, format!("`retain_keys` applies to structs, maps and lists with `merge`, but this is {called}"));
    }
    let merge = args.merge.as_ref()?;
    let item = match look {
        Look::List(item) => self::look(item).look,
        Look::Other => return Some(Merge { key: merge.key.clone() }),
        other => {
            errors.at(merge.span, format!("`merge` applies to lists, but this is {}", other.called()));
            return None;
        }
    };
    let key = merge.key.clone().or_else(|| if let List::Map(keys) = list { keys.first().cloned() } else { None });
    match (item, &key, list) {
        (Look::Other, None, List::Atomic) => {
            errors.at(merge.span, "items are merged by a key: `merge(key = name)`, or `list = map(key = name), merge`");
            None
        }
        (Look::Other, _, _) | (_, None, _) => Some(Merge { key }),
        (_, Some(key), _) => {
            errors.at(key.span(), "scalar items have no key; use `merge` without one");
            None
        }
    }
}

/// Only maps and structs can be replaced as a whole with `map`.
pub(crate) fn check_map(args: &FieldArgs, look: Look<'_>, errors: &Errors) {
    if let Some(span) = args.map_atomic.filter(|_| !matches!(look, Look::Map(_) | Look::Other)) {
        let hint = if matches!(look, Look::List(_)) { "; for a list, use `list = atomic`" } else { "" };
        errors.at(span, format!("`map` applies to maps and structs, but this is {}{hint}", look.called()));
    }
}

/// Rules of items need a type with items.
pub(crate) fn check_items(args: &FieldArgs, look: Look<'_>, errors: &Errors) {
    if let Some((span, _)) = args.items.as_ref().filter(|_| !matches!(look, Look::List(_) | Look::Map(_) | Look::Other))
    {
        errors.at(*span, format!("`items` applies to lists and maps, but this is {}", look.called()));
    }
}

/// Protobuf numbers identify fields for ever: each must be unique and in the allowed range, and either all fields have
/// one or none has.
pub(crate) fn check_proto<'a>(
    fields: impl Iterator<Item = (&'a syn::Ident, Option<&'a LitInt>)> + Clone,
    errors: &Errors,
) {
    let mut taken: BTreeMap<u32, &syn::Ident> = BTreeMap::new();
    for (field, number) in fields.clone().filter_map(|(field, number)| Some((field, number?))) {
        let Ok(value) = number.base10_parse::<u32>() else { continue };
        if let Some(message) = out_of_range(value) {
            errors.at(number.span(), message);
        } else if let Some(other) = taken.insert(value, field) {
            let free = (1..536_870_911)
                .find(|n| !taken.contains_key(n) && !numbers(fields.clone()).any(|m| m == *n))
                .unwrap_or(1);
            let other = other.unraw();
            errors.at(number.span(), format!("the number {value} is already used by `{other}`; {free} is free"));
        }
    }
    let missing: Vec<_> = fields.filter(|(_, number)| number.is_none()).map(|(field, _)| field).collect();
    if let (Some(first), false) = (missing.first(), taken.is_empty()) {
        let name = first.unraw();
        errors.at(
            first.span(),
            format!("`{name}` has no Protobuf number, but other fields have one: use `#[api(proto = …)]` on all fields or on none"),
        );
    }
}

/// A field that is written even if it is absent needs a number, and a zero value, which empty lists and maps lack.
pub(crate) fn check_proto_zero(args: &FieldArgs, look: Look<'_>, errors: &Errors) {
    let Some(span) = args.proto_zero else { return };
    if args.proto.is_none() {
        errors.at(span, "`proto_zero` needs a Protobuf number: add `proto = …`");
    }
    if matches!(look, Look::List(_) | Look::Map(_)) {
        errors.at(
            span,
            format!("{} without entries is never written in a message, so `proto_zero` has no effect", look.called()),
        );
    }
}

fn numbers<'a>(fields: impl Iterator<Item = (&'a syn::Ident, Option<&'a LitInt>)>) -> impl Iterator<Item = u32> {
    fields.filter_map(|(_, number)| number?.base10_parse().ok())
}

fn out_of_range(number: u32) -> Option<String> {
    match number {
        0 => Some("Protobuf numbers start at 1".to_owned()),
        19_000..=19_999 => Some("the numbers 19000 to 19999 are reserved by Protobuf".to_owned()),
        536_870_912.. => Some("the largest Protobuf number is 536870911".to_owned()),
        _ => None,
    }
}

/// The span of `set`, for the compile-time check of the items.
pub(crate) fn set_span(list: &List) -> Option<Span> {
    if let List::Set(span) = list { Some(*span) } else { None }
}
