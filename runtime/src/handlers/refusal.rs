//! Why a handler refused: what its client is told, as a Status.
use std::{fmt, io, time::Duration};

use crate::{
    kind::Kind,
    meta::{
        FieldError,
        status::{Status, StatusCause, StatusDetails},
    },
    verbs::Error,
};

/// What a handler gives back.
pub type Result<T> = std::result::Result<T, Refusal>;

/// Why a handler refused or failed, as the client is told.
///
/// ```
/// # use kindsmith::handlers::Refusal;
/// # use std::time::Duration;
/// let full = Refusal::too_many_requests("the reader holds ten books already", Duration::from_secs(60));
/// let wrong = Refusal::bad_request("no such container");
/// ```
#[derive(Debug)]
pub struct Refusal(Box<Why>);

#[derive(Debug)]
enum Why {
    /// A verb's own error.
    Verb(Error),
    /// 403 about the request's object.
    Forbidden(String),
    /// 409 about the request's object.
    Conflict(String),
    /// 422 about the request's object.
    Invalid(Vec<FieldError>),
    /// Anything else.
    Status(Status),
}

/// A refusal that knows what it is about.
pub(crate) enum Told {
    /// An error of the verbs.
    Error(Error),
    /// A Status as it is.
    Status(Status),
}

impl Refusal {
    /// A Status of one's own: the HTTP status, the reason that programs read, and the message for people.
    ///
    /// # Panics
    /// On a code that is no HTTP status of a failure, 400 to 599.
    pub fn new(code: u16, reason: &str, message: impl Into<String>) -> Self {
        assert!((400..600).contains(&code), "{code} is no HTTP status of a failure");
        Why::Status(Status::failure(code, reason, message, Some(StatusDetails::default()))).into()
    }

    /// 400: what is asked for makes no sense.
    pub fn bad_request(message: impl Into<String>) -> Self {
        Error::BadRequest(message.into()).into()
    }

    /// 403: `<resource> "<name>" is forbidden: <message>`.
    pub fn forbidden(message: impl Into<String>) -> Self {
        Why::Forbidden(message.into()).into()
    }

    /// 404 with a message, for what is asked about and is not there.
    pub fn not_found(message: impl Into<String>) -> Self {
        Self::new(404, "NotFound", message)
    }

    /// 409: `Operation cannot be fulfilled on <resource> "<name>": <message>`.
    pub fn conflict(message: impl Into<String>) -> Self {
        Why::Conflict(message.into()).into()
    }

    /// 422: what is wrong with the object, field by field.
    pub fn invalid(errors: Vec<FieldError>) -> Self {
        Why::Invalid(errors).into()
    }

    /// 429: not now. The client may try again after this time.
    pub fn too_many_requests(message: impl Into<String>, retry_after: Duration) -> Self {
        let seconds = u16::try_from(retry_after.as_secs()).unwrap_or(u16::MAX);
        let details = StatusDetails { retry_after_seconds: seconds, ..StatusDetails::default() };
        Why::Status(Status::failure(429, "TooManyRequests", message, Some(details))).into()
    }

    /// 500: the handler failed. The message is shown to the client.
    pub fn internal(message: impl Into<String>) -> Self {
        Error::Internal(message.into()).into()
    }

    /// Adds a cause, which programs read: such as the reason `DisruptionBudget` of an eviction that has to wait. Errors
    /// whose causes are their fields keep those.
    #[must_use]
    pub fn cause(mut self, reason: &str, message: impl Into<String>) -> Self {
        if let Why::Status(status) = &mut *self.0 {
            let cause = StatusCause { reason: reason.to_owned(), message: message.into(), field: String::new() };
            status.details.get_or_insert_default().causes.push(cause);
        }
        self
    }

    /// What the client is told, about an object of a kind.
    pub(crate) fn about(self, kind: &Kind, name: &str) -> Told {
        let (resource, name) = (kind.group_resource(), name.to_owned());
        Told::Error(match *self.0 {
            Why::Status(status) => return Told::Status(status),
            Why::Verb(error) => error,
            Why::Forbidden(message) => Error::Forbidden { resource, name, message, causes: Vec::new() },
            Why::Conflict(message) => Error::Conflict(resource, name, message),
            Why::Invalid(errors) => Error::Invalid(kind.group_kind(), name, errors),
        })
    }
}

impl From<Why> for Refusal {
    fn from(why: Why) -> Self {
        Self(Box::new(why))
    }
}

impl From<Error> for Refusal {
    fn from(error: Error) -> Self {
        Why::Verb(error).into()
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
        match &*self.0 {
            Why::Verb(error) => write!(f, "{error:?}"),
            Why::Forbidden(message) | Why::Conflict(message) => f.write_str(message),
            Why::Invalid(errors) => {
                let texts: Vec<String> = errors.iter().map(ToString::to_string).collect();
                f.write_str(&texts.join(", "))
            }
            Why::Status(status) => f.write_str(&status.message),
        }
    }
}

impl std::error::Error for Refusal {}
