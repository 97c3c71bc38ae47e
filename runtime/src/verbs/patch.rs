//! patch: a change to an object, applied again to the newer object when another write came first.
use super::{Api, Error, Patch, Request, Written};
use crate::meta::options::PatchOptions;

impl Api {
    /// Changes an object, or a subresource of it.
    ///
    /// # Errors
    /// [`Error`].
    pub async fn patch(&self, _request: &Request, _patch: Patch, _options: &PatchOptions) -> Result<Written, Error> {
        todo!()
    }
}
