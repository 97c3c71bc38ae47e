//! The effect of writes on managed fields: an update owns the changed fields, an apply the applied ones, and removed
//! fields lose their owners.
use std::collections::BTreeMap;

use serde_json::Map;

use super::{
    ApplyError, Conflict, View, Writer,
    compare::{Comparison, EMPTY},
    field_set::FieldSet,
    identity::{Identity, Operation},
    last_applied,
    managed_fields::{Entry, ManagedFields, UNOWNED},
    merge::{changes, merged},
    prune::{Last, prune},
    typed::checked_field_set_of,
    versions::Terms,
};
use crate::{meta::field::MOST_ERROR_BYTES, schema::Document};

/// The beginning of an entry as text. Quotes inside strings are escaped, so only entries begin like this.
const BEGINNING: &str = "{\"apiVersion\":\"";
/// The manager of all fields from before the first apply.
const BEFORE: &str = "before-first-apply";

/// Sets `metadata.managedFields` of the result of a write other than an apply.
///
/// `new` is the whole document with defaults, `live` the previous object (`None` on creation). Managed fields in `new`
/// come from the client; an empty list, or a list with one empty entry, resets them. A document that does not fit the
/// schema keeps those of `live`: validation reports its errors.
pub fn update(view: &View<'_>, live: Option<&Document>, new: &mut Document, writer: &Writer<'_>) {
    let before = || live.and_then(|live| live.get("metadata")?.get("managedFields")).cloned();
    let entries = managed_fields_after(view, live, new, writer).unwrap_or_else(|_| before());
    put(new, entries);
}

/// The entries after an update, if there are any.
fn managed_fields_after(
    view: &View<'_>,
    live: Option<&Document>,
    new: &Document,
    writer: &Writer<'_>,
) -> Result<Option<Document>, String> {
    let terms = Terms::of(view, writer);
    let mut managed = live_or_sent(live, new, writer);
    // After a reset of its entries, an object is not tracked until the next apply.
    if managed.is_empty() && live.is_some() {
        return Ok(None);
    }
    managed.drop_unknown(&terms);
    track(&terms, managed, live.unwrap_or(&EMPTY), new, writer).map(ManagedFields::write)
}

/// The entries before an update: the client's if they are present and valid, otherwise those of the object.
fn live_or_sent<'a>(live: Option<&'a Document>, new: &'a Document, writer: &Writer<'_>) -> ManagedFields<'a> {
    if writer.subresource.is_empty()
        && let Some(Document::Array(entries)) = new.get("metadata").and_then(|metadata| metadata.get("managedFields"))
    {
        if is_reset(entries) {
            return ManagedFields::default();
        }
        let unchanged =
            live.is_some_and(|live| live["metadata"].get("managedFields") == new["metadata"].get("managedFields"));
        let sent = if unchanged { ManagedFields::read(entries) } else { ManagedFields::read_from_client(entries) };
        if let Ok(managed) = sent {
            return managed;
        }
    }
    live.map(ManagedFields::of).and_then(Result::ok).unwrap_or_default()
}

/// True for an empty list, or a list with one empty entry, which request a reset of the managed fields.
fn is_reset(entries: &[Document]) -> bool {
    match entries {
        [] => true,
        [Document::Object(entry)] => entry.values().all(|value| value.is_null() || value == ""),
        _ => false,
    }
}

/// The entries after an update of an object by a writer.
///
/// # Errors
/// Violations of the schema, and invalid stored sets.
fn track<'a>(
    terms: &Terms<'a>,
    mut managed: ManagedFields<'a>,
    live: &'a Document,
    new: &'a Document,
    writer: &Writer<'a>,
) -> Result<ManagedFields<'a>, String> {
    let comparison = terms.compare_own(live, new)?;
    if !comparison.is_empty() {
        take(terms, &mut managed, None, &comparison, [live, new]).map_err(|error| error.to_string())?;
    }
    let mut set = comparison.set;
    set.subtract(&UNOWNED);
    if !set.is_empty() {
        if let Some(before) = managed.get_mut(&Identity::of(writer, Operation::Update)) {
            set.add(std::mem::take(before.set()?));
        }
        managed.set(writer, Operation::Update, set, true);
    }
    managed.drop_empty();
    managed.cap_updates()?;
    Ok(managed)
}

