//! Documents made of kinds: JSON Schema for editors, reference documentation, roles, and what a cluster in front needs. Pure functions of definitions; the command
//! `kindsmith export` writes what they return.

pub mod apiservice;
pub mod docs;
pub mod json_schema;
mod node;
pub mod rbac;

/// A file to be written.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ExportFile {
    /// Its path below the folder of the export.
    pub path: String,
    /// Its content.
    pub text: String,
}

impl ExportFile {
    fn new(path: impl Into<String>, text: impl Into<String>) -> Self {
        Self { path: path.into(), text: text.into() }
    }
}

/// A group as the name of a file or a heading; the core group has none.
fn group_name(group: &str) -> &str {
    if group.is_empty() { "core" } else { group }
}

/// The text of `apiVersion`.
fn api_version(group: &str, version: &str) -> String {
    if group.is_empty() { version.to_owned() } else { format!("{group}/{version}") }
}
