//! Removes fields from an object that its applier no longer applies.
use std::{borrow::Cow, collections::BTreeMap};

use super::{
    compare::{Comparison, compare},
    field_set::{FieldSet, Node},
    managed_fields::UNOWNED,
    merge::merged,
    path_element::PathElement,
    schema::{Form, Type},
    typed::{add_declared_fields, field_set_of},
    versions::Terms,
};
use crate::schema::Document;

/// An applier's previous apply: its version, and its fields.
pub(super) struct Last<'a> {
    pub(super) api_version: &'a str,
    pub(super) set: FieldSet<'a>,
}

/// The most attempts to find the fields without which an object can still be converted. Each may need another answer of a webhook,
/// of which the code that converts gets at most 32 after one another.
const MOST_ATTEMPTS: usize = 12;

/// How often each version is asked what it keeps, at most.
const MOST_ROUNDS: usize = 4;

/// Removes the fields of an object that its manager applied before, does not apply now, and that have no other owner.
/// `owned` are the fields of all managers by version, including the applied ones.
///
/// Like kube-apiserver this takes three steps: it removes everything that was applied before, adds back what is owned,
/// and then removes only those missing fields that were applied before. So a container is removed with its last item,
/// and unowned fields remain in containers that are owned.
///
/// This happens in the version of the manager's previous apply. The versions of other managers only show which of their
/// fields would be removed, and what keeps them. Finally the removed fields are taken from the object in its own
/// version, so that fields that the previous version lacks stay unchanged.
///
/// Conversions get parts of objects here, and may need more than that. Fields without which the object cannot be
/// converted stay.
///
/// # Errors
/// A failed conversion of the whole object, in kube-apiserver's wording; the answer of a webhook that is missing.
pub(super) fn prune(
    terms: &Terms<'_>,
    object: &mut Document,
    last: &Last<'_>,
    mut owned: BTreeMap<&str, FieldSet<'_>>,
) -> Result<(), String> {
    let (api_version, mut last) = (last.api_version, last.set.clone());
    let Some(ty) = terms.ty(api_version) else { return Ok(()) };
    let before = if api_version == terms.own {
        Cow::Borrowed(&*object)
    } else {
        let converted = convert(terms, object, terms.own, api_version);
        Cow::Owned(converted.map_err(|why| format!("failed to convert merged object to last applied version: {why}"))?)
    };
    add_declared_fields(ty, &mut last);
    // The object keeps its identity, which conversions need.
    last.subtract(&UNOWNED);
    // Values that a conversion keeps in annotations have no owner. They stay when the last annotation with an owner
    // goes.
    if let Cow::Owned(converted) = &before
        && let Some(shown) = converted["metadata"]["annotations"].as_object()
        && shown.keys().any(|name| object["metadata"]["annotations"].get(name).is_none())
    {
        last.subtract(&FieldSet::of_path(&ANNOTATIONS));
    }
    let all = all_of(ty, &before);
    let mut unowned = all.difference(&all_of(ty, &without(ty, &before, &last)));
    if let Some(mut owned) = owned.remove(api_version) {
        add_declared_fields(ty, &mut owned);
        unowned.subtract(&owned);
    }
    if unowned.is_empty() {
        return Ok(());
    }
    let pruner = Pruner { terms, api_version, ty, before: &before, all: &all, last: &last, owned: &owned, object };
    let pruned = match pruner.without(unowned.clone()) {
        Ok(pruned) => Some(pruned),
        Err(why) if terms.view.versions.lacks_answers() => return Err(why),
        Err(_) => pruner.without_most_of(&unowned)?,
    };
    if let Some(pruned) = pruned {
        *object = pruned;
    }
    Ok(())
}

/// The path of annotations.
const ANNOTATIONS: [PathElement<'static>; 2] = [PathElement::Field("metadata"), PathElement::Field("annotations")];

/// The removal in one version.
struct Pruner<'a> {
    terms: &'a Terms<'a>,
    api_version: &'a str,
    ty: Type<'a>,
    /// The object in that version.
    before: &'a Document,
    /// All fields that it has there.
    all: &'a FieldSet<'a>,
    /// The fields that were applied before, with the structs around them.
    last: &'a FieldSet<'a>,
    /// The fields of all managers in other versions.
    owned: &'a BTreeMap<&'a str, FieldSet<'a>>,
    /// The object in its own version.
    object: &'a Document,
}

