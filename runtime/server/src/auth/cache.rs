//! Answers that are kept for a while. Their number is limited: the oldest makes room for a new one.
use std::{
    collections::{HashMap, VecDeque},
    sync::{PoisonError, RwLock},
};

use tokio::time::{Duration, Instant};

/// The digest of a question.
pub(crate) type Digest = [u8; 32];

/// Answers by the digests of their questions.
pub(crate) struct Cache<A> {
    most: usize,
    answers: RwLock<Answers<A>>,
}

struct Answers<A> {
    by_digest: HashMap<Digest, (A, Instant, u64)>,
    /// The digests with the numbers of their answers, the oldest first. A digest with a newer answer is in it again.
    order: VecDeque<(Digest, u64)>,
    last: u64,
}

impl<A: Clone> Cache<A> {
    /// A cache of a number of answers at most.
    pub(crate) fn new(most: usize) -> Self {
        Self { most, answers: RwLock::new(Answers { by_digest: HashMap::new(), order: VecDeque::new(), last: 0 }) }
    }

    /// An answer whose time is not over.
    pub(crate) fn get(&self, digest: &Digest) -> Option<A> {
        let answers = self.answers.read().unwrap_or_else(PoisonError::into_inner);
        let (answer, until, _) = answers.by_digest.get(digest)?;
        (Instant::now() < *until).then(|| answer.clone())
    }

    /// Keeps an answer for a time.
    pub(crate) fn put(&self, digest: Digest, answer: A, time: Duration) {
        let until = Instant::now().checked_add(time).filter(|_| !time.is_zero());
        let Some(until) = until else { return };
        let mut answers = self.answers.write().unwrap_or_else(PoisonError::into_inner);
        answers.last += 1;
        let number = answers.last;
        answers.by_digest.insert(digest, (answer, until, number));
        answers.order.push_back((digest, number));
        while answers.by_digest.len() > self.most || answers.order.len() > 2 * self.most {
            let Some((digest, number)) = answers.order.pop_front() else { break };
            if answers.by_digest.get(&digest).is_some_and(|(_, _, current)| *current == number) {
                answers.by_digest.remove(&digest);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn digest(number: u8) -> Digest {
        [number; 32]
    }

    #[tokio::test(start_paused = true)]
    async fn an_answer_is_kept_for_its_time() {
        let cache = Cache::new(10);
        cache.put(digest(1), "a", Duration::from_secs(10));
        cache.put(digest(2), "b", Duration::ZERO);
        cache.put(digest(3), "c", Duration::MAX);
        tokio::time::advance(Duration::from_secs(9)).await;
        assert_eq!((cache.get(&digest(1)), cache.get(&digest(2))), (Some("a"), None));
        tokio::time::advance(Duration::from_secs(1)).await;
        assert_eq!(cache.get(&digest(1)), None);
    }

    #[tokio::test]
    async fn the_oldest_answer_makes_room() {
        let cache = Cache::new(3);
        for number in [1, 2, 3, 1, 4] {
            cache.put(digest(number), number, Duration::from_mins(1));
        }
        let kept: Vec<u8> = (1..=4).filter_map(|number| cache.get(&digest(number))).collect();
        assert_eq!(kept, [1, 3, 4], "the first was renewed");
        for _ in 0..100 {
            cache.put(digest(4), 4, Duration::from_mins(1));
        }
        let answers = cache.answers.read().unwrap();
        assert!(answers.order.len() <= 6 && answers.by_digest.len() <= 3);
    }
}
