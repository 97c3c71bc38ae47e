//! Heavy requests, with a large body or a large stored object, are processed off the threads that serve connections: as
//! one unit from decoding to commit, and only a few at a time. They do not delay others, and decoded documents take
//! memory for only a few requests.

use std::pin::Pin;

use bytes::Bytes;

use super::{
    Backend, offload,
    status::{self, Refused},
};
use crate::verbs::{Request, Verbs};

/// The size in bytes above which a request is heavy. Smaller ones take less than a millisecond.
pub(super) const LARGE: usize = 64 << 10;

/// The processing of a request.
pub(super) type Work<'w, T> = Pin<Box<dyn Future<Output = Result<T, Refused>> + Send + 'w>>;

/// Processes a body and this many stored bytes: at once if they are few, otherwise when a slot is free. Work that has
/// started continues if the request is cancelled. A large body and large stored objects keep their shares of the budgets
/// until then. The work must not wait for a slot itself, nor for code that might, except for hooks and admission, for which
/// the slot is released.
///
/// # Errors
/// Those of the work; 429 if there is no room for the stored objects in time.
pub(super) async fn run<T: Send + 'static>(
    backend: &Backend,
    request: &Request,
    stored: usize,
    body: Bytes,
    work: impl for<'w> FnOnce(&'w Verbs, &'w Request, Bytes) -> Work<'w, T> + Send + 'static,
) -> Result<T, Refused> {
    if body.len() + stored <= LARGE {
        return work(&backend.api, request, body).await;
    }
    let (api, request) = (backend.api.clone(), request.clone());
    // Boxed to keep the state of a light request small.
    let work = Box::pin(offload::write(stored, async move {
        let _room = body.clone();
        work(&api, &request, body).await
    }));
    work.await.ok_or_else(status::too_many_requests)?
}

/// The size of the requested object as stored; zero if it does not exist.
pub(super) fn stored(request: &Request) -> usize {
    request.served.objects.snapshot().get(&request.key()).map_or(0, |object| object.json_bytes().len())
}
