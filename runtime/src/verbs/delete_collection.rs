//! deletecollection: each object that a list gives, one by one.
use super::{Api, Error, List, Request};
use crate::meta::options::{DeleteOptions, ListOptions};

impl Api {
    /// Deletes what the options select, and gives the objects as they were.
    ///
    /// # Errors
    /// [`Error`].
    pub async fn delete_collection(
        &self,
        _request: &Request,
        _list: &ListOptions,
        _options: &DeleteOptions,
    ) -> Result<List, Error> {
        todo!()
    }
}
