//! Types of expressions.
use std::{
    fmt,
    sync::{Arc, LazyLock},
};

/// The type of an expression.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Type {
    /// Known at run time only (`dyn`).
    Dyn,
    /// Any message (`google.protobuf.Any`).
    Any,
    /// The type of what has an error already. It fits everywhere, so that one error does not cause others.
    Error,
    /// `null`.
    Null,
    /// `bool`.
    Bool,
    /// `int`, 64 bits.
    Int,
    /// `uint`, 64 bits.
    Uint,
    /// `double`.
    Double,
    /// `string`, of code points.
    String,
    /// `bytes`.
    Bytes,
    /// `google.protobuf.Duration`.
    Duration,
    /// `google.protobuf.Timestamp`.
    Timestamp,
    /// `list(T)`.
    List(Arc<Type>),
    /// `map(K, V)`.
    Map(Arc<Type>, Arc<Type>),
    /// The type of a type: `type(T)`, or `type` where it is open.
    Type(Option<Arc<Type>>),
    /// A type parameter of a function.
    Parameter(Arc<str>),
    /// A type with a name and parameters, which functions alone know: `optional_type(T)`, `net.IP`.
    Opaque(Arc<str>, Arc<[Type]>),
    /// A type with fields, which a [`TypeProvider`](crate::TypeProvider) knows.
    Struct(Arc<str>),
}

impl Type {
    /// The name of the type of optional values.
    pub const OPTIONAL: &str = "optional_type";

    /// `list(T)`.
    pub fn list(element: Self) -> Self {
        Self::List(Arc::new(element))
    }

    /// `map(K, V)`.
    pub fn map(key: Self, value: Self) -> Self {
        Self::Map(Arc::new(key), Arc::new(value))
    }

    /// `optional_type(T)`.
    pub fn optional(value: Self) -> Self {
        static NAME: LazyLock<Arc<str>> = LazyLock::new(|| Type::OPTIONAL.into());
        Self::Opaque(Arc::clone(&NAME), [value].into())
    }

    /// The type of values of a type.
    pub fn of_type(value: Self) -> Self {
        Self::Type(Some(Arc::new(value)))
    }

    /// A type parameter.
    pub fn parameter(name: &str) -> Self {
        Self::Parameter(name.into())
    }

    /// An opaque type without parameters.
    pub fn opaque(name: &str) -> Self {
        Self::Opaque(name.into(), [].into())
    }

    /// The name without parameters, as values have it at run time: `google.protobuf.Duration`, `list`.
    pub fn name(&self) -> &str {
        match self {
            Self::Dyn => "dyn",
            Self::Any => "google.protobuf.Any",
            Self::Error => "error",
            Self::Null => "null_type",
            Self::Bool => "bool",
            Self::Int => "int",
            Self::Uint => "uint",
            Self::Double => "double",
            Self::String => "string",
            Self::Bytes => "bytes",
            Self::Duration => "google.protobuf.Duration",
            Self::Timestamp => "google.protobuf.Timestamp",
            Self::List(_) => "list",
            Self::Map(..) => "map",
            Self::Type(_) => "type",
            Self::Parameter(name) | Self::Opaque(name, _) | Self::Struct(name) => name,
        }
    }

    /// The types inside: of elements, keys and values, and the parameters of opaque types.
    pub(crate) fn parameters(&self) -> impl Iterator<Item = &Self> {
        let (first, second, others): (Option<&Arc<Self>>, Option<&Arc<Self>>, &[Self]) = match self {
            Self::List(inner) | Self::Type(Some(inner)) => (Some(inner), None, &[]),
            Self::Map(key, value) => (Some(key), Some(value), &[]),
            Self::Opaque(_, parameters) => (None, None, parameters),
            _ => (None, None, &[]),
        };
        first.into_iter().chain(second).map(|kind| &**kind).chain(others)
    }

    /// The type of the value inside an optional one.
    pub fn unwrapped(&self) -> Option<&Self> {
        match self {
            Self::Opaque(name, parameters) if **name == *Self::OPTIONAL => parameters.first(),
            _ => None,
        }
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Any => f.write_str("any"),
            Self::Error => f.write_str("!error!"),
            Self::Null => f.write_str("null"),
            Self::Duration => f.write_str("duration"),
            Self::Timestamp => f.write_str("timestamp"),
            Self::List(element) => write!(f, "list({element})"),
            Self::Map(key, value) => write!(f, "map({key}, {value})"),
            Self::Type(Some(kind)) => write!(f, "type({kind})"),
            Self::Opaque(name, parameters) if !parameters.is_empty() => {
                write!(f, "{name}({})", Parameters(parameters.iter()))
            }
            simple => f.write_str(simple.name()),
        }
    }
}

/// Types side by side.
pub(crate) struct Parameters<I>(pub(crate) I);

impl<'t, I: Iterator<Item = &'t Type> + Clone> fmt::Display for Parameters<I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.clone().enumerate().try_for_each(|(index, kind)| {
            let separator = if index == 0 { "" } else { ", " };
            write!(f, "{separator}{kind}")
        })
    }
}
