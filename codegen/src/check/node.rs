//! A location in a schema, with the types that contain themselves resolved.
use std::{ops::Deref, ptr};

use kindsmith::schema::{Document, Properties, Schema, Type};

/// A node. Its keywords are those of the schema; its children may be those of a definition around it, to which it refers back.
#[derive(Clone, Copy)]
pub(crate) struct Node<'s> {
    schema: &'s Schema,
    definitions: Option<&'s [Schema]>,
}

impl Deref for Node<'_> {
    type Target = Schema;

    fn deref(&self) -> &Schema {
        self.schema
    }
}

impl PartialEq for Node<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.schema == other.schema && self.definitions == other.definitions
    }
}

impl<'s> Node<'s> {
    /// The root of a schema.
    pub(super) fn of(schema: &'s Schema) -> Self {
        Self { schema, definitions: schema.definitions.as_deref().map(Vec::as_slice) }
    }

    fn step(self, schema: &'s Schema) -> Self {
        Self { definitions: Self::of(schema).definitions.or(self.definitions), schema }
    }

    /// The schema with the children: this one, or the definition that it refers to.
    fn children(self) -> &'s Schema {
        let definition = self.schema.definition.and_then(|index| self.definitions?.get(index as usize));
        definition.unwrap_or(self.schema)
    }

    /// What tells nodes with the same children from others: a walk that comes to one again need not go on.
    pub(super) fn identity(self) -> *const Schema {
        ptr::from_ref(self.children())
    }

    /// The names of the fields, with their schemas.
    pub(super) fn fields(self) -> &'s Properties {
        &self.children().properties
    }

    /// A field.
    pub(super) fn field(self, name: &str) -> Option<Self> {
        self.fields().get(name).map(|schema| self.step(schema))
    }

    /// The values of a map that may have some.
    pub(super) fn values(self) -> Option<Self> {
        let values = self.children().additional.as_deref().filter(|values| values.boolean != Some(false));
        values.map(|schema| self.step(schema))
    }

    /// The items of a list.
    pub(super) fn items(self) -> Option<Self> {
        self.children().items.as_deref().map(|schema| self.step(schema))
    }

    /// The names of required fields.
    pub(super) fn required(self) -> &'s [String] {
        &self.children().required
    }

    /// The default of the value.
    pub(super) fn default_value(self) -> Option<&'s Document> {
        self.schema.default.as_ref()
    }

    /// Unknown fields are kept here.
    pub(super) fn is_open(self) -> bool {
        self.preserve_unknown || self.kind == Type::Any
    }
}

/// The path of a field, to be put behind that of its struct.
pub(super) fn step(name: &str) -> String {
    let is_plain = !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || "_-$".contains(c));
    if is_plain { format!(".{name}") } else { format!("[{name:?}]") }
}
