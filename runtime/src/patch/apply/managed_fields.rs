//! The entries of `metadata.managedFields`: which field manager owns which fields of an object.
use std::fmt::Write;

use serde::{Serialize, Serializer, ser::SerializeMap};
use serde_json::json;

use super::{Writer, field_set::FieldSet, path_element::PathElement, schema::Type, typed::reconcile, versions::Terms};
use crate::{
    meta::{Time, go},
    schema::Document,
};

/// The manager under whose name the oldest updates are kept together.
const ANCIENT: &str = "ancient-changes";
/// How many entries of updates are kept apart.
const MOST_UPDATES: usize = 10;

/// How a manager came to own fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Operation {
    /// By naming them in what it applied.
    Apply,
    /// By changing them otherwise.
    Update,
}

impl Operation {
    fn name(self) -> &'static str {
        match self {
            Self::Apply => "Apply",
            Self::Update => "Update",
        }
    }
}

/// Whose an entry is. An applier is the same in all versions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Identity<'a> {
    pub(super) manager: &'a str,
    pub(super) operation: Operation,
    /// Empty for an applier.
    api_version: &'a str,
    subresource: &'a str,
}

impl<'a> Identity<'a> {
    /// The identity of a writer.
    pub(super) fn of(writer: &Writer<'a>, operation: Operation) -> Self {
        let manager = if writer.manager.is_empty() { "unknown" } else { writer.manager };
        Self::new(manager, operation, writer.api_version, writer.subresource)
    }

    fn new(manager: &'a str, operation: Operation, api_version: &'a str, subresource: &'a str) -> Self {
        let api_version = if operation == Operation::Apply { "" } else { api_version };
        Self { manager, operation, api_version, subresource }
    }

    /// It is the same manager with the same operation, in whatever version.
    pub(super) fn is_same_manager(&self, other: &Identity<'_>) -> bool {
        Self { api_version: "", ..*self } == Identity { api_version: "", ..*other }
    }

    /// As messages name it: `"patcher" with subresource "status" using v1`.
    pub(super) fn print(&self) -> String {
        let mut text = go::quoted(self.manager);
        if !self.subresource.is_empty() {
            text.push_str(" with subresource ");
            text.push_str(&go::quoted(self.subresource));
        }
        if self.operation == Operation::Update {
            text.push_str(" using ");
            text.push_str(self.api_version);
        }
        text
    }

    /// What kube-apiserver sorts managers by in messages.
    pub(super) fn sort_key(&self) -> String {
        let mut key = String::from("{");
        let members = [
            ("manager", self.manager),
            ("operation", self.operation.name()),
            ("apiVersion", self.api_version),
            ("subresource", self.subresource),
        ];
        for (name, value) in members.iter().filter(|(_, value)| !value.is_empty()) {
            let separator = if key.len() > 1 { "," } else { "" };
            write!(key, "{separator}\"{name}\":{}", json!(value)).expect("writing to a String cannot fail");
        }
        key
    }
}

/// An entry: a manager and the fields that it owns.
#[derive(Clone, Debug)]
pub(super) struct Entry<'a> {
    pub(super) identity: Identity<'a>,
    /// The group and version in whose terms the fields are named.
    pub(super) api_version: &'a str,
    /// When its set, or a value in it, last changed; RFC 3339 in UTC.
    pub(super) time: Option<String>,
    /// The set as it was stored, until it is another one.
    stored: Option<&'a Document>,
    /// The set; read from `stored` when it is first needed.
    set: Option<FieldSet<'a>>,
    /// The type of objects of its version, once that is known.
    ty: Option<Type<'a>>,
}

impl<'a> Entry<'a> {
    /// The entry of a writer.
    pub(super) fn of(writer: &Writer<'a>, operation: Operation, time: Option<String>, set: FieldSet<'a>) -> Self {
        let identity = Identity::of(writer, operation);
        Self { identity, api_version: writer.api_version, time, stored: None, set: Some(set), ty: None }
    }

