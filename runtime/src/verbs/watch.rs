//! watch: changes as they happen, from a revision or from the state of the moment.
use super::{Api, Error, Request, Watching};
use crate::meta::options::ListOptions;

impl Api {
    /// Changes of the objects that the options select.
    ///
    /// # Errors
    /// [`Error`].
    pub async fn watch(&self, _request: &Request, _options: &ListOptions) -> Result<Watching, Error> {
        todo!()
    }
}
