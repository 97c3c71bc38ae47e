//! How long a request may take: the parameter `timeout`, bounded by the server's own limit. Watches and connections to
//! handlers last as long as they need.

use std::time::Duration;

use super::{App, asked::Asked, methods, status, status::Refused};
use crate::meta::duration;

/// The time within which a request must be answered; `None` for one that may take long. A `timeout` that is zero, or
/// longer than the server's limit, asks for that limit.
///
/// # Errors
/// 400 for a `timeout` that is not a duration or is repeated.
pub fn of(app: &App, asked: &Asked) -> Result<Option<Duration>, Refused> {
    if methods::is_long_running(asked) {
        return Ok(None);
    }
    let limit = Duration::from_secs(app.limits.request_seconds);
    let given = match asked.query.single("timeout")?.unwrap_or_default() {
        "" => Duration::ZERO,
        text => duration::parse(text)
            .map_err(|why| status::bad_request(format!("invalid timeout specified in the request URL - {why}")))?,
    };
    Ok(Some(if given.is_zero() { limit } else { given.min(limit) }))
}
