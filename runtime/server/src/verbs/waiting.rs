//! Waiting for the user's code: hooks and admission may take long, and may themselves wait for other requests to this
//! server. So nothing that other requests wait for is held meanwhile: neither the turn of a writer nor the slot of a
//! heavy request. Only a writer that has lost many races holds them, for a limited time.
use std::{future::poll_fn, pin::pin, sync::Arc, time::Duration};

use tokio::{
    sync::Semaphore,
    time::{sleep, timeout},
};

use super::{
    Request,
    turns::{ReleasablePermit, Turn},
};

/// How long a webhook is waited for whose conversion is not needed: deletions and removals of finalizers succeed without.
const UNNEEDED_WITHIN: Duration = Duration::from_secs(3);

/// One of the few slots of heavy requests, held while the request is processed, except while the user's code waits.
pub(crate) struct Slot(ReleasablePermit);

impl Slot {
    /// Waits for a free slot.
    pub(crate) async fn take(slots: &Arc<Semaphore>) -> Arc<Self> {
        let slot = Arc::new(Self(ReleasablePermit::of(slots)));
        slot.0.wait().await;
        slot
    }
}

/// What a request holds that other requests wait for.
#[derive(Clone, Copy)]
pub(super) struct Permits<'a> {
    /// The slot of a heavy request.
    slot: Option<&'a Slot>,
    /// The writer's turn.
    turn: Option<&'a Turn>,
}

impl Request {
    /// What the request holds before it writes.
    pub(super) fn permits(&self) -> Permits<'_> {
        Permits { slot: self.slot.as_deref(), turn: None }
    }
}

impl<'a> Permits<'a> {
    /// The same for a writer that may have a turn.
    pub(super) fn with_turn(self, turn: &'a Turn) -> Self {
        Self { turn: Some(turn), ..self }
    }

    /// Awaits the user's code outside of these. If it waits, the request's slot is released until it is done, and the
    /// writer's turn for the rest of this try. A writer that has lost too often keeps both for a limited time. The code's own
    /// requests to this server have permits of their own.
    pub(super) async fn outside<T>(self, code: impl Future<Output = T>) -> T {
        let Self { slot, turn } = self;
        let (mut code, mut released) = (pin!(code), false);
        let mut kept = None;
        let done = poll_fn(|context| {
            let polled = code.as_mut().poll(context);
            let keeps = polled.is_pending()
                && turn.is_some_and(|turn| {
                    kept = kept.take().or_else(|| turn.kept_for().map(|time| Box::pin(sleep(time))));
                    kept.as_mut().is_some_and(|kept| kept.as_mut().poll(context).is_pending())
                });
            if polled.is_pending() && !keeps {
                // Both: a writer that held only a turn would wait for a slot that another writer of the object holds.
                released |= slot.is_some_and(|slot| slot.0.release());
                if let Some(turn) = turn {
                    turn.permit.release();
                }
            }
            polled
        })
        .await;
        // The try goes on as heavy work. The turn stays released until it has lost again.
        if let Some(slot) = slot.filter(|_| released) {
            slot.0.wait().await;
        }
        done
    }

    /// Awaits a conversion that is not needed. `None` if it was not done in time.
    pub(super) async fn unneeded<T>(self, conversion: impl Future<Output = T>) -> Option<T> {
        // The time is within: what is outside ends by taking the slot back.
        self.outside(timeout(UNNEEDED_WITHIN, conversion)).await.ok()
    }
}

#[cfg(test)]
mod tests {
    use std::future::pending;

    use tokio::task::yield_now;

    use super::*;
    use crate::verbs::turns::Turns;

    fn permits<'a>(slot: impl Into<Option<&'a Arc<Slot>>>, turn: impl Into<Option<&'a Turn>>) -> Permits<'a> {
        Permits { slot: slot.into().map(|slot| &**slot), turn: turn.into() }
    }

    #[tokio::test]
    async fn waiting_code_may_wait_for_the_slot_and_the_turn_of_its_own_request() {
        let (slots, turns) = (Arc::new(Semaphore::new(1)), Turns::default());
        let turn = turns.at("/things/", "a");
        turn.permit.wait().await;
        let slot = Slot::take(&slots).await;
        let nested = async {
            turns.at("/things/", "a").permit.wait().await;
            let other = Slot::take(&slots).await;
            permits(&other, None).outside(yield_now()).await;
        };
        permits(&slot, &turn).outside(nested).await;
        assert!(slot.0.is_held(), "the request goes on in a slot");
        assert_eq!(slots.available_permits(), 0);
    }

    #[tokio::test]
    async fn code_that_waits_again_releases_the_slot_again() {
        let slots = Arc::new(Semaphore::new(1));
        let slot = Slot::take(&slots).await;
        let code = async {
            yield_now().await;
            // What it has called has taken the slot back.
            slot.0.wait().await;
            yield_now().await;
            slots.available_permits()
        };
        assert_eq!(permits(&slot, None).outside(code).await, 1);
        assert!(slot.0.is_held());
    }

    #[tokio::test(start_paused = true)]
    async fn a_request_that_does_not_wait_for_a_conversion_any_more_goes_on_in_its_slot() {
        let slots = Arc::new(Semaphore::new(1));
        let slot = Slot::take(&slots).await;
        assert!(permits(&slot, None).unneeded(pending::<()>()).await.is_none());
        assert!(slot.0.is_held());
    }

    #[tokio::test]
    async fn code_that_does_not_wait_keeps_the_slot_and_the_turn() {
        let (slots, turns) = (Arc::new(Semaphore::new(1)), Turns::default());
        let turn = turns.at("/things/", "a");
        turn.permit.wait().await;
        let code = async { slots.available_permits() };
        assert_eq!(permits(&Slot::take(&slots).await, &turn).outside(code).await, 0);
        assert!(slots.available_permits() == 1 && turn.permit.is_held());
    }

    #[tokio::test(start_paused = true)]
    async fn a_writer_that_has_lost_often_keeps_its_turn_until_its_code_has_waited_too_long() {
        let turns = Turns::default();
        let turn = turns.at("/things/", "a");
        for _ in 0..5 {
            turn.again().await;
        }
        permits(None, &turn).outside(yield_now()).await;
        assert!(turn.permit.is_held());
        let slots = Arc::new(Semaphore::new(1));
        let slot = Slot::take(&slots).await;
        permits(&slot, &turn).outside(yield_now()).await;
        assert!(turn.permit.is_held() && slot.0.is_held(), "others in a slot may wait for the turn");
        drop(slot);
        // Code that itself writes the object waits for the turn.
        let nested = async { turns.at("/things/", "a").permit.wait().await };
        permits(None, &turn).outside(nested).await;
        assert!(!turn.permit.is_held());
    }
}
