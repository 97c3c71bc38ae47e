//! Removal of a resource while the server runs: of everything that is stored of it, and of what serves it.
use std::sync::Arc;

use super::Api;
use crate::{
    cache,
    meta::GroupResource,
    storage::{CommitError, Expect, Op},
};

/// Deletions of one commit.
const PIECE: usize = 256;
/// How often it is looked for objects while the resource is served. Somebody who goes on creating some must not keep it.
const PASSES: usize = 3;

impl Api {
    /// Deletes everything that is stored of a resource, whatever it waits for, then serves it no longer: its watches are told
    /// of each deletion, and end. Gives how many objects were deleted.
    ///
    /// Whatever declares the resource must be changed or deleted before, and must stay so: then no write that is under way
    /// can store an object afterwards. Where it is to go in the end, it is deleted when this is done, so that a server that
    /// stops in between finds that it has to go on. A resource that the program declares has no such row: what requests that
    /// began before store after this stays there.
    ///
    /// # Errors
    /// What the store says. The resource is served then as before, and some of its objects are gone: this can be called again.
    pub async fn remove_resource(self: &Arc<Self>, resource: &GroupResource) -> Result<usize, CommitError> {
        let mut deleted = 0;
        let Some(served) = self.registry.resource(resource) else { return Ok(deleted) };
        for _ in 0..PASSES {
            deleted += self.delete_stored(&served.objects).await?;
        }
        let (api, group, plural) = (self.clone(), resource.group.clone(), resource.resource.clone());
        let removed = tokio::task::spawn_blocking(move || api.registry.remove(&group, &plural)).await;
        removed.map_err(|error| CommitError::Unknown(format!("removing {resource} broke off: {error}")))?;
        Ok(deleted)
    }

    /// Deletes the objects of the newest state, in pieces.
    async fn delete_stored(&self, objects: &cache::Resource) -> Result<usize, CommitError> {
        let snapshot = objects.snapshot();
        let mut deleted = 0;
        let keys: Vec<Arc<str>> =
            snapshot.range("", None).map(|object| format!("{}{}", objects.prefix(), object.key()).into()).collect();
        for piece in keys.chunks(PIECE) {
            let delete = |key: &Arc<str>| Op { key: key.clone(), value: None, expect: Expect::Any };
            match self.store.commit(piece.iter().map(delete).collect::<Vec<_>>().into()).await {
                Ok(_) => deleted += piece.len(),
                // One of them went meanwhile: then one by one.
                Err(CommitError::Conflict { .. }) => {
                    for key in piece {
                        match self.store.commit(vec![delete(key)].into()).await {
                            Ok(_) => deleted += 1,
                            Err(CommitError::Conflict { .. }) => {}
                            Err(error) => return Err(error),
                        }
                    }
                }
                Err(error) => return Err(error),
            }
        }
        self.cache.reached(self.store.head()).await;
        Ok(deleted)
    }
}
