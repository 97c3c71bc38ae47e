//! Formats that kube-apiserver does not validate, of which it warns.
use std::collections::BTreeSet;

use super::fields::{Additional, Fields};
use crate::schema::format;

/// The warning about the format of a schema node; `None` if it has none, or one that is validated.
pub(super) fn warning(node: Fields<'_>) -> Option<String> {
    let given = node.text("format");
    (!given.is_empty() && !is_checked(given, node.text("type"))).then(|| format!("unrecognized format {given:?}"))
}

/// The warnings about the formats of a schema and of all schemas in it.
pub fn format_warnings(root: Fields<'_>) -> BTreeSet<String> {
    let mut warnings = BTreeSet::new();
    add(root, &mut warnings);
    warnings
}

fn add(node: Fields<'_>, warnings: &mut BTreeSet<String>) {
    warnings.extend(warning(node));
    let properties = node.entries("properties").map(|(_, property)| property);
    let values = match node.additional() {
        Some(Additional::Schema(values)) => Some(values),
        Some(Additional::Any(_)) | None => None,
    };
    let branches = node.branches().map(|(_, _, branch)| branch);
    for below in properties.chain(node.object("items")).chain(values).chain(branches) {
        add(below, warnings);
    }
}

/// Returns true if kube-apiserver validates this format for this type.
fn is_checked(given: &str, kind: &str) -> bool {
    match kind {
        "" | "string" => format::is_known(given),
        "integer" => matches!(given, "int32" | "int64"),
        "number" => matches!(given, "float" | "double"),
        _ => false,
    }
}
