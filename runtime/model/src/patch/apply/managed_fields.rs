//! The entries of `metadata.managedFields`: which field manager owns which fields of an object.
use std::sync::LazyLock;

use serde::{Serialize, Serializer, ser::SerializeMap};
use serde_json::Map;

use super::{
    Writer,
    field_set::FieldSet,
    identity::{Identity, Operation},
    path_element::PathElement,
    schema::Type,
    typed::reconcile,
    versions::Terms,
};
use crate::{
    meta::{Time, go},
    schema::Document,
};

/// The manager under whose name the oldest updates are merged.
const ANCIENT: &str = "ancient-changes";
/// The maximum number of separate update entries.
const MOST_UPDATES: usize = 10;

/// Unowned fields: the object's identity, and fields that only the server writes.
pub(super) static UNOWNED: LazyLock<FieldSet<'static>> = LazyLock::new(|| {
    let mut set = FieldSet::default();
    for name in ["apiVersion", "kind", "metadata"] {
        set.insert(&[PathElement::Field(name)]);
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
        set.insert(&[PathElement::Field("metadata"), PathElement::Field(name)]);
    }
    set
});

/// An entry: a manager and the fields that it owns.
#[derive(Clone, Debug)]
pub(super) struct Entry<'a> {
    pub(super) identity: Identity<'a>,
    /// The group and version to which the field set refers.
    pub(super) api_version: &'a str,
    /// The time of the last change of the set, or of a value in it; RFC 3339 in UTC.
    pub(super) time: Option<String>,
    /// The stored set, until it changes.
    stored: Option<&'a Document>,
    /// The set; parsed from `stored` on first use.
    set: Option<FieldSet<'a>>,
    /// The type of objects of its version, once it is known.
    ty: Option<Type<'a>>,
}

impl<'a> Entry<'a> {
    /// The entry of a writer.
    pub(super) fn of(writer: &Writer<'a>, operation: Operation, time: Option<String>, set: FieldSet<'a>) -> Self {
        let identity = Identity::of(writer, operation);
        Self { identity, api_version: writer.api_version, time, stored: None, set: Some(set), ty: None }
    }

    /// Parses an entry without its set.
    fn read(entry: &'a Document) -> Result<Self, String> {
        let text = |name: &str| match entry.get(name) {
            None | Some(Document::Null) => Ok(""),
            Some(Document::String(text)) => Ok(text.as_str()),
            Some(_) => Err(format!("{name} must be text")),
        };
        let operation = match text("operation")? {
            "Apply" => Operation::Apply,
            "Update" => Operation::Update,
            _ => return Err("operation must be `Apply` or `Update`".to_owned()),
        };
        let api_version = text("apiVersion")?;
        if api_version.is_empty() {
            return Err("apiVersion must not be empty".to_owned());
        }
        match text("fieldsType")? {
            "FieldsV1" => {}
            "" => return Err("missing fieldsType in managed fields entry".to_owned()),
            other => return Err(format!("invalid fieldsType {} in managed fields entry", go::quoted(other))),
        }
        let time = match text("time")? {
            "" => None,
            time if is_stored_form(time) => Some(time.to_owned()),
            time => Some(time.parse::<Time>().map_err(|error| error.to_string())?.to_string()),
        };
        let identity = Identity::new(text("manager")?, operation, api_version, text("subresource")?);
        Ok(Self { identity, api_version, time, stored: entry.get("fieldsV1"), set: None, ty: None })
    }