/// Removes the fields that a write sets or removes from all managers except one, in each manager's version. Returns the
/// fields that each loses because their value has changed.
///
/// `comparison` is that of the two objects in the version of the write.
///
/// # Errors
/// Failed conversions, and invalid stored sets.
fn take<'a>(
    terms: &Terms<'_>,
    managed: &mut ManagedFields<'a>,
    but: Option<&Identity<'_>>,
    comparison: &Comparison<'_>,
    objects: [&Document; 2],
) -> Result<Vec<(Identity<'a>, FieldSet<'a>)>, ApplyError> {
    let mut lost = Vec::new();
    let mut others: Vec<&str> = Vec::new();
    let mut take_from = |entry: &mut Entry<'a>, comparison: &Comparison<'_>| {
        entry.set().map_err(|why| undecodable(&why))?;
        let set = entry.remove(&comparison.set);
        entry.remove(&comparison.removed);
        if !set.is_empty() {
            lost.push((entry.identity, set));
        }
        Ok::<(), ApplyError>(())
    };
    let is_concerned = |entry: &Entry<'a>| but != Some(&entry.identity);
    for entry in managed.iter_mut().filter(|entry| is_concerned(entry)) {
        if entry.api_version == terms.own {
            take_from(entry, comparison)?;
        } else if !others.contains(&entry.api_version) {
            others.push(entry.api_version);
        }
    }
    for version in others {
        let [old, new] = terms.convert_both(objects, version).map_err(ApplyError::Unconvertible)?;
        let comparison = terms.compare(version, &old, &new);
        for entry in managed.iter_mut().filter(|entry| entry.api_version == version && is_concerned(entry)) {
            take_from(entry, &comparison)?;
        }
    }
    Ok(lost)
}

/// Applies a configuration. Returns the merged object with its managed fields, before defaults and validation.
///
/// # Errors
/// [`ApplyError`]. With `force` there are no conflicts.
pub fn merge(
    view: &View<'_>,
    live: Option<&Document>,
    config: &Document,
    writer: &Writer<'_>,
    force: bool,
) -> Result<Document, ApplyError> {
    check_type(view, config, writer)?;
    let terms = Terms::of(view, writer);
    let (ty, apply) = (terms.own_ty(), Apply { terms, live: live.unwrap_or(&EMPTY), config, writer });
    let mut named = checked_field_set_of(ty, config).map_err(|why| apply.untyped("patch", &why))?;
    named.subtract_recursively(&terms.reset_fields(terms.own));
    let mut managed = apply.managed_fields_before()?;
    let dropped = managed.drop_unknown(&terms);
    let applier = Identity::of(writer, Operation::Apply);
    let last = match managed.get_mut(&applier) {
        Some(entry) => {
            let set = entry.set().map_err(|why| undecodable(&why))?.clone();
            Some(Last { api_version: entry.api_version, set })
        }
        None => None,
    };

    let (mut new, mut changed) = match live {
        None => (config.clone(), true),
        Some(live) => match merged(ty, live, config).map_err(|why| apply.untyped("live", &why))? {
            Some(new) => (new, true),
            None => (live.clone(), false),
        },
    };
    if let Some(last) = &last
        && !(last.api_version == terms.own && named.contains(&last.set))
    {
        apply.prune(&mut new, &mut managed, &named, last)?;
        changed = new != *apply.live;
    }
    if changed {
        apply.take_from_others(&mut managed, &new, force)?;
    }
    named.subtract(&UNOWNED);
    let kept = last.is_some_and(|last| last.api_version == terms.own && last.set == named);
    if changed || dropped || !kept {
        managed.set(writer, Operation::Apply, named, changed);
        let entries = managed.write();
        put(&mut new, entries);
    }
    if writer.manager == last_applied::MANAGER {
        last_applied::renew(&mut new, config);
    }
    Ok(new)
}

/// True if an apply changes nothing, as far as a cheap check shows: if this is false, [`merge`] may still find the same
/// at a higher cost. Most applies change nothing, because tools apply repeatedly.
///
/// `live` is the object without its managed fields, `entries` are those as JSON text in the format of
/// [`codec::encode`].
///
/// [`codec::encode`]: crate::codec::encode
pub fn is_noop(view: &View<'_>, live: &Document, entries: &str, config: &Document, writer: &Writer<'_>) -> bool {
    let terms = Terms::of(view, writer);
    let ty = terms.own_ty();
    let renews = writer.manager == last_applied::MANAGER && last_applied::is_kept(live);
    if renews || check_type(view, config, writer).is_err() || changes(ty, live, config) {
        return false;
    }
    let Ok(mut named) = checked_field_set_of(ty, config) else { return false };
    named.subtract_recursively(&terms.reset_fields(terms.own));
    named.subtract(&UNOWNED);
    let mut entry = serde_json::to_string(&Entry::of(writer, Operation::Apply, None, named)).expect("entries are JSON");
    // With or without its time.
    entry.pop();
    let mut is_kept = false;
    for (at, _) in entries.match_indices(BEGINNING) {
        let version = entries[at + BEGINNING.len()..].split('"').next().unwrap_or_default();
        // Entries of unknown versions would be dropped.
        if terms.ty(version).is_none() {
            return false;
        }
        let rest = entries[at..].strip_prefix(&entry);
        is_kept |= rest.is_some_and(|rest| rest.starts_with('}') || rest.starts_with(",\"time\":"));
    }
    is_kept
}

/// An apply.
struct Apply<'a> {
    terms: Terms<'a>,
    live: &'a Document,
    config: &'a Document,
    writer: &'a Writer<'a>,
}

