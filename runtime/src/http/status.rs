//! Failures of requests as the API answers them; the Statuses of verbs' errors are in `verbs`. The words are those that
//! clients of kube-apiserver meet, since clients match on reasons and people search for messages.

use super::negotiate::{Offer, Refused as Unacceptable};
pub(super) use crate::verbs::status::{bad_request, internal, method_not_allowed, no_such_resource, of_watch};
use crate::{
    auth::{Attributes, Decision},
    codec::{Encoding, protobuf::EncodeError},
    kind::{Policy, endpoint::PatchType},
    meta::{
        GroupResource,
        options::OptionsError,
        status::{Status, StatusDetails},
    },
    verbs::status::{invalid, refuse},
};

/// A request that is answered with a failure.
#[derive(Clone, Debug, PartialEq)]
pub struct Refused(pub Box<Status>);

impl<T: Into<Status>> From<T> for Refused {
    fn from(status: T) -> Self {
        Self(Box::new(status.into()))
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

#[cfg(test)]
#[path = "status_tests.rs"]
mod tests;
