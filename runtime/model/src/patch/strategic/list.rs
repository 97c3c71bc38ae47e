//! Merges lists.
use std::collections::{HashMap, HashSet};

use super::{
    At, DELETE, DIRECTIVE, MERGE, PatchError, REPLACE, SET_ORDER, added, invalid, no_merge_key, object,
    order::{Item, Places, arrange, identity, standing},
    unknown_directive,
};
use crate::{meta::go, schema::Document};

/// The type of a list's items.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Items {
    Objects,
    Scalars,
}

/// Merges a list into another, or replaces it.
pub(super) fn merge(old: &mut Vec<Document>, changes: &[Document], at: At<'_>) -> Result<(), PatchError> {
    if !at.patch.merge {
        *old = changes.to_vec();
        return Ok(());
    }
    if let Some(items) = kind_of(old, changes)? {
        let key = key_for(items, at)?;
        // A patch may delete an item and add it again: it keeps its position.
        let places = Places::of(changes.iter().filter(|change| change.get(DIRECTIVE).is_none()), key);
        let merged = merge_items(std::mem::take(old), changes, at)?;
        require_keys(merged.iter().map(|item| &item.value), key)?;
        *old = arrange(merged, &places, key);
    }
    Ok(())
}

/// Merges a list into another, in the order of the patch.
pub(super) fn merge_in_order(
    old: Vec<Document>,
    changes: &[Document],
    changed: bool,
    order: &[Document],
    at: At<'_>,
) -> Result<Vec<Document>, PatchError> {
    let Some(items) = kind_of(&old, changes)? else { return Ok(old) };
    let key = key_for(items, at)?;
    agree(changes, order, key)?;
    let merged = match changed {
        false => standing(old),
        true if at.patch.merge => merge_items(old, changes, at)?,
        true => standing(changes.to_vec()),
    };
    require_keys(merged.iter().map(|item| &item.value).chain(order), key)?;
    Ok(arrange(merged, &Places::of(order, key), key))
}

/// A new list in the order of the patch.
pub(super) fn add_in_order(changes: &[Document], order: &[Document], at: At<'_>) -> Result<Vec<Document>, PatchError> {
    let Some(items) = kind_of(&[], changes)? else { return Ok(Vec::new()) };
    let key = key_for(items, at)?;
    agree(changes, order, key)?;
    let added: Vec<_> = added::list(changes).into_iter().map(|value| Item { value, before: None }).collect();
    require_keys(added.iter().map(|item| &item.value).chain(order), key)?;
    Ok(arrange(added, &Places::of(order, key), key))
}

/// Removes scalars from a list. The directive does not apply to objects; kube-apiserver merges them instead.
pub(super) fn delete(old: &mut Vec<Document>, gone: &[Document]) -> Result<(), PatchError> {
    match kind_of(old, gone)? {
        Some(Items::Scalars) => {
            let gone: HashSet<&Document> = gone.iter().collect();
            old.retain(|item| !gone.contains(item));
            Ok(())
        }
        Some(Items::Objects) => Err(invalid("invalid patch format of primitive list")),
        None => Ok(()),
    }
}

/// The type of both lists' items; `None` if both are empty.
pub(super) fn kind_of(old: &[Document], changes: &[Document]) -> Result<Option<Items>, PatchError> {
    let kind = |item: &Document| std::mem::discriminant(item);
    let Some(first) = old.first().or(changes.first()) else { return Ok(None) };
    if first.is_array() {
        return Err(PatchError::Inapplicable("lists of lists are not supported".to_owned()));
    }
    if first.is_null() || old.iter().chain(changes).any(|item| kind(item) != kind(first)) {
        // kube-apiserver also prints the stored list, which the client may not be allowed to read.
        return Err(invalid(format!("list element types are not identical: {}", go::plain_list(changes))));
    }
    Ok(Some(if first.is_object() { Items::Objects } else { Items::Scalars }))
}

/// The merge key of the items.
pub(super) fn key_for(items: Items, at: At<'_>) -> Result<Option<&str>, PatchError> {
    match (items, at.node().patch.merge_key.as_deref()) {
        (Items::Scalars, _) => Ok(None),
        (Items::Objects, Some(key)) => Ok(Some(key)),
        (Items::Objects, None) => Err(invalid("cannot merge lists without merge key for struct")),
    }
}

