//! The structural schema of a value.
use std::sync::Arc;

use super::{
    Document, Enumeration, Pattern, Properties, Scalar,
    rules::{Programs, Rule},
};

/// The type of a value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Type {
    /// A struct (with `properties`) or a map (with `additional`).
    Object,
    /// A list, with `items`.
    Array,
    /// Text; `format` and `scalar` narrow it.
    String,
    /// A whole number; `format` is `int32` or `int64`.
    Integer,
    /// A number.
    Number,
    /// True or false.
    Boolean,
    /// An integer or text (`x-kubernetes-int-or-string`).
    IntOrString,
    /// Anything (`x-kubernetes-preserve-unknown-fields` without a type).
    #[default]
    Any,
}

impl Type {
    /// The types with names in documents.
    const NAMED: [(&str, Self); 6] = [
        ("object", Self::Object),
        ("array", Self::Array),
        ("string", Self::String),
        ("integer", Self::Integer),
        ("number", Self::Number),
        ("boolean", Self::Boolean),
    ];

    /// The type with a name.
    pub fn of_name(name: &str) -> Option<Self> {
        Self::NAMED.iter().find(|(known, _)| *known == name).map(|(_, kind)| *kind)
    }

    /// Its name; `None` for types that documents state by extensions.
    pub fn name(self) -> Option<&'static str> {
        Self::NAMED.iter().find(|(_, kind)| *kind == self).map(|(name, _)| *name)
    }
}

/// How lists merge (`x-kubernetes-list-type`).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ListType {
    /// Replaced as a whole.
    #[default]
    Atomic,
    /// Scalars, each at most once.
    Set,
    /// Objects, identified by these keys.
    Map(Vec<String>),
}

/// How kube-apiserver's strategic merge patch treats a list or struct (`x-kubernetes-patch-strategy`).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PatchStrategy {
    /// `merge`: items are merged by `merge_key`, or as a set of scalars.
    pub merge: bool,
    /// `retainKeys`: keys that the patch does not name are dropped.
    pub retain_keys: bool,
    /// The key of items (`x-kubernetes-patch-merge-key`).
    pub merge_key: Option<String>,
}

/// The rules of a schema that are other schemas for the same value.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Junctors {
    /// The value matches all of these.
    pub all_of: Vec<Schema>,
    /// The value matches at least one of these; no rule if empty.
    pub any_of: Vec<Schema>,
    /// The value matches exactly one of these; no rule if empty.
    pub one_of: Vec<Schema>,
    /// The value does not match this.
    pub not: Option<Schema>,
}

impl Junctors {
    /// The branches with their keywords.
    pub(crate) fn branches(&self) -> [(&'static str, &[Schema]); 4] {
        [("allOf", &self.all_of), ("anyOf", &self.any_of), ("oneOf", &self.one_of), ("not", self.not.as_slice())]
    }
}

/// Where a definition says that a value of [`Type::IntOrString`] is an integer or text. It is no rule beside the type, but errors repeat it.
#[derive(Clone, Copy, Debug, Default)]
pub enum Either {
    /// Nowhere.
    #[default]
    Unsaid,
    /// In `anyOf`.
    AnyOf,
    /// In `anyOf` of the first schema of `allOf`.
    AllOf,
}

impl PartialEq for Either {
    /// Schemas that allow the same are equal.
    fn eq(&self, _other: &Self) -> bool {
        true
    }
}

/// Keywords that are published with a schema, and have no other effect.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Unenforced {
    /// A title.
    pub title: String,
    /// An example of the value.
    pub example: Option<Document>,
    /// The external documentation, with the members `description` and `url`.
    pub external_docs: Option<Document>,
    /// Which fields are members of unions, and which of them says the member that is set (`x-kubernetes-unions`).
    pub unions: Vec<Document>,
}

