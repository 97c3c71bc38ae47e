//! Errors of the user's code (handlers, hooks, admission) and of the typed client, as a Status.
use std::{fmt, io, time::Duration};

use super::{
    FieldError,
    status::{Status, StatusCause, StatusDetails},
};

/// The result of a handler, a hook, a plugin of admission, or a call of the typed client.
pub type Result<T, E = Refusal> = std::result::Result<T, E>;

/// Why a handler, a hook, a plugin of admission, or a call of the typed client failed.
///
/// ```
/// # use kindsmith_meta::Refusal;
/// # use std::time::Duration;
/// let full = Refusal::too_many_requests("the reader holds ten books already", Duration::from_secs(60));
/// let wrong = Refusal::bad_request("no such container");
/// assert_eq!((full.status().code, wrong.status().code), (429, 400));
/// ```
#[derive(Clone, Debug)]
pub struct Refusal(#[doc(hidden)] pub Box<Inner>);

/// A Status, and what the server adds to it.
#[derive(Clone, Debug)]
pub struct Inner {
    /// The Status.
    pub status: Status,
    /// The parts of the Status that depend on its object.
    pub about: About,
}

/// The parts of a refusal's Status that depend on the object of the request.
#[derive(Clone, Debug)]
pub enum About {
    /// None: the Status is complete.
    Complete,
    /// It becomes a 403 about the request's object.
    Forbidden,
    /// It becomes a 409 about the request's object.
    Conflict,
    /// It becomes a 422 about the request's object.
    Invalid(Vec<FieldError>),
}

impl Refusal {
    /// A custom Status: the HTTP status, the machine-readable reason, and the human-readable message.
    ///
    /// # Panics
    /// If the code is not an HTTP error status, 400 to 599.
    pub fn new(code: u16, reason: &str, message: impl Into<String>) -> Self {
        assert!((400..600).contains(&code), "{code} is no HTTP status of a failure");
        Status::failure(code, reason, message, Some(StatusDetails::default())).into()
    }

    /// 400: the request is invalid.
    pub fn bad_request(message: impl Into<String>) -> Self {
        Status::bad_request(message).into()
    }

    /// 403: `<resource> "<name>" is forbidden: <message>`.
    pub fn forbidden(message: impl Into<String>) -> Self {
        Self::about_request(403, "Forbidden", message.into(), About::Forbidden)
    }

    /// 404 with a message, for something that does not exist.
    pub fn not_found(message: impl Into<String>) -> Self {
        Self::new(404, "NotFound", message)
    }

    /// 409: `Operation cannot be fulfilled on <resource> "<name>": <message>`.
    pub fn conflict(message: impl Into<String>) -> Self {
        Self::about_request(409, "Conflict", message.into(), About::Conflict)
    }

    /// 422: the errors of the object, field by field.
    pub fn invalid(errors: Vec<FieldError>) -> Self {
        let texts: Vec<String> = errors.iter().map(ToString::to_string).collect();
        Self::about_request(422, "Invalid", texts.join(", "), About::Invalid(errors))
    }

    /// 429: the client may retry after this time.
    pub fn too_many_requests(message: impl Into<String>, retry_after: Duration) -> Self {
        // Rounded up: clients retry only after a number of seconds that is not zero.
        let seconds = u16::try_from(retry_after.as_millis().div_ceil(1000)).unwrap_or(u16::MAX).max(1);
        let details = StatusDetails { retry_after_seconds: seconds, ..StatusDetails::default() };
        Status::failure(429, "TooManyRequests", message, Some(details)).into()
    }

    /// 500: the code failed. The message is shown to the client.
    pub fn internal(message: impl Into<String>) -> Self {
        Status::internal(&message.into()).into()
    }

    /// Adds a machine-readable cause, such as the reason `DisruptionBudget` of an eviction that must wait. The server
    /// creates the causes of [`Refusal::forbidden`], [`Refusal::conflict`] and [`Refusal::invalid`].
    #[must_use]
    pub fn cause(mut self, reason: &str, message: impl Into<String>) -> Self {
        let cause = StatusCause { reason: reason.to_owned(), message: message.into(), field: String::new() };
        self.0.status.details.get_or_insert_default().causes.push(cause);
        self
    }

    /// The Status. A refusal that a handler created does not name the request's object yet, and its message starts with
    /// the handler's own text.
    pub fn status(&self) -> &Status {
        &self.0.status
    }

    fn about_request(code: u16, reason: &str, message: String, about: About) -> Self {
        Self(Box::new(Inner { status: Status::failure(code, reason, message, None), about }))
    }
}

impl From<Status> for Refusal {
    fn from(status: Status) -> Self {
        Self(Box::new(Inner { status, about: About::Complete }))
    }
}

impl From<io::Error> for Refusal {
    fn from(error: io::Error) -> Self {
        Self::internal(error.to_string())
    }
}

impl From<Refusal> for io::Error {
    fn from(refusal: Refusal) -> Self {
        Self::other(refusal)
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.status.message)
    }
}

impl std::error::Error for Refusal {}
