//! The objects of one kind: the verbs on them and on their status.
use std::marker::PhantomData;

use serde::de::DeserializeOwned;

use super::{
    Client, InvalidObject, List, Object, Watch,
    backend::{Backend, Request},
    decode, encode, on_type,
    typed::decode_json,
};
use crate::{
    kind::model::Scope,
    meta::{
        Refusal,
        options::{DeleteOptions, GetOptions, ListOptions, WriteOptions},
        refusal::Result,
    },
    schema::Document,
};

/// The objects of one kind, in one namespace or in all of them.
pub struct Objects<K> {
    pub(super) client: Client,
    pub(super) namespace: String,
    pub(super) kind: PhantomData<fn() -> K>,
}

impl<K> Clone for Objects<K> {
    fn clone(&self) -> Self {
        Self { client: self.client.clone(), namespace: self.namespace.clone(), kind: PhantomData }
    }
}

impl<K: Object> Objects<K> {
    /// A client that makes dry runs: writes store nothing and return what they would have stored.
    #[must_use]
    pub fn dry_run(mut self) -> Self {
        self.client.options.write.dry_run = true;
        self
    }

    /// A client with another field manager.
    #[must_use]
    pub fn field_manager(mut self, name: impl Into<String>) -> Self {
        self.client.options.write.field_manager = name.into();
        self
    }

    /// A client that forces applies, which take over fields of other managers.
    #[must_use]
    pub fn force(mut self) -> Self {
        self.client.options.force = true;
        self
    }

    /// The object with a name.
    ///
    /// # Errors
    /// 404 if it does not exist; 500 if the type cannot decode it.
    pub async fn get(&self, name: &str) -> Result<K> {
        self.get_at(&self.one(name, "")?).await
    }

    /// The object with a name, or `None` if it does not exist.
    ///
    /// # Errors
    /// 500 if the type cannot decode it.
    pub async fn get_opt(&self, name: &str) -> Result<Option<K>> {
        match self.get(name).await {
            Ok(object) => Ok(Some(object)),
            Err(refusal) if refusal.status().is_not_found() => Ok(None),
            Err(refusal) => Err(refusal),
        }
    }

    /// The status subresource of an object, which is the whole object.
    ///
    /// # Errors
    /// Like [`Objects::get`]; 404 for kinds without a status subresource.
    pub async fn get_status(&self, name: &str) -> Result<K> {
        self.get_at(&self.one(name, "status")?).await
    }

    /// The selected objects, sorted by name, or one page of them. Objects that the type cannot decode are in
    /// [`List::invalid`].
    ///
    /// # Errors
    /// 400 for invalid options; 410 if the requested version or page is gone, with a token in the Status to continue
    /// from the newest state; 500 if objects cannot be read from the store.
    pub async fn list(&self, options: &ListOptions) -> Result<List<K>> {
        Ok(List::of(self.backend().list(&self.all()?, options).await?))
    }

    /// Changes as they happen. Without a version the watch starts with the existing objects, as
    /// [`WatchEvent::Added`](super::WatchEvent::Added). With a version it returns each later change, once and in order.
    ///
    /// # Errors
    /// 400 for invalid options; 410 if changes after the version are gone: list, and watch from there.
    pub async fn watch(&self, options: &ListOptions) -> Result<Watch<K>> {
        Ok(Watch::of(self.backend().watch(&self.all()?, options).await?))
    }

    /// Stores a new object, and returns it as stored.
    ///
    /// # Errors
    /// 409 if the name is taken, 422 for an invalid object, 403 and 404 for its namespace.
    pub async fn create(&self, object: &K) -> Result<K> {
        decode(&self.backend().create(&self.all()?, encode(object)?, self.options()).await?)
    }

    /// Replaces a whole object. Its resourceVersion is a precondition. Only some built-in kinds, such as `ConfigMap`, may
    /// be replaced without one.
    ///
    /// # Errors
    /// 409 if its resourceVersion is outdated, 404, 422.
    pub async fn replace(&self, name: &str, object: &K) -> Result<K> {
        self.replace_at(&self.one(name, "")?, object).await
    }

    /// Replaces the status of an object.
    ///
    /// # Errors
    /// Like [`Objects::replace`].
    pub async fn replace_status(&self, name: &str, object: &K) -> Result<K> {
        self.replace_at(&self.one(name, "status")?, object).await
    }

