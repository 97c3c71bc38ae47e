//! The tables themselves: plain constants, no behaviour beyond their defaults.
use crate::schema::{Scalar, Schema, model::Type};

/// A nested type, referred to by the function that returns its table.
pub type TypeRef = fn() -> &'static TypeDecl;

/// A type as declared.
#[derive(Clone, Copy, Debug)]
pub struct TypeDecl {
    /// The Rust name, which OpenAPI documents use; empty for unnamed types, such as lists.
    pub name: &'static str,
    /// The module of the type, which identifies it together with the name.
    pub module: &'static str,
    /// The doc comment.
    pub doc: &'static str,
    /// The shape of values.
    pub shape: Shape,
    /// Fields other than `Option`s are written to Protobuf even if they are absent, like Go's non-pointer fields.
    /// Always true for built-in kinds.
    pub proto_zeros: bool,
    /// Further keywords, as in JSON.
    pub keywords: &'static [(&'static str, Literal)],
    /// It is declared elsewhere, in a form that may contradict itself.
    pub published: bool,
}

/// The shape of a type's values on the wire.
#[derive(Clone, Copy, Debug)]
pub enum Shape {
    /// A scalar of a schema type and format, which may be a type of its own in Go.
    Scalar(Type, &'static str, Option<Scalar>),
    /// An object with these fields.
    Struct(&'static [FieldDecl]),
    /// One of these strings.
    Enum(&'static [VariantDecl]),
    /// An object with exactly one of these members set.
    Union(&'static [FieldDecl]),
    /// The other type, or absent.
    Optional(TypeRef),
    /// The other type, boxed.
    Boxed(TypeRef),
    /// A list.
    List(TypeRef),
    /// A map from text.
    Map(TypeRef),
    /// Any JSON.
    Any,
    /// What this function reads from a description of the type by another crate.
    Generated(Generate),
}

/// Makes the schema of a type at run time.
pub type Generate = fn() -> Result<Schema, String>;

/// A field of a struct, or a member of a union.
#[derive(Clone, Copy, Debug)]
pub struct FieldDecl {
    /// The Rust name, by which paths refer to the field.
    pub rust: &'static str,
    /// The name on the wire.
    pub wire: &'static str,
    /// The doc comment.
    pub doc: &'static str,
    /// The type.
    pub ty: TypeRef,
    /// The type accepts an absent field (`#[serde(default)]`).
    pub defaulted: bool,
    /// Declared rules.
    pub rules: &'static Rules,
}

/// A value of an enum.
#[derive(Clone, Copy, Debug)]
pub struct VariantDecl {
    /// The name in Rust.
    pub rust: &'static str,
    /// The text on the wire.
    pub wire: &'static str,
    /// The doc comment.
    pub doc: &'static str,
}

/// A value written in an attribute.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Literal {
    /// `null`, inside of other values.
    Null,
    /// `true`, `false`.
    Bool(bool),
    /// An integer.
    Int(i64),
    /// Another number.
    Float(f64),
    /// Text.
    Text(&'static str),
    /// A variant of an enum, by its Rust name.
    Variant(&'static str),
    /// A path of fields, by their Rust names.
    Path(&'static [&'static str]),
    /// `[…]`.
    List(&'static [Literal]),
    /// `{…}`.
    Map(&'static [(&'static str, Literal)]),
}

/// How a list merges.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListDecl {
    /// Replaced as a whole.
    Atomic,
    /// Unique scalars.
    Set,
    /// Objects identified by these fields, by their Rust names.
    Map(&'static [&'static str]),
}

/// How strategic merge patch treats a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MergeDecl {
    /// Items are merged.
    pub merge: bool,
    /// Keys that the patch does not contain are removed.
    pub retain_keys: bool,
    /// The key of items, by its Rust name.
    pub key: Option<&'static str>,
}