    /// Reads an entry, but for its set.
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

    /// The set, in line with the schema of its version once that is known.
    ///
    /// # Errors
    /// Fields that are not a set.
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

    /// The set, as it is stored.
    fn stored_set(&mut self) -> Result<&mut FieldSet<'a>, String> {
        if self.set.is_none() {
            self.set = Some(self.stored.map(FieldSet::read).transpose()?.unwrap_or_default());
        }
        Ok(self.set.get_or_insert_default())
    }

    /// It owns a field; of the fields as they are stored.
    pub(super) fn owns(&mut self, path: &[PathElement<'_>]) -> bool {
        self.stored_set().is_ok_and(|set| set.has(path))
    }

    /// Gives it fields. Its set was read.
    pub(super) fn add(&mut self, added: FieldSet<'a>) {
        let set = self.set.get_or_insert_default();
        if !set.contains(&added) {
            set.add(added);
            self.stored = None;
        }
    }

    /// Takes fields from it, and gives those that it had. Its set was read.
    pub(super) fn remove(&mut self, removed: &FieldSet<'_>) -> FieldSet<'a> {
        let set = self.set.get_or_insert_default();
        let lost = set.intersection(removed);
        if !lost.is_empty() {
            set.subtract(&lost);
            self.stored = None;
        }
        lost
    }

    /// Puts a set in another version's terms in the place of its own.
    pub(super) fn restate(&mut self, api_version: &'a str, set: FieldSet<'a>) {
        let Identity { manager, operation, subresource, .. } = self.identity;
        self.identity = Identity::new(manager, operation, api_version, subresource);
        (self.api_version, self.stored, self.set) = (api_version, None, Some(set));
    }
}

/// The entry as it is stored, with the members sorted.
impl Serialize for Entry<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Identity { manager, operation, subresource, .. } = self.identity;
        let mut entry = serializer.serialize_map(None)?;
        entry.serialize_entry("apiVersion", self.api_version)?;
        entry.serialize_entry("fieldsType", "FieldsV1")?;
        match (self.stored, &self.set) {
            (Some(stored), _) => entry.serialize_entry("fieldsV1", stored)?,
            (None, Some(set)) => entry.serialize_entry("fieldsV1", set)?,
            (None, None) => entry.serialize_entry("fieldsV1", &FieldSet::default())?,
        }
        let time = self.time.as_deref().unwrap_or_default();
        let members =
            [("manager", manager), ("operation", operation.name()), ("subresource", subresource), ("time", time)];
        for (name, text) in members.iter().filter(|(_, text)| !text.is_empty()) {
            entry.serialize_entry(name, text)?;
        }
        entry.end()
    }
}

/// Text that is a time as entries store it: `2026-01-02T03:04:05Z`.
fn is_stored_form(time: &str) -> bool {
    let form = b"0000-00-00T00:00:00Z";
    let fits = |(byte, form): (u8, &u8)| if *form == b'0' { byte.is_ascii_digit() } else { byte == *form };
    time.len() == form.len() && time.bytes().zip(form).all(fits) && time.parse::<Time>().is_ok()
}

/// The entries of an object.
#[derive(Clone, Debug, Default)]
pub(super) struct ManagedFields<'a> {
    entries: Vec<Entry<'a>>,
}

impl<'a> ManagedFields<'a> {
    /// Reads the entries of a stored object.
    ///
    /// # Errors
    /// What is not an entry; sets are read when they are needed.
    pub(super) fn of(object: &'a Document) -> Result<Self, String> {
        let entries = object.get("metadata").and_then(|metadata| metadata.get("managedFields"));
        Self::read(entries.and_then(Document::as_array).map_or(&[][..], Vec::as_slice))
    }

