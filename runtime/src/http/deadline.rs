//! Request timeouts: the parameter `timeout`, limited by the server's own maximum. Watches and connections to handlers
//! have none.

use std::time::Duration;

use super::{Backend, asked::Asked, methods, status, status::Refused};
use crate::meta::duration;

/// The time limit of a request; `None` for a long-running one. Zero, or more than the server's maximum, means that
/// maximum.
///
/// # Errors
/// 400 for a `timeout` that is invalid or repeated.
pub(super) fn of(backend: &Backend, asked: &Asked) -> Result<Option<Duration>, Refused> {
    if methods::is_long_running(asked) {
        return Ok(None);
    }
    let limit = Duration::from_secs(backend.limits.request_seconds);
    let given = match asked.query.single("timeout")?.unwrap_or_default() {
        "" => Duration::ZERO,
        text => duration::parse(text)
            .map_err(|why| status::bad_request(format!("invalid timeout specified in the request URL - {why}")))?,
    };
    Ok(Some(if given.is_zero() { limit } else { given.min(limit) }))
}
