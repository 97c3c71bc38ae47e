//! A declaration that passed every rule: the only input of the expansion. Only [`crate::check`] creates one.
use proc_macro2::{Span, TokenStream};
use syn::{Ident, LitStr, Type};

/// A kind.
#[expect(clippy::struct_excessive_bools, clippy::struct_field_names, reason = "they are the flags of the attribute")]
pub(crate) struct Kind {
    /// The root type.
    pub root: Container,
    pub group: Option<String>,
    pub version: String,
    pub kind: String,
    pub list_kind: String,
    pub plural: String,
    pub singular: String,
    pub short_names: Vec<String>,
    pub categories: Vec<String>,
    pub cluster: bool,
    pub builtin: bool,
    pub policy: Option<syn::Path>,
    pub generation: bool,
    /// The rule for names of objects.
    pub names: &'static str,
    pub status: bool,
    pub scale: Option<Scale>,
    pub columns: Vec<Column>,
    /// There is no column beyond the declared ones.
    pub no_age: bool,
    pub selectable: Vec<RustPath>,
    /// How long objects live, in seconds.
    pub lifetime: Option<u64>,
    pub roles: Roles,
    pub update_without_version: bool,
    pub create_on_update: bool,
    pub returns_deleted: bool,
    /// The functions of hooks, by the names of their arguments.
    pub hooks: Vec<(Ident, syn::Path)>,
    pub grace: Option<Grace>,
    /// True if objects are stored; false for a virtual kind.
    pub stored: bool,
    pub served: bool,
    /// The deprecation warning; empty for the default one.
    pub deprecated: Option<String>,
    /// The verbs that are served, by the names of their variants; `None` for all.
    pub verbs: Option<Vec<&'static str>>,
    pub storage: Option<Storage>,
}

/// The least roles that read and write objects; `None` if none of them does.
#[derive(Clone, Copy)]
pub(crate) struct Roles {
    pub read: Option<Role>,
    pub write: Option<Role>,
}

impl Default for Roles {
    fn default() -> Self {
        Self { read: Some(Role::View), write: Some(Role::Edit) }
    }
}

/// A user-facing role, by the name of its variant. Each may do what those before it may.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Role {
    View,
    Edit,
    Admin,
}

/// The storage version, if it is another one. Settings that are the same for all versions are declared there.
pub(crate) struct Storage {
    /// Its type.
    pub root: syn::Path,
    pub conversion: Conversion,
}

/// The conversion to the storage version.
pub(crate) enum Conversion {
    /// Only `apiVersion` differs, which a test checks.
    Unchanged,
    /// Only `apiVersion` is changed, whatever is lost.
    None,
    /// Written in Rust; with the span of the argument.
    From(Span),
    Changes(Vec<Change>),
}

/// A change of a field: its path in this version, its path in the storage version, or both.
pub(crate) enum Change {
    Renamed(RustPath, RustPath),
    Added(RustPath),
    Removed(RustPath),
}

/// A path of Rust fields.
pub(crate) type RustPath = Vec<Ident>;

/// The grace period of deletions: `30`, or `spec.grace_seconds`.
pub(crate) enum Grace {
    Seconds(u32),
    Path(RustPath),
}

/// The scale subresource.
pub(crate) struct Scale {
    pub replicas: RustPath,
    pub status: RustPath,
    pub selector: Option<RustPath>,
}

/// A column.
pub(crate) struct Column {
    pub name: String,
    pub priority: i32,
    pub description: String,
    pub format: String,
    pub cell: Cell,
}

/// The source of a column's cells.
pub(crate) enum Cell {
    Path(RustPath),
    /// A JSONPath, and the column's type.
    Json(String, String),
    Function(syn::Path),
}

/// A struct, an enum of strings, or a union.
pub(crate) struct Container {
    /// The path of kindsmith.
    pub krate: syn::Path,
    pub ident: Ident,
    pub doc: String,
    pub shape: Shape,
    /// Fields other than `Option`s are written in messages even if they are absent.
    pub proto_zeros: bool,
    /// It mirrors a schema that is published elsewhere.
    pub published: bool,
    pub keywords: Keywords,
    /// Items that compare the type with the lock of Protobuf numbers.
    pub locked: TokenStream,
}

/// A type that implements `schemars::JsonSchema`, which describes it.
pub(crate) struct SchemarsType {
    /// The path of kindsmith.
    pub krate: syn::Path,
    pub ident: Ident,
}

/// Further keywords of a schema, as in JSON.
pub(crate) type Keywords = Vec<(String, Literal)>;

/// The shape of a type.
pub(crate) enum Shape {
    Struct(Vec<Field>),
    Enum(Vec<Value>),
    Union(Vec<Member>),
}

/// A value of an enum.
pub(crate) struct Value {
    pub rust: String,
    pub wire: String,
    pub doc: String,
}

/// A member of a union.
pub(crate) struct Member {
    pub rust: String,
    pub wire: String,
    pub doc: String,
    pub rules: Rules,
    pub content: Content,
}

/// The content of a member.
pub(crate) enum Content {
    Type(Box<Type>),
    Struct(Vec<Field>),
}

/// A field.
pub(crate) struct Field {
    pub ident: Ident,
    pub rust: String,
    pub wire: String,
    pub doc: String,
    pub ty: Type,
    /// `schemars::JsonSchema` describes the type.
    pub generated: bool,
    /// These are conditions, whose items must have a type and a status.
    pub conditions: bool,
    pub defaulted: bool,
    pub skip_serializing_if: Option<LitStr>,
    pub rules: Rules,
}

/// A bound, by the name of its argument.
#[derive(Clone, Copy)]
pub(crate) struct Bound {
    pub name: &'static str,
    pub value: f64,
    pub span: Span,
}

impl Bound {
    /// True for a bound of lengths or of counts.
    pub(crate) fn counts(&self) -> bool {
        self.name.starts_with("min_") || self.name.starts_with("max_")
    }
}

/// The rules of a value.
#[derive(Default)]
#[expect(clippy::struct_excessive_bools, reason = "they are the flags of the attribute")]
pub(crate) struct Rules {
    pub default: Option<(Span, Literal)>,
    /// Empty for a type without its usual format.
    pub format: Option<String>,
    /// Bounds of numbers, lengths and counts.
    pub bounds: Vec<Bound>,
    pub pattern: Option<LitStr>,
    pub list: List,
    pub map_atomic: bool,
    pub merge: Option<Merge>,
    pub retain_keys: bool,
    pub immutable: bool,
    pub proto: u32,
    /// The field is written in messages even if it is absent.
    pub proto_zero: bool,
    pub items: Option<Box<Rules>>,
    /// The value may be a float, which only observed values may be.
    pub observed: bool,
    /// The field is required, although its type or default would let it be absent.
    pub required: bool,
    pub nullable: bool,
    pub preserve_unknown: bool,
    pub embedded: bool,
    pub keywords: Keywords,
    /// The description of a list's items or a map's values.
    pub doc: String,
}

/// The merge behaviour of a list.
#[derive(Default)]
pub(crate) enum List {
    #[default]
    Atomic,
    /// With the span of `set`.
    Set(Span),
    /// The keys of the items.
    Map(Vec<Ident>),
}

/// The strategic merge behaviour of a list.
pub(crate) struct Merge {
    pub key: Option<Ident>,
}

/// A default.
pub(crate) enum Literal {
    Null,
    Bool(bool),
    Int(i64),
    Float(f64),
    Text(String),
    Variant(syn::Path),
    /// A path of fields, by their names in Rust.
    Path(RustPath),
    List(Vec<Literal>),
    Map(Vec<(String, Literal)>),
}
