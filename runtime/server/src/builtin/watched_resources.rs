//! The resources that a controller watches, each once and in its storage version. Resources may be added, replaced and
//! removed while the server runs.
use std::{collections::HashSet, future::poll_fn, sync::Arc, task::Poll};

use crate::{
    cache::{Event, Watch, WatchError},
    meta::Revision,
    registry::ResourceEntry,
    verbs::Verbs,
};

/// The watched resources. Each has a position, which is reused after the resource is removed.
pub(super) struct WatchedResources {
    api: Arc<Verbs>,
    /// By position.
    resources: Vec<Option<(Arc<ResourceEntry>, Option<Watch>)>>,
    /// The generation of the registry that this reflects.
    generation: u64,
}

/// The changes of the set of resources. A replaced resource is in both lists.
pub(super) struct ResourceChanges {
    /// Positions of removed resources. The controller must drop its data about their objects. A position may also be in
    /// `added`.
    pub removed: Vec<usize>,
    /// Positions of added resources.
    pub added: Vec<usize>,
}

/// The result of waiting for changes.
pub(super) enum Next {
    /// Changes.
    Events,
    /// A resource was replaced or removed.
    ResourcesChanged,
    /// Changes were missed.
    Broken(WatchError),
    /// The cache is closed.
    Closed,
}

impl WatchedResources {
    /// An empty set.
    pub(super) fn new(api: Arc<Verbs>) -> Self {
        Self { api, resources: Vec::new(), generation: 0 }
    }

    /// The resource at a position that is in use.
    pub(super) fn at(&self, position: usize) -> &Arc<ResourceEntry> {
        self.find(position).expect("whatever is kept of a resource that has gone is forgotten")
    }

    /// The resource at a position, if it is in use.
    pub(super) fn find(&self, position: usize) -> Option<&Arc<ResourceEntry>> {
        self.resources.get(position)?.as_ref().map(|(resource, _)| resource)
    }

    /// All resources with their positions.
    pub(super) fn iter(&self) -> impl Iterator<Item = (usize, &Arc<ResourceEntry>)> {
        (0..self.resources.len()).filter_map(|position| Some((position, self.find(position)?)))
    }

    /// Updates the set from the registry; `None` if nothing changed. Resources that are not stored are skipped, because
    /// their objects cannot be listed.
    pub(super) fn renew(&mut self) -> Option<ResourceChanges> {
        let (resources, generation) = self.api.registry.resources();
        if generation == self.generation {
            return None;
        }
        self.generation = generation;
        let mut changes = ResourceChanges { removed: Vec::new(), added: Vec::new() };
        let numbers: HashSet<u32> = resources.iter().map(|resource| resource.number).collect();
        let known: HashSet<u32> = self.iter().map(|(_, resource)| resource.number).collect();
        for (position, slot) in self.resources.iter_mut().enumerate() {
            if slot.take_if(|(resource, _)| !numbers.contains(&resource.number)).is_some() {
                changes.removed.push(position);
            }
        }
        let is_new = |resource: &&Arc<ResourceEntry>| resource.kind.shared.stored && !known.contains(&resource.number);
        for resource in resources.iter().filter(is_new) {
            let free = self.resources.iter().position(Option::is_none).unwrap_or_else(|| {
                self.resources.push(None);
                self.resources.len() - 1
            });
            self.resources[free] = Some((resource.clone(), None));
            changes.added.push(free);
        }
        Some(changes)
    }

    /// Watches the resource at a position.
    pub(super) fn watch(&mut self, position: usize, watch: Watch) {
        if let Some(Some((_, slot))) = self.resources.get_mut(position) {
            *slot = Some(watch);
        }
    }

    /// The revision up to which all changes of all watched resources have been returned.
    pub(super) fn position(&self) -> Option<Revision> {
        self.resources.iter().flatten().filter_map(|(_, watch)| watch.as_ref().map(Watch::position)).min()
    }

    /// Waits for changes, and returns the available ones with the positions of their resources, at most `most` for each
    /// resource.
    pub(super) async fn next(&mut self, most: usize, events: &mut Vec<(usize, Event)>) -> Next {
        poll_fn(|cx| {
            let mut some = Vec::new();
            for (position, slot) in self.resources.iter_mut().enumerate() {
                let Some((_, slot)) = slot else { continue };
                let Some(watch) = slot else { continue };
                // At most some of each, so that a resource with many changes does not delay the others.
                match watch.poll_events(cx, most, &mut some) {
                    Poll::Ready(Some(Ok(()))) => events.extend(some.drain(..).map(|event| (position, event))),
                    Poll::Ready(Some(Err(error))) => return Poll::Ready(Next::Broken(error)),
                    Poll::Ready(None) if self.api.cache.is_closed() => return Poll::Ready(Next::Closed),
                    // By now the registry has removed or replaced the resource.
                    Poll::Ready(None) => {
                        *slot = None;
                        return Poll::Ready(Next::ResourcesChanged);
                    }
                    Poll::Pending => {}
                }
            }
            if events.is_empty() { Poll::Pending } else { Poll::Ready(Next::Events) }
        })
        .await
    }
}
