//! The server behind a typed client, without the types of kinds.
use std::{pin::Pin, sync::Arc};

use bytes::Bytes;
use futures_core::Stream;

use super::{Access, InvalidObject, Patch, WatchEvent};
use crate::{
    kind::{Kind, resource::ResourceDecl},
    meta::{
        User,
        object::ListMeta,
        options::{DeleteOptions, GetOptions, ListOptions, PatchOptions, WriteOptions},
        refusal::Result,
    },
    schema::Document,
};

/// The user and the target of a request.
#[derive(Clone)]
pub struct Request {
    /// The requesting user.
    pub user: Arc<User>,
    /// The resource.
    pub resource: &'static ResourceDecl,
    /// The namespace; empty for all namespaces, and for cluster-scoped kinds.
    pub namespace: String,
    /// The name; empty for all objects.
    pub name: String,
    /// The subresource; empty for the object itself.
    pub subresource: &'static str,
}

/// The future answer of a verb.
pub type Answer<'a, T> = Pin<Box<dyn Future<Output = Result<T>> + Send + 'a>>;

/// The JSON of an object in the requested version; an error if it cannot be converted to it.
pub type Item = std::result::Result<Bytes, InvalidObject>;

/// The objects of a list. They are read one by one.
pub struct Items {
    /// The version of the list, and its place in all pages.
    pub metadata: ListMeta,
    /// The objects, in the order of their names.
    pub objects: Box<dyn Iterator<Item = Item> + Send>,
}

/// The events of a watch.
pub type Events = Pin<Box<dyn Stream<Item = Result<WatchEvent<Bytes>>> + Send>>;

/// A change of a document.
pub type Change<'c> = &'c (dyn Fn(&mut Document) -> Result<()> + Send + Sync);

/// The verbs on documents. The requests are authorized.
pub trait Backend: Send + Sync {
    /// The server of a hook, for clients that outlive the hook's request.
    fn shared(&self) -> Arc<dyn Backend>;

    /// The kind of a resource.
    ///
    /// # Errors
    /// 500 if it is not served, as for all verbs.
    fn kind(&self, resource: &ResourceDecl) -> Result<Arc<Kind>>;

    /// Asks whether a user may do this. Fails with 403 if not.
    fn authorize<'a>(&'a self, user: &'a User, access: &'a Access) -> Answer<'a, ()>;

    /// Returns an object, or a subresource of it.
    fn get<'a>(&'a self, request: &'a Request, options: &'a GetOptions) -> Answer<'a, Document>;

    /// Returns the selected objects.
    fn list<'a>(&'a self, request: &'a Request, options: &'a ListOptions) -> Answer<'a, Items>;

    /// Returns changes as they happen.
    fn watch<'a>(&'a self, request: &'a Request, options: &'a ListOptions) -> Answer<'a, Events>;

    /// Stores a new object, and returns it.
    fn create<'a>(&'a self, request: &'a Request, object: Document, options: &'a WriteOptions) -> Answer<'a, Document>;

    /// Replaces an object, its status or its scale.
    fn update<'a>(&'a self, request: &'a Request, object: Document, options: &'a WriteOptions) -> Answer<'a, Document>;

    /// Applies a patch.
    fn patch<'a>(
        &'a self,
        request: &'a Request,
        patch: Patch<Document>,
        options: &'a PatchOptions,
    ) -> Answer<'a, Document>;

    /// Changes an object by code, which runs again on the newer object if another write came first.
    fn change<'a>(
        &'a self,
        request: &'a Request,
        change: Change<'a>,
        options: &'a WriteOptions,
    ) -> Answer<'a, Document>;

    /// Deletes an object. Returns it if it waits for its finalizers or its grace period.
    fn delete<'a>(&'a self, request: &'a Request, options: &'a DeleteOptions) -> Answer<'a, Option<Item>>;

    /// Deletes the selected objects, and returns their last states.
    fn delete_collection<'a>(
        &'a self,
        request: &'a Request,
        options: &'a DeleteOptions,
        selected: &'a ListOptions,
    ) -> Answer<'a, Items>;
}