/// A structural schema (API conventions; CRD structural schemas).
///
/// The nodes below are shared: a clone has them in common with the original, so a type that is used in many places is in memory
/// once. Recursive types refer back to a [definition](Schema::definition). Walk schemas with `At`, which follows
/// these references.
#[derive(Clone, Debug, Default, PartialEq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a keyword of its own, as in the documents that say them")]
pub struct Schema {
    /// The type.
    pub kind: Type,
    /// The format, such as `int32`, `date-time`, `byte`.
    pub format: Option<String>,
    /// The type of the text in Go, for kinds that are compiled. The text of others stays as it was sent.
    pub scalar: Option<Scalar>,
    /// The description of the value, from the doc comment.
    pub description: String,
    /// The description of the type, where `description` is about this use of it. Documents print it with the type's
    /// definition.
    pub type_description: String,
    /// A name under which the OpenAPI documents may share this schema, such as `BookSpec`. One with a dot
    /// is whole; others are put behind the group and version of the kind.
    pub name: Option<String>,
    /// Fields of a struct by wire name.
    pub properties: Properties,
    /// Names of required fields, in declaration order.
    pub required: Vec<String>,
    /// The values of a map.
    pub additional: Option<Arc<Schema>>,
    /// The schema is a boolean one, for the values of a map: any value is allowed, or none. Objects in the value have no fields, as in
    /// kube-apiserver.
    pub boolean: Option<bool>,
    /// The items of a list.
    pub items: Option<Arc<Schema>>,
    /// A back reference: the index of one of the [`definitions`](Schema::definitions) of a node above. This node has the
    /// properties, entries and items of that definition, and none of its own. All other keywords are its own.
    pub definition: Option<u32>,
    /// Recursive types, to which the nodes below this one refer.
    pub definitions: Option<Arc<Vec<Schema>>>,
    /// Unknown fields are kept (`x-kubernetes-preserve-unknown-fields`).
    pub preserve_unknown: bool,
    /// The value holds a whole object with its own type meta (`x-kubernetes-embedded-resource`).
    pub embedded: bool,
    /// It is the metadata of an embedded object, of which rules see the names alone. Follows from the schema around it.
    pub names_only: bool,
    /// `null` is a value (it otherwise counts as absent).
    pub nullable: bool,
    /// An empty value is dropped when the document is normalised, as Go's `omitempty` does. Built-in kinds have it.
    pub omit_empty: bool,
    /// The zero of the field and its absence mean the same, as for a field of Go that is no pointer: text, numbers and
    /// booleans that are zero are dropped where empty values are, and Protobuf always has the field.
    pub zero_is_absent: bool,
    /// Items of a list that is a set or a map may be there twice, as in kinds compiled into Kubernetes, which check what they do not allow.
    pub may_repeat: bool,
    /// The default.
    pub default: Option<Document>,
    /// Allowed values.
    pub enumeration: Enumeration,
    /// Smallest number.
    pub minimum: Option<f64>,
    /// `minimum` itself is not allowed.
    pub exclusive_minimum: bool,
    /// Largest number.
    pub maximum: Option<f64>,
    /// `maximum` itself is not allowed.
    pub exclusive_maximum: bool,
    /// Numbers are multiples of this.
    pub multiple_of: Option<f64>,
    /// Shortest text, in characters.
    pub min_length: Option<u64>,
    /// Longest text, in characters.
    pub max_length: Option<u64>,
    /// Text matches this.
    pub pattern: Option<Pattern>,
    /// Fewest items.
    pub min_items: Option<u64>,
    /// Most items.
    pub max_items: Option<u64>,
    /// Fewest entries of a map or struct.
    pub min_properties: Option<u64>,
    /// Most entries of a map or struct.
    pub max_properties: Option<u64>,
    /// How the list merges under apply, and what must be unique in it.
    pub list: ListType,
    /// The map or struct is replaced as a whole (`x-kubernetes-map-type: atomic`).
    pub map_atomic: bool,
    /// How strategic merge patch treats the value.
    pub patch: PatchStrategy,
    /// The value cannot change once set.
    pub immutable: bool,
    /// The struct is a union: exactly one of its properties is set.
    pub union: bool,
    /// `allOf`, `anyOf`, `oneOf` and `not`.
    pub junctors: Option<Arc<Junctors>>,
    /// Where a definition says once more that the value is an integer or text. Errors repeat it.
    pub either: Either,
    /// Rules in CEL (`x-kubernetes-validations`).
    pub rules: Vec<Rule>,
    /// The rules when they are compiled.
    pub programs: Programs,
    /// Keywords that are published and not enforced.
    pub unenforced: Option<Arc<Unenforced>>,
    /// The field's number in the Protobuf message; 0 for a field of documents alone, such as the type of an object in an object.
    pub protobuf: Option<u32>,
    /// The numbers of the messages around the field, from that of the struct inwards, where the struct's message does not have the
    /// field itself: those of structs that Go embeds.
    pub protobuf_parts: Option<Arc<[u32]>>,
}

impl Schema {
    /// The schema of all values of a type.
    ///
    /// ```
    /// # extern crate kindsmith_model as kindsmith;
    /// use kindsmith::schema::{Schema, Type};
    ///
    /// let pages = Schema::of(Type::Integer).with(|pages| pages.minimum = Some(1.0));
    /// let spec = Schema::of(Type::Object).with(|spec| spec.properties = [("pages".to_owned(), pages)].into());
    /// assert!(spec.properties.contains_key("pages"));
    /// ```
    pub fn of(kind: Type) -> Self {
        Self { kind, ..Self::default() }
    }

    /// The same with changes.
    #[must_use]
    pub fn with(mut self, change: impl FnOnce(&mut Self)) -> Self {
        change(&mut self);
        self
    }

    /// The children of this node and its definitions. Walks along these end, since back references are not followed.
    pub(crate) fn below(&self) -> impl Iterator<Item = &Self> {
        let single = [&self.additional, &self.items].into_iter().flatten().map(|node| &**node);
        self.properties.values().chain(single).chain(self.definitions.iter().flat_map(|all| all.iter()))
    }

    /// The name of the type without the group and version in front of it.
    pub fn type_name(&self) -> Option<&str> {
        self.name.as_deref().map(|name| name.rsplit('.').next().unwrap_or(name))
    }

    /// Somewhere in it, something other than the merge patch of RFC 7396 is declared for strategic merge patches.
    pub fn says_how_patches_merge(&self) -> bool {
        self.patch != PatchStrategy::default() || self.below().any(Self::says_how_patches_merge)
    }
}
