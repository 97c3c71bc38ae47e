//! Ownership after a write that is no apply: the writer owns what it changed, and nobody what is gone.
use std::sync::LazyLock;

use super::{
    View, Writer,
    compare::{Change, EMPTY, compare},
    element::Element,
    owner::{Identity, Operation},
    owners::Owners,
    set::Set,
    types::Type,
};
use crate::schema::Document;

/// Fields that nobody owns: what names an object, and what the server alone writes.
static NOBODYS: LazyLock<Set<'static>> = LazyLock::new(|| {
    let mut set = Set::default();
    for name in ["apiVersion", "kind", "metadata"] {
        set.insert(&[Element::Field(name)]);
    }
    for name in [
        "clusterName",
        "creationTimestamp",
        "generation",
        "managedFields",
        "name",
        "namespace",
        "resourceVersion",
        "selfLink",
        "uid",
    ] {
        set.insert(&[Element::Field("metadata"), Element::Field(name)]);
    }
    set
});

/// Takes out what nobody owns.
pub(super) fn strip(set: &mut Set<'_>) {
    set.subtract(&NOBODYS);
}

/// The fields that a view resets.
pub(super) fn reset_of<'a>(view: &View<'a>) -> Set<'a> {
    let mut set = Set::default();
    for path in view.reset {
        let path: Vec<Element<'a>> = path.iter().map(|name| Element::Field(name)).collect();
        set.insert(&path);
    }
    set
}

/// The entries after a write; `None` for none.
///
/// # Errors
/// What does not fit the schema, or managed fields that are none: the entries stay as they were.
pub(super) fn owned_after(
    view: &View<'_>,
    live: Option<&Document>,
    new: &Document,
    writer: &Writer<'_>,
) -> Result<Option<Document>, String> {
    let ty = Type::root(view.root);
    let owners = live_or_sent(ty, live, new, writer);
    // Of an object whose owners were once dropped, nothing is tracked until someone applies.
    if owners.is_empty() && live.is_some() {
        return Ok(None);
    }
    track(view, owners, live.unwrap_or(&EMPTY), new, writer).map(Owners::write)
}

/// The owners before a write: those that the client sent, if it sent any and could; otherwise those of the object.
fn live_or_sent<'a>(ty: Type<'_>, live: Option<&'a Document>, new: &'a Document, writer: &Writer<'_>) -> Owners<'a> {
    if writer.subresource.is_empty()
        && let Some(Document::Array(entries)) = new.get("metadata").and_then(|metadata| metadata.get("managedFields"))
    {
        if is_reset(entries) {
            return Owners::default();
        }
        let unchanged =
            live.is_some_and(|live| live["metadata"].get("managedFields") == new["metadata"].get("managedFields"));
        let sent = if unchanged { Owners::read(entries) } else { Owners::read_foreign(ty, entries) };
        if let Ok(owners) = sent {
            return owners;
        }
    }
    live.map(Owners::of).and_then(Result::ok).unwrap_or_default()
}

/// An empty list, or a list of one empty entry, asks that the owners be forgotten.
fn is_reset(entries: &[Document]) -> bool {
    match entries {
        [] => true,
        [Document::Object(entry)] => entry.values().all(|value| value.is_null() || value == ""),
        _ => false,
    }
}

/// The owners after a change of an object by a writer.
///
/// # Errors
/// As [`owned_after`].
pub(super) fn track<'a>(
    view: &View<'a>,
    mut owners: Owners<'a>,
    live: &'a Document,
    new: &'a Document,
    writer: &Writer<'a>,
) -> Result<Owners<'a>, String> {
    let ty = Type::root(view.root);
    let mut change = compare(ty, live, new).ok_or("a list has an item that cannot be told from others")?;
    change.without(&reset_of(view));
    let Change { mut added, modified, removed } = change;
    added.add(modified);
    if !added.is_empty() || !removed.is_empty() {
        for owner in owners.iter_mut() {
            owner.set(ty)?;
            owner.lose(&added);
            owner.lose(&removed);
        }
    }
    strip(&mut added);
    if !added.is_empty() {
        if let Some(before) = owners.get_mut(&Identity::of(writer, Operation::Update)) {
            added.add(std::mem::take(before.set(ty)?));
        }
        owners.set(writer, Operation::Update, added, true);
    }
    owners.drop_empty();
    owners.cap_updaters(ty)?;
    Ok(owners)
}
