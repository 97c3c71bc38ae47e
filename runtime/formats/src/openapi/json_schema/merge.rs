//! Two schemas that both hold, as one.
use serde_json::json;

use super::node::{Node, Rewrite};
use crate::{
    openapi::{
        findings::{Location, shown},
        validations::VALIDATING,
    },
    schema::Document,
};

/// Keywords that describe. The first schema keeps its own.
const ANNOTATING: [&str; 6] = ["default", "description", "example", "examples", "externalDocs", "title"];

impl Rewrite<'_> {
    /// Adds a schema to another one. What both say differently holds as a branch of `allOf` if it validates.
    pub(super) fn merge(&mut self, node: &mut Node, other: Node, location: &Location<'_>) {
        for (name, value) in other {
            let Some(own) = node.get_mut(&name) else {
                node.insert(name, value);
                continue;
            };
            if *own == value || ANNOTATING.contains(&name.as_str()) {
                continue;
            }
            match (name.as_str(), own, value) {
                ("required", Document::Array(own), Document::Array(others)) => {
                    let new: Vec<_> = others.into_iter().filter(|name| !own.contains(name)).collect();
                    own.extend(new);
                }
                ("allOf", Document::Array(own), Document::Array(others)) => own.extend(others),
                ("properties", Document::Object(own), Document::Object(others)) => {
                    let mut properties = std::mem::take(own);
                    self.merge_properties(&mut properties, others, &location.key("properties"));
                    node.insert(name, properties.into());
                }
                // A value that may be null in one of them only may not.
                ("nullable", ..) => {
                    node.remove("nullable");
                }
                (keyword, _, value) if VALIDATING.contains(&keyword) => all_of(node, json!({keyword: value})),
                (_, own, value) => {
                    let message = format!("found {name} {} and {} for one value", shown(own), shown(&value));
                    self.findings.error(&location.key(&name), message);
                }
            }
        }
    }

    fn merge_properties(&mut self, properties: &mut Node, others: Node, location: &Location<'_>) {
        for (name, other) in others {
            match (properties.remove(&name), other) {
                (Some(Document::Object(own)), Document::Object(other)) if own != other => {
                    let location = location.key(&name);
                    let (mut own, other) = (self.content(own, &location), self.content(other, &location));
                    self.merge(&mut own, other, &location);
                    properties.insert(name, own.into());
                }
                (_, other) => {
                    properties.insert(name, other);
                }
            }
        }
    }
}

/// Adds a branch that only validates.
pub(super) fn all_of(node: &mut Node, branch: Document) {
    if let Document::Array(branches) = node.entry("allOf").or_insert_with(|| json!([])) {
        branches.push(branch);
    }
}
