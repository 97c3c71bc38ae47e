//! A schema with the definitions that back references in it refer to.

use std::sync::Arc;

use kindsmith::schema::Schema;

/// A place in a schema.
#[derive(Clone, Copy)]
pub(super) struct Node<'s> {
    pub(super) schema: &'s Schema,
    definitions: Option<&'s Arc<Vec<Schema>>>,
}

impl<'s> Node<'s> {
    /// The root of a schema.
    pub(super) fn root(schema: &'s Schema) -> Self {
        Self { schema, definitions: schema.definitions.as_ref() }
    }

    /// A schema below this one.
    pub(super) fn below<'b>(self, schema: &'b Schema) -> Node<'b>
    where
        's: 'b,
    {
        Node { schema, definitions: schema.definitions.as_ref().or(self.definitions) }
    }

    /// The definition that a back reference refers to.
    pub(super) fn leads_to(self) -> Option<Self> {
        let index = self.schema.definition?;
        Some(self.below(self.definitions?.get(index as usize)?))
    }
}
