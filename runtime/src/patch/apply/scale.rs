//! Managed fields between an object and its Scale, where the number of replicas has another path.
//!
//! A write of the scale runs on the Scale's own document, with [`to_scale`]'s entries in it as the live ones; what comes
//! of them goes back through [`to_parent`].
use crate::schema::Document;

/// The entries of an object that own its replicas, in Scale's terms.
pub fn to_scale(_parent: &Document, _replicas: &[String]) -> Document {
    Document::Null
}

/// An object's entries after its Scale was written. `scale` are the Scale's entries; `api_version` is the object's.
pub fn to_parent(_parent: &Document, _scale: &Document, _api_version: &str, _replicas: &[String]) -> Document {
    Document::Null
}
