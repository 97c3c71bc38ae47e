//! deletecollection: each object that a list gives, one by one.
use std::{future::Future, pin::Pin, task::Poll};

use super::{Api, Error, List, Place, Request};
use crate::{
    cache::Object,
    kind::model::Scope,
    meta::options::{DeleteOptions, ListOptions},
};

/// How many deletions are under way at once: they share the disk's flushes.
const AT_ONCE: usize = 64;
/// How many bytes of objects they are of; the last of them may be more. Each is decoded in memory until it is gone.
const BYTES_AT_ONCE: usize = 1 << 20;

impl Api {
    /// Deletes what the options select, and gives the objects as they were.
    ///
    /// # Errors
    /// As [`Api::list`] and [`Api::delete`]; what came before a deletion that failed stays deleted.
    pub async fn delete_collection(
        &self,
        request: &Request,
        list: &ListOptions,
        options: &DeleteOptions,
    ) -> Result<List, Error> {
        let selected = self.list(request, list).await?;
        let mut place = Place::default();
        loop {
            let requests: Vec<Request> = {
                let (mut walk, mut some, mut bytes) = (selected.items.walk(place), Vec::new(), 0);
                while some.len() < AT_ONCE && bytes < BYTES_AT_ONCE {
                    let Some(object) = walk.next() else { break };
                    bytes += object.json_bytes().len();
                    some.push(request_for(request, object));
                }
                place = walk.place();
                some
            };
            if requests.is_empty() {
                return Ok(selected);
            }
            let deletions =
                requests.iter().map(|one| Box::pin(self.delete(one, options)) as Concurrent<'_, _>).collect();
            for done in all(deletions).await {
                match done {
                    // Somebody else was quicker.
                    Ok(_) | Err(Error::NotFound(..)) => {}
                    Err(error) => return Err(error),
                }
            }
        }
    }
}

/// One of several operations under way at once.
pub(super) type Concurrent<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Waits for all of them, and gives what came of each, in the order in which they end. They are few, so looking at each one
/// that is left at every wake-up is cheap.
pub(super) async fn all<T>(mut operations: Vec<Concurrent<'_, T>>) -> Vec<T> {
    let mut done = Vec::with_capacity(operations.len());
    std::future::poll_fn(|context| {
        operations.retain_mut(|operation| match operation.as_mut().poll(context) {
            Poll::Ready(result) => {
                done.push(result);
                false
            }
            Poll::Pending => true,
        });
        if operations.is_empty() { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
    done
}

/// A request for an object of a collection.
pub(super) fn request_for(request: &Request, object: &Object) -> Request {
    let mut one = request.clone();
    match object.key().split_once('/') {
        Some((namespace, name)) if request.served.kind.shared.scope == Scope::Namespaced => {
            namespace.clone_into(&mut one.namespace);
            name.clone_into(&mut one.name);
        }
        _ => object.key().clone_into(&mut one.name),
    }
    one
}
