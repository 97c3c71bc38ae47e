//! Why a verb refused. `status` turns each into a Status.
use crate::{
    meta::{FieldError, GroupKind, GroupResource, Revision},
    patch::apply,
};

/// What has the name that a new object was to get.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Occupant {
    /// An object that stays.
    Staying,
    /// An object whose deletion is under way: the name may be free soon.
    Terminating,
}

/// Why a verb refused or failed.
#[derive(Clone, Debug)]
pub enum Error {
    /// 404: no object of this name.
    NotFound(GroupResource, String),
    /// 404: the resource was removed while the request was under way.
    NotServed,
    /// 409: an object of this name exists.
    AlreadyExists(GroupResource, String, Occupant),
    /// 409: `Operation cannot be fulfilled on <what> "<name>": <message>`. kube-apiserver names a kind here in places.
    Conflict(GroupResource, String, String),
    /// 409: an apply would change what other managers own: a message that names all, and each.
    Conflicts(String, Vec<apply::Conflict>),
    /// 422: the object, or the options, are invalid.
    Invalid(GroupKind, String, Vec<FieldError>),
    /// 400 with a message.
    BadRequest(String),
    /// 403: `<what> "<name>" is forbidden: <message>`.
    Forbidden {
        /// The resource.
        resource: GroupResource,
        /// The object's name; may be empty.
        name: String,
        /// Why.
        message: String,
        /// Further causes: reason, message, field.
        causes: Vec<(String, String, String)>,
    },
    /// 405.
    MethodNotAllowed,
    /// 410 Expired. A list that was being continued gets a fresh token that goes on, inconsistently.
    Expired {
        /// What the client is told.
        message: String,
        /// The token to go on with from the newest state.
        continue_token: Option<String>,
    },
    /// 504 Timeout with the cause `ResourceVersionTooLarge` and Retry-After 1.
    TooLargeRevision {
        /// What was asked for.
        asked: Revision,
        /// What there is.
        current: Revision,
    },
    /// 409 `AlreadyExists` with Retry-After: generateName found no free name. The name is the last one tried.
    GeneratedNameTaken(GroupResource, String, Occupant),
    /// 422 as kube-apiserver answers a patch that does not apply: reason Invalid, `details: {}`, and the message
    /// `the server rejected our request due to an error in our request`. The text is for logs.
    InapplicablePatch(String),
    /// 415: the patch type is not served; what is.
    UnsupportedMediaType(String),
    /// 413.
    TooLarge(String),
    /// 500 as kube-apiserver gives it, with no reason.
    Unknown(String),
    /// 500 `StoreReadError`: what is stored cannot be decoded.
    StoreRead {
        /// The resource.
        resource: GroupResource,
        /// The object's name; empty for a collection.
        name: String,
        /// Which objects, by their keys in the store, and why; never empty.
        causes: Vec<(String, String)>,
        /// There are more than are named.
        more: bool,
    },
    /// 500 `InternalError`.
    Internal(String),
    /// 503 with Retry-After: the server is stopping, or its disk takes no writes. Nothing was written.
    Unavailable(String),
    /// 507 with Retry-After: the disk is full. Nothing was written.
    InsufficientStorage(String),
}