impl<'a> Apply<'a> {
    /// The error for a document that does not fit the schema.
    fn untyped(&self, what: &str, why: &str) -> ApplyError {
        let text = |name: &str| self.config["metadata"][name].as_str().unwrap_or_default();
        let (namespace, name, kind) =
            (text("namespace"), text("name"), type_of(self.writer.api_version, self.terms.view.kind));
        ApplyError::Untyped(format!("failed to create typed {what} object ({namespace}/{name}; {kind}): {why}"))
    }

    /// The entries before the apply. If an object has none, one manager owns all existing fields.
    fn managed_fields_before(&self) -> Result<ManagedFields<'a>, ApplyError> {
        let managed = ManagedFields::of(self.live).map_err(|why| undecodable(&why))?;
        if !managed.is_empty() {
            return Ok(managed);
        }
        let before = Writer { manager: BEFORE, ..*self.writer };
        let tracked = track(&self.terms, managed, &EMPTY, self.live, &before);
        tracked.map_err(|why| ApplyError::Untyped(format!("failed to create manager for existing fields: {why}")))
    }

    /// Removes fields that were applied before and are no longer, unless they have another owner.
    fn prune(
        &self,
        new: &mut Document,
        managed: &mut ManagedFields<'_>,
        named: &FieldSet<'_>,
        last: &Last<'_>,
    ) -> Result<(), ApplyError> {
        let applier = Identity::of(self.writer, Operation::Apply);
        let mut owned = BTreeMap::from([(self.terms.own, named.clone())]);
        for entry in managed.iter_mut().filter(|entry| entry.identity != applier) {
            let set = entry.set().map_err(|why| undecodable(&why))?.clone();
            owned.entry(entry.api_version).or_default().add(set);
        }
        prune(&self.terms, new, last, owned)
            .map_err(|why| ApplyError::Unconvertible(format!("failed to prune fields: {why}")))
    }

    /// Takes the changed fields from the other managers, if that is permitted.
    fn take_from_others(&self, managed: &mut ManagedFields<'_>, new: &Document, force: bool) -> Result<(), ApplyError> {
        let comparison = self.terms.compare_own(self.live, new).map_err(|why| self.untyped("live", why))?;
        let applier = Identity::of(self.writer, Operation::Apply);
        let conflicts = take(&self.terms, managed, Some(&applier), &comparison, [self.live, new])?;
        if !force {
            self.refuse(conflicts)?;
        }
        managed.drop_empty();
        Ok(())
    }

    /// Fails if there are conflicts. A client-side applier may take the fields of its earlier configuration.
    fn refuse(&self, mut conflicts: Vec<(Identity<'_>, FieldSet<'_>)>) -> Result<(), ApplyError> {
        if !conflicts.is_empty()
            && self.writer.manager == last_applied::MANAGER
            && let Some(applied) = last_applied::read(self.live, self.writer.api_version)
            && let Some(allowed) = last_applied::untouched(self.terms.own_ty(), &applied, self.live)
        {
            conflicts.retain_mut(|(_, lost)| {
                lost.subtract(&allowed);
                !lost.is_empty()
            });
        }
        if conflicts.is_empty() {
            return Ok(());
        }
        conflicts.sort_by_cached_key(|(identity, _)| identity.sort_key());
        let (mut room, mut reported, mut omitted) = (MOST_ERROR_BYTES, Vec::new(), 0);
        for (identity, lost) in &conflicts {
            let (fields, more) = lost.print(&mut room);
            let conflict = |field| Conflict { manager: identity.print(), field };
            reported.extend(fields.into_iter().map(conflict));
            omitted += more;
        }
        Err(ApplyError::Conflicts { reported, omitted })
    }
}

fn check_type(view: &View<'_>, config: &Document, writer: &Writer<'_>) -> Result<(), ApplyError> {
    let [version, kind] = ["apiVersion", "kind"].map(|name| config[name].as_str().unwrap_or_default());
    if version != writer.api_version || kind != view.kind {
        return Err(ApplyError::BadRequest(format!("invalid object type: {}", type_of(version, kind))));
    }
    if config["metadata"]["managedFields"].is_array() {
        return Err(ApplyError::BadRequest("metadata.managedFields must be nil".to_owned()));
    }
    Ok(())
}

/// A kind with its group and version, as Go prints it.
fn type_of(api_version: &str, kind: &str) -> String {
    match api_version.split_once('/') {
        None => format!("/{api_version}, Kind={kind}"),
        Some((_, version)) if version.contains('/') => "/, Kind=".to_owned(),
        Some(_) => format!("{api_version}, Kind={kind}"),
    }
}

fn undecodable(why: &str) -> ApplyError {
    ApplyError::Untyped(format!("failed to decode managed fields: {why}"))
}

/// Sets or removes the entries of an object.
pub(super) fn put(object: &mut Document, entries: Option<Document>) {
    let Document::Object(fields) = object else { return };
    let metadata = fields.entry("metadata").or_insert(Document::Null);
    if metadata.is_null() {
        *metadata = Document::Object(Map::new());
    }
    if let Document::Object(metadata) = metadata {
        match entries {
            Some(entries) => metadata.insert("managedFields".to_owned(), entries),
            None => metadata.remove("managedFields"),
        };
    }
}
