//! `Status`: the API's answer if it is not an object. Members are written in the API's order.
use std::collections::HashSet;

use serde::{Deserialize, Serialize};

use super::{
    FieldError, FieldErrorKind, GroupKind,
    field::{MOST_ERROR_BYTES, MOST_ERRORS},
    object::ListMeta,
};

/// The result of a request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Status {
    /// Always `Status`.
    pub kind: String,
    /// Always `v1`.
    pub api_version: String,
    /// Always present and without content.
    #[serde(default)]
    pub metadata: ListMeta,
    /// `Success` or `Failure`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub status: String,
    /// A human-readable message.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub message: String,
    /// A machine-readable reason, such as `NotFound`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reason: String,
    /// Machine-readable details. `Some` without content is written as `{}`, as in some of kube-apiserver's answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub details: Option<StatusDetails>,
    /// The HTTP status code; omitted for a success.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub code: u16,
}

/// The subject of a [`Status`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct StatusDetails {
    /// The object's name.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// The group of `kind`.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub group: String,
    /// The kind, or the resource where kube-apiserver uses that.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub kind: String,
    /// The object's uid.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub uid: String,
    /// The individual errors.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub causes: Vec<StatusCause>,
    /// The number of seconds to wait before a retry; zero if a retry is not useful.
    #[serde(skip_serializing_if = "is_zero")]
    pub retry_after_seconds: u16,
}

/// One error.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct StatusCause {
    /// A machine-readable reason, such as `FieldValueRequired`.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub reason: String,
    /// A human-readable message.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub message: String,
    /// The field, such as `spec.ports[1].name`.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub field: String,
}

impl Status {
    /// A success, without reason and code.
    pub fn success(details: Option<StatusDetails>) -> Self {
        Self { status: "Success".to_owned(), details, ..Self::empty() }
    }

    /// 500: an error of the server, not of the client.
    pub fn internal(message: &str) -> Self {
        let cause = StatusCause { message: message.to_owned(), ..StatusCause::default() };
        let details = StatusDetails { causes: vec![cause], ..StatusDetails::default() };
        Self::failure(500, "InternalError", format!("Internal error occurred: {message}"), Some(details))
    }

    /// A failure. The reason may be empty.
    pub fn failure(code: u16, reason: &str, message: impl Into<String>, details: Option<StatusDetails>) -> Self {
        let (reason, message) = (reason.to_owned(), message.into());
        Self { status: "Failure".to_owned(), message, reason, details, code, ..Self::empty() }
    }

    /// 400: the request is invalid.
    pub fn bad_request(message: impl Into<String>) -> Self {
        Self::failure(400, "BadRequest", message, None)
    }

    /// 422: one cause per error; the message contains each text once. Of many errors the first are reported, and how many more there
    /// are.
    pub fn invalid(kind: &GroupKind, name: &str, errors: &[FieldError]) -> Self {
        let mut room = MOST_ERROR_BYTES;
        let has_room = |error: &&FieldError| {
            let had_room = room > 0;
            room = room.saturating_sub(error.size());
            had_room
        };
        let mut reported: Vec<&FieldError> = errors.iter().take(MOST_ERRORS).take_while(has_room).collect();
        let is_omitted =
            |error: &FieldError| if let FieldErrorKind::Omitted(count) = error.kind { Some(count) } else { None };
        reported.retain(|error| is_omitted(error).is_none());
        let counted = errors.iter().map(|error| is_omitted(error).unwrap_or(1)).sum::<usize>();
        let rest = FieldError::omitted(counted - reported.len());
        if counted > reported.len() {
            reported.push(&rest);
        }
        let (mut texts, mut known) = (Vec::with_capacity(reported.len()), HashSet::with_capacity(reported.len()));
        for error in &reported {
            let text = error.to_string();
            if known.insert(text.clone()) {
                texts.push(text);
            }
        }
        let list = match texts.as_slice() {
            [one] => one.clone(),
            several => format!("[{}]", several.join(", ")),
        };
        let causes = reported
            .iter()
            .map(|error| StatusCause {
                reason: error.reason().to_owned(),
                message: error.message(),
                field: error.path.to_string(),
            })
            .collect();
        let (name_of, group) = (name.to_owned(), kind.group.clone());
        let details =
            StatusDetails { causes, name: name_of, group, kind: kind.kind.clone(), ..StatusDetails::default() };
        Self::failure(422, "Invalid", format!("{kind} \"{name}\" is invalid: {list}"), Some(details))
    }

    /// 404 `NotFound`: there is no such object.
    pub fn is_not_found(&self) -> bool {
        self.reason == "NotFound"
    }

    /// 409 `AlreadyExists`: the name of a new object is taken.
    pub fn is_already_exists(&self) -> bool {
        self.reason == "AlreadyExists"
    }

    /// 409 `Conflict`: another write came first, or other managers own the fields of an apply.
    pub fn is_conflict(&self) -> bool {
        self.reason == "Conflict"
    }

    /// 410 `Expired`: the version that was asked for is gone.
    pub fn is_expired(&self) -> bool {
        self.reason == "Expired"
    }

    fn empty() -> Self {
        Self {
            kind: "Status".to_owned(),
            api_version: "v1".to_owned(),
            metadata: ListMeta::default(),
            status: String::new(),
            message: String::new(),
            reason: String::new(),
            details: None,
            code: 0,
        }
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it by reference")]
fn is_zero(number: &u16) -> bool {
    *number == 0
}