impl Pruner<'_> {
    /// The object in its own version without unowned fields, except where fields owned in other versions need them.
    fn without(&self, mut unowned: FieldSet<'_>) -> Result<Document, String> {
        // What one version keeps may be in an item that only another one keeps. So versions are asked again after others kept
        // more. kube-apiserver asks each once, in a random order.
        let (versions, mut settled) = (self.owned.len(), 0);
        for (other, owned) in self.owned.iter().cycle().take(MOST_ROUNDS * versions) {
            if unowned.is_empty() {
                return Ok(self.object.clone());
            }
            if settled == versions {
                break;
            }
            let before = unowned.clone();
            self.keep(&mut unowned, other, owned.clone())?;
            settled = if unowned == before { settled + 1 } else { 1 };
        }
        let left = without(self.ty, self.before, &unowned);
        let gone = self.all.difference(&all_of(self.ty, &left)).intersection(self.last);
        if self.api_version == self.terms.own { Ok(without(self.ty, self.object, &gone)) } else { self.take(&gone) }
    }

    /// The object without as many of the fields as conversions permit: parts of them are tried, and halves of the parts with
    /// which they fail.
    fn without_most_of(&self, unowned: &FieldSet<'_>) -> Result<Option<Document>, String> {
        let parts = unowned.parts();
        let mut untried = vec![&parts[..]];
        let (mut gone, mut pruned) = (FieldSet::default(), None);
        for _ in 0..MOST_ATTEMPTS {
            let Some(tried) = untried.pop() else { break };
            let mut more = gone.clone();
            for part in tried {
                more.add(part.clone());
            }
            match self.without(more.clone()) {
                Ok(object) => (gone, pruned) = (more, Some(object)),
                Err(why) if self.terms.view.versions.lacks_answers() => return Err(why),
                Err(_) if tried.len() > 1 => {
                    let (first, second) = tried.split_at(tried.len() / 2);
                    untried.extend([second, first]);
                }
                Err(_) => {}
            }
        }
        Ok(pruned)
    }

    /// Keeps everything that is needed to keep fields owned in another version.
    fn keep(&self, unowned: &mut FieldSet<'_>, other: &str, mut owned: FieldSet<'_>) -> Result<(), String> {
        let Some(ty) = self.terms.ty(other) else { return Ok(()) };
        let there = |object: &Document| convert(self.terms, object, self.api_version, other);
        let (whole, left) = (there(self.before)?, there(&without(self.ty, self.before, unowned))?);
        add_declared_fields(ty, &mut owned);
        let mut missing_there = missing(ty, &whole, &left);
        if missing_there.intersection(&owned).is_empty() {
            return Ok(());
        }
        missing_there.subtract(&owned);
        // A value that is computed from several fields keeps its value without the removed ones.
        let mut kept = without(ty, &whole, &missing_there);
        if let Some(merged) = merged(ty, &kept, &left)? {
            kept = merged;
        }
        // Values that come back anyway, such as those a conversion adds, are not kept by their owner.
        let [kept, left] = [kept, left].map(|object| convert(self.terms, &object, other, self.api_version));
        let (kept, left) = (kept?, left?);
        let mut back = missing(self.ty, &kept, &left);
        // The structs around a field are kept with it, even if the conversion would add them without it.
        add_declared_fields(self.ty, &mut back);
        unowned.subtract(&back);
        Ok(())
    }

    /// The object in its own version without what is removed in this one.
    fn take(&self, gone: &FieldSet<'_>) -> Result<Document, String> {
        let mut object = self.object.clone();
        if gone.is_empty() {
            return Ok(object);
        }
        let ty = self.terms.own_ty();
        let back = |object: &Document| convert(self.terms, object, self.api_version, self.terms.own);
        let (before, after) = (back(self.before)?, back(&without(self.ty, self.before, gone))?);
        let Comparison { set, removed, .. } = compare(ty, &before, &after);
        remove(ty, &mut object, &removed);
        // A value that is computed from several fields changes without one of them, unless someone owns it.
        let owned = self.owned.get(self.terms.own).map(|owned| set.intersection(owned)).unwrap_or_default();
        if !set.difference(&owned).is_empty() {
            let mut values = after.clone();
            keep_values(ty, &mut values, &owned, &object);
            object = merged(ty, &object, &values)?.unwrap_or(object);
        }
        Ok(object)
    }
}

