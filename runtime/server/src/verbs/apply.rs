//! Server-side apply: merges the fields that each manager declares for an object. Creates a missing object. An apply that
//! changes nothing is answered without copying the object: tools that apply repeatedly mostly send these.
use super::{
    Answer, Error, Request, Verbs, WriteResult,
    hooks::fault_of_object,
    ownership::with_writer,
    retry::WriteFailure,
    stored::{document_of, find},
    write::{Origin, Write},
};
use crate::{
    cache::Object,
    codec::{self, DecodedDocument, Limits},
    kind::{binding::Hook, convert::Answers, endpoint::Endpoint},
    meta::{
        Operation, Preconditions,
        options::PatchOptions,
        preconditions::{Identity, Mismatch},
    },
    patch::apply::{self, ApplyError, View, Writer},
    schema::Document,
};

impl Verbs {
    /// Applies a configuration. Fails with [`Error::Conflicts`] if it would change fields of other managers and is not
    /// forced; errors of the object.
    pub(super) async fn apply(
        &self,
        request: &Request,
        config: &DecodedDocument,
        options: &PatchOptions,
    ) -> Result<WriteResult, Error> {
        let document = &config.document;
        let write = Write {
            origin: Origin::Apply,
            pruned: config.pruned,
            ..Write::of_body(self, request, &options.write, &config.faults)
        };
        if let Some(written) = self.apply_unchanged(&write, document).await? {
            return Ok(written);
        }
        self.rewrite_or_create(&write, |old, answers| {
            let mut new = merge(request, answers, old, document, options)?;
            if old.is_none() {
                check_new(request, &new)?;
            }
            let warnings = Write { old, ..write }.decode_named(&mut new)?;
            Ok((new, warnings))
        })
        .await
    }

    /// The answer to an apply that changes nothing; `None` if it changes something, or if that is not cheap to
    /// determine.
    ///
    /// # Errors
    /// Errors of the current object: validation may have become stricter.
    pub(super) async fn apply_unchanged(
        &self,
        write: &Write<'_>,
        config: &Document,
    ) -> Result<Option<WriteResult>, Error> {
        let (request, kind) = (write.request, &*write.request.resource.kind);
        // Hooks, admission, or another version than the storage version may change the object even if the apply does
        // not.
        let own = kind.binding.hooks.runs(Hook::Defaults) || kind.binding.conversion.is_some();
        let settled = write.faults.is_empty() && !own && !self.admits(Operation::Update);
        if !settled || request.endpoint().is_none_or(Endpoint::is_scale) {
            return Ok(None);
        }
        let Ok(object) = find(request) else { return Ok(None) };
        let Some(live) = unchanged(request, write, &object, config) else { return Ok(None) };
        let live = if kind.binding.hooks.runs(Hook::Validation) { document_of(&object)? } else { live };
        write.over(&live).validate(&live).await?;
        let object = match self.unchanged(request, object).await {
            Ok(object) => object,
            Err(WriteFailure::Lost) => return Ok(None),
            Err(WriteFailure::Refused(error)) => return Err(error),
        };
        Ok(Some(WriteResult { answer: Answer::Object(object), created: false, warnings: Vec::new() }))
    }
}

/// The object without its managed fields, if an apply does not change it.
fn unchanged(request: &Request, write: &Write<'_>, object: &Object, config: &Document) -> Option<Document> {
    if object.unreadable().is_some() || object.is_renewed() {
        return None;
    }
    let entries = str::from_utf8(object.managed_fields()).ok().filter(|entries| !entries.is_empty())?;
    let live = codec::decode(&object.without_managed_fields(), &Limits::NONE).ok()?.document;
    let noop = with_writer(request, &Answers::none(), &write.options.field_manager, |view, writer| {
        apply::is_noop(view, &live, entries, config, writer)
    });
    noop.ok()?.then_some(live)
}

/// The result of merging a configuration into an object, or into none.
fn merge(
    request: &Request,
    answers: &Answers,
    old: Option<&Document>,
    config: &Document,
    options: &PatchOptions,
) -> Result<Document, Error> {
    let merged = |view: &View<'_>, writer: &Writer<'_>| apply::merge(view, old, config, writer, options.force);
    with_writer(request, answers, &options.write.field_manager, merged)?
        .map_err(|error| refused(request, config, error))
}

/// Checks a configuration that creates its object. A uid or resourceVersion refers to an earlier object, so the
/// client's view is outdated.
fn check_new(request: &Request, new: &Document) -> Result<(), Error> {
    Preconditions::of(&new["metadata"]).check(None).map_err(|Mismatch { of, expected, .. }| match of {
        Identity::Uid => {
            let message =
                format!("uid mismatch: the provided object specified uid {expected}, and no existing object was found");
            request.conflict(message)
        }
        Identity::ResourceVersion => request.modified(),
    })
}

fn refused(request: &Request, config: &Document, error: ApplyError) -> Error {
    let (message, resource) = (error.to_string(), &request.resource);
    match error {
        ApplyError::Conflicts { reported, .. } => Error::Conflicts(message, reported),
        ApplyError::BadRequest(_) => Error::BadRequest(message),
        // kube-apiserver knows webhooks only, which may have failed.
        ApplyError::Unconvertible(_) if resource.records.versions().webhook().is_none() => {
            Error::invalid(&resource.kind, config, vec![fault_of_object(message)])
        }
        ApplyError::Unconvertible(_) | ApplyError::Untyped(_) => Error::Unknown(message),
    }
}
