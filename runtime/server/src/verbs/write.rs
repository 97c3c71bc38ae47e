//! A write in progress: what all of its steps need to know.
use std::sync::Arc;

use super::{Request, Verbs, waiting::Permits};
use crate::{
    kind::{Kind, Policy, convert::Answers},
    meta::{GroupVersion, Operation, options::WriteOptions},
    schema::{Decoder, Document, Schema},
};

/// The subresource of a handler that a document is for. The request is for its object.
pub struct Subject {
    pub subresource: Arc<str>,
    /// Create for a POST and for a PUT of a document that does not exist, otherwise Update.
    pub operation: Operation,
    /// The document that an update replaces, if the handler has shown it.
    pub old: Option<Document>,
}

/// The source of a document, which determines how its errors are reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Origin {
    Body,
    /// The result of a JSON patch or a merge patch.
    Patch,
    /// The result of a strategic merge patch.
    StrategicPatch,
    /// The result of an apply.
    Apply,
}

impl Origin {
    /// The code of kube-apiserver that decodes such documents into typed objects.
    pub(super) fn decoder(self) -> Decoder {
        if self == Self::StrategicPatch { Decoder::Converter } else { Decoder::Json }
    }
}

/// The expected shape of a document: an object of a kind, or its scale.
pub(super) struct Shape<'k> {
    /// The group and version.
    pub version: &'k GroupVersion,
    /// The kind's name.
    pub kind: &'k str,
    pub schema: &'k Schema,
    /// The policy, which determines how errors are reported.
    pub policy: &'static dyn Policy,
    /// True if objects in requests must say their type.
    pub needs_type_meta: bool,
}

impl<'k> From<&'k Kind> for Shape<'k> {
    fn from(kind: &'k Kind) -> Self {
        Self {
            version: &kind.group_version,
            kind: &kind.names().kind,
            schema: &kind.version.schema,
            policy: kind.policy(),
            needs_type_meta: kind.needs_type_meta(),
        }
    }
}

/// The decoded new state of an object, and warnings for the client.
pub(super) type NewState = (Document, Vec<String>);

/// A write in progress.
#[derive(Clone, Copy)]
pub(super) struct Write<'a> {
    pub api: &'a Verbs,
    pub request: &'a Request,
    /// What it holds that others wait for.
    pub permits: Permits<'a>,
    /// The kind of its documents: the requested one, or that of a subresource with documents of its own.
    pub kind: &'a Kind,
    pub options: &'a WriteOptions,
    /// The source of its documents.
    pub origin: Origin,
    /// The decoder's faults.
    pub faults: &'a [String],
    /// True if the decoder has dropped unknown fields and reported them as faults.
    pub pruned: bool,
    /// For a document of a handler's subresource, what it is about.
    pub subject: Option<&'a Subject>,
    /// The object before the write; `None` for a new one.
    pub old: Option<&'a Document>,
}

impl<'a> Write<'a> {
    /// A write of a request's body.
    pub(super) fn of_body(
        api: &'a Verbs,
        request: &'a Request,
        options: &'a WriteOptions,
        faults: &'a [String],
    ) -> Self {
        let (permits, kind, origin) = (request.permits(), &*request.resource.kind, Origin::Body);
        Self { api, request, permits, kind, options, origin, faults, pruned: false, subject: None, old: None }
    }

    /// The same as a write of an existing object.
    pub(super) fn over(self, old: &'a Document) -> Self {
        Self { old: Some(old), ..self }
    }

    /// True if the document already has its new managedFields.
    pub(super) fn settles_owners(&self) -> bool {
        self.origin == Origin::Apply || self.request.is_scale()
    }

    /// The operation on the object, or on the subresource that is written.
    pub(super) fn operation(&self) -> Operation {
        let stored = if self.old.is_none() { Operation::Create } else { Operation::Update };
        self.subject.map_or(stored, |subject| subject.operation)
    }

    /// The written subresource; empty for the object itself.
    pub(super) fn subresource(&self) -> &str {
        self.subject.map_or(&self.request.subresource, |subject| &subject.subresource)
    }

    /// Runs code that converts. Other writers go on while a webhook converts.
    pub(super) async fn converting<T>(&self, work: impl FnMut(&Answers) -> T) -> T {
        self.permits.outside(self.request.resource.converting(work)).await
    }
}
