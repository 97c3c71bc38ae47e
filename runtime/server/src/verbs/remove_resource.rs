//! Removal of a resource while the server runs: of its stored objects, and then of the resource.
use std::sync::Arc;

use super::Verbs;
use crate::{
    cache,
    registry::ResourceEntry,
    storage::{CommitError, Expect, Op},
    tasks,
};

/// The number of deletions that wait for the store at once.
const AT_ONCE: usize = 256;
/// The maximum number of passes while the resource is served, in case a client keeps creating objects.
const PASSES: usize = 3;

impl Verbs {
    /// Deletes all stored objects of a resource, whatever holds them, and then stops serving it. Its watches get all
    /// deletions and end. Returns the number of deleted objects.
    ///
    /// The row that declares the resource must be changed or deleted before, and stay so: then no write in progress can
    /// store an object afterwards. Delete the row only when this is done, so that a server that stops in between
    /// continues. Resources declared by the program have no such row; objects that earlier requests store after this
    /// remain. If the resource was replaced or removed before, this deletes nothing and returns zero.
    ///
    /// # Errors
    /// Those of the store. The resource is then still served, without some of its objects, and this can be called
    /// again.
    pub async fn remove_resource(self: &Arc<Self>, resource: &Arc<ResourceEntry>) -> Result<usize, CommitError> {
        let mut deleted = 0;
        for _ in 0..PASSES {
            if !self.registry.serves(resource) {
                return Ok(deleted);
            }
            deleted += self.delete_stored(&resource.objects).await?;
        }
        let (api, resource) = (self.clone(), resource.clone());
        let name = resource.kind.group_resource();
        let removed = tasks::blocking(move || api.registry.remove(&resource)).await;
        removed.map_err(|error| CommitError::Unknown(format!("removing {name} broke off: {error}")))?;
        Ok(deleted)
    }

    /// Deletes the objects of the newest state. Each deletion is a commit, because all operations of one may have the same
    /// revision, at which a watch could not resume between them.
    async fn delete_stored(&self, objects: &cache::Resource) -> Result<usize, CommitError> {
        let snapshot = objects.snapshot();
        let mut deleted = 0;
        let keys: Vec<Arc<str>> =
            snapshot.range("", None).map(|object| format!("{}{}", objects.prefix(), object.key()).into()).collect();
        for keys in keys.chunks(AT_ONCE) {
            let deletion = |key: &Arc<str>| Op { key: key.clone(), value: None, expect: Expect::Any, lifetime: None };
            let commits: Vec<_> = keys.iter().map(|key| self.store.commit(vec![deletion(key)].into())).collect();
            for commit in commits {
                match commit.await {
                    Ok(_) => deleted += 1,
                    // It was deleted meanwhile.
                    Err(CommitError::Conflict { .. }) => {}
                    Err(error) => return Err(error),
                }
            }
        }
        self.cache.reached(self.store.head()).await;
        Ok(deleted)
    }
}