fn require_keys<'d>(items: impl Iterator<Item = &'d Document>, key: Option<&str>) -> Result<(), PatchError> {
    let Some(key) = key else { return Ok(()) };
    for (index, item) in items.enumerate() {
        if !item.is_object() {
            return Err(invalid(format!("value for key {index} is not a map")));
        }
        if identity(item, Some(key)).is_none() {
            return Err(no_merge_key(item, key));
        }
    }
    Ok(())
}

/// The merged items of both lists, unordered.
fn merge_items(old: Vec<Document>, changes: &[Document], at: At<'_>) -> Result<Vec<Item>, PatchError> {
    match at.node().patch.merge_key.as_deref() {
        Some(key) if old.first().or(changes.first()).is_some_and(Document::is_object) => {
            merge_objects(old, changes, key, at.item())
        }
        _ => Ok(merge_scalars(old, changes)),
    }
}

/// Each scalar once.
fn merge_scalars(old: Vec<Document>, changes: &[Document]) -> Vec<Item> {
    let mut there: HashSet<Document> = HashSet::with_capacity(old.len() + changes.len());
    let added = changes.iter().map(|value| Item { value: value.clone(), before: None });
    let all = standing(old).into_iter().chain(added);
    all.filter(|item| there.insert(item.value.clone())).collect()
}

fn merge_objects(old: Vec<Document>, changes: &[Document], key: &str, at: At<'_>) -> Result<Vec<Item>, PatchError> {
    let Some(gone) = deletions(changes, key)? else {
        let kept = changes.iter().filter(|change| change.get(DIRECTIVE).is_none());
        return Ok(standing(kept.cloned().collect()));
    };
    let mut merged = standing(old);
    merged.retain(|item| identity(&item.value, Some(key)).is_none_or(|identity| !gone.contains(identity)));
    // The positions of the patched items, by the keys in the patch.
    let mut places: HashMap<&Document, Option<usize>> =
        changes.iter().filter_map(|change| Some((identity(change, Some(key))?, None))).collect();
    for (index, item) in merged.iter().enumerate() {
        let place = identity(&item.value, Some(key)).and_then(|identity| places.get_mut(identity));
        if let Some(place @ None) = place {
            *place = Some(index);
        }
    }
    for change in changes {
        let Document::Object(fields) = change else { continue };
        if fields.contains_key(DIRECTIVE) {
            continue;
        }
        let place = fields.get(key).and_then(|identity| places.get_mut(identity));
        let place = place.ok_or_else(|| no_merge_key(change, key))?;
        if let Some(index) = *place {
            if let Document::Object(item) = &mut merged[index].value {
                object::merge(item, fields, at)?;
            }
        } else {
            *place = Some(merged.len());
            merged.extend(added::value(change).map(|value| Item { value, before: None }));
        }
    }
    Ok(merged)
}

/// The keys of the items that the patch deletes; empty if it replaces the whole list.
fn deletions<'p>(changes: &'p [Document], key: &str) -> Result<Option<HashSet<&'p Document>>, PatchError> {
    let mut gone = HashSet::new();
    let mut replaced = false;
    for change in changes {
        let Document::Object(fields) = change else { continue };
        let Some(directive) = fields.get(DIRECTIVE) else { continue };
        match directive.as_str() {
            Some(DELETE) => drop(gone.insert(fields.get(key).ok_or_else(|| no_merge_key(change, key))?)),
            Some(REPLACE) => replaced = true,
            Some(MERGE) => return Err(invalid("merging lists cannot yet be specified in the patch")),
            _ => return Err(unknown_directive(directive, fields)),
        }
    }
    Ok((!replaced).then_some(gone))
}

/// True if the order contains the patched items in the order of the patch.
fn agree(changes: &[Document], order: &[Document], key: Option<&str>) -> Result<(), PatchError> {
    if order.is_empty() {
        return Ok(());
    }
    let mut rest = order.iter();
    for change in changes.iter().filter(|change| change.get(DIRECTIVE).is_none()) {
        require_keys(std::iter::once(change), key)?;
        let wanted = identity(change, key);
        if !rest.any(|item| identity(item, key) == wanted) {
            return Err(invalid(format!(
                "The order in patch list:\n{}\n doesn't match {SET_ORDER} list:\n{}\n",
                go::plain_list(changes),
                go::plain_list(order)
            )));
        }
    }
    Ok(())
}
