//! What admission reaches of the server: a client.
use super::Client;
use crate::{meta::options::WriteOptions, verbs::Attributes};

impl Attributes<'_> {
    /// A client that acts for the requesting user, like that of a [hook](crate::kind::hook::Context::client).
    pub fn client(&self) -> Client {
        let field_manager = self.options.manager().to_owned();
        let write = WriteOptions { dry_run: self.dry_run, field_manager, ..WriteOptions::default() };
        Client::acting_as(self.api.shared(), self.user.clone(), write)
    }
}
