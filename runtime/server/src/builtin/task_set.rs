//! The tasks of a controller, and what each is about. They are cancelled on drop.
use std::{
    borrow::Borrow,
    collections::{HashMap, HashSet},
    future::Future,
    hash::Hash,
};

use tokio::task::{Id, JoinError, JoinSet};

use crate::tasks::boxed;

/// Running tasks with a result of type `T`, each about an `A`.
pub(super) struct Tasks<A, T> {
    set: JoinSet<T>,
    about: HashMap<Id, A>,
    /// The values of `about`.
    running: HashSet<A>,
}

impl<A, T> Default for Tasks<A, T> {
    fn default() -> Self {
        Self { set: JoinSet::new(), about: HashMap::new(), running: HashSet::new() }
    }
}

impl<A: Clone + Eq + Hash, T: Send + 'static> Tasks<A, T> {
    /// Starts a task.
    pub(super) fn spawn(&mut self, about: A, work: impl Future<Output = T> + Send + 'static) {
        let task = self.set.spawn(boxed(work));
        self.running.insert(about.clone());
        self.about.insert(task.id(), about);
    }

    /// Waits for the end of a task; `None` if none is running. Safe to cancel.
    pub(super) async fn next(&mut self) -> Option<(A, Result<T, JoinError>)> {
        let (id, result) = match self.set.join_next_with_id().await? {
            Ok((id, result)) => (id, Ok(result)),
            Err(broken) => (broken.id(), Err(broken)),
        };
        let about = self.about.remove(&id).expect("each task is about something");
        self.running.remove(&about);
        Some((about, result))
    }

    /// True if a running task is about this, for callers that start no second one then.
    pub(super) fn has<Q: Eq + Hash + ?Sized>(&self, about: &Q) -> bool
    where
        A: Borrow<Q>,
    {
        self.running.contains(about)
    }

    /// The number of running tasks.
    pub(super) fn len(&self) -> usize {
        self.about.len()
    }

    /// Cancels all tasks, and waits until they have ended.
    pub(super) async fn shutdown(&mut self) {
        self.set.shutdown().await;
    }
}
