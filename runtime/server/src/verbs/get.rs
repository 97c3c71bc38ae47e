//! get: one object, not older than requested.
use super::{Answer, Error, Request, Verbs, scale, stored::current, versions::shown};
use crate::meta::options::GetOptions;

impl Verbs {
    /// Reads an object, or a subresource of it.
    ///
    /// # Errors
    /// [`Error::NotFound`]; [`Error::TooLargeRevision`] if the requested revision is not reached in time;
    /// [`Error::Timeout`] if the store does not answer; [`Error::StoreRead`].
    pub async fn get(&self, request: &Request, options: &GetOptions) -> Result<Answer, Error> {
        self.recent(options.resource_version).await?;
        let object = shown(request, request.permits(), &current(request)?).await?;
        if request.endpoint().is_none() {
            return Err(request.not_found());
        }
        if request.is_scale() {
            return scale::of_object(&request.resource.kind, &object).map(Answer::Document);
        }
        Ok(Answer::Object(object))
    }
}
