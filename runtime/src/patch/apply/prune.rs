//! What goes from an object since its applier does not apply it any longer.
use std::collections::BTreeMap;

use super::{
    compare::{Comparison, compare},
    field_set::FieldSet,
    merge::merged,
    path_element::PathElement,
    schema::{Form, Type},
    typed::{add_declared_fields, field_set_of},
    versions::Terms,
};
use crate::schema::Document;

/// What an applier applied last: in which version, and which fields there.
pub(super) struct Last<'a> {
    pub(super) api_version: &'a str,
    pub(super) set: FieldSet<'a>,
}

/// Removes from an object what its manager applied last, does not apply now, and nobody else owns. `owned` are the fields of
/// all managers by version, with what is applied now.
///
/// In three rounds, as kube-apiserver goes: without all that was applied before, with back what is owned, and of what then
/// is missing only that is removed which was applied before. So a container goes with its last item, and what nobody owns
/// stays in what someone does.
///
/// All that happens in the version in which the manager applied last. In the versions of the other managers one only sees
/// what of theirs would go, and what it is that keeps it. What goes in the end is taken from the object in its own version,
/// so that what the last one does not have stays as it is.
///
/// # Errors
/// A conversion that fails, as kube-apiserver words it.
pub(super) fn prune(
    terms: &Terms<'_>,
    object: &mut Document,
    last: &Last<'_>,
    mut owned: BTreeMap<&str, FieldSet<'_>>,
) -> Result<(), String> {
    let (api_version, mut last) = (last.api_version, last.set.clone());
    let Some(ty) = terms.ty(api_version) else { return Ok(()) };
    let before = convert(terms, object, terms.own, api_version)
        .map_err(|why| format!("failed to convert merged object to last applied version: {why}"))?;
    add_declared_fields(ty, &mut last);
    let mut unowned = missing(ty, &before, &without(ty, &before, &last));
    if let Some(mut owned) = owned.remove(api_version) {
        add_declared_fields(ty, &mut owned);
        unowned.subtract(&owned);
    }
    let pruning = Pruning { terms, api_version, ty, before: &before };
    for (other, owned) in owned {
        if unowned.is_empty() {
            return Ok(());
        }
        pruning.keep(&mut unowned, other, owned).map_err(|why| {
            format!("failed add back owned items: failed to convert merged object at version {other}: {why}")
        })?;
    }
    let mut gone = missing(ty, &before, &without(ty, &before, &unowned)).intersection(&last);
    // The object keeps what names it.
    gone.subtract(&FieldSet::of_path(&[PathElement::Field("metadata")]));
    if api_version == terms.own {
        remove(ty, object, &gone);
        return Ok(());
    }
    pruning.take(&gone, object)
}

/// A pruning in one version.
struct Pruning<'a> {
    terms: &'a Terms<'a>,
    api_version: &'a str,
    ty: Type<'a>,
    /// The object in that version.
    before: &'a Document,
}

impl Pruning<'_> {
    /// Keeps what it takes that nothing goes which is owned in the terms of another version.
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
        // What is made of several fields keeps the value that it has without those that go.
        let mut kept = without(ty, &whole, &missing_there);
        if let Some(merged) = merged(ty, &kept, &left)? {
            kept = merged;
        }
        // What comes back anyway, such as what a conversion fills in, is not kept by its owner.
        let [kept, left] = [kept, left].map(|object| convert(self.terms, &object, other, self.api_version));
        let (kept, left) = (kept?, left?);
        let mut back = missing(self.ty, &kept, &left);
        // With a field stay the structs that it is in, also where the conversion fills them in without it.
        add_declared_fields(self.ty, &mut back);
        unowned.subtract(&back);
        Ok(())
    }

    /// Takes from the object in its own version what goes in this one.
    fn take(&self, gone: &FieldSet<'_>, object: &mut Document) -> Result<(), String> {
        if gone.is_empty() {
            return Ok(());
        }
        let Some(ty) = self.terms.ty(self.terms.own) else { return Ok(()) };
        let back = |object: &Document| convert(self.terms, object, self.api_version, self.terms.own);
        let (before, after) = (back(self.before)?, back(&without(self.ty, self.before, gone))?);
        let Comparison { set, removed } = compare(ty, &before, &after)?;
        remove(ty, object, &removed);
        // What is made of several fields has another value without one of them.
        if !set.is_empty()
            && let Some(merged) = merged(ty, object, &after)?
        {
            *object = merged;
        }
        Ok(())
    }
}

/// An object of one version in the terms of another. Containers with nothing in them are `null`, as [`remove`] leaves them.
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

/// What an object does not have that another has.
fn missing<'a>(ty: Type<'a>, object: &'a Document, left: &Document) -> FieldSet<'a> {
    let mut missing = all_of(ty, object);
    missing.subtract(&all_of(ty, left));
    missing
}

/// All fields of an object, those among them that are implied by others.
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

/// Removes the fields of a set from an object. A container with nothing left in it becomes `null`.
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
