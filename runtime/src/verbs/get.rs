//! get: one object, no older than asked for.
use std::sync::Arc;

use super::{Answer, Api, Error, Part, Request, scale};
use crate::{cache::Object, meta::options::GetOptions};

impl Api {
    /// One object, or a subresource of it.
    ///
    /// # Errors
    /// [`Error::NotFound`]; [`Error::TooLargeRevision`] where the revision asked for does not come.
    pub async fn get(&self, request: &Request, options: &GetOptions) -> Result<Answer, Error> {
        if let Some(asked) = options.resource_version {
            self.reach(asked).await?;
        }
        let object = current(request)?;
        if !request.part.is_of(&request.served.kind) {
            return Err(request.not_found());
        }
        match request.part {
            Part::Scale => scale::of_object(&request.served.kind, &object).map(Answer::Document),
            Part::Whole | Part::Status | Part::Finalize | Part::Own(_) => Ok(Answer::Object(object)),
        }
    }
}

/// The newest state of the object that a request names.
///
/// # Errors
/// [`Error::NotFound`]; [`Error::Internal`] for an object whose stored bytes cannot be understood: it is there, so it is
/// not "not found", but there is nothing to show.
pub(super) fn current(request: &Request) -> Result<Arc<Object>, Error> {
    let object = request.served.objects.snapshot().get(&request.key()).ok_or_else(|| request.not_found())?;
    match object.unreadable() {
        None => Ok(object),
        Some(reason) => Err(Error::Internal(format!("{:?} cannot be read from the store: {reason}", request.name))),
    }
}