    /// Reads entries. Of two with the same identity the last counts.
    ///
    /// # Errors
    /// As [`ManagedFields::of`].
    pub(super) fn read(entries: &'a [Document]) -> Result<Self, String> {
        let mut read = Self { entries: Vec::with_capacity(entries.len() + 1) };
        for entry in entries {
            read.put(Entry::read(entry)?);
        }
        Ok(read)
    }

    /// Reads entries that a client has sent: their sets are read at once, and written anew.
    ///
    /// # Errors
    /// What is not an entry, and fields that are not a set.
    pub(super) fn read_from_client(entries: &'a [Document]) -> Result<Self, String> {
        let mut read = Self::read_with_sets(entries)?;
        for entry in &mut read.entries {
            entry.stored = None;
        }
        Ok(read)
    }

    /// Reads entries with their sets, as they are stored.
    ///
    /// # Errors
    /// As [`ManagedFields::read_from_client`].
    pub(super) fn read_with_sets(entries: &'a [Document]) -> Result<Self, String> {
        let mut read = Self::read(entries)?;
        read.entries.iter_mut().try_for_each(|entry| entry.stored_set().map(|_| ()))?;
        Ok(read)
    }

    /// Drops the entries of versions that there are no longer, and gives the others the types of theirs. Says whether there
    /// were such entries.
    pub(super) fn drop_unknown(&mut self, terms: &Terms<'a>) -> bool {
        let before = self.entries.len();
        self.entries.retain_mut(|entry| {
            entry.ty = terms.ty(entry.api_version);
            entry.reconcile();
            entry.ty.is_some()
        });
        self.entries.len() < before
    }

    /// There are no entries.
    pub(super) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Each entry.
    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = &mut Entry<'a>> {
        self.entries.iter_mut()
    }

    /// The entry of an identity.
    pub(super) fn get_mut(&mut self, identity: &Identity<'_>) -> Option<&mut Entry<'a>> {
        self.entries.iter_mut().find(|entry| entry.identity == *identity)
    }

    /// Keeps some entries.
    pub(super) fn retain(&mut self, keep: impl FnMut(&mut Entry<'a>) -> bool) {
        self.entries.retain_mut(keep);
    }

    /// Adds entries of other identities.
    pub(super) fn append(&mut self, mut others: ManagedFields<'a>) {
        self.entries.append(&mut others.entries);
    }

    /// Adds an entry, or puts it in the place of the one with its identity.
    fn put(&mut self, entry: Entry<'a>) {
        match self.get_mut(&entry.identity) {
            Some(place) => *place = entry,
            None => self.entries.push(entry),
        }
    }

    /// Sets what a writer owns. One that owns nothing has no entry. Without `moved` the time of its entry stays.
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

    /// Drops entries without fields, of those whose sets were read.
    pub(super) fn drop_empty(&mut self) {
        self.entries.retain(|entry| !entry.set.as_ref().is_some_and(FieldSet::is_empty));
    }

    /// Bounds the number of entries of updates: the oldest of one version are joined.
    ///
    /// # Errors
    /// Fields that are not a set.
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

    /// The entries as they are stored, in kube-apiserver's order; `None` if there are none.
    pub(super) fn write(mut self) -> Option<Document> {
        let key = |entry: &Entry<'a>| (entry.identity.manager, entry.api_version, entry.identity.subresource);
        self.entries.sort_by(|a, b| {
            let by_time = a.identity.operation.cmp(&b.identity.operation).then_with(|| a.time.cmp(&b.time));
            by_time.then_with(|| key(a).cmp(&key(b)))
        });
        (!self.is_empty()).then(|| serde_json::to_value(&self.entries).expect("entries are JSON"))
    }
}

/// Entries of updates, the oldest first, of which the first ones are joined until few enough are left.
fn joined(updates: Vec<Entry<'_>>) -> Result<Vec<Entry<'_>>, String> {
    let mut left = updates.len();
    let mut kept: Vec<Entry<'_>> = Vec::with_capacity(left);
    for mut entry in updates {
        // The first entry of a version becomes the joined one when a second comes.
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
