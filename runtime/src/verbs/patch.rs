//! patch: a change to an object, applied again to the newer object when another write came first.
use std::sync::Arc;

use super::{Api, Error, Patch, Request, Written, decode::Origin, pipeline::Write, rewrite::MODIFIED};
use crate::{
    codec::Decoded,
    meta::{
        FieldError,
        options::{PatchOptions, WriteOptions},
    },
    patch::{PatchError, json, merge, strategic},
    schema::{Document, Schema},
};

/// A patch that has been read.
#[derive(Clone, Debug)]
pub enum Parsed {
    /// A JSON patch.
    Json(json::Patch),
    /// A merge patch.
    Merge(Decoded),
    /// A strategic merge patch.
    Strategic(Decoded),
}

impl Api {
    /// Changes an object, or a subresource of it. An apply creates the object where there is none.
    ///
    /// # Errors
    /// [`Error`]: what is wrong with the patch, or with what it makes of the object; [`Error::Conflict`] where it names a
    /// resourceVersion that is not the newest; [`Error::Conflicts`] where an apply would change what others own.
    pub async fn patch(&self, request: &Request, patch: Patch, options: &PatchOptions) -> Result<Written, Error> {
        let patch = match patch {
            Patch::Apply(config) => return self.apply(request, &config, options).await,
            patch => Parsed::read(patch)?,
        };
        if request.is_scale() {
            return self.patch_scale(request, &patch, &options.write).await;
        }
        let write = patch.write(request, &options.write);
        let done = self.rewrite(&write, |old| {
            let mut new = patch.apply(&request.served.kind.version.schema, old)?;
            let warnings = write.decode_named(&mut new, Some(old))?;
            Ok((new, warnings))
        });
        done.await.map(Written::from).map_err(|error| if patch.copies() { without_values(error) } else { error })
    }
}

impl Patch {
    /// Reads the patch, so that its parts need not be read where it is used. An apply is decoded already.
    ///
    /// # Errors
    /// What is wrong with the patch.
    pub fn read(self) -> Result<Self, Error> {
        match self {
            Self::Apply(_) | Self::Read(_) => Ok(self),
            patch => Parsed::read(patch).map(Self::Read),
        }
    }
}

impl Parsed {
    /// Reads a patch. An apply is none: it needs to know whose the fields of a stored object are.
    ///
    /// # Errors
    /// What is wrong with the patch.
    pub fn read(patch: Patch) -> Result<Arc<Self>, Error> {
        let patch = match patch {
            Patch::Read(patch) => return Ok(patch),
            Patch::Json(bytes) => json::Patch::parse(&bytes).map(Parsed::Json),
            Patch::Merge(bytes) => merge::parse(&bytes).map(Parsed::Merge),
            Patch::Strategic(bytes) => merge::parse(&bytes).map(Parsed::Strategic),
            Patch::Apply(_) => {
                let message =
                    "what is computed from an object cannot be applied: patch it in another way, or replace it";
                return Err(Error::UnsupportedMediaType(message.to_owned()));
            }
        };
        patch.map(Arc::new).map_err(refused)
    }

    /// The write that it asks for.
    pub(super) fn write<'a>(&'a self, request: &'a Request, options: &'a WriteOptions) -> Write<'a> {
        Write { origin: Origin::Patch, ..Write::of_body(request, options, self.faults()) }
    }

    /// Whether it puts stored values where errors would show them.
    fn copies(&self) -> bool {
        matches!(self, Self::Json(patch) if patch.copies)
    }

    /// What strict validation finds fault with in the patch itself.
    fn faults(&self) -> &[String] {
        match self {
            Self::Json(patch) => &patch.faults,
            Self::Merge(patch) | Self::Strategic(patch) => &patch.faults,
        }
    }

    /// What the patch makes of a document of a schema.
    ///
    /// # Errors
    /// What is wrong with the patch, or with its fit.
    pub fn apply(&self, schema: &Schema, document: &Document) -> Result<Document, Error> {
        match self {
            Self::Json(patch) => patch.apply(document).map_err(refused),
            Self::Merge(patch) => {
                let mut new = document.clone();
                merge::apply(&mut new, &patch.document);
                Ok(new)
            }
            Self::Strategic(patch) => strategic::apply(schema, document, &patch.document).map_err(refused),
        }
    }
}

/// What is wrong, without the values of the object that a message may show.
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
