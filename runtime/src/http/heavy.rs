//! Requests by weight. One about much, in its body or in what is stored, is worked on apart from the threads that serve
//! connections: as one piece from the decoding of its body to its commit, few such pieces at a time. So others are not
//! held up, and what is decoded takes memory for a few requests, however many come at once.

use std::pin::Pin;

use bytes::Bytes;

use super::{App, offload, status::Refused};
use crate::verbs::{Api, Request};

/// More bytes than this are much. Fewer take less than a millisecond.
pub const LARGE: usize = 64 << 10;

/// Work on a request.
pub type Work<'w, T> = Pin<Box<dyn Future<Output = Result<T, Refused>> + Send + 'w>>;

/// Does work on a body and on so many bytes that are stored: at once where they are few, otherwise when its turn comes.
/// Work that has had its turn goes on when the request is given up. A large body has its room until the work is over. The
/// work must not wait for a turn of its own, nor for code that might.
///
/// # Errors
/// As the work.
pub async fn run<T: Send + 'static>(
    app: &App,
    request: &Request,
    stored: usize,
    body: Bytes,
    work: impl for<'w> FnOnce(&'w Api, &'w Request, Bytes) -> Work<'w, T> + Send + 'static,
) -> Result<T, Refused> {
    if body.len() + stored <= LARGE {
        return work(&app.api, request, body).await;
    }
    let (api, request) = (app.api.clone(), request.clone());
    // Boxed, so that the state of a light request stays small.
    Box::pin(offload::write(async move {
        let _room = body.clone();
        work(&api, &request, body).await
    }))
    .await
}

/// The bytes of the object that a request names, as it is stored; none where there is no such object.
pub fn stored(request: &Request) -> usize {
    request.served.objects.snapshot().get(&request.key()).map_or(0, |object| object.json_bytes().len())
}