    /// The set, adapted to the schema of its version once that is known.
    ///
    /// # Errors
    /// If the stored fields are not a set.
    pub(super) fn set(&mut self) -> Result<&mut FieldSet<'a>, String> {
        if self.set.is_none() {
            self.stored_set()?;
            self.reconcile();
        }
        Ok(self.set.get_or_insert_default())
    }

    fn reconcile(&mut self) {
        if let (Some(ty), Some(set)) = (self.ty, &mut self.set)
            && reconcile(ty, set)
        {
            self.stored = None;
        }
    }

    /// The set in its stored form.
    fn stored_set(&mut self) -> Result<&mut FieldSet<'a>, String> {
        if self.set.is_none() {
            self.set = Some(self.stored.map(FieldSet::read).transpose()?.unwrap_or_default());
        }
        Ok(self.set.get_or_insert_default())
    }

    /// True if it owns a field of the stored set.
    pub(super) fn owns(&mut self, path: &[PathElement<'_>]) -> bool {
        self.stored_set().is_ok_and(|set| set.has(path))
    }

    /// Adds fields. Its set must be parsed.
    pub(super) fn add(&mut self, added: FieldSet<'a>) {
        let set = self.set.get_or_insert_default();
        if !set.contains(&added) {
            set.add(added);
            self.stored = None;
        }
    }

    /// Removes fields, and returns the ones that were owned. Its set must be parsed.
    pub(super) fn remove(&mut self, removed: &FieldSet<'_>) -> FieldSet<'a> {
        let set = self.set.get_or_insert_default();
        let lost = set.intersection(removed);
        if !lost.is_empty() {
            set.subtract(&lost);
            self.stored = None;
        }
        lost
    }

    /// Replaces the set with one that refers to another version.
    pub(super) fn restate(&mut self, api_version: &'a str, set: FieldSet<'a>) {
        let Identity { manager, operation, subresource, .. } = self.identity;
        self.identity = Identity::new(manager, operation, api_version, subresource);
        (self.api_version, self.stored, self.set) = (api_version, None, Some(set));
    }

    /// The text members, sorted; those of no text are left out. The set belongs between the second and the third.
    fn texts(&self) -> impl Iterator<Item = (&'static str, &str)> {
        let Identity { manager, operation, subresource, .. } = self.identity;
        let time = self.time.as_deref().unwrap_or_default();
        let rest =
            [("manager", manager), ("operation", operation.name()), ("subresource", subresource), ("time", time)];
        let versions = [("apiVersion", self.api_version), ("fieldsType", "FieldsV1")];
        versions.into_iter().chain(rest.into_iter().filter(|(_, text)| !text.is_empty()))
    }

    /// The entry in its stored form.
    fn into_document(self) -> Document {
        let mut entry: Map<String, Document> =
            self.texts().map(|(name, text)| (name.to_owned(), Document::from(text))).collect();
        let set = match self.stored {
            // Serialization would cost twice as much as a clone.
            Some(stored) => stored.clone(),
            None => self.set.unwrap_or_default().into_fields().into(),
        };
        entry.insert("fieldsV1".to_owned(), set);
        Document::Object(entry)
    }
}

/// The entry in its stored form, with sorted members. Its set must be parsed.
impl Serialize for Entry<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut entry = serializer.serialize_map(None)?;
        for (index, (name, text)) in self.texts().enumerate() {
            if index == 2 {
                entry.serialize_entry("fieldsV1", &self.set)?;
            }
            entry.serialize_entry(name, text)?;
        }
        entry.end()
    }
}

/// True for a time in the format of entries: `2026-01-02T03:04:05Z`.
fn is_stored_form(time: &str) -> bool {
    let form = b"0000-00-00T00:00:00Z";
    let fits = |(byte, form): (u8, &u8)| if *form == b'0' { byte.is_ascii_digit() } else { byte == *form };
    time.len() == form.len() && time.bytes().zip(form).all(fits) && time.parse::<Time>().is_ok()
}

/// The managed fields of an object.
#[derive(Clone, Debug, Default)]
pub(super) struct ManagedFields<'a> {
    entries: Vec<Entry<'a>>,
}

impl<'a> ManagedFields<'a> {
    /// Parses the entries of a stored object. Sets are parsed on first use.
    ///
    /// # Errors
    /// Invalid entries.
    pub(super) fn of(object: &'a Document) -> Result<Self, String> {
        let entries = object.get("metadata").and_then(|metadata| metadata.get("managedFields"));
        Self::read(entries.and_then(Document::as_array).map_or(&[][..], Vec::as_slice))
    }

    /// Parses entries. The last of two with the same identity wins.
    ///
    /// # Errors
    /// Like [`ManagedFields::of`].
    pub(super) fn read(entries: &'a [Document]) -> Result<Self, String> {
        let mut read = Self { entries: Vec::with_capacity(entries.len() + 1) };
        for entry in entries {
            read.put(Entry::read(entry)?);
        }
        Ok(read)
    }

    /// Parses entries from a client, including their sets, which are normalized.
    ///
    /// # Errors
    /// Invalid entries and invalid sets.
    pub(super) fn read_from_client(entries: &'a [Document]) -> Result<Self, String> {
        let mut read = Self::read_with_sets(entries)?;
        for entry in &mut read.entries {
            entry.stored = None;
        }
        Ok(read)
    }

    /// Parses stored entries, including their sets.
    ///
    /// # Errors
    /// Like [`ManagedFields::read_from_client`].
    pub(super) fn read_with_sets(entries: &'a [Document]) -> Result<Self, String> {
        let mut read = Self::read(entries)?;
        read.entries.iter_mut().try_for_each(|entry| entry.stored_set().map(|_| ()))?;
        Ok(read)
    }

