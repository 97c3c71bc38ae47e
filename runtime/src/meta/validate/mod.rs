//! Checks of metadata: names, labels, annotations, finalizers, owners, and what an update may not change.
//! Works on the document's `metadata`; a member of a wrong type counts as absent here (decoding has refused it).
use serde_json::Value;

use super::{FieldError, FieldPath};

/// Checks a name, or where the flag is set the prefix that a name is generated from; gives what is wrong with it.
pub type NameCheck = fn(&str, prefix: bool) -> Vec<String>;

/// A lower-case RFC 1123 subdomain of at most 253 characters.
pub fn subdomain(_name: &str, _prefix: bool) -> Vec<String> {
    todo!()
}

/// A lower-case RFC 1123 label of at most 63 characters.
pub fn label(_name: &str, _prefix: bool) -> Vec<String> {
    todo!()
}

/// Any name that is safe as a segment of a path.
pub fn path_segment(_name: &str, _prefix: bool) -> Vec<String> {
    todo!()
}

/// Checks the metadata of an object (`path` is usually `metadata`).
pub fn object_meta(_metadata: &Value, _namespaced: bool, _names: NameCheck, _path: &FieldPath) -> Vec<FieldError> {
    todo!()
}

/// Checks what an update may not change in metadata.
pub fn object_meta_update(_new: &Value, _old: &Value, _path: &FieldPath) -> Vec<FieldError> {
    todo!()
}
