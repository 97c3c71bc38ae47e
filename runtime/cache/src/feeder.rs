//! Receives the store's changes: routes them to resources, renders new objects, publishes them, and wakes watchers.
//! Runs on the store's writer thread while writers wait, a whole commit group at a time.

use std::{
    collections::{BTreeMap, HashMap},
    sync::{Arc, Mutex},
    task::Waker,
};

use super::{
    change::Change,
    keyspace::Keyspace,
    lock::lock,
    replica::{QueuedDelivery, Replica},
    routes::route,
    state::{SharedState, Slot, State},
    tree::Tree,
    wakeups::WakeUps,
};
use crate::{
    meta::Revision,
    storage::{self, Delivery},
};

/// Routes changes to resources.
pub(super) struct Feeder {
    shared: Arc<SharedState>,
    /// By key prefix.
    routes: BTreeMap<Arc<str>, Route>,
    /// The number of allocated slots.
    slots: usize,
    /// Unused slots.
    free: Vec<usize>,
    last_id: u64,
    closed: bool,
}

/// The route of changes under a prefix. Has both parts while a served resource is about to be replaced.
#[derive(Default)]
struct Route {
    /// The served resource.
    served: Option<Arc<Replica>>,
    /// Deliveries for a resource that is being loaded.
    queue: Option<Vec<QueuedDelivery>>,
}

/// A resource that a commit group changes.
struct ResourceChanges {
    replica: Arc<Replica>,
    /// Its last change before the group. Several changes of the group may have the same revision.
    before: Revision,
    changes: Vec<Arc<Change>>,
}

impl Feeder {
    pub(super) fn new(shared: Arc<SharedState>) -> Self {
        Self { shared, routes: BTreeMap::new(), slots: 0, free: Vec::new(), last_id: 0, closed: false }
    }

    /// All served resources.
    pub(super) fn served(&self) -> impl Iterator<Item = &Arc<Replica>> {
        self.routes.values().filter_map(|route| route.served.as_ref())
    }

    pub(super) fn is_closed(&self) -> bool {
        self.closed
    }

    fn serves(&self, replica: &Replica) -> bool {
        let served = self.routes.get(&replica.keyspace.prefix).and_then(|route| route.served.as_ref());
        served.is_some_and(|served| served.slot == replica.slot)
    }

    /// The number of routes, and the number of allocated slots.
    #[cfg(test)]
    pub(super) fn footprint(&self) -> (usize, usize) {
        (self.routes.len(), self.slots)
    }

    /// Makes later resources closed from the start. Returns the existing ones, to be closed.
    pub(super) fn close(&mut self) -> Vec<Arc<Replica>> {
        self.closed = true;
        self.served().cloned().collect()
    }

    /// Gives a new resource a slot, and queues the changes under its prefix until it is loaded. A resource served
    /// under that prefix receives them, too.
    pub(super) fn begin(&mut self, keyspace: Keyspace) -> Arc<Replica> {
        self.routes.entry(Arc::clone(&keyspace.prefix)).or_default().queue = Some(Vec::new());
        let number = self.free.pop().unwrap_or_else(|| {
            self.slots += 1;
            self.slots - 1
        });
        self.last_id += 1;
        let slot = Slot { number, id: self.last_id };
        Arc::new(Replica::new(Arc::clone(&self.shared), slot, keyspace))
    }

    /// Reverts `begin`.
    pub(super) fn give_up(&mut self, replica: &Replica) {
        self.free.push(replica.slot.number);
        if let Some(route) = self.routes.get_mut(&replica.keyspace.prefix) {
            route.queue = None;
            if route.served.is_none() {
                self.routes.remove(&replica.keyspace.prefix);
            }
        }
    }

    /// Takes what came for a resource that is being loaded.
    pub(super) fn take_queued(&mut self, replica: &Replica) -> Vec<QueuedDelivery> {
        let queue = self.routes.get_mut(&replica.keyspace.prefix).and_then(|route| route.queue.as_mut());
        queue.map(std::mem::take).unwrap_or_default()
    }

    /// Serves a loaded resource in place of the one served under its prefix.
    pub(super) fn serve(&mut self, replica: &Arc<Replica>, mut state: State, swap: impl FnOnce()) -> Vec<Waker> {
        replica.take_in(&mut state, &self.take_queued(replica));
        let mut wakers = Vec::new();
        if self.closed {
            lock(&replica.feed).close(&mut wakers);
        }
        let route = Route { served: Some(Arc::clone(replica)), queue: None };
        let old = self.routes.insert(Arc::clone(&replica.keyspace.prefix), route).and_then(|old| old.served);
        replica.enroll();
        self.swap(Some((replica.slot, state)), old.as_deref(), swap, &mut wakers);
        wakers
    }

    /// Stops serving a resource, unless it was removed or replaced already.
    pub(super) fn remove(&mut self, replica: &Replica) -> Vec<Waker> {
        let mut wakers = Vec::new();
        if self.serves(replica) {
            self.routes.remove(&replica.keyspace.prefix);
            self.swap(None, Some(replica), || (), &mut wakers);
        }
        wakers
    }

