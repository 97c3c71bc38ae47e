//! One owner of fields, as an entry of `metadata.managedFields` stores it.
use std::fmt::Write;

use serde_json::{Map, json};

use super::{Writer, element::Element, fields, reconcile::reconcile, set::Set, types::Type};
use crate::{
    meta::{go, time::Time},
    schema::Document,
};

/// How a manager came to own fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Operation {
    /// By naming them in what it applied.
    Apply,
    /// By changing them otherwise.
    Update,
}

/// Who an owner is. Who applies is the same in all versions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Identity<'a> {
    pub(super) manager: &'a str,
    pub(super) operation: Operation,
    /// Empty for who applies.
    pub(super) api_version: &'a str,
    pub(super) subresource: &'a str,
}

/// One owner and what it owns.
#[derive(Clone, Debug)]
pub(super) struct Owner<'a> {
    pub(super) who: Identity<'a>,
    /// In whose terms the fields are named.
    pub(super) api_version: &'a str,
    /// When its set, or a value in it, last changed; RFC 3339 in UTC.
    pub(super) time: Option<String>,
    /// As it was stored, until the set is another one.
    stored: Option<&'a Document>,
    /// What it owns; read from `stored` when it is first needed.
    set: Option<Set<'a>>,
}

impl<'a> Identity<'a> {
    /// Who writes.
    pub(super) fn of(writer: &Writer<'a>, operation: Operation) -> Self {
        let manager = if writer.manager.is_empty() { "unknown" } else { writer.manager };
        Self::new(manager, operation, writer.api_version, writer.subresource)
    }

    /// An identity of these parts.
    pub(super) fn new(manager: &'a str, operation: Operation, api_version: &'a str, subresource: &'a str) -> Self {
        let api_version = if operation == Operation::Apply { "" } else { api_version };
        Self { manager, operation, api_version, subresource }
    }

    /// The same in the terms of another version.
    pub(super) fn in_version(self, api_version: &'a str) -> Self {
        Self::new(self.manager, self.operation, api_version, self.subresource)
    }

    /// As messages name it.
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

    /// What the reference sorts owners by in messages.
    pub(super) fn sort_key(&self) -> String {
        let mut key = String::from("{");
        let members = [
            ("manager", self.manager),
            ("operation", self.operation.name()),
            ("apiVersion", self.api_version),
            ("subresource", self.subresource),
        ];
        for (name, value) in members.iter().filter(|(_, value)| !value.is_empty()) {
            if key.len() > 1 {
                key.push(',');
            }
            write!(key, "{name:?}:{}", json!(value)).expect("writing to a String cannot fail");
        }
        key
    }
}

impl Operation {
    fn name(self) -> &'static str {
        match self {
            Self::Apply => "Apply",
            Self::Update => "Update",
        }
    }
}

impl<'a> Owner<'a> {
    /// Who owns a set since a time.
    pub(super) fn new(who: Identity<'a>, api_version: &'a str, time: Option<String>, set: Set<'a>) -> Self {
        Self { who, api_version, time, stored: None, set: Some(set) }
    }

    /// Reads an entry of `managedFields`, but for its set.
    pub(super) fn read(entry: &'a Document) -> Result<Self, String> {
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
            time if is_settled(time) => Some(time.to_owned()),
            time => Some(time.parse::<Time>().map_err(|error| error.to_string())?.to_string()),
        };
        let who = Identity::new(text("manager")?, operation, api_version, text("subresource")?);
        Ok(Self { who, api_version, time, stored: entry.get("fieldsV1"), set: None })
    }

    /// What it owns, in line with the schema.
    ///
    /// # Errors
    /// Fields that are not a set.
    pub(super) fn set(&mut self, ty: Type<'_>) -> Result<&mut Set<'a>, String> {
        if self.set.is_none() && reconcile(ty, self.plain_set()?) {
            self.stored = None;
        }
        Ok(self.set.get_or_insert_default())
    }

    /// What it owns, as it is stored.
    ///
    /// # Errors
    /// Fields that are not a set.
    pub(super) fn plain_set(&mut self) -> Result<&mut Set<'a>, String> {
        if self.set.is_none() {
            self.set = Some(self.stored.map(fields::read).transpose()?.unwrap_or_default());
        }
        Ok(self.set.get_or_insert_default())
    }

    /// Its set was read, and has nothing in it.
    pub(super) fn is_empty(&self) -> bool {
        self.set.as_ref().is_some_and(Set::is_empty)
    }

    /// It owns a field; of the fields as they are stored.
    pub(super) fn has(&mut self, path: &[Element<'_>]) -> bool {
        self.plain_set().is_ok_and(|set| set.has_path(path))
    }

    /// Gives it fields. Its set was read.
    pub(super) fn gain(&mut self, gained: Set<'a>) {
        let set = self.set.get_or_insert_default();
        if !set.contains(&gained) {
            set.add(gained);
            self.stored = None;
        }
    }

    /// Takes fields from it. Its set was read.
    pub(super) fn lose(&mut self, lost: &Set<'_>) {
        let set = self.set.get_or_insert_default();
        if !set.intersection(lost).is_empty() {
            set.subtract(lost);
            self.stored = None;
        }
    }

    /// Puts a set in another version's terms in the place of its own.
    pub(super) fn restate(&mut self, api_version: &'a str, set: Set<'a>) {
        *self = Self {
            who: self.who.in_version(api_version),
            api_version,
            time: self.time.take(),
            stored: None,
            set: Some(set),
        };
    }

    /// Its entry is written anew.
    pub(super) fn rewrite(&mut self) {
        self.stored = None;
    }

    /// The entry.
    pub(super) fn write(&self) -> Document {
        let mut entry = Map::new();
        let mut put = |name: &str, text: &str| {
            if !text.is_empty() {
                entry.insert(name.to_owned(), text.into());
            }
        };
        put("manager", self.who.manager);
        put("operation", self.who.operation.name());
        put("apiVersion", self.api_version);
        put("time", self.time.as_deref().unwrap_or_default());
        put("fieldsType", "FieldsV1");
        put("subresource", self.who.subresource);
        let fields = match (self.stored, &self.set) {
            (Some(stored), _) => stored.clone(),
            (None, set) => set.as_ref().map_or_else(|| Document::Object(Map::new()), fields::write),
        };
        entry.insert("fieldsV1".to_owned(), fields);
        Document::Object(entry)
    }
}

/// Text that is a time as it is stored: `2026-01-02T03:04:05Z`.
fn is_settled(time: &str) -> bool {
    let form = b"0000-00-00T00:00:00Z";
    let fits = |(byte, form): (u8, &u8)| if *form == b'0' { byte.is_ascii_digit() } else { byte == *form };
    time.len() == form.len() && time.bytes().zip(form).all(fits) && time.parse::<Time>().is_ok()
}
