//! update: an object, or a subresource, as a whole.
use super::{Api, Error, Request, Written};
use crate::{meta::options::UpdateOptions, schema::Document};

impl Api {
    /// Replaces an object, or a subresource of it.
    ///
    /// # Errors
    /// [`Error`].
    pub async fn update(&self, _request: &Request, _body: Document, _options: &UpdateOptions) -> Result<Written, Error> {
        todo!()
    }
}