    /// Publishes the addition, removal or replacement of a state. The removed resource keeps its last state, and its
    /// watches end: it has every change up to the published revision.
    fn swap(
        &mut self,
        new: Option<(Slot, State)>,
        old: Option<&Replica>,
        swap: impl FnOnce(),
        wakers: &mut Vec<Waker>,
    ) {
        let mut root = self.shared.root();
        if let Some((slot, state)) = new {
            *root.states.get_mut(slot.number) = state;
        }
        if let Some(old) = old {
            old.end();
            *root.states.get_mut(old.slot.number) = State::default();
            self.free.push(old.slot.number);
        }
        self.shared.publish(root);
        swap();
        if let Some(old) = old {
            lock(&old.feed).close(wakers);
        }
    }

    /// Changes the indexes of a resource's newest state. `None` if the resource is not served any more.
    pub(super) fn change_tree<T>(&mut self, of: &Replica, change: impl FnOnce(&mut Tree) -> T) -> Option<T> {
        if !self.serves(of) {
            return None;
        }
        let mut root = self.shared.root();
        let state = root.states.get_mut(of.slot.number);
        let done = change(&mut state.tree);
        let tree = state.tree.clone();
        self.shared.publish(root);
        lock(&of.feed).tree = tree;
        Some(done)
    }

    /// Applies what the store delivers.
    pub(super) fn take(&mut self, delivery: Delivery<'_>) -> Vec<Waker> {
        match delivery {
            Delivery::Changes(changes, upto) => self.feed(changes, upto),
            Delivery::State(entries, at) => self.begin_again(entries, at),
        }
    }

    /// Replaces the state of every resource that was not loaded later. Their watches end, because changes were lost.
    fn begin_again(&mut self, entries: &[storage::Entry], at: Revision) -> Vec<Waker> {
        let mut of_prefix: HashMap<Arc<str>, Vec<storage::Entry>> = HashMap::new();
        for entry in entries {
            if let Some((prefix, _)) = route(&mut self.routes, &entry.key) {
                of_prefix.entry(prefix).or_default().push(entry.clone());
            }
        }
        let (mut wakers, mut root) = (Vec::new(), self.shared.root());
        for (prefix, route) in &mut self.routes {
            let entries = of_prefix.remove(prefix).unwrap_or_default();
            if let Some(replica) = &route.served {
                let state = root.states.get_mut(replica.slot.number);
                if state.last < at {
                    replica.begin_again(state, &entries, at, &mut wakers);
                    replica.enroll();
                }
            }
            if let Some(queue) = &mut route.queue {
                *queue = vec![QueuedDelivery::State(entries, at)];
            }
        }
        root.revision = at;
        self.shared.publish(root);
        self.shared.advance(at);
        wakers
    }

    /// Applies a commit group.
    fn feed(&mut self, changes: &[storage::Change], upto: Revision) -> Vec<Waker> {
        let mut wakers = Vec::new();
        let mut root = self.shared.root();
        let mut fresh: Vec<ResourceChanges> = Vec::new();
        for change in changes {
            let Some((_, route)) = route(&mut self.routes, &change.key) else { continue };
            if let Some(queue) = &mut route.queue {
                queue.push(QueuedDelivery::Change(change.clone()));
            }
            let Some(replica) = &route.served else { continue };
            let state = root.states.get_mut(replica.slot.number);
            let at = fresh.iter().position(|changes| Arc::ptr_eq(&changes.replica, replica));
            let at = at.unwrap_or_else(|| {
                fresh.push(ResourceChanges { replica: Arc::clone(replica), before: state.last, changes: Vec::new() });
                fresh.len() - 1
            });
            // A later load has it already.
            if change.revision > fresh[at].before {
                fresh[at].changes.extend(replica.apply(state, change));
            }
        }
        root.revision = upto;
        let tree_of = |changes: &ResourceChanges| root.states.get(changes.replica.slot.number).tree.clone();
        let trees: Vec<_> = fresh.iter().map(tree_of).collect();
        self.shared.publish(root);
        let mut order = lock(&self.shared.eviction);
        for (ResourceChanges { replica, changes, .. }, tree) in fresh.into_iter().zip(trees) {
            let mut feed = lock(&replica.feed);
            feed.tree = tree;
            for change in changes {
                feed.append(change);
            }
            feed.prune_past();
            feed.take_wakers(&mut wakers);
            order.place(replica.slot.id, &replica.feed, &mut feed);
        }
        order.evict(&self.shared.budget);
        drop(order);
        self.shared.advance(upto);
        wakers
    }
}

/// Connects a feeder to a store's changes while it lives. The store holds it weakly, because the cache holds the store.
pub(super) fn attach(feeder: &Arc<Mutex<Feeder>>, store: &dyn storage::Store) {
    let (feeder, wakeups) = (Arc::downgrade(feeder), WakeUps::new());
    store.attach(Box::new(move |delivery| {
        let Some(feeder) = feeder.upgrade() else { return };
        let wakers = lock(&feeder).take(delivery);
        wakeups.wake(wakers);
    }));
}
