//! What hooks and admission reach of the server: a client.
use std::sync::{Arc, Weak};

use super::Client;
use crate::{
    auth::User,
    kind::hook::Context,
    meta::options::WriteOptions,
    verbs::{Attributes, Verbs},
};

impl<T> Context<'_, T> {
    /// A client that acts for the requesting user: with their name and field manager, and without storing anything in a
    /// dry run. It is not authorized: the user was authorized for this request, and the hook is responsible for its
    /// effects.
    ///
    /// # Panics
    /// If the hook was not called by a server.
    pub fn client(&self) -> Client {
        let request = &self.request;
        // `kind` is below the verbs, so it does not know their type.
        let api = request.server.and_then(|server| server.downcast_ref::<Weak<Verbs>>()?.upgrade());
        let api = api.expect("a hook with a client is called by a server");
        acting(api, request.user, request.dry_run, request.field_manager)
    }
}

impl Attributes<'_> {
    /// A client that acts for the requesting user, like that of a [hook](Context::client).
    pub fn client(&self) -> Client {
        acting(self.api.shared(), self.user, self.dry_run, self.options.manager())
    }
}

fn acting(api: Arc<Verbs>, user: &Arc<User>, dry_run: bool, field_manager: &str) -> Client {
    let write = WriteOptions { dry_run, field_manager: field_manager.to_owned(), ..WriteOptions::default() };
    Client::acting_as(api, user.clone(), write)
}
