//! Renderings that other layers made of objects: other encodings, and objects in other versions. Made on first use,
//! kept within a budget of bytes, and shared by all readers and watchers. The object's own JSON is part of the object
//! instead.
//!
//! Guarantees that a rendering of one object is never returned for another. An entry is identified by its object's
//! memory address, and keeps that address from being reused.

use std::{
    collections::{HashMap, VecDeque},
    sync::{Arc, Mutex, Weak},
};

use bytes::Bytes;

use super::{lock::lock, object::Object};

/// The number of locks, so that watchers of different objects rarely share one.
const SHARDS: usize = 16;

/// The approximate overhead of an entry in bytes.
const ENTRY: usize = 256;

/// What is made of an object. Other layers assign the numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Form {
    Bytes(u32),
    Object(u32),
}

/// The object's address, and the form.
type Key = (usize, Form);

#[derive(Clone)]
enum RenderedForm {
    Bytes(Bytes),
    Object(Arc<Object>),
}

impl RenderedForm {
    fn size(&self) -> usize {
        ENTRY
            + match self {
                Self::Bytes(bytes) => bytes.len(),
                Self::Object(object) => object.size(),
            }
    }
}

struct Entry {
    rendered: RenderedForm,
    /// Does not keep the object alive, but its address is not reused while this exists.
    _place: Weak<Object>,
}

#[derive(Default)]
struct Shard {
    entries: HashMap<Key, Entry>,
    /// Oldest first.
    order: VecDeque<Key>,
    bytes: usize,
}

/// Renderings within a budget.
pub struct Renderings {
    shards: [Mutex<Shard>; SHARDS],
    /// Locked while a version of an object is made, so that concurrent readers make it once.
    making: [Mutex<()>; SHARDS],
    budget_bytes: usize,
}

impl Renderings {
    /// An empty cache with a budget in bytes.
    pub fn new(budget_bytes: usize) -> Self {
        Self {
            shards: std::array::from_fn(|_| Mutex::default()),
            making: std::array::from_fn(|_| Mutex::default()),
            budget_bytes,
        }
    }

    /// True if an entry of this size fits and leaves enough room for others.
    pub fn has_room_for(&self, bytes: usize) -> bool {
        bytes <= self.budget_bytes / 4
    }

    /// The bytes of an object in a form, rendered now if they are not kept.
    pub fn get(&self, object: &Arc<Object>, form: u32, render: impl FnOnce() -> Bytes) -> Bytes {
        if let Some(found) = self.find(object, form) {
            return found;
        }
        // Not under the lock: concurrent readers may render twice, but never wait for another rendering.
        let bytes = render();
        self.keep(object, form, bytes.clone());
        bytes
    }

    /// Keeps rendered bytes, whose allocation should not exceed their length.
    pub fn keep(&self, object: &Arc<Object>, form: u32, bytes: Bytes) {
        self.insert(object, Form::Bytes(form), RenderedForm::Bytes(bytes));
    }

    /// The bytes of an object in a form, if they are kept.
    pub fn find(&self, object: &Arc<Object>, form: u32) -> Option<Bytes> {
        match self.look_up(object, Form::Bytes(form))? {
            RenderedForm::Bytes(bytes) => Some(bytes),
            RenderedForm::Object(_) => None,
        }
    }

    /// An object in a version. If it is not kept, it is made now and kept. Concurrent readers wait and share the
    /// result. `make` must not request another version.
    pub fn object(&self, object: &Arc<Object>, version: u32, make: impl FnOnce() -> Object) -> Arc<Object> {
        if let Some(found) = self.find_object(object, version) {
            return found;
        }
        let _one_at_a_time = lock(&self.making[shard(object)]);
        self.find_object(object, version).unwrap_or_else(|| {
            let rendered = Arc::new(make());
            self.insert(object, Form::Object(version), RenderedForm::Object(rendered.clone()));
            rendered
        })
    }

    /// An object in a version, if it is kept.
    pub fn find_object(&self, object: &Arc<Object>, version: u32) -> Option<Arc<Object>> {
        match self.look_up(object, Form::Object(version))? {
            RenderedForm::Object(rendered) => Some(rendered),
            RenderedForm::Bytes(_) => None,
        }
    }

    fn look_up(&self, object: &Arc<Object>, form: Form) -> Option<RenderedForm> {
        let shard = lock(&self.shards[shard(object)]);
        shard.entries.get(&(place(object), form)).map(|found| found.rendered.clone())
    }

    fn insert(&self, object: &Arc<Object>, form: Form, rendered: RenderedForm) {
        let entry = Entry { rendered, _place: Arc::downgrade(object) };
        let shard = &self.shards[shard(object)];
        // Dropped after the lock is released, because dropping entries frees objects.
        let _gone = lock(shard).keep((place(object), form), entry, self.budget_bytes / SHARDS);
    }

