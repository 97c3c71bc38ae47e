//! create: a new object.
use super::{Api, Error, Request, Written};
use crate::{meta::options::CreateOptions, schema::Document};

impl Api {
    /// Creates an object.
    ///
    /// # Errors
    /// [`Error`].
    pub async fn create(&self, _request: &Request, _body: Document, _options: &CreateOptions) -> Result<Written, Error> {
        todo!()
    }
}
