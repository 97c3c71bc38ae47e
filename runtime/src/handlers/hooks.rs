//! What hooks and admission reach of the server: a client.
use std::sync::{Arc, Weak};

use super::Client;
use crate::{kind::hook::Context, meta::options::WriteOptions, verbs::Verbs};

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
        let api: Arc<Verbs> = api.expect("a hook with a client is called by a server");
        let write = WriteOptions {
            dry_run: request.dry_run,
            field_manager: request.field_manager.to_owned(),
            ..WriteOptions::default()
        };
        Client::acting_as(api, request.user.clone(), write)
    }
}
