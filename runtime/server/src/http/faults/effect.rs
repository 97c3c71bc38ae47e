//! What a rule does to a request. The statuses are those of kube-apiserver, word for word.
use std::{fmt, io, time::Duration};

use axum_core::{body::Body, response::Response};
use bytes::Bytes;
use futures_core::Stream;
use http::StatusCode;

use super::request::FaultyRequest;
use crate::{
    http::{negotiate::ResponseFormat, response, status},
    kind::endpoint::Verb,
    meta::{Status, status::StatusDetails},
    verbs::{Error, error::MODIFIED, list::TOO_OLD_TO_CONTINUE},
};

/// What happens to a request.
#[derive(Debug)]
pub(super) enum Effect {
    Conflict,
    TooManyRequests(Duration),
    Gone,
    ExpireWatch,
    CutWatch,
    Slow(Duration),
    Timeout,
    Unavailable,
    Reset,
    Status(Box<Status>),
}

impl Effect {
    /// True if it happens to the events of a watch, and not in place of an answer.
    pub(super) fn is_of_watches(&self) -> bool {
        matches!(self, Self::ExpireWatch | Self::CutWatch)
    }

    /// True if it can happen to a request.
    pub(super) fn fits(&self, request: &FaultyRequest) -> bool {
        match self {
            Self::Conflict => matches!(request.verb, Some(Verb::Update | Verb::Patch | Verb::Delete)),
            Self::Gone => request.needs_history(),
            Self::ExpireWatch | Self::CutWatch => request.verb == Some(Verb::Watch),
            Self::TooManyRequests(_)
            | Self::Slow(_)
            | Self::Timeout
            | Self::Unavailable
            | Self::Reset
            | Self::Status(_) => true,
        }
    }

    /// The answer to a request; `None` if it gets that of the server.
    pub(super) fn answer(&self, request: &FaultyRequest) -> Option<Response> {
        let status = match self {
            Self::Slow(_) | Self::ExpireWatch | Self::CutWatch => return None,
            Self::Reset => return Some(reset()),
            Self::Conflict => {
                Error::Conflict(request.group_resource(), request.name().to_owned(), MODIFIED.to_owned()).into()
            }
            Self::TooManyRequests(retry_after) => too_many_requests(*retry_after),
            Self::Gone if request.continues() => Status::failure(410, "Expired", TOO_OLD_TO_CONTINUE, None),
            // As kube-apiserver: a watch that cannot begin is one that ends with an error.
            Self::Gone if request.verb == Some(Verb::Watch) => {
                return Some(response::json(StatusCode::OK, expired_event(request)));
            }
            Self::Gone => too_old(request),
            Self::Timeout => status::timed_out(),
            Self::Unavailable => {
                let message = "the server is currently unable to handle the request";
                Status::failure(503, "ServiceUnavailable", message, Some(StatusDetails::default()))
            }
            Self::Status(status) => (**status).clone(),
        };
        Some(response::status(&status, ResponseFormat::default()))
    }
}

fn too_many_requests(retry_after: Duration) -> Status {
    let seconds = retry_after.as_secs() + u64::from(retry_after.subsec_nanos() > 0);
    let status = status::too_many_requests();
    let details = StatusDetails {
        retry_after_seconds: u16::try_from(seconds).unwrap_or(u16::MAX),
        ..status.details.unwrap_or_default()
    };
    Status { details: Some(details), ..status }
}

/// The revision that a watch or a list names is no longer there.
fn too_old(request: &FaultyRequest) -> Status {
    let asked = &request.resource_version;
    let oldest = asked.parse::<u64>().map_or(0, |asked| asked.saturating_add(1));
    Status::failure(410, "Expired", format!("too old resource version: {asked} ({oldest})"), None)
}

/// The event by which a watch ends.
fn expired_event(request: &FaultyRequest) -> String {
    serde_json::json!({"type": "ERROR", "object": too_old(request)}).to_string()
}

/// The frame of that event in JSON.
pub(super) fn expired_frame(request: &FaultyRequest) -> Bytes {
    (expired_event(request) + "\n").into()
}

/// The connection was reset, by a fault. Clients in the process that can fail without an answer do so if they find it among the
/// extensions of one.
#[derive(Clone, Debug)]
pub struct ConnectionReset;

impl fmt::Display for ConnectionReset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the connection was reset before the answer: a fault of this test")
    }
}

impl std::error::Error for ConnectionReset {}

/// The error by which a body breaks off.
pub(super) fn broken() -> io::Error {
    io::Error::new(io::ErrorKind::ConnectionReset, ConnectionReset)
}

/// An answer whose connection breaks.
fn reset() -> Response {
    let mut answer = Response::new(Body::from_stream(Broken));
    answer.extensions_mut().insert(ConnectionReset);
    answer
}

/// A body that breaks off at once.
struct Broken;

impl Stream for Broken {
    type Item = io::Result<Bytes>;

    fn poll_next(
        self: std::pin::Pin<&mut Self>,
        _: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Option<io::Result<Bytes>>> {
        std::task::Poll::Ready(Some(Err(broken())))
    }
}
