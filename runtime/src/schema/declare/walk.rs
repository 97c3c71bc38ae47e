//! Rust paths over tables: `spec.page_count` becomes `spec.pageCount` and the declaration of what lies there.
//! The compiler has checked that the fields exist; here their wire names are found.
use std::fmt;

use super::Shape;
use super::TypeDecl;
use crate::schema::model::Type;

/// What a path leads to.
#[derive(Clone, Debug)]
pub struct Leaf {
    /// The wire names on the way.
    pub wire: Vec<String>,
    /// The type there, inside `Option` and `Box`.
    pub ty: &'static TypeDecl,
}

/// A path names a field that the tables do not have. The derive's checks leave none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathError {
    /// The path, as declared.
    pub path: String,
    /// The field that is not there.
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
/// A name that the type there does not have.
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

/// The first field within a type that is declared as only observed, by its wire names.
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
