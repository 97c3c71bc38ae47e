//! Schemas as OpenAPI documents show them.
use std::collections::BTreeMap;

use super::{Document, Schema};

/// The version of the OpenAPI document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Version {
    /// OpenAPI 2: `#/definitions/`; no `nullable`.
    V2,
    /// OpenAPI 3: `#/components/schemas/`.
    V3,
}

impl Version {
    /// A reference to a definition: `{"$ref": "#/components/schemas/<name>"}`.
    pub fn reference(self, name: &str) -> Document {
        let at = match self {
            Self::V2 => "#/definitions/",
            Self::V3 => "#/components/schemas/",
        };
        serde_json::json!({"$ref": format!("{at}{name}")})
    }
}

/// Renders a schema. Named types become definitions `<prefix>.<name>` in `out`, once each; what is returned is a
/// reference to the definition, or the schema itself where it has no name.
///
/// `apiVersion`, `kind` and `metadata` of a kind are the caller's to add to the kind's definition in `out`.
pub fn definitions(
    _prefix: &str,
    _schema: &Schema,
    _version: Version,
    _out: &mut BTreeMap<String, Document>,
) -> Document {
    todo!()
}
