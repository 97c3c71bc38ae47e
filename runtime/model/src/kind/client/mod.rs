//! A typed client inside the process: the API's verbs with the Rust types of kinds. It uses the same pipeline as
//! requests, but neither authentication nor authorization, because its holder is the server's own code.

mod access;
pub mod backend;
mod list;
mod objects;
mod patch;
mod reply;
mod scale;
mod typed;
mod watch;

use std::{marker::PhantomData, sync::Arc};

pub use access::Access;
pub use backend::Backend;
pub use list::{InvalidObject, List};
pub use objects::Objects;
pub use patch::Patch;
pub use reply::Reply;
pub use scale::{Scale, ScaleSpec, ScaleStatus};
pub use typed::{Object, decode, encode, on_type};
pub use watch::{Watch, WatchEvent};

use crate::meta::{
    User,
    options::{PatchOptions, WriteOptions},
};

/// A typed client inside the process. Its methods, and the Status in errors, have the names and meanings of kube-rs.
///
/// ```
/// # extern crate kindsmith_model as kindsmith;
/// # use kindsmith::{ApiType, ObjectMeta, Resource, kind::client::{Client, Patch}, meta::refusal::Result};
/// # use serde_json::json;
/// # use serde::{Deserialize, Serialize};
/// # #[derive(Resource, Clone, Debug)]
/// # #[resource(group = "library.example.com", version = "v1")]
/// # pub struct Book { pub metadata: ObjectMeta, pub spec: BookSpec }
/// # #[derive(ApiType, Clone, Debug, Serialize, Deserialize)]
/// # pub struct BookSpec { pub genre: String }
/// # async fn run(client: Client) -> Result<()> {
/// let books = client.of::<Book>("default");
/// let spec = BookSpec { genre: "novel".into() };
/// let book = books.create(&Book { metadata: ObjectMeta::named("emma"), spec }).await?;
/// books.change("emma", |book| {
///     book.spec.genre = "satire".into();
///     Ok(())
/// }).await?;
/// books.patch("emma", &Patch::Merge(json!({"metadata": {"labels": {"shelf": "a"}}}))).await?;
/// assert_eq!(books.list(&Default::default()).await?.items.len(), 1);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Client {
    backend: Arc<dyn Backend>,
    user: Arc<User>,
    options: PatchOptions,
}

impl Client {
    /// A client that acts as the server itself, with a field manager.
    pub fn new(backend: Arc<dyn Backend>, field_manager: impl Into<String>) -> Self {
        let options = WriteOptions { field_manager: field_manager.into(), ..WriteOptions::default() };
        Self::acting_as(backend, Arc::new(User::system()), options)
    }

    /// A client that acts as a user.
    pub fn acting_as(backend: Arc<dyn Backend>, user: Arc<User>, write: WriteOptions) -> Self {
        Self { backend, user, options: PatchOptions { write, force: false } }
    }

    /// The objects of a kind in a namespace. An empty namespace means all namespaces in lists and watches, or a
    /// cluster-scoped kind.
    pub fn of<K: Object>(&self, namespace: impl Into<String>) -> Objects<K> {
        Objects { client: self.clone(), namespace: namespace.into(), kind: PhantomData }
    }
}
