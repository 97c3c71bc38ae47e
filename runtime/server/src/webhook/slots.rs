//! Slots of calls: how many run at a time, to one webhook and in all, and how many wait for that.
//!
//! A webhook whose last call has timed out, or that was never called, shares a few slots with others like it, of which
//! it has only some. So webhooks that answer keep their slots, however many others do not answer. One that does not
//! answer leaves slots to others that have not answered yet.
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::sync::{Semaphore, SemaphorePermit};

use super::breaker::{Breaker, Call};

/// The maximum number of running calls to webhooks that have answered their last call.
const MOST_ANSWERING: usize = 48;
/// The maximum number of running calls to other webhooks.
const MOST_OTHERS: usize = 16;
/// The maximum number of running calls.
pub(super) const MOST_RUNNING: usize = MOST_ANSWERING + MOST_OTHERS;
/// The maximum number of running calls to one webhook.
const MOST_OF_ONE: usize = 16;
/// The same for one that has not answered its last call, or was never called.
const MOST_UNANSWERED: usize = 4;
/// The maximum number of calls that wait for one webhook.
const MOST_WAITING: usize = 256;

/// The slots of all webhooks.
pub(super) struct Slots {
    answering: Semaphore,
    others: Semaphore,
}

impl Default for Slots {
    fn default() -> Self {
        Self { answering: Semaphore::new(MOST_ANSWERING), others: Semaphore::new(MOST_OTHERS) }
    }
}

/// The slots of one webhook.
pub(super) struct Queue {
    pub breaker: Breaker,
    running: Semaphore,
    unanswered: Semaphore,
    waiting: AtomicUsize,
}

/// A call in its slots.
pub(super) struct Slot<'s> {
    pub call: Call<'s>,
    _held: [Option<SemaphorePermit<'s>>; 3],
}

/// A call that waits for its slots.
struct QueuedCall<'q>(&'q AtomicUsize);

impl Drop for QueuedCall<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Queue {
    pub(super) fn new(breaker: Breaker) -> Self {
        let (running, unanswered) = (Semaphore::new(MOST_OF_ONE), Semaphore::new(MOST_UNANSWERED));
        Self { breaker, running, unanswered, waiting: AtomicUsize::new(0) }
    }

    /// Waits for the slots of a call. Fails with the reason if the webhook is not called, or if too many calls wait.
    pub(super) async fn enter<'s>(&'s self, slots: &'s Slots) -> Result<Slot<'s>, String> {
        self.breaker.check()?;
        let queued_call = QueuedCall(&self.waiting);
        if self.waiting.fetch_add(1, Ordering::Relaxed) >= MOST_WAITING {
            return Err(format!("{MOST_WAITING} calls wait for it already"));
        }
        let of_one = acquire(&self.running).await;
        let mut unanswered = None;
        if !self.breaker.answers() {
            unanswered = Some(acquire(&self.unanswered).await);
        }
        // Not while the slots of all are held up by calls of this one.
        self.breaker.check()?;
        let of_all = if self.breaker.answers() {
            // The calls before this one were answered meanwhile.
            unanswered = None;
            acquire(&slots.answering).await
        } else {
            acquire(&slots.others).await
        };
        let call = self.breaker.begin()?;
        drop(queued_call);
        Ok(Slot { call, _held: [Some(of_one), unanswered, Some(of_all)] })
    }
}

async fn acquire(semaphore: &Semaphore) -> SemaphorePermit<'_> {
    semaphore.acquire().await.expect("the semaphore is never closed")
}

#[cfg(test)]
mod tests {
    use std::{
        pin::{Pin, pin},
        task::{Context, Poll, Waker},
        time::Duration,
    };

    use tokio::task::unconstrained;

    use super::*;

    /// The result of a future that is ready at once.
    fn now<T>(future: Pin<Box<impl Future<Output = T>>>) -> Option<T> {
        // Many are tried in one poll of the test, which has a budget.
        match pin!(unconstrained(future)).poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(done) => Some(done),
            Poll::Pending => None,
        }
    }

    fn queue() -> Queue {
        Queue::new(Breaker::new(Duration::from_secs(30)))
    }

    /// The queue of a webhook that has answered.
    async fn answering(slots: &Slots) -> Queue {
        let queue = queue();
        match queue.enter(slots).await {
            Ok(slot) => slot.call.answered(),
            Err(why) => panic!("{why}"),
        }
        queue
    }

    #[tokio::test]
    async fn a_webhook_that_does_not_answer_leaves_others_their_slots() {
        let slots = Slots::default();
        let well = answering(&slots).await;
        let silent: Vec<_> = (0..=MOST_OTHERS / MOST_UNANSWERED).map(|_| queue()).collect();
        let mut running = Vec::new();
        for (index, queue) in silent.iter().enumerate() {
            for _ in 0..MOST_OF_ONE {
                running.extend(now(Box::pin(queue.enter(&slots))).and_then(Result::ok));
            }
            assert_eq!(running.len(), MOST_OTHERS.min((index + 1) * MOST_UNANSWERED));
        }
        for _ in 0..MOST_OF_ONE {
            running.push(now(Box::pin(well.enter(&slots))).and_then(Result::ok).expect("it has slots of its own"));
        }
        assert!(now(Box::pin(well.enter(&slots))).is_none(), "one webhook has a limit");
    }

    #[tokio::test]
    async fn calls_that_wait_for_the_first_answer_go_on_in_other_slots() {
        let (slots, queue) = (Slots::default(), queue());
        let mut first = Vec::new();
        for _ in 0..MOST_UNANSWERED {
            first.push(now(Box::pin(queue.enter(&slots))).and_then(Result::ok).expect("there are slots"));
        }
        let mut others: Vec<_> = (MOST_UNANSWERED..MOST_OF_ONE).map(|_| Box::pin(queue.enter(&slots))).collect();
        let mut context = Context::from_waker(Waker::noop());
        assert!(others.iter_mut().all(|call| call.as_mut().poll(&mut context).is_pending()));
        {
            let answered = first.pop().expect("one is running");
            answered.call.answered();
        }
        assert!(others.iter_mut().all(|call| call.as_mut().poll(&mut context).is_ready()));
    }

    #[tokio::test]
    async fn few_calls_wait_for_one_webhook() {
        let slots = Slots::default();
        let queue = answering(&slots).await;
        let mut context = Context::from_waker(Waker::noop());
        let (mut running, mut waiting) = (Vec::new(), Vec::new());
        for _ in 0..MOST_OF_ONE + MOST_WAITING {
            let mut call = Box::pin(queue.enter(&slots));
            match call.as_mut().poll(&mut context) {
                Poll::Ready(slot) => running.extend(slot.ok()),
                Poll::Pending => waiting.push(call),
            }
        }
        assert_eq!((running.len(), waiting.len()), (MOST_OF_ONE, MOST_WAITING));
        let refused = queue.enter(&slots).await.err();
        assert_eq!(refused.as_deref(), Some("256 calls wait for it already"));
        drop((running, waiting));
        assert!(queue.enter(&slots).await.is_ok());
    }
}
