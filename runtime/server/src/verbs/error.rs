//! Why a verb refused. `status` turns each into a Status.
use crate::{
    meta::{FieldError, GroupKind, GroupResource, Revision, Status},
    patch::apply,
    schema::Exceeded,
};

/// The message for a write of an outdated state.
pub(crate) const MODIFIED: &str =
    "the object has been modified; please apply your changes to the latest version and try again";

/// The object that already has the name of a new object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Occupant {
    /// An object that is not being deleted.
    Staying,
    /// An object that is being deleted, so the name may soon be free.
    Terminating,
}

/// Why a verb failed.
#[derive(Clone, Debug)]
pub enum Error {
    /// 404: no object has this name.
    NotFound(GroupResource, String),
    /// 404: the resource was removed during the request.
    NotServed,
    /// 409: an object of this name exists.
    AlreadyExists(GroupResource, String, Occupant),
    /// 409: `Operation cannot be fulfilled on <what> "<name>": <message>`. kube-apiserver names a kind here in some
    /// cases.
    Conflict(GroupResource, String, String),
    /// 409: an apply would change fields of other managers; with a message about all, and each of them.
    Conflicts(String, Vec<apply::Conflict>),
    /// 422: the object, or the options, are invalid.
    Invalid(GroupKind, String, Vec<FieldError>),
    /// 400 with a message.
    BadRequest(String),
    /// 403: `<what> "<name>" is forbidden: <message>`.
    Forbidden {
        resource: GroupResource,
        /// The object's name; may be empty.
        name: String,
        /// The reason.
        message: String,
        /// Further causes: reason, message, field.
        causes: Vec<(String, String, String)>,
    },
    /// 405.
    MethodNotAllowed,
    /// 410 Expired. A continued list gets a fresh token to continue inconsistently.
    Expired {
        /// The message for the client.
        message: String,
        /// The token to continue with the newest state.
        continue_token: Option<String>,
    },
    /// 504 Timeout with the cause `ResourceVersionTooLarge` and Retry-After 1.
    TooLargeRevision {
        /// The requested revision.
        asked: Revision,
        /// The current revision.
        current: Revision,
    },
    /// 504 Timeout with Retry-After: the store did not answer in time. Nothing was written.
    Timeout(String),
    /// 504 Timeout: a write may or may not have happened. Clients must not repeat it without looking, so there is no
    /// Retry-After.
    Unknowable(String),
    /// 409 `AlreadyExists` with Retry-After: generateName found no free name. The last one tried is given.
    GeneratedNameTaken(GroupResource, String, Occupant),
    /// 422 like kube-apiserver's for a patch that cannot be applied: reason Invalid, `details: {}`, and the message
    /// `the server rejected our request due to an error in our request`. The text is for logs.
    InapplicablePatch(String),
    /// 415: the patch type is not supported; lists the supported ones.
    UnsupportedMediaType(String),
    /// 413.
    TooLarge(String),
    /// 413, or 504 Timeout: the request causes too much work. Nothing was written.
    Exceeded(Exceeded),
    /// 500 without a reason, as in kube-apiserver.
    Unknown(String),
    /// 500 `StoreReadError`: the stored object cannot be decoded. 503 with Retry-After if a webhook has not converted it.
    StoreRead {
        resource: GroupResource,
        /// The object's name; empty for a collection.
        name: String,
        /// The keys of the objects in the store and the reasons; never empty.
        causes: Vec<(String, String)>,
        /// True if there are more than are listed.
        more: bool,
        /// True if nothing but a webhook is missing.
        awaits_conversion: bool,
    },
    /// The Status with which the user's code refused.
    Refused(Box<Status>),
    /// 500 `InternalError`.
    Internal(String),
    /// 429 with Retry-After: too many other requests run or wait. Nothing was written.
    TooManyRequests,
    /// 503 with Retry-After: the server is stopping, or its disk is not writable. Nothing was written.
    Unavailable(String),
    /// 507 with Retry-After: the disk is full. Nothing was written.
    InsufficientStorage(String),
}

impl From<Exceeded> for Error {
    fn from(exceeded: Exceeded) -> Self {
        Self::Exceeded(exceeded)
    }
}
