//! What a schema knows at one place of an object: the step that every walk for unknown fields takes.
use super::{METADATA, Schema, model::Type};

/// What is known of a value.
#[derive(Clone, Copy)]
pub(crate) enum Known<'s> {
    /// Nothing is said about it: all of it is kept.
    Anything,
    /// It has no fields.
    Nothing,
    /// It has the fields of a schema.
    Fields {
        /// The schema.
        schema: &'s Schema,
        /// Unknown fields are kept.
        open: bool,
        /// It is an object with its own type and metadata.
        whole: bool,
    },
}

impl<'s> Known<'s> {
    /// A whole object of a kind.
    pub(crate) fn object(root: &'s Schema) -> Self {
        Self::Fields { schema: root, open: is_open(root), whole: true }
    }

    fn value(schema: &'s Schema) -> Self {
        if schema.kind == Type::Any && schema.properties.is_empty() && schema.additional.is_none() && !schema.embedded {
            return Self::Anything;
        }
        Self::Fields { schema, open: is_open(schema), whole: schema.embedded }
    }

    /// A field or entry; `None` if there is none of that name.
    pub(crate) fn field(self, name: &str) -> Option<Known<'s>> {
        let Self::Fields { schema, open, whole } = self else {
            return matches!(self, Self::Anything).then_some(self);
        };
        match name {
            "apiVersion" | "kind" if whole => return Some(Self::Anything),
            "metadata" if whole => return Some(Self::value(&METADATA)),
            // It has no meaning any more, and clients may still send it.
            "selfLink" if std::ptr::eq(schema, &raw const *METADATA) => return Some(Self::Anything),
            _ => {}
        }
        match schema.properties.get(name).or(schema.additional.as_deref()) {
            Some(known) => Some(Self::value(known)),
            None => open.then_some(Self::Anything),
        }
    }

    /// An item of a list.
    pub(crate) fn item(self) -> Known<'s> {
        let Self::Fields { schema, open, .. } = self else {
            return self;
        };
        match &schema.items {
            // What keeps unknown fields keeps those of its items, too.
            Some(items) => Self::Fields { schema: items, open: open || is_open(items), whole: items.embedded },
            None if open => Self::Anything,
            None => Self::Nothing,
        }
    }
}

fn is_open(schema: &Schema) -> bool {
    schema.preserve_unknown || schema.kind == Type::Any
}
