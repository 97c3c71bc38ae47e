//! create: a new object.
use std::sync::Arc;

use super::{
    Answer, Error, Request, Verbs, Written,
    commit::{Outcome, preview},
    error::Occupant,
    pipeline::Write,
    rewrite::document_of,
    system,
    versions::Answerable,
};
use crate::{
    cache::Object,
    codec::Decoded,
    kind::model::Scope,
    meta::{Revision, options::CreateOptions},
    registry::reader::{Fit, Values},
    schema::Document,
    storage::Expect,
};

/// The maximum number of generated names that are tried.
const NAMES_TRIED: usize = 8;

impl Verbs {
    /// Creates an object.
    ///
    /// # Errors
    /// [`Error`]: errors of the object, [`Error::AlreadyExists`], or errors about its namespace.
    pub async fn create(
        &self,
        request: &Request,
        body: impl Into<Decoded>,
        options: &CreateOptions,
    ) -> Result<Written, Error> {
        if !request.subresource.is_empty() {
            return Err(Error::MethodNotAllowed);
        }
        if request.served.kind.shared.scope == Scope::Namespaced && request.namespace.is_empty() {
            return Err(Error::BadRequest("an empty namespace may not be set during creation".to_owned()));
        }
        let Decoded { mut document, faults, pruned } = body.into();
        let write = Write { pruned, ..Write::of_body(self, request, options, &faults) };
        let warnings = write.decode(&mut document)?;
        self.create_new(&write, document, warnings).await
    }

    /// Passes a decoded new object through the rest of the pipeline and stores it.
    pub(super) async fn create_new(
        &self,
        write: &Write<'_>,
        mut document: Document,
        mut warnings: Vec<String>,
    ) -> Result<Written, Error> {
        warnings.extend(write.complete(&mut document, None).await?);
        let answer = self.create_named(write, document).await?;
        Ok(Written { answer, created: true, warnings })
    }

    /// Stores a complete object under its name, or under a generated one.
    async fn create_named(&self, write: &Write<'_>, mut document: Document) -> Result<Answer, Error> {
        let kind = &*write.request.served.kind;
        let base = system::text(&document, "generateName").to_owned();
        let generates = system::text(&document, "name").is_empty() && !base.is_empty();
        for _ in 0..if generates { NAMES_TRIED } else { 1 } {
            if generates {
                let name = write.make_name(&document, &base).await?;
                system::set(&mut document, "name", name);
                write.run_default(&mut document, None).await?;
            }
            let fit = write.validate(&document, None).await?;
            if !system::text(&document, "resourceVersion").is_empty() {
                let message = "resourceVersion should not be set on objects to be created";
                return Err(Error::Unknown(message.to_owned()));
            }
            let (stored, fit) = write.to_stored((&document, fit), None).await?;
            let answer = Answerable::of(write, &stored).await?;
            if let Some(object) = self.insert(write, (&stored, fit)).await? {
                return Ok(Answer::Object(answer.with(write.request, object)));
            }
        }
        let name = system::text(&document, "name").to_owned();
        let holder = write.request.served.objects.snapshot().get(&write.request.key_of(&name));
        let occupant = match holder.and_then(|holder| document_of(&holder).ok()) {
            Some(holder) if !system::text(&holder, "deletionTimestamp").is_empty() => Occupant::Terminating,
            _ => Occupant::Staying,
        };
        // kube-apiserver checks only generateName here, even if the client also set a name.
        let refuse = if base.is_empty() { Error::AlreadyExists } else { Error::GeneratedNameTaken };
        Err(refuse(kind.group_resource(), name, occupant))
    }

    async fn insert(&self, write: &Write<'_>, stored: (&Document, Fit)) -> Result<Outcome<Arc<Object>>, Error> {
        let request = write.request;
        let key = request.key_of(system::text(stored.0, "name"));
        if write.options.dry_run {
            if request.served.objects.snapshot().get(&key).is_some() {
                return Ok(None);
            }
            return preview(request, write.turn, &key, Revision(0), (stored.0, Values::Required)).await.map(Some);
        }
        self.store(request, write.turn, &key, (stored.0, stored.1, Values::Required), Expect::Absent).await
    }
}
