//! The identity of an entry of `metadata.managedFields`: a field manager, and how it became the owner of fields.
use std::fmt::Write;

use serde_json::json;

use super::Writer;
use crate::meta::go;

/// How a manager became the owner of fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Operation {
    /// By an apply.
    Apply,
    /// By another write that changed them.
    Update,
}

impl Operation {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Apply => "Apply",
            Self::Update => "Update",
        }
    }
}

/// The identity of an entry. An applier is the same in all versions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Identity<'a> {
    pub(super) manager: &'a str,
    pub(super) operation: Operation,
    /// Empty for an applier.
    pub(super) api_version: &'a str,
    pub(super) subresource: &'a str,
}

impl<'a> Identity<'a> {
    /// The identity of a writer.
    pub(super) fn of(writer: &Writer<'a>, operation: Operation) -> Self {
        let manager = if writer.manager.is_empty() { "unknown" } else { writer.manager };
        Self::new(manager, operation, writer.api_version, writer.subresource)
    }

    pub(super) fn new(manager: &'a str, operation: Operation, api_version: &'a str, subresource: &'a str) -> Self {
        let api_version = if operation == Operation::Apply { "" } else { api_version };
        Self { manager, operation, api_version, subresource }
    }

    /// True for the same manager with the same operation, in any version.
    pub(super) fn is_same_manager(&self, other: &Identity<'_>) -> bool {
        Self { api_version: "", ..*self } == Identity { api_version: "", ..*other }
    }

    /// The manager as messages print it: `"patcher" with subresource "status" using v1`.
    pub(super) fn print(&self) -> String {
        let mut text = go::quoted(self.manager);
        if !self.subresource.is_empty() {
            text.push_str(" with subresource ");
            text.push_str(&go::quoted(self.subresource));
        }
        if self.operation == Operation::Update {
            text.push_str(" using ");
            text.push_str(self.api_version);
        }
        text
    }

    /// The sort key of managers in kube-apiserver's messages.
    pub(super) fn sort_key(&self) -> String {
        let mut key = String::from("{");
        let members = [
            ("manager", self.manager),
            ("operation", self.operation.name()),
            ("apiVersion", self.api_version),
            ("subresource", self.subresource),
        ];
        for (name, value) in members.iter().filter(|(_, value)| !value.is_empty()) {
            let separator = if key.len() > 1 { "," } else { "" };
            write!(key, "{separator}\"{name}\":{}", json!(value)).expect("writing to a String cannot fail");
        }
        key
    }
}
