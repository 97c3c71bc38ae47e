//! One linearizable read for all callers who wait for one.

use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::oneshot;

use super::engine::Engine;
use crate::{ReadError, meta::Revision};

type Waiter = oneshot::Sender<Result<Revision, ReadError>>;

/// The callers who wait. Callers that come while a read is on its way share the next one: that read may have been answered
/// before a write that they know of.
#[derive(Default)]
pub(super) struct Confirms {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    is_reading: bool,
    waiting: Vec<Waiter>,
}

impl Confirms {
    /// Adds a caller. The result is its answer, and whether the caller must start [`run`].
    pub(super) fn join(&self) -> (oneshot::Receiver<Result<Revision, ReadError>>, bool) {
        let (sender, answer) = oneshot::channel();
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.waiting.push(sender);
        (answer, !std::mem::replace(&mut state.is_reading, true))
    }

    /// The waiting callers. `None` if no caller waits, which ends the reading.
    fn take(&self) -> Option<Vec<Waiter>> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.is_reading = !state.waiting.is_empty();
        state.is_reading.then(|| std::mem::take(&mut state.waiting))
    }
}

/// Reads until no caller waits.
pub(super) async fn run(engine: Arc<Engine>) {
    while let Some(waiting) = engine.confirms.take() {
        let answer = engine.newest().await;
        if let Ok(revision) = answer {
            engine.position.want(revision);
        }
        for waiter in waiting {
            // A caller may have given up.
            let _ = waiter.send(answer.clone());
        }
    }
}
