//! What is known of a kind's own subresources, those beside status, scale and finalize: their names, the documents that
//! they take and give, and the options in their query. Discovery and OpenAPI are made from it; what answers is elsewhere.
use std::sync::Arc;

use super::Kind;
use crate::{meta::GroupVersion, schema::Schema};

/// Names that a kind declares in other ways, or that paths use.
pub const RESERVED: [&str; 3] = ["status", "scale", "finalize"];

/// A subresource of a kind's own.
#[derive(Clone)]
pub struct Subresource {
    /// The name: the last segment of its path.
    pub name: &'static str,
    /// The group and version of its documents.
    pub group_version: GroupVersion,
    /// The kind of its documents, as discovery names it; the parent's own where it has none.
    pub kind: String,
    /// What can be asked of it, a method each.
    pub operations: Vec<Operation>,
    /// Options in the query beside those that every request has.
    pub options: Option<Arc<Schema>>,
}

/// One method of a subresource.
#[derive(Clone)]
pub struct Operation {
    /// The HTTP method.
    pub method: Method,
    /// A connection rather than a document: `connect` is its action.
    pub connects: bool,
    /// What its body is.
    pub body: Option<Arc<Kind>>,
    /// What it answers.
    pub answer: Answer,
}

/// The HTTP methods of subresources.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// Reads.
    Get,
    /// Acts, or connects.
    Post,
    /// Writes.
    Put,
    /// Changes.
    Patch,
}

/// What an operation answers.
#[derive(Clone)]
pub enum Answer {
    /// A document of this kind.
    Document(Arc<Kind>),
    /// A Status.
    Status,
    /// Text, as it comes.
    Text,
}

impl Method {
    /// The verb that authorizers and discovery know the method by.
    pub const fn verb(self) -> &'static str {
        match self {
            Self::Get => "get",
            Self::Post => "create",
            Self::Put => "update",
            Self::Patch => "patch",
        }
    }

    /// The method as OpenAPI writes it.
    pub const fn lower_case(self) -> &'static str {
        match self {
            Self::Get => "get",
            Self::Post => "post",
            Self::Put => "put",
            Self::Patch => "patch",
        }
    }
}

impl Subresource {
    /// The verbs, as discovery orders them.
    pub fn verbs(&self) -> Vec<&'static str> {
        let mut verbs: Vec<&str> = self.operations.iter().map(|operation| operation.method.verb()).collect();
        verbs.sort_unstable();
        verbs
    }

    /// The kinds of its documents.
    pub fn kinds(&self) -> impl Iterator<Item = &Arc<Kind>> {
        self.operations.iter().flat_map(|operation| {
            let answer = match &operation.answer {
                Answer::Document(kind) => Some(kind),
                Answer::Status | Answer::Text => None,
            };
            operation.body.iter().chain(answer)
        })
    }
}
