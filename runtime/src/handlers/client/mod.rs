//! A typed client inside the process: the API's verbs with the Rust types of kinds. It uses the same pipeline as
//! requests, but neither authentication nor authorization, because its holder is the server's own code.

mod list;
mod objects;
mod patch;
mod scale;
#[cfg(test)]
mod tests;
mod typed;
mod watch;

use std::{marker::PhantomData, sync::Arc};

pub use list::{InvalidObject, List};
pub use objects::Objects;
pub use patch::Patch;
pub use scale::{Scale, ScaleSpec, ScaleStatus};
pub(super) use typed::{on_type, parsed};
pub use watch::{Watch, WatchEvent};

use super::Object;
use crate::{
    auth::User,
    meta::options::{PatchOptions, WriteOptions},
    verbs::Verbs,
};

/// A typed client inside the process. Its methods, and the Status in errors, have the names and meanings of kube-rs.
///
/// ```
/// # use kindsmith::{builtin::ConfigMap, ObjectMeta, client::{Client, Patch}, handlers::Result};
/// # use serde_json::json;
/// # async fn run(client: Client) -> Result<()> {
/// let maps = client.of::<ConfigMap>("default");
/// let map = maps.create(&ConfigMap { metadata: ObjectMeta::named("settings"), ..ConfigMap::default() }).await?;
/// maps.change("settings", |map| {
///     map.data.insert("colour".into(), "green".into());
///     Ok(())
/// }).await?;
/// maps.patch("settings", &Patch::Merge(json!({"data": {"size": "large"}}))).await?;
/// assert_eq!(maps.list(&Default::default()).await?.items.len(), 1);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Client {
    api: Arc<Verbs>,
    user: Arc<User>,
    options: PatchOptions,
}

impl Client {
    /// A client that acts as the server itself, with a field manager.
    pub(crate) fn new(api: Arc<Verbs>, field_manager: impl Into<String>) -> Self {
        let options = WriteOptions { field_manager: field_manager.into(), ..WriteOptions::default() };
        Self::acting_as(api, Arc::new(User::system()), options)
    }

    pub(super) fn acting_as(api: Arc<Verbs>, user: Arc<User>, write: WriteOptions) -> Self {
        Self { api, user, options: PatchOptions { write, force: false } }
    }

    /// The objects of a kind in a namespace. An empty namespace means all namespaces in lists and watches, or a
    /// cluster-scoped kind.
    pub fn of<K: Object>(&self, namespace: impl Into<String>) -> Objects<K> {
        Objects { client: self.clone(), namespace: namespace.into(), kind: PhantomData }
    }
}
