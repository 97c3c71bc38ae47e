//! Carries out decisions. Every write names the object and the revision that the decision was based on. It fails on a
//! newer state, and the collector then decides again.
use std::sync::Arc;

use serde_json::{Value, json};
use tokio::task::JoinSet;

use super::{decide::Action, facts::Facts};
use crate::{
    auth::User,
    meta::{
        OwnerReference, Revision,
        options::{DeleteOptions, PatchOptions, Preconditions, Propagation, WriteOptions},
    },
    registry::ResourceEntry,
    tasks::boxed,
    verbs::{Error, Patch, Request, Retry, Verbs},
};

/// The field manager of the collector's writes.
const MANAGER: &str = "garbage-collector";
/// The number of dependents that are orphaned concurrently.
const AT_ONCE: usize = 64;

/// Writes as the collector.
#[derive(Clone)]
pub(super) struct Writer {
    pub api: Arc<Verbs>,
    /// The user of the writes.
    pub user: Arc<User>,
}

/// One object: its kind, key and uid.
#[derive(Clone)]
pub(super) struct Target {
    /// The kind.
    pub resource: Arc<ResourceEntry>,
    /// The key below the resource's prefix.
    pub key: Box<str>,
    pub uid: Arc<str>,
}

impl Writer {
    /// Carries out a decision about an object at a revision; `orphans` are the dependents that lose it as their owner.
    ///
    /// # Errors
    /// The verb's error. A missing object is not an error.
    pub(super) async fn act(
        &self,
        target: &Target,
        action: Action,
        at: Revision,
        orphans: Vec<Target>,
    ) -> Result<(), Error> {
        let done = match action {
            Action::Leave | Action::AwaitKinds => Ok(()),
            Action::Delete(propagation) => self.delete(target, at, propagation).await,
            Action::SetOwners(owners) => self.set_owners(target, at, &owners).await,
            Action::SetFinalizers(finalizers) => {
                let finalizers = if finalizers.is_empty() { Value::Null } else { json!(finalizers) };
                self.patch(target, at, "finalizers", finalizers).await
            }
            Action::Orphan(_) => self.orphan(&target.uid, orphans).await,
        };
        match done {
            Err(Error::NotFound(..) | Error::NotServed) => Ok(()),
            other => other,
        }
    }

    async fn delete(&self, target: &Target, at: Revision, propagation: Propagation) -> Result<(), Error> {
        let preconditions = Preconditions { uid: Some(target.uid.to_string()), resource_version: Some(at.to_string()) };
        let options = DeleteOptions { preconditions, propagation: Some(propagation), ..DeleteOptions::default() };
        self.api.delete(&self.request(target), &options).await.map(drop)
    }

    async fn set_owners(&self, target: &Target, at: Revision, owners: &[OwnerReference]) -> Result<(), Error> {
        let owners = if owners.is_empty() { Value::Null } else { json!(owners) };
        self.patch(target, at, "ownerReferences", owners).await
    }

    async fn patch(&self, target: &Target, at: Revision, member: &str, value: Value) -> Result<(), Error> {
        let patch = json!({"metadata": {"resourceVersion": at.to_string(), member: value}});
        let write = WriteOptions { field_manager: MANAGER.to_owned(), ..WriteOptions::default() };
        let options = PatchOptions { write, force: false };
        self.api.patch(&self.request(target), Patch::Merge(patch.to_string().into()), &options).await.map(drop)
    }

    /// Removes an owner from its dependents. The owner is examined again once all of them are done.
    async fn orphan(&self, owner: &Arc<str>, dependents: Vec<Target>) -> Result<(), Error> {
        let mut tasks = JoinSet::new();
        let mut failed = Ok(());
        let mut note = |done: Result<Result<(), Error>, tokio::task::JoinError>| match done {
            Ok(Ok(()) | Err(Error::NotFound(..) | Error::NotServed)) => {}
            Ok(Err(error)) => failed = Err(error),
            Err(broken) => failed = Err(Error::Internal(broken.to_string())),
        };
        for dependent in dependents {
            if tasks.len() >= AT_ONCE
                && let Some(done) = tasks.join_next().await
            {
                note(done);
            }
            let (writer, owner) = (self.clone(), owner.clone());
            tasks.spawn(boxed(async move { writer.disown(&dependent, &owner).await }));
        }
        while let Some(done) = tasks.join_next().await {
            note(done);
        }
        failed
    }

    async fn disown(&self, dependent: &Target, owner: &str) -> Result<(), Error> {
        let mut retry = Retry::alone();
        loop {
            let Some(object) = dependent.resource.objects.snapshot().get(&dependent.key) else { return Ok(()) };
            let facts = Facts::of(&object);
            if facts.uid != dependent.uid || facts.owners.iter().all(|o| o.uid != owner) {
                return Ok(());
            }
            let others: Vec<_> = facts.owners.into_iter().filter(|o| o.uid != owner).collect();
            match self.set_owners(dependent, object.revision(), &others).await {
                Err(Error::Conflict(..)) => {}
                other => return other,
            }
            if !retry.again().await {
                return Err(Error::Unavailable(format!("{} is changed too often", dependent.key)));
            }
        }
    }

    fn request(&self, target: &Target) -> Request {
        Request::for_all(&self.user, &target.resource).at(&target.key)
    }
}
