//! How often work is done again where another write came first: one policy for all who write.
use super::turns::Turn;

/// How often something is tried. A try is lost only to another write that was stored, so this ends by itself; the bound
/// keeps one request from working for ever for a client that writes against many others.
const TRIES: usize = 64;

/// The tries of one piece of work.
pub struct Retry<'t> {
    /// How many are left after the one that is made.
    left: usize,
    turn: Option<Turn<'t>>,
}

impl Retry<'static> {
    /// Of work that does not wait for others: what it calls does.
    pub fn alone() -> Self {
        Self { left: TRIES - 1, turn: None }
    }
}

impl<'t> Retry<'t> {
    /// Of a writer who waits for its turn where others write the same object; before the first try, too, where others wait.
    pub(super) async fn in_turn(mut turn: Turn<'t>) -> Self {
        turn.begin().await;
        Self { left: TRIES - 1, turn: Some(turn) }
    }

    /// After a try that was lost: waits for the turn. False where all tries are used up.
    pub async fn again(&mut self) -> bool {
        if self.left == 0 {
            return false;
        }
        self.left -= 1;
        if let Some(turn) = &mut self.turn {
            turn.wait().await;
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
