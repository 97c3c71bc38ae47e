//! The tasks of a controller, and what each is about. They are cancelled on drop.
use std::{collections::HashMap, future::Future};

use tokio::task::{Id, JoinError, JoinSet};

/// Running tasks with a result of type `T`, each about an `A`.
pub(super) struct Tasks<A, T> {
    set: JoinSet<T>,
    about: HashMap<Id, A>,
}

impl<A, T> Default for Tasks<A, T> {
    fn default() -> Self {
        Self { set: JoinSet::new(), about: HashMap::new() }
    }
}

impl<A, T: Send + 'static> Tasks<A, T> {
    /// Starts a task.
    pub(super) fn spawn(&mut self, about: A, work: impl Future<Output = T> + Send + 'static) {
        let task = self.set.spawn(work);
        self.about.insert(task.id(), about);
    }

    /// Waits for the end of a task; `None` if none is running. Safe to cancel.
    pub(super) async fn next(&mut self) -> Option<(A, Result<T, JoinError>)> {
        let (id, result) = match self.set.join_next_with_id().await? {
            Ok((id, result)) => (id, Ok(result)),
            Err(broken) => (broken.id(), Err(broken)),
        };
        Some((self.about.remove(&id).expect("each task is about something"), result))
    }

    /// What the running tasks are about.
    pub(super) fn about(&self) -> impl ExactSizeIterator<Item = &A> {
        self.about.values()
    }

    /// Cancels all tasks, and waits until they have ended.
    pub(super) async fn shutdown(&mut self) {
        self.set.shutdown().await;
    }
}
