//! list: the objects of a kind at one revision, whole or a page at a time.
use super::{Api, Error, List, Request};
use crate::meta::options::ListOptions;

impl Api {
    /// The objects that the options select, in key order.
    ///
    /// # Errors
    /// [`Error`].
    pub async fn list(&self, _request: &Request, _options: &ListOptions) -> Result<List, Error> {
        todo!()
    }
}
