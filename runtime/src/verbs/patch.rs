//! patch: a change to an object, applied again to the newer object when another write came first.
use super::{Answer, Api, Error, Part, Patch, Request, Written, decode::Origin, pipeline::Write};
use crate::{
    meta::options::PatchOptions,
    patch::{PatchError, json, merge},
    schema::Document,
};

/// A patch that has been read.
pub(super) enum Parsed {
    Json(json::Patch),
    Merge(Document),
}

impl Api {
    /// Changes an object, or a subresource of it.
    ///
    /// # Errors
    /// [`Error`]: what is wrong with the patch, or with what it makes of the object; [`Error::Conflict`] where it names a
    /// resourceVersion that is not the newest.
    pub async fn patch(&self, request: &Request, patch: Patch, options: &PatchOptions) -> Result<Written, Error> {
        let patch = Parsed::read(&patch)?;
        if request.part == Part::Scale {
            return self.patch_scale(request, &patch, &options.write).await;
        }
        let write = Write { request, options: &options.write, origin: Origin::Patch, faults: &[] };
        let done = self.rewrite(&write, |old| patch.apply(old)).await?;
        Ok(Written { answer: Answer::Object(done.object), created: false, warnings: done.warnings })
    }
}

impl Parsed {
    fn read(patch: &Patch) -> Result<Self, Error> {
        let parsed = match patch {
            Patch::Json(bytes) => json::Patch::parse(bytes).map(Self::Json),
            Patch::Merge(bytes) => merge::parse(bytes).map(Self::Merge),
            // Served once `patch::strategic` and `patch::apply` are there.
            Patch::Strategic(_) | Patch::Apply(_) => {
                return Err(Error::UnsupportedMediaType("not served yet".to_owned()));
            }
        };
        parsed.map_err(refused)
    }

    /// What the patch makes of a document.
    ///
    /// # Errors
    /// [`Error::InapplicablePatch`].
    pub fn apply(&self, document: &Document) -> Result<Document, Error> {
        match self {
            Self::Json(patch) => patch.apply(document).map_err(refused),
            Self::Merge(patch) => {
                let mut new = document.clone();
                merge::apply(&mut new, patch);
                Ok(new)
            }
        }
    }
}

fn refused(error: PatchError) -> Error {
    match error {
        PatchError::Malformed(_) => Error::BadRequest(error.to_string()),
        PatchError::TooLarge(message) => Error::TooLarge(message),
        PatchError::Inapplicable(message) => Error::InapplicablePatch(message),
    }
}
