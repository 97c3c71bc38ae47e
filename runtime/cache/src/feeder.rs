//! Receives the store's changes: routes them to resources, renders new objects, publishes them, and wakes watchers.
//! Runs on the store's writer thread while writers wait, a whole commit group at a time.

use std::{
    collections::{BTreeMap, HashMap},
    ops::Bound,
    sync::{Arc, Mutex, Weak},
    task::Waker,
};

use super::{
    Resource, SharedReader,
    change::Change,
    state::{SharedState, Slot, State, lock},
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
    /// This, for its resources.
    this: Weak<Mutex<Self>>,
    /// By key prefix.
    routes: BTreeMap<Arc<str>, Route>,
    /// By slot number.
    resources: Vec<Option<Arc<Resource>>>,
    /// Unused slots in `resources`.
    free: Vec<usize>,
    last_id: u64,
    closed: bool,
}

/// The route of changes under a prefix. Has both parts while a served resource is about to be replaced.
#[derive(Default)]
struct Route {
    /// The slot of the served resource.
    served: Option<usize>,
    /// Deliveries for a resource that is being loaded.
    queue: Option<Vec<QueuedDelivery>>,
}

/// What was delivered for a resource while it was being loaded.
#[derive(Clone)]
pub(super) enum QueuedDelivery {
    Change(storage::Change),
    /// All of its objects at a revision.
    State(Vec<storage::Entry>, Revision),
}

/// A resource that a commit group changes.
struct ResourceChanges {
    resource: Arc<Resource>,
    /// Its last change before the group. Several changes of the group may have the same revision.
    before: Revision,
    changes: Vec<Arc<Change>>,
}

impl Feeder {
    pub(super) fn new(shared: Arc<SharedState>, this: Weak<Mutex<Self>>) -> Self {
        let routes = BTreeMap::new();
        Self { shared, this, routes, resources: Vec::new(), free: Vec::new(), last_id: 0, closed: false }
    }

    pub(super) fn find(&self, prefix: &str) -> Option<Arc<Resource>> {
        self.resources[self.routes.get(prefix)?.served?].clone()
    }

    pub(super) fn is_closed(&self) -> bool {
        self.closed
    }

    /// The number of routes, and the number of allocated slots.
    #[cfg(test)]
    pub(super) fn footprint(&self) -> (usize, usize) {
        (self.routes.len(), self.resources.len())
    }

    /// Makes later resources closed from the start. Returns the existing ones, to be closed.
    pub(super) fn close(&mut self) -> Vec<Arc<Resource>> {
        self.closed = true;
        self.resources.iter().flatten().cloned().collect()
    }

    /// Gives a new resource a slot, and queues the changes under its prefix until it is loaded. A resource served
    /// under that prefix receives them, too.
    pub(super) fn begin(&mut self, prefix: Arc<str>, reader: SharedReader) -> Arc<Resource> {
        self.routes.entry(Arc::clone(&prefix)).or_default().queue = Some(Vec::new());
        let number = self.free.pop().unwrap_or_else(|| {
            self.resources.push(None);
            self.resources.len() - 1
        });
        self.last_id += 1;
        let slot = Slot { number, id: self.last_id };
        Arc::new(Resource::new(Arc::clone(&self.shared), self.this.clone(), slot, prefix, reader))
    }

    /// Reverts `begin`.
    pub(super) fn give_up(&mut self, resource: &Resource) {
        self.free.push(resource.slot.number);
        if let Some(route) = self.routes.get_mut(&resource.prefix) {
            route.queue = None;
            if route.served.is_none() {
                self.routes.remove(&resource.prefix);
            }
        }
    }

    /// Takes what came for a resource that is being loaded.
    pub(super) fn take_queued(&mut self, resource: &Resource) -> Vec<QueuedDelivery> {
        let queue = self.routes.get_mut(&resource.prefix).and_then(|route| route.queue.as_mut());
        queue.map(std::mem::take).unwrap_or_default()
    }

    /// Serves a loaded resource in place of the one served under its prefix.
    pub(super) fn serve(&mut self, resource: &Arc<Resource>, mut state: State, swap: impl FnOnce()) -> Vec<Waker> {
        resource.take_in(&mut state, &self.take_queued(resource));
        let mut wakers = Vec::new();
        if self.closed {
            lock(&resource.feed).close(&mut wakers);
        }
        let number = resource.slot.number;
        let route = Route { served: Some(number), queue: None };
        let old = self.routes.insert(Arc::clone(&resource.prefix), route).and_then(|old| old.served);
        self.resources[number] = Some(Arc::clone(resource));
        resource.enroll();
        self.swap(Some((number, state)), old, swap, &mut wakers);
        wakers
    }

    /// Stops serving a resource, unless it was removed or replaced already.
    pub(super) fn remove(&mut self, resource: &Resource) -> Vec<Waker> {
        let mut wakers = Vec::new();
        if self.find(&resource.prefix).is_some_and(|found| found.slot == resource.slot) {
            self.routes.remove(&resource.prefix);
            self.swap(None, Some(resource.slot.number), || (), &mut wakers);
        }
        wakers
    }

