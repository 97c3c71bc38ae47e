//! Kinds that OpenAPI documents describe.
use std::collections::BTreeSet;

use serde::Serialize;

use super::builder::Builder;
use crate::{
    builtin, codec,
    kind::{Kind, openapi},
    schema::Document,
};

impl Builder {
    /// Serves the kinds that an OpenAPI v3 document describes: its text, as JSON or YAML, or the document as a value. Versions
    /// of a kind may be in several documents. See [`openapi`].
    ///
    /// If a document describes a built-in kind, or one that the program declares, that kind is served instead, which is
    /// logged. [`Builder::build`] returns the errors of the documents. Warnings are logged.
    pub fn openapi(mut self, document: impl Serialize) -> Self {
        match codec::from_typed(&document) {
            Ok(Document::String(text)) => self.documents.push(text.into_bytes()),
            Ok(document) => self.documents.push(document.to_string().into_bytes()),
            Err(error) => self.refused.push(format!("no OpenAPI document: {error}")),
        }
        self
    }

    /// Adds the kinds of the OpenAPI documents, except kinds that are declared already.
    pub(super) fn describe(&mut self) {
        let names: Vec<String> = (1..=self.documents.len()).map(|number| format!("document {number}")).collect();
        let sources = names.iter().zip(&self.documents).map(|(name, text)| openapi::Source { name, text });
        let described = match openapi::read(&sources.collect::<Vec<_>>()) {
            Ok(described) => described,
            Err(report) => return self.refused.push(report.to_string()),
        };
        described.warnings.0.iter().for_each(|warning| tracing::warn!("{warning}"));
        let builtins = if self.core.builtins { builtin::kinds() } else { Vec::new() };
        let known: BTreeSet<_> =
            builtins.iter().chain(&self.entrance.samples.kinds).map(Kind::group_resource).collect();
        for resource in described.resources {
            let name = resource.definition.shared.group_resource();
            if known.contains(&name) {
                tracing::warn!(
                    "{name} of the OpenAPI documents is not served: it is built in, or declared by the program"
                );
            } else {
                self.entrance.samples.kinds.extend(resource.kinds());
            }
        }
    }
}
