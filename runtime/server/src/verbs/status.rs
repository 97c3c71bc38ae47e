//! The Status of a verb's error. Reasons and messages are kube-apiserver's, because clients match on reasons and people
//! search for messages.
use super::{Error, error::Occupant, metadata};
use crate::{
    auth::{Attributes, Decision},
    cache::WatchError,
    kind::Kind,
    meta::{
        FieldError, GroupResource,
        refusal::{About, Inner, Refusal},
        status::{Status, StatusCause, StatusDetails},
    },
    patch::apply::Conflict,
    schema::{Document, Exceeded},
    storage::ReadError,
};

impl From<Error> for Status {
    fn from(error: Error) -> Self {
        match error {
            Error::NotFound(resource, name) => {
                let message = format!("{resource} \"{name}\" not found");
                Status::failure(404, "NotFound", message, Some(details(resource, name)))
            }
            Error::AlreadyExists(resource, name, occupant) => {
                let message = format!("{}{resource} \"{name}\" already exists", prefix(occupant));
                Status::failure(409, "AlreadyExists", message, Some(details(resource, name)))
            }
            Error::Conflict(resource, name, why) => {
                let message = format!("Operation cannot be fulfilled on {resource} \"{name}\": {why}");
                Status::failure(409, "Conflict", message, Some(details(resource, name)))
            }
            Error::Conflicts(message, conflicts) => apply_failed(message, conflicts),
            Error::Invalid(kind, name, errors) => Status::invalid(&kind, &name, &errors),
            Error::InapplicablePatch(why) => {
                // kube-apiserver does not tell clients.
                tracing::debug!(why, "a JSON patch cannot be applied");
                let message = "the server rejected our request due to an error in our request";
                Status::failure(422, "Invalid", message, Some(StatusDetails::default()))
            }
            Error::BadRequest(message) => Status::bad_request(message),
            Error::Forbidden { resource, name, message, causes } => refuse(resource, name, &message, causes),
            Error::MethodNotAllowed => method_not_allowed(),
            Error::NotServed => no_such_resource(),
            Error::Expired { message, continue_token } => {
                let mut status = Status::failure(410, "Expired", message, None);
                status.metadata.continue_token = continue_token.unwrap_or_default();
                status
            }
            Error::TooLargeRevision { asked, current } => {
                let message = format!("Timeout: Too large resource version: {asked}, current: {current}");
                let (reason, text) = ("ResourceVersionTooLarge".to_owned(), "Too large resource version".to_owned());
                let cause = StatusCause { reason, message: text, field: String::new() };
                let details = StatusDetails { causes: vec![cause], ..retry() };
                Status::failure(504, "Timeout", message, Some(details))
            }
            Error::Timeout(why) => Status::failure(504, "Timeout", format!("Timeout: {why}"), Some(retry())),
            Error::Unknowable(why) => Status::failure(504, "Timeout", format!("Timeout: {why}"), None),
            Error::GeneratedNameTaken(resource, name, occupant) => {
                let message = format!(
                    "{}{resource} \"{name}\" already exists, the server was not able to generate a unique name for the object",
                    prefix(occupant)
                );
                let details = StatusDetails { retry_after_seconds: 1, ..details(resource, name) };
                Status::failure(409, "AlreadyExists", message, Some(details))
            }
            Error::UnsupportedMediaType(message) => Status::failure(415, "UnsupportedMediaType", message, None),
            Error::TooLarge(message) => Status::failure(413, "RequestEntityTooLarge", message, None),
            Error::Exceeded(Exceeded::Time) => timed_out(),
            Error::Exceeded(exceeded) => Status::failure(413, "RequestEntityTooLarge", exceeded.to_string(), None),
            Error::Unknown(message) => Status::failure(500, "", message, None),
            Error::StoreRead { resource, name, causes, more, awaits_conversion } => {
                let status = store_read(resource, name, causes, more);
                if awaits_conversion { unavailable(status) } else { status }
            }
            Error::Internal(message) => Status::internal(&message),
            Error::Refused(status) => *status,
            Error::TooManyRequests => too_many_requests(),
            Error::Unavailable(message) => Status::failure(503, "ServiceUnavailable", message, Some(retry())),
            Error::InsufficientStorage(message) => Status::failure(507, "InsufficientStorage", message, Some(retry())),
        }
    }
}

impl From<Error> for Refusal {
    fn from(error: Error) -> Self {
        Status::from(error).into()
    }
}

impl Error {
    /// The error for an invalid document of a kind.
    pub(super) fn invalid(kind: &Kind, document: &Document, errors: Vec<FieldError>) -> Self {
        Self::Invalid(kind.group_kind(), metadata::text(document, "name").to_owned(), errors)
    }

    /// The error for a refusal by the user's code, about an object of a kind.
    pub(crate) fn refused(refusal: Refusal, kind: &Kind, name: &str) -> Self {
        let Inner { status, about } = *refusal.0;
        let (resource, name) = (kind.group_resource(), name.to_owned());
        match about {
            About::Complete => Self::Refused(Box::new(status)),
            About::Forbidden => Self::Forbidden { resource, name, message: status.message, causes: Vec::new() },
            About::Conflict => Self::Conflict(resource, name, status.message),
            About::Invalid(errors) => Self::Invalid(kind.group_kind(), name, errors),
        }
    }
}

/// The beginning of the message about the object that already has the name.
fn prefix(occupant: Occupant) -> &'static str {
    match occupant {
        Occupant::Staying => "",
        Occupant::Terminating => "object is being deleted: ",
    }
}

