//! The patch between two documents, as clients compute it: the inverse of applying one.
use std::collections::{HashMap, HashSet};

use serde_json::{Map, json};

use super::super::{
    At, DELETE, DELETE_FROM_LIST, DIRECTIVE, PatchError, RETAIN_KEYS, SET_ORDER, field,
    list::{self, Items},
    no_merge_key,
    order::identity,
};
use crate::schema::{Document, Schema};

/// The strategic merge patch that changes `from` to `to`, as kubectl computes it.
///
/// Patches cannot express everything: a `null` in `to` removes the field, and merged lists contain each item once.
///
/// # Errors
/// Like `apply`, for lists that cannot be merged.
pub(super) fn diff(root: &Schema, from: &Document, to: &Document) -> Result<Document, PatchError> {
    let empty = Map::new();
    let (from, to) = (from.as_object().unwrap_or(&empty), to.as_object().unwrap_or(&empty));
    objects(from, to, At::object(root), false).map(Document::Object)
}

type Fields = Map<String, Document>;

fn objects(from: &Fields, to: &Fields, at: At<'_>, retain_keys: bool) -> Result<Fields, PatchError> {
    let mut patch = Map::new();
    for (name, new) in to {
        let at = field(at, name);
        match (from.get(name), new) {
            (Some(Document::Object(old)), Document::Object(new)) => {
                let changes = objects(old, new, at, at.patch.retain_keys)?;
                if !changes.is_empty() {
                    patch.insert(name.clone(), Document::Object(changes));
                }
            }
            (Some(Document::Array(old)), Document::Array(new)) if at.patch.merge => {
                lists(name, old, new, at, &mut patch)?;
            }
            (Some(old), new) if old == new => {}
            _ => drop(patch.insert(name.clone(), new.clone())),
        }
    }
    let gone = from.keys().filter(|name| !to.contains_key(*name));
    patch.extend(gone.map(|name| (name.clone(), Document::Null)));
    let kept: Vec<&String> = to.iter().filter(|(_, value)| !value.is_null()).map(|(name, _)| name).collect();
    if retain_keys && !patch.is_empty() && !kept.is_empty() {
        patch.insert(RETAIN_KEYS.to_owned(), json!(kept));
    }
    Ok(patch)
}

/// The changes of a merged list.
fn lists(name: &str, from: &[Document], to: &[Document], at: At<'_>, patch: &mut Fields) -> Result<(), PatchError> {
    if from.is_empty() && !to.is_empty() {
        patch.insert(name.to_owned(), Document::from(to));
        return Ok(());
    }
    match list::kind_of(from, to)? {
        Some(Items::Scalars) => scalars(name, from, to, patch),
        Some(Items::Objects) => {
            let key = list::key_for(Items::Objects, at)?.unwrap_or_default();
            items(name, from, to, (key, at), patch)?;
        }
        None => {}
    }
    Ok(())
}

fn scalars(name: &str, from: &[Document], to: &[Document], patch: &mut Fields) {
    if from == to {
        return;
    }
    let missing = |list: &[Document], there: &[Document]| {
        let there: HashSet<&Document> = there.iter().collect();
        list.iter().filter(|&item| !there.contains(item)).cloned().collect::<Vec<_>>()
    };
    let (added, gone) = (missing(to, from), missing(from, to));
    if !added.is_empty() {
        patch.insert(name.to_owned(), Document::Array(added));
    }
    if !gone.is_empty() {
        patch.insert(format!("{DELETE_FROM_LIST}/{name}"), Document::Array(gone));
    }
    patch.insert(format!("{SET_ORDER}/{name}"), Document::from(to));
}

fn items(
    name: &str,
    from: &[Document],
    to: &[Document],
    (key, at): (&str, At<'_>),
    patch: &mut Fields,
) -> Result<(), PatchError> {
    let keyed = |item| identity(item, Some(key)).ok_or_else(|| no_merge_key(item, key));
    let mut before = HashMap::new();
    for item in from {
        before.insert(keyed(item)?, item);
    }
    let (mut changes, mut there, mut order) = (Vec::new(), HashSet::new(), Vec::new());
    for new in to {
        let identity = keyed(new)?;
        order.push(json!({ key: identity }));
        there.insert(identity);
        match (before.get(identity), new) {
            (Some(Document::Object(old)), Document::Object(new)) => {
                let mut change = objects(old, new, at.item(), at.patch.retain_keys)?;
                if !change.is_empty() {
                    change.insert(key.to_owned(), identity.clone());
                    changes.push(Document::Object(change));
                }
            }
            _ => changes.push(new.clone()),
        }
    }
    let same_order = from.iter().map(keyed).eq(to.iter().map(keyed));
    for item in from {
        let identity = keyed(item)?;
        if there.insert(identity) {
            changes.push(json!({ key: identity, DIRECTIVE: DELETE }));
        }
    }
    if changes.is_empty() && same_order {
        return Ok(());
    }
    if !changes.is_empty() {
        patch.insert(name.to_owned(), Document::Array(changes));
    }
    patch.insert(format!("{SET_ORDER}/{name}"), Document::Array(order));
    Ok(())
}
