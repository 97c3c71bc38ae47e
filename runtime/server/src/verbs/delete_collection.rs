//! deletecollection: deletes each object of a list.
use std::{future::Future, pin::Pin, task::Poll};

use super::{Error, ItemPosition, Items, List, Request, Verbs};
use crate::meta::options::{DeleteOptions, ListOptions};

/// The maximum number of concurrent operations, which share the store's fsync.
pub(super) const AT_ONCE: usize = 64;
/// The maximum size in bytes of their objects; the last one may exceed it. Each is decoded in memory until it is
/// deleted.
pub(super) const BYTES_AT_ONCE: usize = 1 << 20;

impl Verbs {
    /// Deletes the selected objects, and returns their last states.
    ///
    /// # Errors
    /// Like [`Verbs::list`] and [`Verbs::delete`]. Deletions before a failed one are not undone.
    pub async fn delete_collection(
        &self,
        request: &Request,
        list: &ListOptions,
        options: &DeleteOptions,
    ) -> Result<List, Error> {
        let mut selected = self.list(request, list).await?;
        // Nothing is deleted if the answer is impossible.
        let shown = selected.items.clone().converted(request).await?;
        self.delete_all(request, &selected.items, options, |_, error| Err(error)).await?;
        selected.items = shown;
        Ok(selected)
    }

    /// Deletes objects of the collection of a request. `failed` decides whether to continue after an error. The first object is
    /// deleted alone, and each further group is up to twice as large: if none can be deleted, few are tried.
    ///
    /// # Errors
    /// Those of `failed`, after the deletions that had begun.
    pub(crate) async fn delete_all(
        &self,
        request: &Request,
        items: &Items,
        options: &DeleteOptions,
        mut failed: impl FnMut(&Request, Error) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let (mut position, mut at_once) = (ItemPosition::default(), 1);
        loop {
            let requests: Vec<Request> = {
                let (mut iter, mut some, mut bytes) = (items.iter_from(position), Vec::new(), 0);
                while some.len() < at_once && bytes < BYTES_AT_ONCE {
                    let Some(object) = iter.next() else { break };
                    bytes += object.json_bytes().len();
                    some.push(request.clone().at(object.key()));
                }
                position = iter.position();
                some
            };
            if requests.is_empty() {
                return Ok(());
            }
            let delete = |one| async move { (one, self.delete(one, options).await) };
            let deletions = requests.iter().map(|one| Box::pin(delete(one)) as Concurrent<'_, _>).collect();
            for (one, done) in all(deletions).await {
                match done {
                    // Another client was faster.
                    Ok(_) | Err(Error::NotFound(..)) => {}
                    Err(error) => failed(one, error)?,
                }
            }
            at_once = AT_ONCE.min(at_once * 2);
        }
    }
}

/// One of several concurrent operations.
pub(super) type Concurrent<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Awaits all operations and returns their results in order of completion. There are few, so polling all remaining ones
/// at every wake-up is cheap.
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
