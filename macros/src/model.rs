//! A declaration that has passed every rule: all that the expansion may know. Only [`crate::check`] makes one.
use proc_macro2::Span;
use syn::{Ident, LitStr, Type};

/// A kind.
#[expect(clippy::struct_excessive_bools, clippy::struct_field_names, reason = "they are the flags of the attribute")]
pub struct Kind {
    /// The root type.
    pub root: Container,
    pub group: String,
    pub version: String,
    pub kind: String,
    pub plural: String,
    pub singular: String,
    pub short_names: Vec<String>,
    pub categories: Vec<String>,
    pub cluster: bool,
    pub builtin: bool,
    pub policy: Option<syn::Path>,
    pub generation: bool,
    pub names: Names,
    pub status: bool,
    pub scale: Option<Scale>,
    pub columns: Vec<Column>,
    pub selectable: Vec<Dotted>,
    pub update_without_version: bool,
    pub create_on_update: bool,
    pub default: Option<syn::Path>,
    pub validate: Option<syn::Path>,
    pub generate_name: Option<syn::Path>,
    pub on_delete: Option<syn::Path>,
    pub holds_deletion: Option<syn::Path>,
    pub grace: Option<Grace>,
    /// Objects are stored, rather than only asked about.
    pub stored: bool,
    pub served: bool,
    /// The warning; empty for the usual one.
    pub deprecated: Option<String>,
    pub storage: Option<Storage>,
}

/// The version that is stored, where it is another one. What is the same for all versions is then that version's.
pub struct Storage {
    /// Its type.
    pub root: syn::Path,
    pub conversion: Conversion,
}

/// How objects of a version become those of the one that is stored.
pub enum Conversion {
    None,
    /// Written in Rust; with where that is said.
    From(Span),
    Changes(Vec<Change>),
}

/// A change of a field: with the path here, the path in the stored version, or both.
pub enum Change {
    Renamed(Dotted, Dotted),
    Added(Dotted),
    Removed(Dotted),
}

/// How names of objects are checked.
#[derive(Clone, Copy)]
pub enum Names {
    Subdomain,
    Label,
    PathSegment,
}

/// A path of Rust fields.
pub type Dotted = Vec<Ident>;

/// How long a deleted object is given to end.
pub enum Grace {
    Seconds(u32),
    Path(Dotted),
}

/// The scale subresource.
pub struct Scale {
    pub replicas: Dotted,
    pub status: Dotted,
    pub selector: Option<Dotted>,
}

/// A column.
pub struct Column {
    pub name: String,
    pub priority: i32,
    pub description: String,
    pub format: String,
    pub cell: Cell,
}

/// Where cells come from.
pub enum Cell {
    Path(Dotted),
    Function(syn::Path),
}

/// A struct, an enumeration or a union.
pub struct Container {
    pub ident: Ident,
    pub doc: String,
    pub shape: Shape,
    /// Fields that are no `Option` are in messages even when they are absent.
    pub proto_zeros: bool,
}

/// What a type is made of.
pub enum Shape {
    Struct(Vec<Field>),
    Enum(Vec<Value>),
    Union(Vec<Member>),
}

/// A value of an enumeration.
pub struct Value {
    pub rust: String,
    pub wire: String,
    pub doc: String,
}

/// A member of a union.
pub struct Member {
    pub rust: String,
    pub wire: String,
    pub doc: String,
    pub rules: Rules,
    pub content: Content,
}

/// What a member holds.
pub enum Content {
    Type(Box<Type>),
    Struct(Vec<Field>),
}

/// A field.
pub struct Field {
    pub ident: Ident,
    pub rust: String,
    pub wire: String,
    pub doc: String,
    pub ty: Type,
    pub defaulted: bool,
    pub skip_serializing_if: Option<LitStr>,
    pub rules: Rules,
}

/// The rules of a value.
#[derive(Default)]
#[expect(clippy::struct_excessive_bools, reason = "they are the flags of the attribute")]
pub struct Rules {
    pub default: Option<(Span, Literal)>,
    pub format: String,
    pub minimum: Option<f64>,
    pub exclusive_minimum: bool,
    pub maximum: Option<f64>,
    pub exclusive_maximum: bool,
    pub multiple_of: Option<f64>,
    pub min_length: Option<u64>,
    pub max_length: Option<u64>,
    pub pattern: String,
    pub min_items: Option<u64>,
    pub max_items: Option<u64>,
    pub min_properties: Option<u64>,
    pub max_properties: Option<u64>,
    pub list: List,
    pub map_atomic: bool,
    pub merge: Option<Merge>,
    pub retain_keys: bool,
    pub immutable: bool,
    pub proto: u32,
    /// The field is in messages even when it is absent.
    pub proto_zero: bool,
    pub items: Option<Box<Rules>>,
    /// Where bounds and the pattern stand, by their names.
    pub spans: Vec<(&'static str, Span)>,
    /// The value may be a float, which only what is observed may be.
    pub observed: bool,
}

/// How a list merges.
#[derive(Default)]
pub enum List {
    #[default]
    Atomic,
    /// With where `set` stands.
    Set(Span),
    /// Keys of items.
    Map(Vec<Ident>),
}

/// How strategic merge patch merges a list.
pub struct Merge {
    pub key: Option<Ident>,
}

/// A default.
pub enum Literal {
    Bool(bool),
    Int(i64),
    Float(f64),
    Text(String),
    Variant(syn::Path),
    List(Vec<Literal>),
    Map(Vec<(String, Literal)>),
}
