//! When definitions that failed are tried again, and objects that could not be read.
use std::{mem, time::Duration};

use tokio::time::Instant;

use super::{Definitions, LONGEST_WAIT, WAIT};

/// When something is tried again.
pub(super) struct Retry {
    pub at: Instant,
    pub wait: Duration,
}

impl Retry {
    /// At once.
    pub(super) fn now() -> Self {
        Self { at: Instant::now(), wait: Duration::ZERO }
    }

    /// After this time.
    pub(super) fn after(wait: Duration) -> Self {
        Self { at: Instant::now() + wait, wait }
    }

    /// After twice the time, within these bounds.
    pub(super) fn longer(&self, first: Duration, longest: Duration) -> Self {
        Self::after(longest.min(first.max(self.wait * 2)))
    }
}

impl Definitions {
    /// Tries failed definitions again, after twice the time if some fail again.
    pub(super) async fn try_again(&mut self) {
        for name in mem::take(&mut self.failed) {
            self.settle(&name).await;
            if self.servings.has(&name) {
                self.retrying.insert(name);
            }
        }
        self.retry = self.retry.longer(WAIT, LONGEST_WAIT);
        self.end_retrying();
    }

    /// Begins with short waits again if no definition fails any more.
    pub(super) fn end_retrying(&mut self) {
        let Self { failed, retrying, servings, .. } = self;
        retrying.retain(|name| servings.has(name));
        if failed.is_empty() && retrying.is_empty() {
            self.retry.wait = WAIT;
        }
    }

    /// Notes that a definition is to be tried again.
    pub(super) fn note_failure(&mut self, name: &str) {
        if self.failed.is_empty() {
            self.retry.at = Instant::now() + self.retry.wait;
        }
        self.retrying.remove(name);
        self.failed.insert(name.to_owned());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn each_wait_is_twice_as_long_within_bounds() {
        let (first, longest) = (Duration::from_secs(2), Duration::from_secs(5));
        let mut retry = Retry::now();
        for seconds in [2, 4, 5, 5] {
            retry = retry.longer(first, longest);
            assert_eq!((retry.wait, retry.at), (Duration::from_secs(seconds), Instant::now() + retry.wait));
        }
    }
}
