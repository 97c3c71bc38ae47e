//! get: one object, no older than asked for.
use super::{Answer, Api, Error, Request};
use crate::meta::options::GetOptions;

impl Api {
    /// One object, or a subresource of it.
    ///
    /// # Errors
    /// [`Error`].
    pub async fn get(&self, _request: &Request, _options: &GetOptions) -> Result<Answer, Error> {
        todo!()
    }
}
