//! delete: at once, or in two phases where finalizers hold the object.
use super::{Api, Deleted, Error, Request};
use crate::meta::options::DeleteOptions;

impl Api {
    /// Deletes an object, or marks it for deletion.
    ///
    /// # Errors
    /// [`Error`].
    pub async fn delete(&self, _request: &Request, _options: &DeleteOptions) -> Result<Deleted, Error> {
        todo!()
    }
}
