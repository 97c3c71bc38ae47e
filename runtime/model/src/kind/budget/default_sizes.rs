//! How large defaults are with the defaults in them, without filling them: an item of a default that has defaults of its own
//! multiplies them.
use std::{collections::HashMap, ptr};

use serde_json::Map;

use crate::schema::{At, Document, Schema};

/// The bytes of a member or item beside its value, about.
const MEMBER: u64 = 4;

/// The sizes of filled defaults by their schemas.
#[derive(Default)]
pub struct DefaultSizes {
    defaults: HashMap<*const Schema, u64>,
    /// The size of an empty sizes with its defaults.
    empty: HashMap<*const Schema, u64>,
}

impl DefaultSizes {
    /// The size of a schema's default when it is filled; zero without one.
    pub fn of(&mut self, schema: &Schema) -> u64 {
        self.absent(At::of(schema))
    }

    /// The size that an absent value has when it is filled.
    fn absent(&mut self, at: At<'_>) -> u64 {
        let node = at.node();
        let Some(default) = node.default.as_ref().filter(|_| node.definition.is_none()) else { return 0 };
        if let Some(known) = self.defaults.get(&ptr::from_ref(node)) {
            return *known;
        }
        let filled = self.filled(at, default);
        self.defaults.insert(ptr::from_ref(node), filled);
        filled
    }

    /// The size of a value when it is filled.
    fn filled(&mut self, at: At<'_>, value: &Document) -> u64 {
        match value {
            Document::Object(fields) => self.object(at, fields),
            Document::Array(items) => {
                let of = |item: &Document| at.items().map_or_else(|| length(item), |at| self.filled(at, item));
                items.iter().map(of).fold(2, |sum, item| sum.saturating_add(MEMBER).saturating_add(item))
            }
            other => length(other),
        }
    }

    fn object(&mut self, at: At<'_>, fields: &Map<String, Document>) -> u64 {
        let mut sum = self.empty(at);
        for (name, value) in fields {
            let filled = match (at.property(name), at.entry()) {
                (Some(property), _) => {
                    sum = sum.saturating_sub(self.member(name, property));
                    if value.is_null() { self.absent(property) } else { self.filled(property, value) }
                }
                (None, Some(entry)) => self.filled(entry, value),
                (None, None) => length(value),
            };
            sum = sum.saturating_add(filled).saturating_add(name.len() as u64 + MEMBER);
        }
        sum
    }

    /// The size that an object without fields has when it is filled.
    fn empty(&mut self, at: At<'_>) -> u64 {
        // The fields of a back reference are those of another node.
        let node = ptr::from_ref(at.leads_to().unwrap_or(at).node());
        if let Some(known) = self.empty.get(&node) {
            return *known;
        }
        let filled = at.properties().map(|(name, property)| self.member(name, property));
        let filled = filled.fold(2, u64::saturating_add);
        self.empty.insert(node, filled);
        filled
    }

    /// The size that an absent field has when it is filled, with its name.
    fn member(&mut self, name: &str, property: At<'_>) -> u64 {
        match self.absent(property) {
            0 => 0,
            filled => filled.saturating_add(name.len() as u64 + MEMBER),
        }
    }
}

/// The bytes of a value as JSON, about.
pub fn length(value: &Document) -> u64 {
    match value {
        Document::Null | Document::Bool(_) => 5,
        Document::Number(_) => 8,
        Document::String(text) => text.len() as u64 + 2,
        Document::Array(items) => 2 + items.iter().map(|item| length(item) + 1).sum::<u64>(),
        Document::Object(fields) => {
            2 + fields.iter().map(|(name, value)| name.len() as u64 + MEMBER + length(value)).sum::<u64>()
        }
    }
}
