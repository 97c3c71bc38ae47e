//! When requests and their answers end.

use std::{future::poll_fn, pin::Pin, task::Poll, time::Duration};

use tokio::time::Instant;

use super::{
    methods,
    request_info::RequestInfo,
    status::{self, StatusError},
};
use crate::meta::{Status, duration};

/// The latest end of an answer, even if its reader does not read. An extension of the response for the connection,
/// because a body that is not polled cannot end itself.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EndsAt(pub Instant);

/// The time limit of a request; `None` for a long-running one. Zero, or more than the server's maximum, means that
/// maximum. Fails with 400 for a `timeout` that is invalid or repeated.
pub(super) fn time_limit(info: &RequestInfo, maximum: Duration) -> Result<Option<Duration>, StatusError> {
    if methods::is_long_running(info) {
        return Ok(None);
    }
    let given = match info.query.single("timeout")?.unwrap_or_default() {
        "" => Duration::ZERO,
        text => duration::parse(text)
            .map_err(|why| Status::bad_request(format!("invalid timeout specified in the request URL - {why}")))?,
    };
    Ok(Some(if given.is_zero() { maximum } else { given.min(maximum) }))
}

/// Serves a request within its time limit. After a 504, its writes may have happened.
pub(super) async fn within<T>(
    limit: Option<Duration>,
    mut served: Pin<&mut impl Future<Output = Result<T, StatusError>>>,
) -> Result<T, StatusError> {
    // Most requests are answered at once and need no timer.
    if let Poll::Ready(answer) = poll_fn(|cx| Poll::Ready(served.as_mut().poll(cx))).await {
        return answer;
    }
    match limit {
        Some(limit) => tokio::time::timeout(limit, served).await.unwrap_or_else(|_| Err(status::timed_out().into())),
        None => served.await,
    }
}
