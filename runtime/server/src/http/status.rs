//! Failures as the API reports them: the only place that creates a `Status`. The wording is kube-apiserver's, because
//! clients match on reasons and people search for messages.

use super::negotiate::{NotAcceptable, Offer};
pub(super) use crate::verbs::status::{
    forbidden, method_not_allowed, no_handler, no_such_resource, of_watch, timed_out, too_many_requests,
};
use crate::{
    codec::{Encoding, protobuf::EncodeError},
    kind::{Kind, Policy, endpoint::PatchType},
    meta::{
        GroupResource,
        status::{Status, StatusDetails},
    },
};

/// A request that is answered with a failure.
#[derive(Clone, Debug, PartialEq)]
pub struct StatusError(pub Box<Status>);

impl<T: Into<Status>> From<T> for StatusError {
    fn from(status: T) -> Self {
        Self(Box::new(status.into()))
    }
}

/// 401.
pub(super) fn unauthorized() -> Status {
    Status::failure(401, "Unauthorized", "Unauthorized", None)
}

/// 406: no offered form is accepted. kube-apiserver words this differently for its compiled kinds and for custom
/// resources.
pub(super) fn not_acceptable(error: NotAcceptable, offer: Offer, policy: &dyn Policy) -> Status {
    let offered = offered(offer.protobuf);
    let offers: Vec<_> = match error {
        NotAcceptable::Stream => offered.filter_map(Encoding::listed_stream).collect(),
        NotAcceptable::MediaType | NotAcceptable::Params => offered.map(Encoding::media_type).collect(),
    };
    let offers = offers.join(", ");
    if error == NotAcceptable::MediaType && policy.has_routes() {
        let message = format!("406: Not Acceptable\n\nAvailable representations: {offers}");
        return Status::failure(406, "NotAcceptable", message, Some(StatusDetails::default()));
    }
    Status::failure(406, "NotAcceptable", format!("only the following media types are accepted: {offers}"), None)
}

/// The encodings of documents; Protobuf only if fields have numbers.
fn offered(numbered: bool) -> impl Iterator<Item = Encoding> {
    Encoding::ALL.into_iter().filter(move |encoding| numbered || *encoding != Encoding::Protobuf)
}

/// 406: the shape of a list was requested for an object, or the reverse.
pub(super) fn wrong_shape(shape: &str, is_list: bool) -> Status {
    let what = if is_list { "a list" } else { "not a list" };
    Status::failure(406, "NotAcceptable", format!("you requested {shape}, but the requested object is {what}"), None)
}

/// 406: an object does not fit its kind's message, such as one stored before a change of the schema.
pub(super) fn unwritable(name: &str, error: &EncodeError) -> Status {
    let media_type = Encoding::Protobuf.media_type();
    let message = format!("{name:?} cannot be written as {media_type}, only in the other encodings: {error}");
    Status::failure(406, "NotAcceptable", message, None)
}

/// 415: unsupported media type of a body. Protobuf is supported if fields have numbers.
pub(super) fn unsupported_body(numbered: bool) -> Status {
    let offers = offered(numbered).map(Encoding::media_type).collect::<Vec<_>>().join(", ");
    Status::failure(415, "UnsupportedMediaType", unknown_format(&offers), None)
}

/// 415: a body in Protobuf of a kind of Kubernetes, whose fields have no numbers here.
pub(super) fn unnumbered_body(kind: &Kind) -> Status {
    let status = unsupported_body(false);
    let (name, at) = (&kind.names().kind, &kind.group_version);
    let message = format!(
        "{}. Protobuf of {at} {name} needs the numbers of its fields: serve the .proto files of Kubernetes beside its OpenAPI \
         documents",
        status.message
    );
    Status { message, ..status }
}

fn unknown_format(offers: &str) -> String {
    format!("the body of the request was in an unknown format - accepted media types include: {offers}")
}

/// 415: a compressed body.
pub(super) fn compressed_body(encoding: &str) -> Status {
    let message = format!("the body of the request is encoded as {encoding:?}, and only plain bodies are read");
    Status::failure(415, "UnsupportedMediaType", message, None)
}

/// 415: an unsupported type of patch.
pub(super) fn unsupported_patch(offers: &[PatchType], policy: &dyn Policy) -> Status {
    let offers: Vec<&str> = offers.iter().map(|offer| offer.media_type()).collect();
    let offers = offers.join(", ");
    if policy.has_routes() {
        let message = format!("415: Unsupported Media Type\n\nAccepted patch types: {offers}");
        return Status::failure(415, "UnsupportedMediaType", message, Some(StatusDetails::default()));
    }
    Status::failure(415, "UnsupportedMediaType", unknown_format(&offers), None)
}

/// 413.
pub(super) fn too_large(limit: usize) -> Status {
    let message = format!("Request entity too large: limit is {limit}");
    Status::failure(413, "RequestEntityTooLarge", message, None)
}

/// 429 for a request about a resource whose objects a webhook converts.
pub(super) fn too_many_conversions(resource: &GroupResource) -> Status {
    let message = format!(
        "too many requests are running that may wait for the conversion webhook of {resource}; please try again later"
    );
    Status { message, ..too_many_requests() }
}

/// 408: the body did not arrive in time.
pub(super) fn slow_body() -> Status {
    Status::failure(408, "Timeout", "the body of the request did not arrive in time", None)
}

#[cfg(test)]
mod tests;
