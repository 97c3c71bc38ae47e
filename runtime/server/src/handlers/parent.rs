//! The object of a subresource, for its handler.
use std::{ops::Deref, sync::Arc};

use kindsmith_model::kind::client::backend::Change;

use super::{Client, Object, Refusal, RequestContext, Result, Watch, backend::Events, change, decode, on_type};
use crate::{
    meta::{
        ObjectMeta, Preconditions,
        options::{DeleteOptions, ListOptions},
        preconditions::{Identity, Mismatch},
    },
    registry::ResourceEntry,
    schema::Document,
    verbs::Request,
};

/// The object of a subresource: its state at the time of the request, and ways to change it.
///
/// It dereferences to the object: `book.spec.copies`.
pub struct Parent<K> {
    object: K,
    target: Target,
}

/// The subject of an operation, on documents.
#[derive(Clone)]
pub(crate) struct Target {
    /// The request.
    pub context: RequestContext,
    /// The parent's kind.
    pub resource: Arc<ResourceEntry>,
    pub subresource: &'static str,
    /// The parent at the time of the request.
    pub document: Arc<Document>,
    /// The preconditions of the client.
    pub expects: Preconditions,
}

impl<K: Object> Parent<K> {
    pub(super) fn new(target: Target) -> Result<Self> {
        Ok(Self { object: decode(&target.document)?, target })
    }

    /// The request.
    pub fn context(&self) -> &RequestContext {
        &self.target.context
    }

    /// A client that acts for the requesting user.
    pub fn client(&self) -> Client {
        self.target.context.client()
    }

    /// Metadata for a document that represents this object: its name, namespace, uid, creation time and
    /// resourceVersion, as in the scale subresource. If a client sends them back, they are preconditions.
    pub fn identity(&self) -> ObjectMeta {
        let metadata = &self.target.document["metadata"];
        let text = |member: &str| metadata[member].as_str().unwrap_or_default().to_owned();
        ObjectMeta {
            name: text("name"),
            namespace: text("namespace"),
            uid: text("uid"),
            resource_version: text("resourceVersion"),
            creation_timestamp: metadata["creationTimestamp"].as_str().and_then(|time| time.parse().ok()),
            ..ObjectMeta::default()
        }
    }

    /// The changes of the object from now on. The first event is its current state; the stream ends after
    /// [`WatchEvent::Deleted`].
    ///
    /// # Errors
    /// 404 if it was deleted.
    ///
    /// [`WatchEvent::Deleted`]: kindsmith_model::kind::client::WatchEvent::Deleted
    pub async fn watch(&self) -> Result<Watch<K>> {
        let request = Request { name: String::new(), ..self.target.request() };
        let options = ListOptions::named(&self.target.context.name);
        let watch_result = self.target.context.api().watch(&request, &options).await?;
        let uid = self.target.document["metadata"]["uid"].as_str().unwrap_or_default();
        // Another object may have the name by now.
        let events = Events::of_one(request.resource.clone(), watch_result, uid).ok_or_else(|| {
            let message = format!("{} {:?} was deleted", request.resource.kind.names().kind, self.target.context.name);
            Refusal::not_found(message)
        })?;
        Ok(Watch::of(Box::pin(events)))
    }

    /// Changes the object. The code gets its newest state, and runs again if another write came first. The change goes
    /// through the pipeline (defaults, validation, admission), is owned by the requesting user through this
    /// subresource, and is not stored in a dry run. It may affect any part of the object, including the status.
    ///
    /// A uid and a resourceVersion in the metadata of the request's body are preconditions.
    ///
    /// # Errors
    /// Those of the code; 409 if a precondition fails; 404 if the object was deleted; 422.
    pub async fn change(&self, change: impl Fn(&mut K) -> Result<()> + Send + Sync) -> Result<K> {
        decode(&self.target.change(&on_type(&self.target.resource.kind, change)).await?)
    }

    /// Deletes the object. A uid and a resourceVersion in the metadata of the request's body are preconditions.
    ///
    /// # Errors
    /// 404; 409 if a precondition fails.
    pub async fn delete(&self, options: &DeleteOptions) -> Result<()> {
        self.target.delete(options).await
    }
}

impl<K> Deref for Parent<K> {
    type Target = K;

    fn deref(&self) -> &K {
        &self.object
    }
}

impl Target {
    /// A request for the parent.
    fn request(&self) -> Request {
        let RequestContext { user, namespace, name, warnings, .. } = self.context.clone();
        let (resource, meter) = (self.resource.clone(), Arc::default());
        Request { user, resource, namespace, name, subresource: "".into(), warnings, meter, slot: None }
    }

    /// Checks the client's preconditions on the parent. Fails with 409.
    pub(crate) fn check(&self, document: &Document) -> Result<()> {
        self.expects.check(Some(&document["metadata"])).map_err(|Mismatch { of, expected, found }| {
            let what = match of {
                Identity::Uid => "UID",
                Identity::ResourceVersion => "ResourceVersion",
            };
            let message =
                format!("Precondition failed: {what} in precondition: {expected}, {what} in object meta: {found}");
            Refusal::conflict(message)
        })
    }

    async fn change(&self, change: Change<'_>) -> Result<Document> {
        let guarded = |document: &mut Document| {
            self.check(document)?;
            change(document)
        };
        let request = Request { subresource: self.subresource.into(), ..self.request() };
        let options = self.context.write_options();
        change::document(self.context.api(), &request, &options, &guarded).await
    }

    async fn delete(&self, options: &DeleteOptions) -> Result<()> {
        let preconditions = Preconditions {
            uid: options.preconditions.uid.clone().or_else(|| self.expects.uid.clone()),
            resource_version: options
                .preconditions
                .resource_version
                .clone()
                .or_else(|| self.expects.resource_version.clone()),
        };
        let dry_run = options.dry_run || self.context.dry_run;
        let options = DeleteOptions { dry_run, preconditions, ..options.clone() };
        let (api, options) = (self.context.api(), &options);
        let delete = |request| async move { Ok(api.delete(&request, options).await?) };
        change::following(api, &self.request(), delete).await?;
        Ok(())
    }
}
