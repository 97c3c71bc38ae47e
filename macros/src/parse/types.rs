//! Classifies a field's type by its tokens. Types under another name (aliases and the user's own types) are `Other`;
//! the compiler checks those through traits.
use proc_macro2::Span;
use syn::{GenericArgument, PathArguments, Type, spanned::Spanned};

/// The class of a type inside `Option` and `Box`.
#[derive(Clone, Copy)]
pub(crate) enum Look<'t> {
    /// `bool`.
    Bool,
    /// An integer type with its smallest and largest value.
    Int(i64, i64),
    /// `f64`.
    Float,
    /// `String`.
    Text,
    /// A `Vec` of this type.
    List(&'t Type),
    /// A map with values of this type.
    Map(&'t Type),
    /// Anything else.
    Other,
}

/// A type and its wrappers.
pub(crate) struct WrappedType<'t> {
    /// True if it is inside `Option`.
    pub optional: bool,
    /// The type inside `Option` and `Box`.
    pub inner: &'t Type,
    /// Its class.
    pub look: Look<'t>,
}

/// Classifies a type.
pub(crate) fn look(ty: &Type) -> WrappedType<'_> {
    let Some((name, arguments)) = last_segment(ty) else {
        return WrappedType { optional: false, inner: ty, look: Look::Other };
    };
    let look = match (name.as_str(), arguments.as_slice()) {
        ("Option", [inner]) => return WrappedType { optional: true, ..self::look(inner) },
        ("Box", [inner]) => return self::look(inner),
        ("bool", []) => Look::Bool,
        ("i32", []) => Look::Int(i32::MIN.into(), i32::MAX.into()),
        ("i64", []) => Look::Int(i64::MIN, i64::MAX),
        ("f64", []) => Look::Float,
        ("String", []) => Look::Text,
        ("Vec", [item]) => Look::List(item),
        ("BTreeMap" | "HashMap", [_, value]) => Look::Map(value),
        _ => Look::Other,
    };
    WrappedType { optional: false, inner: ty, look }
}

/// The span for errors about a type: its last path segment.
pub(crate) fn span(ty: &Type) -> Span {
    match ty {
        Type::Path(path) => path.path.segments.last().map_or_else(|| ty.span(), |segment| segment.ident.span()),
        _ => ty.span(),
    }
}

/// The last segment of a path type, and its type arguments.
pub(crate) fn last_segment(ty: &Type) -> Option<(String, Vec<&Type>)> {
    let Type::Path(path) = ty else { return None };
    let segment = path.path.segments.last()?;
    let arguments = match &segment.arguments {
        PathArguments::AngleBracketed(list) => {
            list.args.iter().filter_map(|a| if let GenericArgument::Type(ty) = a { Some(ty) } else { None }).collect()
        }
        _ => Vec::new(),
    };
    Some((segment.ident.to_string(), arguments))
}

impl Look<'_> {
    /// The name of the class in errors.
    pub(crate) fn called(self) -> &'static str {
        match self {
            Self::Bool => "a boolean",
            Self::Int(..) => "an integer",
            Self::Float => "a number",
            Self::Text => "text",
            Self::List(_) => "a list",
            Self::Map(_) => "a map",
            Self::Other => "another type",
        }
    }
}
