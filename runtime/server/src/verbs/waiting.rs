//! Waiting for the user's code: hooks and admission may take long, and may themselves wait for other requests to this
//! server. So nothing that other requests wait for is held meanwhile: neither the turn of a writer nor the slot of a
//! heavy request. Only a writer that has lost many races holds them, for a limited time.
use std::{future::poll_fn, pin::pin, sync::Arc, time::Duration};

use tokio::{
    sync::Semaphore,
    time::{sleep, timeout},
};

use super::turns::{ReleasablePermit, Turn};

tokio::task_local! {
    /// The slot of the running request, if it is heavy.
    static SLOT: Arc<Slot>;
    /// The turn of the running write. The user's code has none: its own writes wait for turns of their own.
    static TURN: Option<Arc<Turn>>;
}

/// One of the few slots of heavy requests, held while the request is processed, except while the user's code waits.
pub(crate) struct Slot(ReleasablePermit);

impl Slot {
    /// Waits for a free slot.
    pub(crate) async fn take(slots: &Arc<Semaphore>) -> Arc<Self> {
        let slot = Arc::new(Self(ReleasablePermit::of(slots)));
        slot.0.wait().await;
        slot
    }

    /// True in the processing of a heavy request, on a thread for slow work.
    pub(crate) fn is_taken() -> bool {
        SLOT.try_with(|_| ()).is_ok()
    }

    /// Processes a request in this slot.
    pub(crate) async fn run<T>(self: Arc<Self>, work: impl Future<Output = T>) -> T {
        SLOT.scope(self, work).await
    }
}

/// Makes a try of a write, during which the writer may have a turn.
pub(super) async fn in_turn<T>(turn: Option<Arc<Turn>>, work: impl Future<Output = T>) -> T {
    TURN.scope(turn, work).await
}

/// Awaits the user's code. If it waits, the request's slot is released until it is done, and the writer's turn for the
/// rest of this try. A writer that has lost too often keeps both for a limited time.
pub(super) async fn outside<T>(code: impl Future<Output = T>) -> T {
    let (slot, turn) = (SLOT.try_with(Arc::clone).ok(), TURN.try_with(Clone::clone).ok().flatten());
    let (mut code, mut released) = (pin!(in_turn(None, code)), false);
    let mut kept = None;
    let done = poll_fn(|context| {
        let polled = code.as_mut().poll(context);
        let keeps = polled.is_pending()
            && turn.as_ref().is_some_and(|turn| {
                kept = kept.take().or_else(|| turn.kept_for().map(|time| Box::pin(sleep(time))));
                kept.as_mut().is_some_and(|kept| kept.as_mut().poll(context).is_pending())
            });
        if polled.is_pending() && !keeps {
            // Both: a writer that held only a turn would wait for a slot that another writer of the object holds.
            if let Some(slot) = &slot {
                released |= slot.0.release();
            }
            if let Some(turn) = &turn {
                turn.permit.release();
            }
        }
        polled
    })
    .await;
    // Code around this one that has released the slot takes it back itself: here, a turn may be held.
    if let Some(slot) = slot.filter(|_| released) {
        slot.0.wait().await;
    }
    done
}

/// How long a webhook is waited for whose conversion is not needed: deletions and removals of finalizers succeed without.
const UNNEEDED_WITHIN: Duration = Duration::from_secs(3);

/// Awaits a conversion that is not needed. `None` if it was not done in time.
pub(super) async fn unneeded<T>(conversion: impl Future<Output = T>) -> Option<T> {
    // The time is within: what is outside ends by taking the slot back.
    outside(timeout(UNNEEDED_WITHIN, conversion)).await.ok()
}

#[cfg(test)]
mod tests {
    use std::future::{pending, ready};

    use tokio::task::yield_now;

    use super::*;
    use crate::verbs::turns::Turns;

    #[tokio::test]
    async fn waiting_code_may_wait_for_the_slot_and_the_turn_of_its_own_request() {
        let (slots, turns) = (Arc::new(Semaphore::new(1)), Turns::default());
        let turn = Arc::new(turns.at("/things/", "a"));
        turn.permit.wait().await;
        let slot = Slot::take(&slots).await;
        let nested = async {
            turns.at("/things/", "a").permit.wait().await;
            let other = Slot::take(&slots).await;
            other.run(outside(yield_now())).await;
        };
        slot.clone().run(in_turn(Some(turn.clone()), outside(nested))).await;
        assert!(slot.0.is_held(), "the request goes on in a slot");
        assert_eq!(slots.available_permits(), 0);
    }

    #[tokio::test(start_paused = true)]
    async fn a_request_that_does_not_wait_for_a_conversion_any_more_goes_on_in_its_slot() {
        let slots = Arc::new(Semaphore::new(1));
        let slot = Slot::take(&slots).await;
        assert!(slot.clone().run(unneeded(pending::<()>())).await.is_none());
        assert!(slot.0.is_held());
    }

    #[tokio::test]
    async fn code_of_code_that_waits_releases_the_slot_again() {
        let slots = Arc::new(Semaphore::new(1));
        let nested = async {
            outside(yield_now()).await;
            Slot::take(&slots).await;
        };
        Slot::take(&slots).await.run(outside(nested)).await;
    }

    #[tokio::test]
    async fn code_in_code_that_waits_does_not_wait_for_a_slot_while_it_holds_a_turn() {
        let (slots, turns) = (Arc::new(Semaphore::new(1)), Turns::default());
        let nested = async {
            yield_now().await;
            // Another request has the slot now, and waits for the turn that this one holds.
            let _other = slots.clone().acquire_owned().await;
            let turn = Arc::new(turns.at("/things/", "a"));
            turn.permit.wait().await;
            in_turn(Some(turn.clone()), outside(ready(()))).await;
            assert!(turn.permit.is_held());
        };
        Slot::take(&slots).await.run(outside(nested)).await;
    }

    #[tokio::test]
    async fn code_that_does_not_wait_keeps_the_slot_and_the_turn() {
        let (slots, turns) = (Arc::new(Semaphore::new(1)), Turns::default());
        let turn = Arc::new(turns.at("/things/", "a"));
        turn.permit.wait().await;
        let code = async { slots.available_permits() };
        assert_eq!(Slot::take(&slots).await.run(in_turn(Some(turn.clone()), outside(code))).await, 0);
        assert!(slots.available_permits() == 1 && turn.permit.is_held());
    }

    #[tokio::test(start_paused = true)]
    async fn a_writer_that_has_lost_often_keeps_its_turn_until_its_code_has_waited_too_long() {
        let turns = Turns::default();
        let turn = Arc::new(turns.at("/things/", "a"));
        for _ in 0..5 {
            turn.again().await;
        }
        in_turn(Some(turn.clone()), outside(yield_now())).await;
        assert!(turn.permit.is_held());
        let slots = Arc::new(Semaphore::new(1));
        let slot = Slot::take(&slots).await;
        slot.clone().run(in_turn(Some(turn.clone()), outside(yield_now()))).await;
        assert!(turn.permit.is_held() && slot.0.is_held(), "others in a slot may wait for the turn");
        drop(slot);
        // Code that itself writes the object waits for the turn.
        let nested = async { turns.at("/things/", "a").permit.wait().await };
        in_turn(Some(turn.clone()), outside(nested)).await;
        assert!(!turn.permit.is_held());
    }
}
