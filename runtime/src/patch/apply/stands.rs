//! Whether an apply would change nothing, found out by looking alone: nothing is copied, and no owner's set is read.
//!
//! Most applies are such: tools apply the same again and again. What takes more than a look counts as a change, and the
//! apply itself then tells.
use serde_json::Map as Fields;

use super::{
    View, Writer, fields, last_applied,
    mention::checked,
    merge::check_type,
    owner::{Identity, Operation},
    set::Set,
    types::{Form, List, Map, Type},
    update::{reset_of, strip},
};
use crate::{codec, schema::Document};

/// How many pairs of items are looked at, at most, for items that a list has more than once.
const MOST_PAIRS: usize = 4_096;

/// As [`super::stands`].
pub(super) fn stands(view: &View<'_>, live: &Document, entries: &str, config: &Document, writer: &Writer<'_>) -> bool {
    let renews = writer.manager == last_applied::MANAGER && last_applied::is_kept(live);
    let ty = Type::root(view.root);
    if renews || check_type(view, config, writer).is_err() || !holds(ty, live, config) {
        return false;
    }
    let Ok(mut named) = checked(ty, config) else { return false };
    named.subtract_whole(&reset_of(view));
    strip(&mut named);
    let entry = entry_of(writer, &named);
    // With its time, or without one. Quotes within text are escaped, so that what is found is an entry.
    entries.match_indices(&entry).any(|(at, _)| {
        let rest = &entries[at + entry.len()..];
        rest.starts_with('}') || rest.starts_with(",\"time\":")
    })
}

/// The entry of an applier up to its time, as it is stored.
fn entry_of(writer: &Writer<'_>, set: &Set<'_>) -> String {
    let who = Identity::of(writer, Operation::Apply);
    let mut out = br#"{"apiVersion":"#.to_vec();
    codec::quote(writer.api_version, &mut out);
    out.extend_from_slice(br#","fieldsType":"FieldsV1","fieldsV1":"#);
    fields::render(set, &mut out);
    out.extend_from_slice(br#","manager":"#);
    codec::quote(who.manager, &mut out);
    out.extend_from_slice(br#","operation":"Apply""#);
    if !who.subresource.is_empty() {
        out.extend_from_slice(br#","subresource":"#);
        codec::quote(who.subresource, &mut out);
    }
    String::from_utf8(out).expect("text was written")
}

/// Mixing a configuration into an object would leave the object as it is.
fn holds(ty: Type<'_>, object: &Document, config: &Document) -> bool {
    match ty.form(Some(config)) {
        Form::Scalar(_) => object == config,
        Form::Map(map) => map_holds(&map, object, config),
        Form::List(list) => list_holds(&list, object, config),
    }
}

fn map_holds(map: &Map<'_>, object: &Document, config: &Document) -> bool {
    let given = config.as_object().filter(|fields| !fields.is_empty());
    let live = object.as_object().filter(|fields| !fields.is_empty());
    match (given, live) {
        _ if map.atomic => object == config,
        (Some(given), Some(live)) => fields_hold(map, live, given),
        (None, Some(_)) => true,
        (_, None) => object == config,
    }
}

fn fields_hold(map: &Map<'_>, live: &Fields<String, Document>, given: &Fields<String, Document>) -> bool {
    given.iter().all(|(name, value)| {
        let ty = map.field(name).map_or(Type::Deduced, |field| field.ty);
        live.get(name).is_some_and(|live| holds(ty, live, value))
    })
}

fn list_holds(list: &List<'_>, object: &Document, config: &Document) -> bool {
    let given = config.as_array().filter(|items| !items.is_empty());
    let live = object.as_array().filter(|items| !items.is_empty());
    match (given, live) {
        _ if list.atomic => object == config,
        (Some(given), Some(live)) => items_hold(list, live, given),
        (None, Some(_)) => true,
        (_, None) => object == config,
    }
}

/// The items given are all there, in that order, and the list has none of them twice.
fn items_hold(list: &List<'_>, live: &[Document], given: &[Document]) -> bool {
    let mut wanted = given.iter().peekable();
    let mut others = Vec::new();
    for item in live {
        match wanted.next_if(|given| is_same(list, item, given)) {
            Some(given) if !holds(list.item, item, given) => return false,
            Some(_) => {}
            None => others.push(item),
        }
    }
    wanted.next().is_none()
        && others.len() * given.len() <= MOST_PAIRS
        && !others.iter().any(|item| given.iter().any(|given| is_same(list, item, given)))
}

/// Two items have one element.
fn is_same(list: &List<'_>, a: &Document, b: &Document) -> bool {
    if list.keys.is_empty() {
        return a == b;
    }
    let map = list.item.as_map();
    list.keys.iter().all(|key| {
        let [a, b] = [a, b].map(|item| item.get(key));
        a == b || {
            let default = map.and_then(|map| map.default_of(key));
            a.or(default) == b.or(default)
        }
    })
}