    /// Changes an object by code, which runs again on the newer object if another write came first. Fields that the
    /// type does not know are kept.
    ///
    /// # Errors
    /// Those of the code; 404, 422.
    pub async fn change(&self, name: &str, change: impl Fn(&mut K) -> Result<()> + Send + Sync) -> Result<K> {
        self.change_at(&self.one(name, "")?, change).await
    }

    /// Changes the status of an object by code, like [`Objects::change`].
    ///
    /// # Errors
    /// Like [`Objects::change`].
    pub async fn change_status(&self, name: &str, change: impl Fn(&mut K) -> Result<()> + Send + Sync) -> Result<K> {
        self.change_at(&self.one(name, "status")?, change).await
    }

    /// Deletes an object. Returns `Some` if the object waits for its finalizers or its grace period.
    ///
    /// # Errors
    /// 404; 409 if a precondition fails.
    pub async fn delete(&self, name: &str, options: &DeleteOptions) -> Result<Option<K>> {
        let deleted = self.backend().delete(&self.one(name, "")?, &self.deletion(options)).await?;
        let marked = deleted.map(|marked| marked.and_then(|json| decode_json(&json))).transpose();
        marked.map_err(|InvalidObject { reason, .. }| Refusal::internal(reason))
    }

    /// Deletes the selected objects, and returns their last states.
    ///
    /// # Errors
    /// Like [`Objects::list`] and [`Objects::delete`]. Deletions before a failed one are not undone.
    pub async fn delete_collection(&self, options: &DeleteOptions, selected: &ListOptions) -> Result<List<K>> {
        let options = self.deletion(options);
        Ok(List::of(self.backend().delete_collection(&self.all()?, &options, selected).await?))
    }

    pub(super) async fn get_at<T: DeserializeOwned>(&self, request: &Request) -> Result<T> {
        decode(&self.backend().get(request, &GetOptions::default()).await?)
    }

    async fn replace_at(&self, request: &Request, object: &K) -> Result<K> {
        decode(&self.updated(request, encode(object)?).await?)
    }

    /// Replaces an object, its status or its scale.
    pub(super) async fn updated(&self, request: &Request, document: Document) -> Result<Document> {
        self.backend().update(request, document, self.options()).await
    }

    async fn change_at(&self, request: &Request, change: impl Fn(&mut K) -> Result<()> + Send + Sync) -> Result<K> {
        let kind = self.backend().kind(K::RESOURCE)?;
        let change = on_type(&kind, change);
        decode(&self.backend().change(request, &change, self.options()).await?)
    }

    fn deletion(&self, options: &DeleteOptions) -> DeleteOptions {
        DeleteOptions { dry_run: options.dry_run || self.options().dry_run, ..options.clone() }
    }

    pub(super) fn backend(&self) -> &dyn Backend {
        &*self.client.backend
    }

    pub(super) fn options(&self) -> &WriteOptions {
        &self.client.options.write
    }

    /// A request for an object or a subresource of it. Fails with 400 for a name that no object has, and for a
    /// namespaced kind without a namespace; those of [`Objects::all`].
    pub(super) fn one(&self, name: &str, subresource: &'static str) -> Result<Request> {
        let request = self.all()?;
        if request.namespace.is_empty() && K::RESOURCE.scope == Scope::Namespaced {
            return Err(Refusal::bad_request(format!("{} are namespaced: name the namespace", K::RESOURCE.plural)));
        }
        if name.is_empty() || name.contains('/') {
            return Err(Refusal::bad_request(format!("{name:?} is not the name of an object")));
        }
        Ok(Request { name: name.to_owned(), subresource, ..request })
    }

    /// A request for all objects. Fails with 400 for a cluster-scoped kind in a namespace.
    pub(super) fn all(&self) -> Result<Request> {
        if !self.namespace.is_empty() && K::RESOURCE.scope == Scope::Cluster {
            return Err(Refusal::bad_request(format!("{} are cluster-scoped: name no namespace", K::RESOURCE.plural)));
        }
        let (user, namespace) = (self.client.user.clone(), self.namespace.clone());
        Ok(Request { user, resource: K::RESOURCE, namespace, name: String::new(), subresource: "" })
    }
}
