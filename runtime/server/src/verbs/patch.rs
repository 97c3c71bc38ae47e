//! patch: changes an object, and is applied again to the newer object if another write came first.
use std::sync::Arc;

use super::{
    Error, Patch, Request, Verbs, WriteResult,
    error::MODIFIED,
    write::{Origin, Write},
};
use crate::{
    codec::DecodedDocument,
    meta::{FieldError, options::PatchOptions},
    patch::{PatchError, json, merge, strategic},
    schema::{Document, Meter, Schema},
};

/// A parsed patch.
#[derive(Clone, Debug)]
pub enum ParsedPatch {
    /// A JSON patch.
    Json(json::Patch),
    /// A merge patch.
    Merge(DecodedDocument),
    /// A strategic merge patch.
    Strategic(DecodedDocument),
}

impl Verbs {
    /// Changes an object, or a subresource of it. An apply creates a missing object.
    ///
    /// # Errors
    /// [`Error`]: errors of the patch or of its result; [`Error::Conflict`] if it has an outdated resourceVersion;
    /// [`Error::Conflicts`] if an apply would change fields of other managers.
    pub async fn patch(&self, request: &Request, patch: Patch, options: &PatchOptions) -> Result<WriteResult, Error> {
        let patch = patch.read()?;
        let attempt = |patch| self.patch_once(request, patch, options);
        self.again_if_stale((request, &request.name), options.write.dry_run, patch, attempt).await
    }

    async fn patch_once(&self, request: &Request, patch: Patch, options: &PatchOptions) -> Result<WriteResult, Error> {
        let patch = match patch {
            Patch::Apply(config) => return self.apply(request, &config, options).await,
            patch => ParsedPatch::read(patch)?,
        };
        let body = Write::of_body(self, request, &options.write, patch.faults());
        let origin = if matches!(*patch, ParsedPatch::Strategic(_)) { Origin::StrategicPatch } else { Origin::Patch };
        let write = Write { origin, ..body };
        let done = self.rewrite(&write, |old, _| {
            let mut new = patch.apply(write.shape().schema, old, &request.meter)?;
            let warnings = write.over(old).decode_named(&mut new)?;
            Ok((new, warnings))
        });
        done.await.map_err(|error| if patch.copies() { without_values(error) } else { error })
    }
}

impl Patch {
    /// Parses the patch once for repeated use. An apply is decoded already.
    ///
    /// # Errors
    /// If the patch is invalid.
    pub fn read(self) -> Result<Self, Error> {
        match self {
            Self::Apply(_) | Self::Parsed(_) => Ok(self),
            patch => ParsedPatch::read(patch).map(Self::Parsed),
        }
    }
}

impl ParsedPatch {
    /// Parses a patch. An apply is excluded, because it needs the owners of a stored object's fields.
    ///
    /// # Errors
    /// If the patch is invalid.
    pub fn read(patch: Patch) -> Result<Arc<Self>, Error> {
        let patch = match patch {
            Patch::Parsed(patch) => return Ok(patch),
            Patch::Json(bytes) => json::Patch::parse(&bytes).map(ParsedPatch::Json),
            Patch::Merge(bytes) => merge::parse(&bytes).map(ParsedPatch::Merge),
            Patch::Strategic(bytes) => merge::parse(&bytes).map(ParsedPatch::Strategic),
            Patch::Apply(_) => {
                let message =
                    "what is computed from an object cannot be applied: patch it in another way, or replace it";
                return Err(Error::UnsupportedMediaType(message.to_owned()));
            }
        };
        patch.map(Arc::new).map_err(refused)
    }

    /// True if it may copy stored values to places that errors show.
    fn copies(&self) -> bool {
        matches!(self, Self::Json(patch) if patch.copies)
    }

    /// The patch's own faults for strict validation.
    fn faults(&self) -> &[String] {
        match self {
            Self::Json(patch) => &patch.faults,
            Self::Merge(patch) | Self::Strategic(patch) => &patch.faults,
        }
    }

    /// Applies the patch to a document with a schema.
    ///
    /// # Errors
    /// If the patch is invalid or does not apply, and the limit of the meter that was exceeded.
    pub fn apply(&self, schema: &Schema, document: &Document, meter: &Meter) -> Result<Document, Error> {
        match self {
            Self::Json(patch) => {
                let done = patch.apply(document, meter);
                meter.check()?;
                done.map_err(refused)
            }
            Self::Merge(patch) => {
                let mut new = document.clone();
                merge::apply(&mut new, &patch.document);
                Ok(new)
            }
            Self::Strategic(patch) => strategic::apply(schema, document, &patch.document).map_err(refused),
        }
    }
}

/// The error without the object's values.
fn without_values(error: Error) -> Error {
    match error {
        Error::Invalid(kind, name, errors) => {
            Error::Invalid(kind, name, errors.into_iter().map(FieldError::without_value).collect())
        }
        Error::BadRequest(_) => Error::BadRequest(
            "the result of the patch is refused; the message is not shown, since the patch copies stored values"
                .to_owned(),
        ),
        Error::Conflict(resource, name, _) => Error::Conflict(resource, name, MODIFIED.to_owned()),
        other => other,
    }
}

fn refused(error: PatchError) -> Error {
    match error {
        PatchError::Malformed(_) => Error::BadRequest(error.to_string()),
        PatchError::TooLarge(message) => Error::TooLarge(message),
        PatchError::Inapplicable(message) => Error::InapplicablePatch(message),
        PatchError::Invalid(message) => Error::BadRequest(message),
        PatchError::NoMergeKey(message) => Error::Unknown(message),
    }
}
