//! The cursor by which all code walks schemas. It follows back references and the fields that all objects share, and
//! knows which values keep unknown fields.
use std::{
    ops::Deref,
    ptr,
    sync::{Arc, LazyLock},
};

use super::{
    Schema,
    metadata::OBJECT,
    model::{ListType, Type},
};

/// A place in a schema. It dereferences to the node there, for its keywords. The children of the node are reached only by the
/// methods, since a back reference has the children of another node.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct At<'s> {
    node: &'s Schema,
    /// The definitions that back references refer to.
    definitions: Option<&'s Arc<Vec<Schema>>>,
    /// It is an object with its own type meta and metadata.
    object: bool,
    /// Unknown fields are kept here.
    open: bool,
    /// Unknown fields are kept here, or in a value around it.
    within_open: bool,
}

/// The schema where none is declared: everything is kept.
static ANYTHING: LazyLock<Schema> = LazyLock::new(|| Schema { preserve_unknown: true, ..Schema::default() });
/// The schema of items where no list is declared: they have no fields.
static NOTHING: LazyLock<Schema> = LazyLock::new(|| Schema { kind: Type::Object, ..Schema::default() });

impl<'s> At<'s> {
    /// The root of a schema, with only the fields that it declares.
    pub fn of(schema: &'s Schema) -> Self {
        let open = schema.preserve_unknown || schema.kind == Type::Any && schema.boolean.is_none();
        Self {
            node: schema,
            definitions: schema.definitions.as_ref(),
            object: schema.embedded,
            open,
            within_open: schema.preserve_unknown,
        }
    }

    /// The root schema of a kind, for whole objects: with `apiVersion`, `kind` and `metadata`.
    pub(crate) fn object(root: &'s Schema) -> Self {
        Self { object: true, ..Self::of(root) }
    }

    /// A place where anything is allowed.
    pub(crate) fn anything() -> Self {
        Self::of(&ANYTHING)
    }

    /// The node.
    pub fn node(self) -> &'s Schema {
        self.node
    }

    /// The schema of this place, independent of the schema around it.
    pub(crate) fn to_schema(self) -> Schema {
        let definitions = self.node.definitions.clone().or_else(|| self.definitions.cloned());
        Schema { definitions, ..self.node.clone() }
    }

    /// The node with the properties, entries and items: this node, or the definition that its back reference refers to.
    pub fn children(self) -> &'s Schema {
        match self.node.definition {
            None => self.node,
            Some(index) => self.definitions.and_then(|all| all.get(index as usize)).unwrap_or(self.node),
        }
    }

    /// The definition that a back reference refers to.
    pub fn leads_to(self) -> Option<Self> {
        let definition = self.children();
        (!ptr::eq(definition, self.node)).then(|| self.step(definition))
    }

    fn step(self, node: &'s Schema) -> Self {
        let below = Self::of(node);
        Self {
            definitions: below.definitions.or(self.definitions),
            within_open: below.within_open || self.within_open,
            ..below
        }
    }

    /// A declared property.
    pub fn property(self, name: &str) -> Option<Self> {
        self.children().properties.get(name).map(|node| self.step(node))
    }

    /// The declared properties by name.
    pub fn properties(self) -> impl ExactSizeIterator<Item = (&'s String, Self)> + Clone {
        self.children().properties.iter().map(move |(name, node)| (name, self.step(node)))
    }

    /// The values of a map.
    pub fn entry(self) -> Option<Self> {
        self.children().additional.as_deref().map(|node| self.step(node))
    }

    /// The items of a list.
    pub fn items(self) -> Option<Self> {
        self.children().items.as_deref().map(|node| self.step(node))
    }

    /// The definitions that this node has for the nodes below it.
    pub(super) fn own_definitions(self) -> impl Iterator<Item = Self> {
        self.node.definitions.iter().flat_map(|all| all.iter()).map(move |node| self.step(node))
    }

    /// A branch of a junctor of this node.
    pub(super) fn branch(self, branch: &'s Schema) -> Self {
        self.step(branch)
    }

    /// A declared property, or else an entry of a map.
    pub(crate) fn member(self, name: &str) -> Option<Self> {
        self.property(name).or_else(|| self.entry())
    }

    /// A field with a known name: a declared property, or one that every object has.
    pub(crate) fn named(self, name: &str) -> Option<Self> {
        let shared = if self.object { OBJECT.properties.get(name) } else { None };
        shared.map(Self::of).or_else(|| self.property(name))
    }

    /// The schema of a key: a field with a known name, an entry, or anything where unknown fields are kept. `None` for an unknown
    /// field that is not kept.
    pub(crate) fn field(self, name: &str) -> Option<Self> {
        if self.is_anything() {
            return Some(Self::anything());
        }
        self.named(name).or_else(|| self.entry()).or_else(|| self.open.then(Self::anything))
    }

    /// The schema of an item, whether or not a list is declared. A list that keeps unknown fields keeps those of its items, too.
    #[must_use]
    pub(crate) fn item(self) -> Self {
        match self.items() {
            Some(items) => Self { open: items.open || self.open, ..items },
            None if self.open => Self::anything(),
            None => Self::of(&NOTHING),
        }
    }

    /// Anything is allowed here, and is kept.
    pub(crate) fn is_anything(self) -> bool {
        let children = self.children();
        self.node.kind == Type::Any
            && self.node.boolean.is_none()
            && children.properties.is_empty()
            && children.additional.is_none()
            && children.items.is_none()
            && !self.object
    }

    /// Unknown fields are kept here, or in something around it.
    pub(crate) fn is_within_open(self) -> bool {
        self.within_open
    }

    /// It is an object with its own type meta and metadata.
    pub(crate) fn is_object(self) -> bool {
        self.object
    }

    /// It is the metadata of an object.
    pub(crate) fn is_metadata(self) -> bool {
        ptr::eq(self.node, OBJECT.metadata())
    }

    /// The keys of items, for a map list.
    pub(crate) fn keys(self) -> Option<&'s [String]> {
        match &self.node.list {
            ListType::Map(keys) => Some(keys),
            ListType::Atomic | ListType::Set => None,
        }
    }
}

/// The keywords of the node. For its children use the methods of [`At`].
impl Deref for At<'_> {
    type Target = Schema;

    fn deref(&self) -> &Schema {
        self.node
    }
}

impl<'s> From<&'s Schema> for At<'s> {
    fn from(schema: &'s Schema) -> Self {
        Self::of(schema)
    }
}