    /// Publishes the addition, removal or replacement of a state. The removed resource keeps its last state, and its
    /// watches end: it has every change up to the published revision.
    fn swap(&mut self, new: Option<(usize, State)>, old: Option<usize>, swap: impl FnOnce(), wakers: &mut Vec<Waker>) {
        let old = old.and_then(|number| self.resources[number].take());
        let mut root = self.shared.root();
        if let Some((number, state)) = new {
            *root.states.get_mut(number) = state;
        }
        if let Some(old) = &old {
            old.end();
            *root.states.get_mut(old.slot.number) = State::default();
            self.free.push(old.slot.number);
        }
        self.shared.publish(root);
        swap();
        if let Some(old) = &old {
            lock(&old.feed).close(wakers);
        }
    }

    /// Changes the indexes of a resource's newest state. `None` if the resource is not served any more.
    pub(super) fn change_tree<T>(&mut self, of: &Resource, change: impl FnOnce(&mut Tree) -> T) -> Option<T> {
        let served = self.resources.get(of.slot.number)?.as_ref();
        served.filter(|served| served.slot == of.slot)?;
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
            if let Some((number, resource)) =
                route.served.and_then(|number| Some((number, self.resources[number].as_ref()?)))
            {
                let state = root.states.get_mut(number);
                if state.last < at {
                    resource.begin_again(state, &entries, at, &mut wakers);
                    resource.enroll();
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
            let Some((number, resource)) =
                route.served.and_then(|number| Some((number, self.resources[number].as_ref()?)))
            else {
                continue;
            };
            let state = root.states.get_mut(number);
            let at = fresh.iter().position(|changes| Arc::ptr_eq(&changes.resource, resource));
            let at = at.unwrap_or_else(|| {
                fresh.push(ResourceChanges { resource: Arc::clone(resource), before: state.last, changes: Vec::new() });
                fresh.len() - 1
            });
            // A later load has it already.
            if change.revision > fresh[at].before {
                fresh[at].changes.extend(resource.apply(state, change));
            }
        }
        root.revision = upto;
        let tree_of = |changes: &ResourceChanges| root.states.get(changes.resource.slot.number).tree.clone();
        let trees: Vec<_> = fresh.iter().map(tree_of).collect();
        self.shared.publish(root);
        let mut order = self.shared.budget.order();
        for (ResourceChanges { resource, changes, .. }, tree) in fresh.into_iter().zip(trees) {
            let mut feed = lock(&resource.feed);
            feed.tree = tree;
            for change in changes {
                feed.append(change);
            }
            feed.prune_past();
            feed.take_wakers(&mut wakers);
            order.place(resource.slot.id, &resource.feed, &mut feed);
        }
        order.evict(&self.shared.budget);
        drop(order);
        self.shared.advance(upto);
        wakers
    }
}

/// The route of a key: its longest registered prefix, and that prefix.
pub(super) fn route<'a, T>(routes: &'a mut BTreeMap<Arc<str>, T>, key: &str) -> Option<(Arc<str>, &'a mut T)> {
    let prefix = Arc::clone(longest_prefix(routes, key)?);
    routes.get_mut(&prefix).map(|route| (prefix, route))
}

/// The longest of the prefixes that the key has.
pub(super) fn longest_prefix<'a, T>(routes: &'a BTreeMap<Arc<str>, T>, key: &str) -> Option<&'a Arc<str>> {
    let mut most = key.len();
    loop {
        // The last prefix that sorts at or before the rest of the key is the answer, or it shows how far to shorten the
        // key: any other prefix of the key is at most as long as their common part.
        let upto = (Bound::Unbounded, Bound::Included(&key[..most]));
        let (prefix, _) = routes.range::<str, _>(upto).next_back()?;
        let common = prefix.bytes().zip(key.bytes()).take_while(|(ours, theirs)| ours == theirs).count();
        if common == prefix.len() {
            return Some(prefix);
        }
        most = key.floor_char_boundary(common);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_routed_by_its_longest_prefix() {
        let prefixes = ["/a/", "/a/m/", "/a/m/x/", "/ab/", "/b/ä/", "/b/"];
        let mut routes: BTreeMap<Arc<str>, &str> =
            prefixes.iter().map(|prefix| (Arc::from(*prefix), *prefix)).collect();
        for (key, want) in [
            ("/a/z", Some("/a/")),
            ("/a/b", Some("/a/")),
            ("/a/m/y", Some("/a/m/")),
            ("/a/m/x/1", Some("/a/m/x/")),
            ("/a/m/x0", Some("/a/m/")),
            ("/a/m", Some("/a/")),
            ("/a/m0", Some("/a/")),
            ("/ab/1", Some("/ab/")),
            ("/ac/1", None),
            ("/b/ö/1", Some("/b/")),
            ("/b/ä/1", Some("/b/ä/")),
            ("/", None),
            ("", None),
        ] {
            assert_eq!(route(&mut routes, key).map(|(_, found)| *found), want, "{key}");
        }
    }
}