/// Copies the values of fields of an object into `after`, where both have the field.
fn keep_values(ty: Type<'_>, after: &mut Document, fields: &FieldSet<'_>, object: &Document) {
    let keep = |ty: Type<'_>, node: &Node<'_>, value: &mut Document, kept: &Document| {
        if node.children.is_empty() {
            value.clone_from(kept);
        } else {
            keep_values(ty, value, &node.children, kept);
        }
    };
    match (ty.form(Some(object)), after, object) {
        (Form::Map(map), Document::Object(entries), Document::Object(own)) => {
            for (name, value) in entries {
                if let (Some(node), Some(kept)) = (fields.get(&PathElement::Field(name)), own.get(name)) {
                    keep(map.type_of(name), node, value, kept);
                }
            }
        }
        (Form::List(list), Document::Array(items), Document::Array(own)) => {
            let own: BTreeMap<_, _> = own.iter().filter_map(|item| Some((list.element_of(item).ok()?, item))).collect();
            for item in items {
                let found =
                    list.element_of(item).ok().and_then(|element| Some((fields.get(&element)?, *own.get(&element)?)));
                if let Some((node, kept)) = found {
                    keep(list.item, node, item, kept);
                }
            }
        }
        _ => {}
    }
}

/// An object of one version converted to another. Empty containers are `null`, as [`remove`] leaves them.
fn convert(terms: &Terms<'_>, object: &Document, from: &str, to: &str) -> Result<Document, String> {
    let mut converted = terms.convert(object, from, to)?;
    if from != to {
        null_empty(&mut converted);
    }
    Ok(converted)
}

fn null_empty(value: &mut Document) {
    match value {
        Document::Object(fields) if fields.is_empty() => *value = Document::Null,
        Document::Array(items) if items.is_empty() => *value = Document::Null,
        Document::Object(fields) => fields.values_mut().for_each(null_empty),
        Document::Array(items) => items.iter_mut().for_each(null_empty),
        _ => {}
    }
}

/// The fields that an object lacks and another has.
fn missing<'a>(ty: Type<'a>, object: &'a Document, left: &Document) -> FieldSet<'a> {
    all_of(ty, object).difference(&all_of(ty, left))
}

/// All fields of an object, including implied ones.
fn all_of<'a>(ty: Type<'a>, object: &'a Document) -> FieldSet<'a> {
    let mut all = field_set_of(ty, object);
    add_declared_fields(ty, &mut all);
    all
}

fn without(ty: Type<'_>, object: &Document, fields: &FieldSet<'_>) -> Document {
    let mut left = object.clone();
    remove(ty, &mut left, fields);
    left
}

/// Removes the fields of a set from an object. Containers that become empty become `null`.
fn remove(ty: Type<'_>, object: &mut Document, fields: &FieldSet<'_>) {
    let emptied = match (ty.form(Some(object)), &mut *object) {
        (Form::Scalar(_), _) => return,
        (Form::Map(map), Document::Object(entries)) if !map.atomic => {
            entries.retain(|name, value| {
                let Some(node) = fields.get(&PathElement::Field(name)) else { return true };
                if !node.member {
                    remove(map.type_of(name), value, &node.children);
                }
                !node.member
            });
            entries.is_empty()
        }
        (Form::List(list), Document::Array(items)) if !list.atomic => {
            items.retain_mut(|item| {
                let (member, children) = match list.element_of(item).ok().and_then(|element| fields.get(&element)) {
                    Some(node) => (node.member, &node.children),
                    None => return true,
                };
                if !member {
                    remove(list.item, item, children);
                }
                !member
            });
            items.is_empty()
        }
        _ => true,
    };
    if emptied {
        *object = Document::Null;
    }
}
