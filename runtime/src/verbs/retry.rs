//! Retries after lost races: one policy for all writes.
use super::turns::Turn;

/// The maximum number of tries. A try fails only if another write succeeds, so progress is guaranteed; the limit keeps
/// a single request from running for ever against many others.
const TRIES: usize = 64;

/// The remaining tries of an operation.
pub(crate) struct Retry<'t> {
    /// The number of tries left after the current one.
    left: usize,
    turn: Option<&'t Turn>,
}

impl Retry<'static> {
    /// For an operation that does not wait for its turn, because its callees do.
    pub(crate) fn alone() -> Self {
        Self { left: TRIES - 1, turn: None }
    }
}

impl<'t> Retry<'t> {
    /// For a writer that waits for its turn while others write the same object, even before the first try if others
    /// wait.
    pub(super) async fn in_turn(turn: &'t Turn) -> Self {
        turn.begin().await;
        Self { left: TRIES - 1, turn: Some(turn) }
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
