//! A rule as documents say it, and the one rule that has a keyword of its own in Rust: `immutable`.
use std::sync::Arc;

use serde::Serialize;

use crate::schema::{Document, Schema};

/// A rule in CEL (`x-kubernetes-validations`).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Rule {
    /// The expression.
    pub rule: String,
    /// The error's detail; empty if the rule has none.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub message: String,
    /// The expression that makes the error's detail; empty if the rule has none.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub message_expression: String,
    /// The reason of the error, such as `FieldValueForbidden`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The field that the error is about, relative to the node; empty for the node itself.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub field_path: String,
    /// `oldSelf` is optional, and the rule also applies where there is no old value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub optional_old_self: Option<bool>,
}

impl Rule {
    /// The rule by which documents say that a value is immutable.
    pub fn unchanged() -> Self {
        let [rule, message] = ["self == oldSelf", "the value cannot change"].map(str::to_owned);
        Self { rule, message, ..Self::default() }
    }

    /// A rule of a document. Members of other types than a rule has count as absent.
    pub fn of(document: &Document) -> Self {
        let text = |name: &str| document.get(name).and_then(Document::as_str).map(str::to_owned);
        Self {
            rule: text("rule").unwrap_or_default(),
            message: text("message").unwrap_or_default(),
            message_expression: text("messageExpression").unwrap_or_default(),
            reason: text("reason"),
            field_path: text("fieldPath").unwrap_or_default(),
            optional_old_self: document.get("optionalOldSelf").and_then(Document::as_bool),
        }
    }
}

impl Schema {
    /// True if it has rules anywhere.
    pub fn has_rules(&self) -> bool {
        !self.rules.is_empty() || self.below().any(Self::has_rules)
    }

    /// The rules as documents say them: with that of a value that cannot change.
    pub fn published_rules(&self) -> Vec<Rule> {
        self.rules.iter().cloned().chain(self.immutable.then(Rule::unchanged)).collect()
    }

    /// The same with `immutable` in place of the rule that says so, for declarations in Rust.
    #[must_use]
    pub fn with_immutable(&self) -> Self {
        let (mut schema, unchanged) = (self.clone(), Rule::unchanged());
        schema.rules.retain(|rule| *rule != unchanged);
        schema.immutable |= schema.rules.len() < self.rules.len();
        let below = |node: &Arc<Self>| Arc::new(node.with_immutable());
        schema.properties = self.properties.iter().map(|(name, of)| (name.clone(), of.with_immutable())).collect();
        schema.additional = self.additional.as_ref().map(below);
        schema.items = self.items.as_ref().map(below);
        let all = |all: &Arc<Vec<Self>>| Arc::new(all.iter().map(Self::with_immutable).collect());
        schema.definitions = self.definitions.as_ref().map(all);
        schema
    }

    /// A whole object changes with its metadata and its status: there, the rule itself is evaluated.
    pub(crate) fn keep_root_changeable(&mut self) {
        if std::mem::take(&mut self.immutable) {
            self.rules.push(Rule::unchanged());
        }
    }
}
