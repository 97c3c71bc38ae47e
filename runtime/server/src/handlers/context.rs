//! The request that a handler answers.
use std::sync::Arc;

use super::{Client, Refusal, Result};
use crate::{
    auth::User,
    meta::{
        Warnings,
        options::{FieldValidation, Query, WriteOptions},
    },
    verbs::{Request, Verbs},
};

/// The request that a handler answers: user, place and options.
#[derive(Clone)]
pub struct RequestContext {
    /// The user; authenticated, and authorized for this request.
    pub user: Arc<User>,
    /// The namespace in the path; empty for cluster-scoped kinds.
    pub namespace: String,
    /// The object's name in the path; empty for virtual kinds.
    pub name: String,
    /// Nothing may be stored, and there may be no other side effects. Changes through this context or its client
    /// respect this automatically.
    pub dry_run: bool,
    /// The field manager; empty if the client did not set it.
    pub field_manager: String,
    /// The treatment of unknown fields in the body.
    pub field_validation: FieldValidation,
    pub(super) warnings: Arc<Warnings>,
    program: String,
    query: Arc<Query>,
    api: Arc<Verbs>,
}

impl RequestContext {
    pub(crate) fn new(api: Arc<Verbs>, request: &Request, options: WriteOptions, query: &Query) -> Self {
        let Request { user, namespace, name, warnings, .. } = request.clone();
        let WriteOptions { dry_run, field_manager, field_validation, client, .. } = options;
        let (program, query) = (client, Arc::new(query.clone()));
        Self { user, namespace, name, dry_run, field_manager, field_validation, warnings, program, query, api }
    }

    /// Warns the client, whether the request succeeds or not. kubectl prints warnings.
    pub fn warn(&self, text: impl Into<String>) {
        self.warnings.add(text);
    }

    /// A query parameter that may occur once; `None` if it is absent.
    ///
    /// # Errors
    /// 400 if it is repeated.
    pub fn query(&self, name: &str) -> Result<Option<&str>> {
        self.query.single(name).map_err(|error| Refusal::bad_request(error.to_string()))
    }

    /// A client that acts for the requesting user: with their name and field manager, and without storing anything in a
    /// dry run. It is not authorized: the user was authorized for this request, and the handler is responsible for its
    /// effects.
    pub fn client(&self) -> Client {
        Client::acting_as(self.api.clone(), self.user.clone(), self.write_options())
    }

    /// The verbs on documents, as the server uses them, without authorization.
    pub fn api(&self) -> &Arc<Verbs> {
        &self.api
    }

    /// The options of writes made for this request.
    pub(crate) fn write_options(&self) -> WriteOptions {
        WriteOptions {
            dry_run: self.dry_run,
            field_manager: self.field_manager.clone(),
            field_validation: FieldValidation::Ignore,
            client: self.program.clone(),
            ..WriteOptions::default()
        }
    }
}
