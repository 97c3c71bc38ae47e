//! JSON Schemas of types, as the crate `schemars` writes them, as structural schemas.
//!
//! JSON Schema describes a value by any combination of other schemas; a structural schema says the type of each value once, and
//! the branches of `anyOf` and `oneOf` only validate. So the branches of an enum are joined first: types, fields, items and
//! entries move out of the branches, and the branches keep what tells them apart. The result is read like the schemas of any
//! OpenAPI document. What cannot be said is an error with its location in the JSON Schema; nothing is dropped that validates.
use serde_json::{Map, json};

use super::{
    components::{Components, Pool},
    findings::{Finding, Findings, Location, SCHEMAS_POINTER},
    messages::Messages,
};
use crate::schema::{Document, Schema};

mod join;
mod merge;
mod node;
mod scalars;
#[cfg(test)]
mod tests;

use node::Rewrite;

/// The structural schema of a JSON Schema, whose references lead to the definitions by `#/$defs/<name>`.
///
/// # Errors
/// Everything that a structural schema cannot say: the JSON pointer, what was found, and what is supported.
pub(crate) fn read(root: &Document, definitions: &Map<String, Document>) -> Result<Schema, Vec<String>> {
    let mut rewrite = Rewrite::new(definitions);
    let root = rewrite.node(root, &Location::known(0, "#"));
    let definitions = rewrite.definitions();
    let mut findings = rewrite.findings;
    if findings.errors.is_empty() {
        let document = json!({"components": {"schemas": definitions}});
        let mut pool = Pool::with(Messages::default());
        let mut components = Components::of(0, &document, &pool, &mut findings);
        let root = Document::from(root);
        let schema = components.at(&root, &Location::known(0, "#"), &mut pool, &mut findings);
        if findings.errors.is_empty() {
            return Ok(Schema::clone(&schema));
        }
    }
    Err(texts(&findings))
}

/// The errors, each once: a definition may be read at several places.
fn texts(findings: &Findings) -> Vec<String> {
    // Definitions are schemas of the document that is read, and `$defs` of the JSON Schema that users see.
    let text = |Finding { pointer, message, .. }: &Finding| match pointer.strip_prefix(SCHEMAS_POINTER) {
        Some(rest) => format!("#/$defs{rest}: {message}"),
        None => format!("{pointer}: {message}"),
    };
    let mut texts: Vec<_> = findings.errors.iter().map(text).collect();
    texts.dedup();
    texts
}