/// 409, with a cause for each field.
fn apply_failed(message: String, conflicts: Vec<Conflict>) -> Status {
    let cause = |conflict: Conflict| StatusCause {
        reason: "FieldManagerConflict".to_owned(),
        message: format!("conflict with {}", conflict.manager),
        field: conflict.field,
    };
    let causes = conflicts.into_iter().map(cause).collect();
    Status::failure(409, "Conflict", message, Some(StatusDetails { causes, ..StatusDetails::default() }))
}

/// Clients try again after a second.
fn retry() -> StatusDetails {
    StatusDetails { retry_after_seconds: 1, ..StatusDetails::default() }
}

/// 429: too many other requests run or wait.
pub(crate) fn too_many_requests() -> Status {
    Status::failure(429, "TooManyRequests", "Too many requests, please try again later.", Some(retry()))
}

fn details(resource: GroupResource, name: String) -> StatusDetails {
    StatusDetails { name, group: resource.group, kind: resource.resource, ..StatusDetails::default() }
}

/// 404: the group and version are served, but not this resource or path.
pub(crate) fn no_such_resource() -> Status {
    let message = "the server could not find the requested resource";
    Status::failure(404, "NotFound", message, Some(StatusDetails::default()))
}

/// 504: the time limit of the request has passed.
pub(crate) fn timed_out() -> Status {
    Status::failure(504, "Timeout", Exceeded::Time.to_string(), Some(StatusDetails::default()))
}

/// 405.
pub(crate) fn method_not_allowed() -> Status {
    let message = "the server does not allow this method on the requested resource";
    Status::failure(405, "MethodNotAllowed", message, Some(StatusDetails::default()))
}

/// 501: a document describes what no code of this server does. Not a 404, which clients take for an object that is gone.
pub(crate) fn no_handler(what: &str) -> Status {
    let message = format!("this server has no handler for {what}: they are served as documents describe them");
    Status::failure(501, "NotImplemented", message, Some(StatusDetails::default()))
}

/// 500: stored objects that cannot be decoded. The message names the first, because some clients do not show causes.
fn store_read(resource: GroupResource, name: String, causes: Vec<(String, String)>, more: bool) -> Status {
    let mut message = format!("failed to read one or more {resource} from the storage");
    if let Some((key, why)) = causes.first() {
        message = format!("{message}: {key}: {why}");
    }
    if causes.len() > 1 {
        message = format!("{message} (and {} more)", causes.len() - 1);
    }
    let cause = |reason: &str, message, field| StatusCause { reason: reason.to_owned(), message, field };
    let mut causes: Vec<_> = causes.into_iter().map(|(key, why)| cause("UnexpectedServerResponse", why, key)).collect();
    if more {
        causes.push(cause("FieldValueTooMany", "too many errors, the list is truncated".to_owned(), String::new()));
    }
    // For a collection kube-apiserver uses this instead of a name.
    let name = if name.is_empty() { "list".to_owned() } else { name };
    Status::failure(500, "StoreReadError", message, Some(StatusDetails { causes, ..details(resource, name) }))
}

/// 503: the same if the objects can be read as soon as a webhook answers.
fn unavailable(status: Status) -> Status {
    let details = StatusDetails { retry_after_seconds: 1, ..status.details.unwrap_or_default() };
    Status::failure(503, "ServiceUnavailable", status.message, Some(details))
}

/// 403: denied by an authorizer.
pub(crate) fn forbidden(attributes: &Attributes<'_>, decision: &Decision) -> Status {
    // kube-apiserver escapes these so that browsers do not interpret the message as HTML.
    let message = attributes.to_string().replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    let message = match decision {
        Decision::NoOpinion(reason) | Decision::Deny(reason) if !reason.is_empty() => format!("{message}: {reason}"),
        _ => message,
    };
    let resource = GroupResource { group: attributes.group.to_owned(), resource: attributes.resource.to_owned() };
    refuse(resource, attributes.name.to_owned(), &message, Vec::new())
}

pub(super) fn refuse(
    resource: GroupResource,
    name: String,
    message: &str,
    causes: Vec<(String, String, String)>,
) -> Status {
    let message = match (resource.resource.as_str(), name.as_str()) {
        ("", _) => format!("forbidden: {message}"),
        (_, "") => format!("{resource} is forbidden: {message}"),
        _ => format!("{resource} \"{name}\" is forbidden: {message}"),
    };
    let causes = causes.into_iter().map(|(reason, message, field)| StatusCause { reason, message, field }).collect();
    Status::failure(403, "Forbidden", message, Some(StatusDetails { causes, ..details(resource, name) }))
}

/// The error of a watch that cannot start or continue, for its stream; `None` if the client should just resume.
pub(crate) fn of_watch(error: WatchError) -> Option<Status> {
    match error {
        WatchError::Expired(oldest) => {
            let message = format!("too old resource version: the oldest to resume from is {oldest}");
            Some(Status::failure(410, "Expired", message, None))
        }
        WatchError::Unreadable { key, reason } => {
            let message = format!("failed to read an object from the storage: {key}: {reason}");
            Some(Status::failure(500, "StoreReadError", message, None))
        }
        WatchError::Read(ReadError::Damaged(message)) => {
            let message = format!("failed to read past changes from the storage: {message}");
            Some(Status::failure(500, "StoreReadError", message, None))
        }
        WatchError::Read(error @ ReadError::Unreachable(_)) => Some(Error::Timeout(error.to_string()).into()),
        WatchError::Read(error) => Some(Status::internal(&error.to_string())),
        WatchError::Unconverted(reason) => Some(Status::internal(&reason)),
        WatchError::Lagged => None,
    }
}
