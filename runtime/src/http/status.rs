//! Failures as the API answers them: the only place that makes a `Status`. The words are those that clients of the
//! reference meet, since clients match on reasons and people search for messages.

use std::collections::HashSet;

use super::negotiate::{Offer, Refused as Unacceptable};
use crate::{
    auth::{Attributes, Decision},
    cache::WatchError,
    codec::{Encoding, protobuf::EncodeError},
    kind::{Policy, endpoint::PatchType},
    meta::{
        FieldError, GroupKind, GroupResource,
        field::MOST_ERRORS,
        options::OptionsError,
        status::{Status, StatusCause, StatusDetails},
    },
    patch::apply::Conflict,
    storage::ReadError,
    verbs::{Error, error::Occupant},
};

/// A request that is answered with a failure.
#[derive(Clone, Debug, PartialEq)]
pub struct Refused(pub Box<Status>);

impl<T: Into<Status>> From<T> for Refused {
    fn from(status: T) -> Self {
        Self(Box::new(status.into()))
    }
}

impl From<Error> for Status {
    fn from(error: Error) -> Self {
        of(error)
    }
}

impl From<OptionsError> for Status {
    fn from(error: OptionsError) -> Self {
        match error {
            OptionsError::BadRequest(message) => bad_request(message),
            OptionsError::Invalid(kind, errors) => invalid(&kind, "", &errors),
            OptionsError::Unknown(message) => Self::failure(500, "", message, None),
        }
    }
}

/// The Status of a verb's error.
fn of(error: Error) -> Status {
    match error {
        Error::NotFound(resource, name) => {
            let message = format!("{resource} \"{name}\" not found");
            Status::failure(404, "NotFound", message, Some(details(resource, name)))
        }
        Error::AlreadyExists(resource, name, occupant) => {
            let message = format!("{}{resource} \"{name}\" already exists", told(occupant));
            Status::failure(409, "AlreadyExists", message, Some(details(resource, name)))
        }
        Error::Conflict(resource, name, why) => {
            let message = format!("Operation cannot be fulfilled on {resource} \"{name}\": {why}");
            Status::failure(409, "Conflict", message, Some(details(resource, name)))
        }
        Error::Conflicts(message, conflicts) => apply_failed(message, conflicts),
        Error::Invalid(kind, name, errors) => invalid(&kind, &name, &errors),
        Error::InapplicablePatch(_) => {
            let message = "the server rejected our request due to an error in our request";
            Status::failure(422, "Invalid", message, Some(StatusDetails::default()))
        }
        Error::BadRequest(message) => bad_request(message),
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
            let cause = StatusCause {
                reason: "ResourceVersionTooLarge".to_owned(),
                message: "Too large resource version".to_owned(),
                field: String::new(),
            };
            let details = StatusDetails { causes: vec![cause], retry_after_seconds: 1, ..StatusDetails::default() };
            Status::failure(504, "Timeout", message, Some(details))
        }
        Error::GeneratedNameTaken(resource, name, occupant) => {
            let message = format!(
                "{}{resource} \"{name}\" already exists, the server was not able to generate a unique name for the object",
                told(occupant)
            );
            let details = StatusDetails { retry_after_seconds: 1, ..details(resource, name) };
            Status::failure(409, "AlreadyExists", message, Some(details))
        }
        Error::UnsupportedMediaType(message) => Status::failure(415, "UnsupportedMediaType", message, None),
        Error::TooLarge(message) => Status::failure(413, "RequestEntityTooLarge", message, None),
        Error::Unknown(message) => Status::failure(500, "", message, None),
        Error::StoreRead { resource, name, causes, more } => store_read(resource, name, causes, more),
        Error::Internal(message) => internal(&message),
        Error::Unavailable(message) => {
            let details = StatusDetails { retry_after_seconds: 1, ..StatusDetails::default() };
            Status::failure(503, "ServiceUnavailable", message, Some(details))
        }
        Error::InsufficientStorage(message) => {
            let details = StatusDetails { retry_after_seconds: 1, ..StatusDetails::default() };
            Status::failure(507, "InsufficientStorage", message, Some(details))
        }
    }
}

/// What clients are told of the object that has the name they want, before all else.
fn told(occupant: Occupant) -> &'static str {
    match occupant {
        Occupant::Staying => "",
        Occupant::Terminating => "object is being deleted: ",
    }
}

