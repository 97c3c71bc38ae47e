//! The resources that a controller follows, each once, in the version in which its objects are stored. They come, are
//! replaced and go while the server runs.
use std::{collections::HashSet, future::poll_fn, sync::Arc, task::Poll};

use crate::{
    cache::{Event, Watch, WatchError},
    kind::registry::Served,
    meta::Revision,
    verbs::Api,
};

/// The resources that are followed. Each has a position, which another one may get when it has gone.
pub(super) struct Followed {
    api: Arc<Api>,
    /// By position.
    resources: Vec<Option<(Arc<Served>, Option<Watch>)>>,
    /// Of which moment of the registry they are.
    generation: u64,
}

/// Which resources are others than before. One that was replaced has gone and come.
pub(super) struct Renewed {
    /// Positions of resources that have gone: whatever is kept about their objects is to be forgotten. They may be among
    /// those that have come.
    pub gone: Vec<usize>,
    /// Positions of resources that have come.
    pub come: Vec<usize>,
}

/// What the watches give.
pub(super) enum Next {
    /// Changes.
    Events,
    /// A resource was replaced or has gone.
    Renewed,
    /// Changes were missed.
    Broken(WatchError),
    /// The cache is closed.
    Closed,
}

impl Followed {
    /// None yet.
    pub fn new(api: Arc<Api>) -> Self {
        Self { api, resources: Vec::new(), generation: 0 }
    }

    /// The resource at a position that was given and has not gone since.
    pub fn at(&self, position: usize) -> &Arc<Served> {
        self.find(position).expect("whatever is kept of a resource that has gone is forgotten")
    }

    /// The resource at a position, if there is one.
    pub fn find(&self, position: usize) -> Option<&Arc<Served>> {
        self.resources.get(position)?.as_ref().map(|(resource, _)| resource)
    }

    /// All resources with their positions.
    pub fn iter(&self) -> impl Iterator<Item = (usize, &Arc<Served>)> {
        (0..self.resources.len()).filter_map(|position| Some((position, self.find(position)?)))
    }

    /// Takes in what has come and gone; `None` where nothing has. What is not stored is not followed: nobody knows which of
    /// its objects there are.
    pub fn renew(&mut self) -> Option<Renewed> {
        let (resources, generation) = self.api.registry.resources();
        if generation == self.generation {
            return None;
        }
        self.generation = generation;
        let mut renewed = Renewed { gone: Vec::new(), come: Vec::new() };
        let served: HashSet<u32> = resources.iter().map(|resource| resource.number).collect();
        let known: HashSet<u32> = self.iter().map(|(_, resource)| resource.number).collect();
        for (position, place) in self.resources.iter_mut().enumerate() {
            if place.take_if(|(resource, _)| !served.contains(&resource.number)).is_some() {
                renewed.gone.push(position);
            }
        }
        let is_new = |resource: &&Arc<Served>| resource.kind.stored && !known.contains(&resource.number);
        for resource in resources.iter().filter(is_new) {
            let free = self.resources.iter().position(Option::is_none).unwrap_or_else(|| {
                self.resources.push(None);
                self.resources.len() - 1
            });
            self.resources[free] = Some((resource.clone(), None));
            renewed.come.push(free);
        }
        Some(renewed)
    }

    /// Watches the resource at a position.
    pub fn watch(&mut self, position: usize, watch: Watch) {
        if let Some(Some((_, place))) = self.resources.get_mut(position) {
            *place = Some(watch);
        }
    }

    /// Up to where every change has been given, of all resources that are watched.
    pub fn position(&self) -> Option<Revision> {
        self.resources.iter().flatten().filter_map(|(_, watch)| watch.as_ref().map(Watch::position)).min()
    }

    /// Gives the changes that are ready, with the positions of their resources, at most `most` of each resource; waits for
    /// the first.
    pub async fn next(&mut self, most: usize, events: &mut Vec<(usize, Event)>) -> Next {
        poll_fn(|cx| {
            let mut some = Vec::new();
            for (position, place) in self.resources.iter_mut().enumerate() {
                let Some((_, place)) = place else { continue };
                let Some(watch) = place else { continue };
                // Some of each, so that a resource with many changes does not keep the others waiting.
                match watch.poll_events(cx, most, &mut some) {
                    Poll::Ready(Some(Ok(()))) => events.extend(some.drain(..).map(|event| (position, event))),
                    Poll::Ready(Some(Err(error))) => return Poll::Ready(Next::Broken(error)),
                    Poll::Ready(None) if self.api.cache.is_closed() => return Poll::Ready(Next::Closed),
                    // Who asks the registry now finds the resource gone, or another in its place.
                    Poll::Ready(None) => {
                        *place = None;
                        return Poll::Ready(Next::Renewed);
                    }
                    Poll::Pending => {}
                }
            }
            if events.is_empty() { Poll::Pending } else { Poll::Ready(Next::Events) }
        })
        .await
    }
}