/// The declared rules of a value beyond its type.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "they are the flags of the attribute")]
pub struct Rules {
    /// The default.
    pub default: Option<Literal>,
    /// A format other than the type's; empty for none.
    pub format: Option<&'static str>,
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
    /// Shortest text.
    pub min_length: Option<u64>,
    /// Longest text.
    pub max_length: Option<u64>,
    /// The pattern of text; empty for none.
    pub pattern: &'static str,
    /// The allowed strings; empty for all.
    pub enumeration: &'static [&'static str],
    /// Fewest items.
    pub min_items: Option<u64>,
    /// Most items.
    pub max_items: Option<u64>,
    /// Fewest entries.
    pub min_properties: Option<u64>,
    /// Most entries.
    pub max_properties: Option<u64>,
    /// How the list merges.
    pub list: ListDecl,
    /// The map or struct is replaced as a whole.
    pub map_atomic: bool,
    /// How strategic merge patch treats the value.
    pub merge: MergeDecl,
    /// The value cannot change once set.
    pub immutable: bool,
    /// The number in the Protobuf message; 0 where none is declared.
    pub proto: u32,
    /// The field is written to Protobuf even if it is absent, although it is an `Option`.
    pub proto_zero: bool,
    /// The value is only observed and may be a float, which a spec must not contain.
    pub observed: bool,
    /// The field is required, although its type or default would let it be absent.
    pub required: bool,
    /// `null` is a value.
    pub nullable: bool,
    /// Unknown fields are kept.
    pub preserve_unknown: bool,
    /// The value is a whole object of any kind, with its own type meta.
    pub embedded: bool,
    /// Further keywords, as in JSON.
    pub keywords: &'static [(&'static str, Literal)],
    /// The description of this value; empty for that of its type.
    pub doc: &'static str,
    /// Rules of a list's items or a map's values.
    pub items: Option<&'static Rules>,
}

impl Rules {
    /// No rules.
    pub const NONE: Rules = Rules {
        default: None,
        format: None,
        minimum: None,
        exclusive_minimum: false,
        maximum: None,
        exclusive_maximum: false,
        multiple_of: None,
        min_length: None,
        max_length: None,
        pattern: "",
        enumeration: &[],
        min_items: None,
        max_items: None,
        min_properties: None,
        max_properties: None,
        list: ListDecl::Atomic,
        map_atomic: false,
        merge: MergeDecl { merge: false, retain_keys: false, key: None },
        immutable: false,
        proto: 0,
        proto_zero: false,
        observed: false,
        required: false,
        nullable: false,
        preserve_unknown: false,
        embedded: false,
        keywords: &[],
        doc: "",
        items: None,
    };
}

impl TypeDecl {
    /// A type without a name of its own.
    pub const fn unnamed(shape: Shape) -> Self {
        Self { name: "", module: "", doc: "", shape, proto_zeros: false, keywords: &[], published: false }
    }

    /// The type inside `Option` and `Box`.
    pub fn inner(&'static self) -> &'static TypeDecl {
        match self.shape {
            Shape::Optional(ty) | Shape::Boxed(ty) => ty().inner(),
            _ => self,
        }
    }

    /// True if a value may be omitted.
    pub fn optional(&self) -> bool {
        match self.shape {
            Shape::Optional(_) => true,
            Shape::Boxed(ty) => ty().optional(),
            _ => false,
        }
    }

    /// The fields of a struct or the members of a union; none for other types.
    pub fn fields(&self) -> &'static [FieldDecl] {
        match self.shape {
            Shape::Struct(fields) | Shape::Union(fields) => fields,
            _ => &[],
        }
    }

    /// The field of a Rust name.
    pub fn field(&self, rust: &str) -> Option<&'static FieldDecl> {
        self.fields().iter().find(|field| field.rust == rust)
    }
}

impl FieldDecl {
    /// True if an object without the field is refused.
    pub fn required(&self) -> bool {
        self.rules.required || !self.defaulted && self.rules.default.is_none() && !(self.ty)().optional()
    }
}
