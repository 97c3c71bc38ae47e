//! Budgets in bytes for what waits: bodies of requests, the objects that writes read, commits in a store's queue.
//!
//! There is one rule: work that finds no room waits for it, first come, first served, for ten seconds at most. Each budget
//! is separate, and a write takes its shares in the order above, so that no two writes can wait for each other.

use std::{sync::Arc, time::Duration};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// The size of each budget, unless it is configured: twenty of the largest requests.
pub const BYTES: usize = 64 << 20;

/// How long to wait for a share. Slow senders of bodies cannot hold one longer than a body may take to arrive.
const PATIENCE: Duration = Duration::from_secs(10);

/// The unit of shares.
const UNIT: usize = 1 << 10;

/// A number of bytes, of which shares are taken.
#[derive(Debug)]
pub struct Budget {
    room: Arc<Semaphore>,
    units: u32,
}

/// A share of a budget, returned on drop.
#[derive(Debug)]
pub struct Share(OwnedSemaphorePermit);

impl Share {
    /// Its size in bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.0.num_permits() * UNIT
    }
}

impl Budget {
    /// A budget of so many bytes.
    pub fn new(bytes: usize) -> Self {
        // A semaphore has fewer permits than this on any machine.
        let units = u32::try_from(bytes.div_ceil(UNIT)).unwrap_or(u32::MAX >> 3).clamp(1, u32::MAX >> 3);
        Self { room: Arc::new(Semaphore::new(units as usize)), units }
    }

    /// Takes a share for this many bytes at once; at most all there is. `None` if there is no room, or others wait.
    pub(crate) fn take(&self, bytes: usize) -> Option<Share> {
        self.room.clone().try_acquire_many_owned(self.units_of(bytes)).ok().map(Share)
    }

    /// Waits for a share. `None` if there was no room in time.
    pub async fn wait(&self, bytes: usize) -> Option<Share> {
        let share = self.room.clone().acquire_many_owned(self.units_of(bytes));
        tokio::time::timeout(PATIENCE, share).await.ok()?.ok().map(Share)
    }

    fn units_of(&self, bytes: usize) -> u32 {
        u32::try_from(bytes.div_ceil(UNIT)).unwrap_or(u32::MAX).min(self.units)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn who_finds_no_room_waits_and_gives_up() {
        let budget = Arc::new(Budget::new(10_000));
        let all = budget.wait(usize::MAX).await.expect("it is empty");
        assert!(budget.take(1).is_none() && budget.wait(1).await.is_none(), "none was free in time");
        let (waiting, later) = (budget.clone(), budget.clone());
        let waiting = tokio::spawn(async move { waiting.wait(8_000).await });
        tokio::task::yield_now().await;
        let later = tokio::spawn(async move { later.wait(1).await });
        tokio::task::yield_now().await;
        drop(all);
        assert!(budget.take(5_000).is_none(), "earlier waiters come first");
        let share = waiting.await.unwrap().expect("there is room");
        assert_eq!(share.bytes(), 8 << 10);
        assert!(later.await.unwrap().is_some());
        assert!(budget.take(2_000).is_some());
    }
}
