//! Objects in encodings other than JSON: rendered at first use, kept within a budget of bytes, and shared by all who read
//! or watch them. Of JSON nothing is kept here: the cache holds that.
//!
//! Guarantees that what is kept of an object is never given for another one: an entry is known by where its object lies in
//! memory, and keeps that place from being used again.

use std::{
    collections::{HashMap, VecDeque},
    hash::{BuildHasher, RandomState},
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
};

use bytes::Bytes;

use super::negotiate::Accepted;
use crate::cache::{EventType, Object};

/// Locks that watchers of different objects do not wait for one another at.
const SHARDS: usize = 16;

/// What an entry takes beside its bytes, roughly.
const ENTRY: usize = 256;

/// What of an object is rendered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Piece {
    /// The object as an item of a list.
    Item,
    /// The object with type meta, where items of lists have none.
    Typed,
    /// A frame of a watch.
    Frame(EventType),
}

/// A rendering of an object: where that lies, and in which form it is.
type Key = (usize, Accepted, Piece);

struct Entry {
    bytes: Bytes,
    /// Nobody is kept alive by it, but the place in memory is not used for another object while it is there.
    _place: Weak<Object>,
}

#[derive(Default)]
struct Shard {
    entries: HashMap<Key, Entry>,
    /// The oldest first.
    order: VecDeque<Key>,
    bytes: usize,
}

/// Renderings within a budget.
pub struct Renderings {
    shards: [Mutex<Shard>; SHARDS],
    hasher: RandomState,
    budget_bytes: usize,
}

impl Renderings {
    /// Nothing yet, and room for so many bytes.
    pub fn new(budget_bytes: usize) -> Self {
        Self { shards: std::array::from_fn(|_| Mutex::default()), hasher: RandomState::new(), budget_bytes }
    }

    /// Whether so many bytes can be kept and leave room for what others want.
    pub fn has_room_for(&self, bytes: usize) -> bool {
        bytes <= self.budget_bytes / 4
    }

    /// A piece of an object in a form, rendered now where it is not kept.
    pub fn get(&self, object: &Arc<Object>, form: Accepted, piece: Piece, render: impl FnOnce() -> Bytes) -> Bytes {
        if let Some(found) = self.find(object, form, piece) {
            return found;
        }
        // Not under the lock: two who come at once render twice, and none waits for another's rendering.
        let bytes = render();
        self.keep(object, form, piece, bytes.clone());
        bytes
    }

    /// Keeps a piece that was rendered, which should take no more memory than its length.
    pub fn keep(&self, object: &Arc<Object>, form: Accepted, piece: Piece, bytes: Bytes) {
        let key = key(object, form, piece);
        let entry = Entry { bytes, _place: Arc::downgrade(object) };
        lock(self.shard(key)).keep(key, entry, self.budget_bytes / SHARDS);
    }

    /// A piece of an object in a form, where it is kept.
    pub fn find(&self, object: &Arc<Object>, form: Accepted, piece: Piece) -> Option<Bytes> {
        let key = key(object, form, piece);
        lock(self.shard(key)).entries.get(&key).map(|found| found.bytes.clone())
    }

    fn shard(&self, key: Key) -> &Mutex<Shard> {
        let at = self.hasher.hash_one(key.0) % SHARDS as u64;
        &self.shards[usize::try_from(at).unwrap_or_default()]
    }

    /// How many bytes are kept.
    #[cfg(test)]
    fn bytes(&self) -> usize {
        self.shards.iter().map(|shard| lock(shard).bytes).sum()
    }
}

impl Shard {
    fn keep(&mut self, key: Key, entry: Entry, budget: usize) {
        let size = entry.bytes.len() + ENTRY;
        if size > budget || self.entries.contains_key(&key) {
            return;
        }
        while self.bytes + size > budget {
            let Some(oldest) = self.order.pop_front() else { break };
            if let Some(gone) = self.entries.remove(&oldest) {
                self.bytes -= gone.bytes.len() + ENTRY;
            }
        }
        self.bytes += size;
        self.order.push_back(key);
        self.entries.insert(key, entry);
    }
}

fn key(object: &Arc<Object>, form: Accepted, piece: Piece) -> Key {
    (Arc::as_ptr(object).addr(), form, piece)
}

fn lock(shard: &Mutex<Shard>) -> MutexGuard<'_, Shard> {
    shard.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use serde_json::json;

    use super::*;
    use crate::{
        codec::Encoding,
        http::{negotiate::Shape, sample},
    };

    const CBOR: Accepted = Accepted { encoding: Encoding::Cbor, shape: Shape::Full, beta: false, pretty: false };
    const PARTIAL: Accepted = Accepted { shape: Shape::Partial, ..CBOR };

    fn object(name: &str) -> Arc<Object> {
        sample::object(&sample::widget(), name, 1, json!({}))
    }

    #[test]
    fn a_form_is_rendered_once() {
        let (kept, renders) = (Renderings::new(1 << 20), Cell::new(0));
        let object = object("a");
        let get = |form, piece| {
            kept.get(&object, form, piece, || {
                renders.set(renders.get() + 1);
                format!("{}", renders.get()).into()
            })
        };
        assert_eq!(get(CBOR, Piece::Item), "1");
        assert_eq!(get(CBOR, Piece::Item), "1");
        assert_eq!(get(PARTIAL, Piece::Item), "2");
        assert_eq!(get(CBOR, Piece::Frame(EventType::Added)), "3");
        assert_eq!(get(CBOR, Piece::Frame(EventType::Deleted)), "4");
        assert_eq!(get(CBOR, Piece::Item), "1");
    }

    #[test]
    fn no_object_gets_what_another_left() {
        let kept = Renderings::new(1 << 20);
        for round in 0..100 {
            let text = round.to_string();
            assert_eq!(kept.get(&object("a"), CBOR, Piece::Item, || text.clone().into()), text);
        }
    }

    #[test]
    fn the_budget_holds_and_the_oldest_go_first() {
        let budget = SHARDS * 4 * (1_000 + ENTRY);
        let kept = Renderings::new(budget);
        let objects: Vec<_> = (0..1_000).map(|at| object(&at.to_string())).collect();
        for object in &objects {
            kept.get(object, CBOR, Piece::Item, || vec![0; 1_000].into());
            assert!(kept.bytes() <= budget);
        }
        assert!(kept.bytes() > budget / 2);
        let again = |object| {
            let mut rendered = false;
            kept.get(object, CBOR, Piece::Item, || {
                rendered = true;
                Bytes::new()
            });
            rendered
        };
        assert!(!again(&objects[999]) && again(&objects[0]));
        let large = kept.get(&objects[1], PARTIAL, Piece::Item, || vec![0; budget].into());
        assert_eq!(large.len(), budget, "what does not fit is given all the same");
        assert!(kept.bytes() <= budget);
    }
}