    /// The number of bytes kept.
    #[cfg(test)]
    fn bytes(&self) -> usize {
        self.shards.iter().map(|shard| lock(shard).bytes).sum()
    }
}

impl Shard {
    /// Keeps an entry within a budget, and returns the evicted entries.
    fn keep(&mut self, key: Key, entry: Entry, budget: usize) -> Vec<Entry> {
        let (size, mut gone) = (entry.rendered.size(), Vec::new());
        if size > budget || self.entries.contains_key(&key) {
            return gone;
        }
        while self.bytes + size > budget {
            let Some(oldest) = self.order.pop_front() else { break };
            if let Some(entry) = self.entries.remove(&oldest) {
                self.bytes -= entry.rendered.size();
                gone.push(entry);
            }
        }
        self.bytes += size;
        self.order.push_back(key);
        self.entries.insert(key, entry);
        gone
    }
}

/// The number of an object's lock.
fn shard(object: &Arc<Object>) -> usize {
    // Addresses are multiples of a power of two. The product's highest bits depend on all of theirs (Knuth, volume 3, 6.4).
    let product = (place(object) as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    usize::try_from(product >> 48).unwrap_or_default() % SHARDS
}

fn place(object: &Arc<Object>) -> usize {
    Arc::as_ptr(object).addr()
}

#[cfg(test)]
mod tests {
    use std::{
        cell::Cell,
        sync::atomic::{AtomicUsize, Ordering},
        thread,
    };

    use super::{super::DecodedValue, *};
    use crate::meta::Revision;

    fn object_of(name: &str, bytes: usize) -> Object {
        let body = format!("{{\"metadata\":{{\"name\":{name:?}}},\"data\":\"{}\"}}", "x".repeat(bytes));
        Object::compose(name, Revision(1), "", DecodedValue::plain(Ok(body.as_str().into())))
    }

    fn object(name: &str) -> Arc<Object> {
        Arc::new(object_of(name, 0))
    }

    #[test]
    fn a_form_is_rendered_once() {
        let (kept, renders) = (Renderings::new(1 << 20), Cell::new(0));
        let object = object("a");
        let get = |form| {
            kept.get(&object, form, || {
                renders.set(renders.get() + 1);
                format!("{}", renders.get()).into()
            })
        };
        assert_eq!([get(7), get(7), get(8), get(9), get(7)], ["1", "1", "2", "3", "1"]);
    }

    #[test]
    fn concurrent_readers_make_a_version_of_an_object_once() {
        const COMING: usize = 16;
        let (kept, come, made) = (Renderings::new(1 << 20), AtomicUsize::new(0), AtomicUsize::new(0));
        let object = object("a");
        let make = || {
            made.fetch_add(1, Ordering::SeqCst);
            object_of("made", 0)
        };
        let found: Vec<_> = thread::scope(|scope| {
            let coming = || {
                come.fetch_add(1, Ordering::SeqCst);
                while come.load(Ordering::SeqCst) < COMING {
                    thread::yield_now();
                }
                kept.object(&object, 1, make)
            };
            let threads: Vec<_> = (0..COMING).map(|_| scope.spawn(coming)).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        assert!(found.iter().all(|other| Arc::ptr_eq(other, &found[0])));
        assert_eq!(made.load(Ordering::SeqCst), 1);
        kept.object(&object, 2, make);
        assert_eq!(made.load(Ordering::SeqCst), 2, "another version is another object");
        assert!(kept.find(&object, 1).is_none(), "bytes and objects are numbered separately");
    }

    #[test]
    fn a_new_object_does_not_get_renderings_of_a_freed_one() {
        let kept = Renderings::new(1 << 20);
        for round in 0..100 {
            let text = round.to_string();
            assert_eq!(kept.get(&object("a"), 7, || text.clone().into()), text);
            assert_eq!(kept.object(&object("a"), 7, || object_of(&text, 0)).key(), text);
        }
    }

    #[test]
    fn the_budget_holds_and_the_oldest_go_first() {
        let budget = SHARDS * 4 * (1_000 + ENTRY);
        let kept = Renderings::new(budget);
        let objects: Vec<_> = (0..1_000).map(|at| object(&at.to_string())).collect();
        for (at, object) in objects.iter().enumerate() {
            if at % 2 == 0 {
                kept.get(object, 7, || vec![0; 1_000].into());
            } else {
                kept.object(object, 7, || object_of("made", 1_000));
            }
            assert!(kept.bytes() <= budget);
        }
        assert!(kept.bytes() > budget / 2);
        assert!(kept.find_object(&objects[999], 7).is_some() && kept.find_object(&objects[1], 7).is_none());
        assert!(kept.find(&objects[998], 7).is_some() && kept.find(&objects[0], 7).is_none());
        let large = kept.get(&objects[1], 8, || vec![0; budget].into());
        assert_eq!(large.len(), budget, "a rendering that does not fit is returned nevertheless");
        assert!(kept.bytes() <= budget);
    }
}
