//! Tries of a write: it is made again if another write of the object came first.
use super::{Error, Request, turns::Turn};

/// Why a write was not made.
pub(super) enum WriteFailure {
    /// Another write of the object came first, which readers see by now.
    Lost,
    Refused(Error),
}

impl From<Error> for WriteFailure {
    fn from(error: Error) -> Self {
        Self::Refused(error)
    }
}

/// The maximum number of tries. A try fails only if another write succeeds, so progress is guaranteed; the limit keeps
/// a single request from running for ever against many others.
const TRIES: usize = 64;

/// The remaining tries of an operation.
pub(crate) struct Retry<'t> {
    /// The number of tries left after the current one.
    left: usize,
    turn: Option<&'t Turn>,
}

impl<'t> Retry<'t> {
    /// For an operation that does not wait for its turn, because its callees do.
    pub(crate) fn alone() -> Self {
        Self { left: TRIES - 1, turn: None }
    }

    /// For a writer that waits for its turn while others write the same object, even before the first try if others
    /// wait.
    pub(super) async fn in_turn(turn: &'t Turn) -> Self {
        turn.queue_up().await;
        Self { turn: Some(turn), ..Self::alone() }
    }

    /// Makes a try of a write. `None` if it has lost and can be made again; fails with [`Error::Conflict`] if no tries are
    /// left.
    pub(super) async fn run<T>(
        &mut self,
        request: &Request,
        attempt: impl Future<Output = Result<T, WriteFailure>>,
    ) -> Result<Option<T>, Error> {
        request.meter.begin_again();
        match attempt.await {
            Ok(done) => Ok(Some(done)),
            Err(WriteFailure::Refused(error)) => Err(error),
            Err(WriteFailure::Lost) if self.again().await => Ok(None),
            Err(WriteFailure::Lost) => Err(request.modified()),
        }
    }

    /// Called after a lost race: waits for the turn. Returns false if no tries are left.
    pub(crate) async fn again(&mut self) -> bool {
        if self.left == 0 {
            return false;
        }
        self.left -= 1;
        if let Some(turn) = self.turn {
            turn.again().await;
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn tries_are_counted() {
        let (mut retry, mut made) = (Retry::alone(), 1);
        while retry.again().await {
            made += 1;
        }
        assert_eq!(made, TRIES);
        assert!(!retry.again().await);
    }
}
