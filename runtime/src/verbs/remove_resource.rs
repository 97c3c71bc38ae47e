//! Removal of a resource while the server runs: of its stored objects, and then of the resource.
use std::sync::Arc;

use super::{
    Verbs,
    delete_collection::{AT_ONCE, Concurrent, all},
};
use crate::{
    cache,
    meta::Revision,
    registry::Registered,
    storage::{CommitError, Expect, Op},
};

/// The number of deletions in one commit.
const PIECE: usize = 256;
/// The maximum number of passes while the resource is served, in case a client keeps creating objects.
const PASSES: usize = 3;

/// The keys of a commit of deletions, and its result.
type Tried<'k> = (&'k [Arc<str>], Result<Vec<Revision>, CommitError>);

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
    pub async fn remove_resource(self: &Arc<Self>, served: &Arc<Registered>) -> Result<usize, CommitError> {
        let mut deleted = 0;
        for _ in 0..PASSES {
            if !self.registry.serves(served) {
                return Ok(deleted);
            }
            deleted += self.delete_stored(&served.objects).await?;
        }
        let (api, served) = (self.clone(), served.clone());
        let resource = served.kind.group_resource();
        let removed = tokio::task::spawn_blocking(move || api.registry.remove(&served)).await;
        removed.map_err(|error| CommitError::Unknown(format!("removing {resource} broke off: {error}")))?;
        Ok(deleted)
    }

    /// Deletes the objects of the newest state, in pieces.
    async fn delete_stored(&self, objects: &cache::Resource) -> Result<usize, CommitError> {
        let snapshot = objects.snapshot();
        let mut deleted = 0;
        let keys: Vec<Arc<str>> =
            snapshot.range("", None).map(|object| format!("{}{}", objects.prefix(), object.key()).into()).collect();
        // The transactions of a shared store take one key of a resource.
        let piece = if self.has_peers { 1 } else { PIECE };
        let mut pieces: Vec<&[Arc<str>]> = keys.chunks(piece).rev().collect();
        while !pieces.is_empty() {
            let some = pieces.split_off(pieces.len().saturating_sub(if self.has_peers { AT_ONCE } else { 1 }));
            let commits = some.into_iter().map(|piece| Box::pin(self.delete_piece(piece)) as Concurrent<'_, Tried<'_>>);
            for (piece, done) in all(commits.collect()).await {
                match done {
                    Ok(_) => deleted += piece.len(),
                    // One of them was deleted meanwhile: delete one by one.
                    Err(CommitError::Conflict { .. }) if piece.len() > 1 => pieces.extend(piece.chunks(1).rev()),
                    Err(CommitError::Conflict { .. }) => {}
                    Err(error) => return Err(error),
                }
            }
        }
        self.cache.reached(self.store.head()).await;
        Ok(deleted)
    }

    async fn delete_piece<'k>(&self, piece: &'k [Arc<str>]) -> Tried<'k> {
        let delete = |key: &Arc<str>| Op { key: key.clone(), value: None, expect: Expect::Any, lifetime: None };
        (piece, self.store.commit(piece.iter().map(delete).collect::<Vec<_>>().into()).await)
    }
}