    /// Drops the entries of versions that no longer exist, and sets the types of the others. Returns whether entries
    /// were dropped.
    pub(super) fn drop_unknown(&mut self, terms: &Terms<'a>) -> bool {
        let before = self.entries.len();
        self.entries.retain_mut(|entry| {
            entry.ty = terms.ty(entry.api_version);
            entry.reconcile();
            entry.ty.is_some()
        });
        self.entries.len() < before
    }

    /// True if there are no entries.
    pub(super) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Each entry.
    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = &mut Entry<'a>> {
        self.entries.iter_mut()
    }

    /// The entry with an identity.
    pub(super) fn get_mut(&mut self, identity: &Identity<'_>) -> Option<&mut Entry<'a>> {
        self.entries.iter_mut().find(|entry| entry.identity == *identity)
    }

    /// Retains the selected entries.
    pub(super) fn retain(&mut self, keep: impl FnMut(&mut Entry<'a>) -> bool) {
        self.entries.retain_mut(keep);
    }

    /// Adds entries with other identities.
    pub(super) fn append(&mut self, mut others: ManagedFields<'a>) {
        self.entries.append(&mut others.entries);
    }

    /// Adds an entry, or replaces the one with its identity.
    fn put(&mut self, entry: Entry<'a>) {
        match self.get_mut(&entry.identity) {
            Some(place) => *place = entry,
            None => self.entries.push(entry),
        }
    }

    /// Sets the fields that a writer owns, and removes its entry if it owns none. Without `moved`, the entry keeps
    /// its time.
    pub(super) fn set(&mut self, writer: &Writer<'a>, operation: Operation, set: FieldSet<'a>, moved: bool) {
        let mut entry = Entry::of(writer, operation, moved.then(|| writer.time.to_owned()), set);
        if entry.set.as_ref().is_some_and(FieldSet::is_empty) {
            self.entries.retain(|before| before.identity != entry.identity);
            return;
        }
        if !moved {
            entry.time = self.get_mut(&entry.identity).and_then(|before| before.time.take());
        }
        self.put(entry);
    }

    /// Drops entries whose parsed sets are empty.
    pub(super) fn drop_empty(&mut self) {
        self.entries.retain(|entry| !entry.set.as_ref().is_some_and(FieldSet::is_empty));
    }

    /// Limits the number of update entries by merging the oldest of one version.
    ///
    /// # Errors
    /// Invalid sets.
    pub(super) fn cap_updates(&mut self) -> Result<(), String> {
        let is_update = |entry: &mut Entry<'a>| entry.identity.operation == Operation::Update;
        let mut updates: Vec<Entry<'a>> = self.entries.extract_if(.., is_update).collect();
        if updates.len() > MOST_UPDATES {
            updates.sort_by_cached_key(|entry| (entry.time.clone(), entry.identity.sort_key()));
            updates = joined(updates)?;
        }
        self.entries.append(&mut updates);
        Ok(())
    }

    /// The entries in their stored form and kube-apiserver's order; `None` if absent.
    pub(super) fn write(mut self) -> Option<Document> {
        let key = |entry: &Entry<'a>| (entry.identity.manager, entry.api_version, entry.identity.subresource);
        self.entries.sort_by(|a, b| {
            let by_time = a.identity.operation.cmp(&b.identity.operation).then_with(|| a.time.cmp(&b.time));
            by_time.then_with(|| key(a).cmp(&key(b)))
        });
        (!self.is_empty()).then(|| self.entries.into_iter().map(Entry::into_document).collect())
    }
}

/// Update entries, oldest first, of which the first ones are merged until few enough are left.
fn joined(updates: Vec<Entry<'_>>) -> Result<Vec<Entry<'_>>, String> {
    let mut left = updates.len();
    let mut kept: Vec<Entry<'_>> = Vec::with_capacity(left);
    for mut entry in updates {
        // The first entry of a version becomes the merged one when a second follows.
        match kept.iter_mut().find(|first| first.api_version == entry.api_version) {
            Some(into) if left > MOST_UPDATES => {
                let set = std::mem::take(entry.set()?);
                into.identity = Identity::new(ANCIENT, Operation::Update, into.api_version, "");
                into.set()?;
                into.add(set);
                into.time = entry.time;
                left -= 1;
            }
            _ => kept.push(entry),
        }
    }
    Ok(kept)
}
