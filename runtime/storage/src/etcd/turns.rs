//! Work that one caller does for all callers that need it. If it fails, it fails for all waiting callers: otherwise
//! each of them would try in turn, and the last one would wait for the failures of all before it.

use std::{
    ops::{Deref, DerefMut},
    time::Instant,
};

use tokio::sync::{Mutex, MutexGuard};

/// The value that the work is done on, and the queue of callers.
pub(super) struct Turns<T, E> {
    state: Mutex<State<T, E>>,
}

struct State<T, E> {
    value: T,
    /// The last failure, and when it was.
    failed: Option<(Instant, E)>,
}

/// The turn of one caller. Other callers wait until it is dropped.
pub(super) struct Turn<'a, T, E>(MutexGuard<'a, State<T, E>>);

impl<T, E: Clone> Turns<T, E> {
    pub(super) fn new(value: T) -> Self {
        Self { state: Mutex::new(State { value, failed: None }) }
    }

    /// Waits for a turn.
    ///
    /// # Errors
    /// The failure of another turn that has ended meanwhile.
    pub(super) async fn wait(&self) -> Result<Turn<'_, T, E>, E> {
        let since = Instant::now();
        let state = self.state.lock().await;
        match &state.failed {
            Some((at, failure)) if *at > since => Err(failure.clone()),
            _ => Ok(Turn(state)),
        }
    }
}

impl<T, E: Clone> Turn<'_, T, E> {
    /// Ends the turn with a failure, which is returned.
    pub(super) fn fail(mut self, failure: E) -> E {
        self.0.failed = Some((Instant::now(), failure.clone()));
        failure
    }
}

impl<T, E> Deref for Turn<'_, T, E> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0.value
    }
}

impl<T, E> DerefMut for Turn<'_, T, E> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.0.value
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn who_waits_while_a_turn_fails_gets_the_failure() {
        let turns = Turns::<(), &str>::new(());
        let turn = turns.wait().await.expect("the first turn");
        let (second, third, _) = tokio::join!(turns.wait(), turns.wait(), async { turn.fail("why") });
        assert_eq!((second.err(), third.err()), (Some("why"), Some("why")));
        assert!(turns.wait().await.is_ok(), "who comes later tries");
    }
}
