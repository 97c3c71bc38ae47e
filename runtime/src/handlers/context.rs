//! What a handler is told about the request that it answers.
use std::sync::Arc;

use super::{Client, Refusal, Result};
use crate::{
    auth::User,
    meta::options::{FieldValidation, Query, WriteOptions},
    verbs::Api,
};

/// The request that a handler answers: who asks, where, and how.
#[derive(Clone)]
pub struct RequestContext {
    /// Who asks; authenticated, and authorized for this request.
    pub user: Arc<User>,
    /// The namespace of the path; empty for what belongs to the cluster.
    pub namespace: String,
    /// The object's name in the path; empty for virtual kinds.
    pub name: String,
    /// Nothing may be stored, and nothing else may be done that stays. Changes made through this context or through its
    /// client keep to that by themselves.
    pub dry_run: bool,
    /// Who writes, for field ownership; empty where the client did not say.
    pub field_manager: String,
    /// What was done about unknown fields of the body.
    pub field_validation: FieldValidation,
    program: String,
    query: Arc<Query>,
    api: Arc<Api>,
}

impl RequestContext {
    pub(crate) fn new(
        api: Arc<Api>,
        user: Arc<User>,
        (namespace, name): (String, String),
        options: WriteOptions,
        query: &Query,
    ) -> Self {
        let WriteOptions { dry_run, field_manager, field_validation, client, .. } = options;
        let (program, query) = (client, Arc::new(query.clone()));
        Self { user, namespace, name, dry_run, field_manager, field_validation, program, query, api }
    }

    /// A parameter of the query that may be given once; `None` where it is absent.
    ///
    /// # Errors
    /// 400 where it is repeated.
    pub fn query(&self, name: &str) -> Result<Option<&str>> {
        self.query.single(name).map_err(|error| Refusal::bad_request(error.to_string()))
    }

    /// A client that acts for the one who asks: under their name, as their field manager, and storing nothing in a dry
    /// run. It asks no authorizer: they were authorized for this request, and the handler answers for the rest.
    pub fn client(&self) -> Client {
        Client::acting_as(self.api.clone(), self.user.clone(), self.write_options())
    }

    /// The verbs, on documents, as the server itself uses them. They ask no authorizer.
    pub fn api(&self) -> &Arc<Api> {
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
