//! Takes the store's changes in: routes them to resources, renders new objects, publishes, and wakes watchers.
//! Runs on the store's writer thread while writers wait, a whole commit group at a time.

use std::{
    collections::BTreeMap,
    ops::Bound,
    sync::{Arc, Mutex},
    task::Waker,
};

use super::{
    EventType, Resource, SharedReader,
    change::Change,
    fanout::Feed,
    reader::render,
    state::{Shared, State, lock},
    tree::Tree,
    waking::Waking,
};
use crate::{meta::Revision, storage};

/// Where changes go.
pub(super) struct Feeder {
    shared: Arc<Shared>,
    /// By key prefix.
    routes: BTreeMap<Arc<str>, Route>,
    resources: Vec<Arc<Resource>>,
    closed: bool,
}

enum Route {
    /// The resource is being loaded: its changes wait.
    Loading(Vec<storage::Change>),
    /// The resource by number.
    Served(usize),
}

impl Feeder {
    pub(super) fn new(shared: Arc<Shared>) -> Self {
        Self { shared, routes: BTreeMap::new(), resources: Vec::new(), closed: false }
    }

    pub(super) fn find(&self, prefix: &str) -> Option<Arc<Resource>> {
        match self.routes.get(prefix)? {
            Route::Served(number) => Some(Arc::clone(&self.resources[*number])),
            Route::Loading(_) => None,
        }
    }

    /// Lets resources that come later be closed from the start; gives those that are there, to be closed.
    pub(super) fn close(&mut self) -> Vec<Arc<Resource>> {
        self.closed = true;
        self.resources.clone()
    }

    /// Lets the changes under a prefix wait until the resource is loaded.
    pub(super) fn begin(&mut self, prefix: &Arc<str>) {
        self.routes.insert(Arc::clone(prefix), Route::Loading(Vec::new()));
    }

    /// Undoes `begin`.
    pub(super) fn give_up(&mut self, prefix: &str) {
        self.routes.remove(prefix);
    }

    /// Serves a resource whose objects were loaded at a revision, after taking in what happened meanwhile.
    pub(super) fn serve(
        &mut self,
        prefix: Arc<str>,
        reader: SharedReader,
        tree: Tree,
        loaded: Revision,
    ) -> Arc<Resource> {
        let waiting = match self.routes.insert(Arc::clone(&prefix), Route::Served(self.resources.len())) {
            Some(Route::Loading(waiting)) => waiting,
            _ => Vec::new(),
        };
        let feed = Feed::new(tree.clone(), loaded, self.shared.limits.clone());
        let resource = Arc::new(Resource::new(Arc::clone(&self.shared), self.resources.len(), prefix, reader, feed));
        let mut state = State { tree, last: loaded };
        let missed = waiting.iter().filter(|change| change.revision > loaded);
        let missed: Vec<_> = missed.filter_map(|change| apply(&resource, &mut state, change)).collect();
        {
            let mut feed = lock(&resource.feed);
            feed.tree = state.tree.clone();
            for change in missed {
                feed.append(change);
            }
            if self.closed {
                feed.close(&mut Vec::new());
            }
        }
        let mut root = self.shared.root();
        root.states.push(state);
        self.shared.publish(root);
        self.resources.push(Arc::clone(&resource));
        resource
    }

    /// Takes a commit group in.
    pub(super) fn feed(&mut self, changes: &[storage::Change]) -> Vec<Waker> {
        let mut wakers = Vec::new();
        let Some(last) = changes.last() else { return wakers };
        let mut root = self.shared.root();
        let mut fresh: Vec<(usize, Vec<Arc<Change>>)> = Vec::new();
        for change in changes {
            match route(&mut self.routes, &change.key) {
                Some(Route::Loading(waiting)) => waiting.push(change.clone()),
                Some(Route::Served(number)) => {
                    let state = &mut root.states[*number];
                    if change.revision <= state.last {
                        continue; // It was loaded with it.
                    }
                    let Some(change) = apply(&self.resources[*number], state, change) else { continue };
                    match fresh.iter_mut().find(|(touched, _)| touched == number) {
                        Some((_, changes)) => changes.push(change),
                        None => fresh.push((*number, vec![change])),
                    }
                }
                None => {}
            }
        }
        root.revision = last.revision;
        let trees: Vec<_> = fresh.iter().map(|(number, _)| root.states[*number].tree.clone()).collect();
        self.shared.publish(root);
        for ((number, changes), tree) in fresh.into_iter().zip(trees) {
            let mut feed = lock(&self.resources[number].feed);
            feed.tree = tree;
            for change in changes {
                feed.append(change);
            }
            feed.past.prune();
            feed.take_wakers(&mut wakers);
        }
        self.shared.advance(last.revision);
        wakers
    }
}

/// The route of a key: the longest prefix that it has.
fn route<'a, T>(routes: &'a mut BTreeMap<Arc<str>, T>, key: &str) -> Option<&'a mut T> {
    let mut most = key.len();
    loop {
        // The last prefix that does not come after what is left of the key is the one, or shows how much of it to leave:
        // any other prefix of the key is no longer than what both have in common.
        let upto = (Bound::Unbounded, Bound::Included(&key[..most]));
        let (prefix, _) = routes.range::<str, _>(upto).next_back()?;
        let common = prefix.bytes().zip(key.bytes()).take_while(|(ours, theirs)| ours == theirs).count();
        if common == prefix.len() {
            let found = Arc::clone(prefix);
            return routes.get_mut(&found);
        }
        most = key.floor_char_boundary(common);
    }
}

/// Applies a change to a resource's state; nothing where the change is none, such as a deletion of what is not there.
fn apply(resource: &Resource, state: &mut State, change: &storage::Change) -> Option<Arc<Change>> {
    let key = change.key.strip_prefix(&*resource.prefix).unwrap_or(&change.key);
    state.last = change.revision;
    let (new, old) = match &change.value {
        Some(value) => {
            let natural = if change.previous.is_some() { EventType::Modified } else { EventType::Added };
            let new =
                Arc::new(render(&resource.reader, &resource.prefix, natural, &change.key, change.revision, Ok(value)));
            (Some(Arc::clone(&new)), state.tree.insert(new))
        }
        None => (None, Some(state.tree.remove(key)?)),
    };
    Some(Arc::new(Change::new(change.revision, new, old)))
}

/// Makes the store's changes flow into a feeder for as long as it lives. The store keeps only a weak hold, since the
/// cache holds the store.
pub(super) fn attach(feeder: &Arc<Mutex<Feeder>>, store: &dyn storage::Store) {
    let (feeder, waking) = (Arc::downgrade(feeder), Waking::new());
    store.attach(Box::new(move |changes| {
        let Some(feeder) = feeder.upgrade() else { return };
        let wakers = lock(&feeder).feed(changes);
        waking.wake(wakers);
    }));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_goes_to_the_longest_prefix_that_it_has() {
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
            assert_eq!(route(&mut routes, key).map(|found| *found), want, "{key}");
        }
    }
}