/// 409: a cause for each field.
fn apply_failed(message: String, conflicts: Vec<Conflict>) -> Status {
    let cause = |conflict: Conflict| StatusCause {
        reason: "FieldManagerConflict".to_owned(),
        message: format!("conflict with {}", conflict.manager),
        field: conflict.field,
    };
    let causes = conflicts.into_iter().map(cause).collect();
    Status::failure(409, "Conflict", message, Some(StatusDetails { causes, ..StatusDetails::default() }))
}

fn details(resource: GroupResource, name: String) -> StatusDetails {
    StatusDetails { name, group: resource.group, kind: resource.resource, ..StatusDetails::default() }
}

/// 400.
pub fn bad_request(message: impl Into<String>) -> Status {
    Status::failure(400, "BadRequest", message, None)
}

/// 500: the server failed, not the client.
pub fn internal(message: &str) -> Status {
    let cause = StatusCause { message: message.to_owned(), ..StatusCause::default() };
    let details = StatusDetails { causes: vec![cause], ..StatusDetails::default() };
    Status::failure(500, "InternalError", format!("Internal error occurred: {message}"), Some(details))
}

/// 500: objects are stored that cannot be decoded. The message names the first, since some clients show no causes.
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
    // For a collection kube-apiserver says so in the place of a name.
    let name = if name.is_empty() { "list".to_owned() } else { name };
    Status::failure(500, "StoreReadError", message, Some(StatusDetails { causes, ..details(resource, name) }))
}

/// 422: one cause for each error; the message names each text once.
fn invalid(kind: &GroupKind, name: &str, errors: &[FieldError]) -> Status {
    let told = &errors[..errors.len().min(MOST_ERRORS)];
    let (mut texts, mut known) = (Vec::with_capacity(told.len()), HashSet::with_capacity(told.len()));
    for error in told {
        let text = error.to_string();
        if known.insert(text.clone()) {
            texts.push(text);
        }
    }
    let list = match texts.as_slice() {
        [one] => one.clone(),
        several => format!("[{}]", several.join(", ")),
    };
    let causes = told
        .iter()
        .map(|error| StatusCause {
            reason: error.reason().to_owned(),
            message: error.message(),
            field: error.path.to_string(),
        })
        .collect();
    let details = StatusDetails {
        name: name.to_owned(),
        group: kind.group.clone(),
        kind: kind.kind.clone(),
        causes,
        ..StatusDetails::default()
    };
    Status::failure(422, "Invalid", format!("{kind} \"{name}\" is invalid: {list}"), Some(details))
}

fn refuse(resource: GroupResource, name: String, message: &str, causes: Vec<(String, String, String)>) -> Status {
    let message = match (resource.resource.as_str(), name.as_str()) {
        ("", _) => format!("forbidden: {message}"),
        (_, "") => format!("{resource} is forbidden: {message}"),
        _ => format!("{resource} \"{name}\" is forbidden: {message}"),
    };
    let causes = causes.into_iter().map(|(reason, message, field)| StatusCause { reason, message, field }).collect();
    Status::failure(403, "Forbidden", message, Some(StatusDetails { causes, ..details(resource, name) }))
}

/// 403: what an authorizer did not allow.
pub fn forbidden(asked: &Attributes<'_>, decision: &Decision) -> Status {
    // kube-apiserver escapes these so that no browser takes the message for HTML.
    let message = asked.to_string().replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    let message = match decision {
        Decision::NoOpinion(reason) | Decision::Deny(reason) if !reason.is_empty() => format!("{message}: {reason}"),
        _ => message,
    };
    let resource = GroupResource { group: asked.group.to_owned(), resource: asked.resource.to_owned() };
    refuse(resource, asked.name.to_owned(), &message, Vec::new())
}

/// 401.
pub fn unauthorized() -> Status {
    Status::failure(401, "Unauthorized", "Unauthorized", None)
}

/// 404: a group and version are served, but not this resource or path below them.
pub fn no_such_resource() -> Status {
    let message = "the server could not find the requested resource";
    Status::failure(404, "NotFound", message, Some(StatusDetails::default()))
}

/// 405.
pub fn method_not_allowed() -> Status {
    let message = "the server does not allow this method on the requested resource";
    Status::failure(405, "MethodNotAllowed", message, Some(StatusDetails::default()))
}

