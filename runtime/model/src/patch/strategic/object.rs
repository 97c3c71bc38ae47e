//! Merges objects.
use std::collections::{BTreeSet, HashSet};

use serde_json::Map;

use super::{
    At, DELETE, DELETE_FROM_LIST, DIRECTIVE, PatchError, REPLACE, RETAIN_KEYS, SET_ORDER, added, field, invalid, list,
    list_of, target, unknown_directive,
};
use crate::schema::Document;

type Fields = Map<String, Document>;

/// Merges changes into an object.
pub(super) fn merge(fields: &mut Fields, changes: &Fields, at: At<'_>) -> Result<(), PatchError> {
    if let Some(directive) = changes.get(DIRECTIVE) {
        return replace_or_delete(fields, changes, directive);
    }
    retain_keys(fields, changes)?;
    let ordered = merge_ordered_lists(fields, changes, at)?;
    for (name, change) in changes {
        if name == RETAIN_KEYS || name.starts_with(SET_ORDER) || ordered.contains(name.as_str()) {
            continue;
        }
        if name.starts_with(DELETE_FROM_LIST) {
            delete_from_list(fields, name, change)?;
        } else {
            merge_field(fields, name, change, field(at, name))?;
        }
    }
    Ok(())
}

fn replace_or_delete(fields: &mut Fields, changes: &Fields, directive: &Document) -> Result<(), PatchError> {
    match directive.as_str() {
        Some(REPLACE) => {
            let rest = changes.iter().filter(|(name, _)| *name != DIRECTIVE);
            *fields = rest.map(|(name, value)| (name.clone(), value.clone())).collect();
        }
        Some(DELETE) => fields.clear(),
        _ => return Err(unknown_directive(directive, changes)),
    }
    Ok(())
}

/// Removes the keys that are not in `$retainKeys`, if the patch has it. The patch may not set such keys.
fn retain_keys(fields: &mut Fields, changes: &Fields) -> Result<(), PatchError> {
    let Some(directive) = changes.get(RETAIN_KEYS) else { return Ok(()) };
    let malformed = || invalid("invalid patch format of retainKeys");
    let retained: HashSet<&str> = match directive {
        Document::Array(names) if !names.iter().any(|name| name.is_array() || name.is_object()) => {
            names.iter().filter_map(Document::as_str).collect()
        }
        _ => return Err(malformed()),
    };
    let of_the_patch = |name: &str| [RETAIN_KEYS, DELETE_FROM_LIST, SET_ORDER].iter().any(|own| name.starts_with(own));
    let stray = |(name, change): (&String, &Document)| {
        !change.is_null() && !of_the_patch(name) && !retained.contains(name.as_str())
    };
    if changes.iter().any(stray) {
        return Err(malformed());
    }
    fields.retain(|name, _| retained.contains(name.as_str()));
    Ok(())
}

/// Merges the lists for which the patch sets an order, and returns their names.
fn merge_ordered_lists<'p>(
    fields: &mut Fields,
    changes: &'p Fields,
    at: At<'_>,
) -> Result<BTreeSet<&'p str>, PatchError> {
    let mut ordered = BTreeSet::new();
    for (directive, order) in changes.iter().filter(|(name, _)| name.starts_with(SET_ORDER)) {
        let order = list_of(order)?;
        let name = target(directive, SET_ORDER, "invalid patch format of setElementOrder list")?;
        let change = changes.get(name).map(list_of).transpose()?;
        let at = field(at, name);
        let merged = match (fields.get_mut(name), change) {
            (None, None) => continue,
            (Some(old), change) => {
                let old = match old {
                    Document::Array(old) => std::mem::take(old),
                    other => return Err(list_of(other).expect_err("it is no list")),
                };
                list::merge_in_order(old, change.map_or(&[], Vec::as_slice), change.is_some(), order, at)?
            }
            (None, Some(change)) => list::add_in_order(change, order, at)?,
        };
        fields.insert(name.to_owned(), Document::Array(merged));
        ordered.insert(name);
    }
    Ok(ordered)
}

/// Removes scalars from a list; `null` removes the list.
fn delete_from_list(fields: &mut Fields, directive: &str, change: &Document) -> Result<(), PatchError> {
    let malformed = "invalid patch format of primitive list";
    let name = target(directive, DELETE_FROM_LIST, malformed)?;
    match (fields.get_mut(name), change) {
        (_, Document::Null) => drop(fields.remove(name)),
        (Some(Document::Array(old)), Document::Array(items)) => list::delete(old, items)?,
        // As in kube-apiserver, a directive with another type than the list is ignored.
        (_, Document::Array(_)) | (None | Some(Document::Array(_)), _) => {}
        _ => return Err(invalid(malformed)),
    }
    Ok(())
}

fn merge_field(fields: &mut Fields, name: &str, change: &Document, at: At<'_>) -> Result<(), PatchError> {
    if change.is_null() {
        fields.remove(name);
        return Ok(());
    }
    match (fields.get_mut(name), change) {
        (Some(Document::Object(old)), Document::Object(changes)) => merge(old, changes, at),
        (Some(Document::Array(old)), Document::Array(changes)) => list::merge(old, changes, at),
        _ => {
            match added::value(change) {
                Some(value) => fields.insert(name.to_owned(), value),
                None => fields.remove(name),
            };
            Ok(())
        }
    }
}
