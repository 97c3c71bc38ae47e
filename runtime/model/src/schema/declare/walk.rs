//! Rust paths over tables: `spec.page_count` becomes `spec.pageCount` and the declaration of its target. The compiler
//! has checked that the fields exist.
use std::fmt;

use super::{Shape, TypeDecl, generated};
use crate::schema::{Schema, model::Type};

/// The target of a path.
#[derive(Clone, Debug)]
pub struct Leaf {
    /// The wire names of the path.
    pub wire: Vec<String>,
    /// Its type, inside `Option` and `Box`. For a value inside a type that another crate describes, that type.
    pub ty: &'static TypeDecl,
    /// The schema of a value inside such a type.
    within: Option<Schema>,
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
    let mut leaf = Leaf { wire: Vec::new(), ty: root.inner(), within: None };
    for name in path {
        let missing = || PathError { path: path.join("."), missing: (*name).to_owned() };
        if let Shape::Generated(generate) = leaf.ty.shape {
            // Errors of the type are reported with its schema.
            let around = leaf.within.take().map_or_else(generate, Ok).map_err(|_| missing())?;
            let (wire, schema) = generated::wire_name(&around, name).ok_or_else(missing)?;
            leaf.wire.push(wire.to_owned());
            leaf.within = Some(schema.clone());
            continue;
        }
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
    /// The path as definitions write it: `.spec['a-b']`.
    pub(super) fn definition_path(&self) -> String {
        let is_plain = |name: &str| name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        let step = |name: &String| {
            if is_plain(name) {
                format!(".{name}")
            } else {
                format!("['{}']", name.replace('\\', "\\\\").replace('\'', "\\'"))
            }
        };
        self.wire.iter().map(step).collect()
    }

    /// The type of a column that shows the value.
    pub fn column_type(&self) -> &'static str {
        if let Some(schema) = &self.within {
            return generated::column_type(schema);
        }
        match self.ty.shape {
            Shape::Scalar(Type::Integer, ..) => "integer",
            Shape::Scalar(Type::Number, ..) => "number",
            Shape::Scalar(Type::Boolean, ..) => "boolean",
            Shape::Scalar(Type::String, "date-time", _) => "date",
            _ => "string",
        }
    }
}