/// 406: nothing that the client accepts is offered. What kube-apiserver's routes refuse for the kinds compiled into it, its
/// handler of custom resources refuses in the words of parameters.
pub fn not_acceptable(refused: Unacceptable, offer: Offer, policy: &dyn Policy) -> Status {
    let offered = offered(offer.protobuf);
    let offers = offered.clone().map(Encoding::media_type).collect::<Vec<_>>().join(", ");
    match refused {
        Unacceptable::MediaType if policy.has_routes() => {
            let message = format!("406: Not Acceptable\n\nAvailable representations: {offers}");
            Status::failure(406, "NotAcceptable", message, Some(StatusDetails::default()))
        }
        Unacceptable::MediaType | Unacceptable::Params => {
            let message = format!("only the following media types are accepted: {offers}");
            Status::failure(406, "NotAcceptable", message, None)
        }
        Unacceptable::Stream => {
            let streams: Vec<_> = offered.filter_map(Encoding::listed_stream).collect();
            let offers = streams.join(", ");
            let message = format!("only the following media types are accepted: {offers}");
            Status::failure(406, "NotAcceptable", message, None)
        }
    }
}

/// The encodings of documents: Protobuf is there where fields are numbered.
fn offered(numbered: bool) -> impl Iterator<Item = Encoding> + Clone {
    Encoding::ALL.into_iter().filter(move |encoding| numbered || *encoding != Encoding::Protobuf)
}

/// 406: a shape that only lists have was asked of an object, or the other way round.
pub fn wrong_shape(asked: &str, is_list: bool) -> Status {
    let what = if is_list { "a list" } else { "not a list" };
    Status::failure(406, "NotAcceptable", format!("you requested {asked}, but the requested object is {what}"), None)
}

/// 406: an object that does not fit into the message of its kind, such as one stored before its schema was changed.
pub fn unwritable(name: &str, error: &EncodeError) -> Status {
    let media_type = Encoding::Protobuf.media_type();
    let message = format!("{name:?} cannot be written as {media_type}, only in the other encodings: {error}");
    Status::failure(406, "NotAcceptable", message, None)
}

/// 415: a body of a media type that is not read. Protobuf is read where fields are numbered.
pub fn unsupported_body(numbered: bool) -> Status {
    let offers = offered(numbered).map(Encoding::media_type).collect::<Vec<_>>().join(", ");
    Status::failure(415, "UnsupportedMediaType", unknown_format(&offers), None)
}

fn unknown_format(offers: &str) -> String {
    format!("the body of the request was in an unknown format - accepted media types include: {offers}")
}

/// 415: a body that is compressed.
pub fn compressed_body(encoding: &str) -> Status {
    let message = format!("the body of the request is encoded as {encoding:?}, and only plain bodies are read");
    Status::failure(415, "UnsupportedMediaType", message, None)
}

/// 415: a patch of a type that is not served.
pub fn unsupported_patch(offers: &[PatchType], policy: &dyn Policy) -> Status {
    let offers: Vec<&str> = offers.iter().map(|offer| offer.media_type()).collect();
    let offers = offers.join(", ");
    if policy.has_routes() {
        let message = format!("415: Unsupported Media Type\n\nAccepted patch types: {offers}");
        return Status::failure(415, "UnsupportedMediaType", message, Some(StatusDetails::default()));
    }
    Status::failure(415, "UnsupportedMediaType", unknown_format(&offers), None)
}

/// 429: as many requests as the server takes at a time are being served.
pub fn too_many_requests() -> Status {
    let details = StatusDetails { retry_after_seconds: 1, ..StatusDetails::default() };
    Status::failure(429, "TooManyRequests", "Too many requests, please try again later.", Some(details))
}

/// 413.
pub fn too_large(limit: usize) -> Status {
    let message = format!("Request entity too large: limit is {limit}");
    Status::failure(413, "RequestEntityTooLarge", message, None)
}

/// 408: the body did not arrive in time.
pub fn slow_body() -> Status {
    Status::failure(408, "Timeout", "the body of the request did not arrive in time", None)
}

/// 504: the request took longer than it may. A write may have happened: there is no `Retry-After`, so that clients do not
/// repeat it by themselves.
pub fn timed_out() -> Status {
    let message = "Timeout: request did not complete within the allotted timeout";
    Status::failure(504, "Timeout", message, Some(StatusDetails::default()))
}

/// What a watch that cannot begin or go on tells its client in the stream; nothing where the client should just resume.
pub fn of_watch(error: WatchError) -> Option<Status> {
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
        WatchError::Read(error) => Some(internal(&error.to_string())),
        WatchError::Lagged => None,
    }
}

#[cfg(test)]
#[path = "status_tests.rs"]
mod tests;
