//! Rust paths over tables: `spec.page_count` becomes `spec.pageCount` and the declaration of its target. The compiler
//! has checked that the fields exist.
use std::fmt;

use super::Shape;
use super::TypeDecl;
use crate::schema::model::Type;

/// The target of a path.
#[derive(Clone, Debug)]
pub struct Leaf {
    /// The wire names of the path.
    pub wire: Vec<String>,
    /// Its type, inside `Option` and `Box`.
    pub ty: &'static TypeDecl,
}

/// A path names a missing field, which the derive's checks rule out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathError {
    /// The path, as declared.
    pub path: String,
    /// The missing field.
    pub missing: String,
}

impl fmt::Display for PathError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the path `{}` names `{}`, which is not declared", self.path, self.missing)
    }
}

/// Follows a path of Rust names from a type.
///
/// # Errors
/// If the type lacks a field of the path.
pub fn resolve(root: &'static TypeDecl, path: &[&str]) -> Result<Leaf, PathError> {
    let mut leaf = Leaf { wire: Vec::new(), ty: root.inner() };
    for name in path {
        let missing = || PathError { path: path.join("."), missing: (*name).to_owned() };
        let field = leaf.ty.field(name).ok_or_else(missing)?;
        leaf.wire.push(field.wire.to_owned());
        leaf.ty = (field.ty)().inner();
    }
    Ok(leaf)
}

/// The wire path of the first field within a type that is declared as observed.
pub fn observed_within(ty: &'static TypeDecl) -> Option<String> {
    let ty = ty.inner();
    if let Shape::List(inner) | Shape::Map(inner) = ty.shape {
        return observed_within(inner());
    }
    ty.fields().iter().find_map(|field| {
        if field.rules.observed {
            return Some(field.wire.to_owned());
        }
        observed_within((field.ty)()).map(|rest| format!("{}.{rest}", field.wire))
    })
}

impl Leaf {
    /// The type of a column that shows the value.
    pub fn column_type(&self) -> &'static str {
        match self.ty.shape {
            Shape::Scalar(Type::Integer, _) => "integer",
            Shape::Scalar(Type::Number, _) => "number",
            Shape::Scalar(Type::Boolean, _) => "boolean",
            Shape::Scalar(Type::String, "date-time" | "micro-time") => "date",
            _ => "string",
        }
    }
}
