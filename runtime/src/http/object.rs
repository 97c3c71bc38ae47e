//! Answers with objects, in the form that was negotiated: as cached, as a Table, or their metadata alone.

use axum::{http::StatusCode, response::Response};

use super::{
    list::{self, ListBody},
    negotiate::Shape,
    partial,
    resource::Call,
    response, status,
    status::Refused,
    table::Table,
};
use crate::{
    codec,
    meta::status::{Status, StatusDetails},
    verbs::{Answer, Deleted, List},
};

/// Answers with one object.
///
/// # Errors
/// 406 where a list's shape was asked for.
pub fn respond(call: &Call<'_>, code: StatusCode, answer: Answer, warnings: &[String]) -> Result<Response, Refused> {
    let accepted = call.accepted;
    let mut response = match answer {
        Answer::Object(object) => match accepted.shape {
            Shape::Full => response::json_for(code, object.json(), accepted.pretty),
            Shape::Table => {
                let table = Table::new(call.kind(), accepted.meta_version(), call.include);
                response::json_for(code, table.of_object(&object), accepted.pretty)
            }
            Shape::Partial => {
                let mut out = Vec::new();
                partial::write(&mut out, &object, accepted.meta_version());
                response::json_for(code, out, accepted.pretty)
            }
            Shape::PartialList => return Err(status::wrong_shape("PartialObjectMetadataList", false).into()),
        },
        // Documents of other kinds, such as Scale, have no columns of their own: clients take the object instead.
        Answer::Document(document) => {
            let mut out = Vec::new();
            codec::encode(&document, &mut out);
            response::json_for(code, out, accepted.pretty)
        }
    };
    response::warn(response.headers_mut(), warnings);
    Ok(response)
}

/// Answers with a list.
///
/// # Errors
/// 406 where the shape of one object was asked for.
pub fn respond_list(call: &Call<'_>, list: List) -> Result<Response, Refused> {
    let accepted = call.accepted;
    let code = StatusCode::OK;
    match accepted.shape {
        Shape::Full if accepted.pretty => {
            Ok(response::json_for(code, ListBody::new(call.kind(), list).collect(), true))
        }
        Shape::Full => Ok(response::stream(ListBody::new(call.kind(), list))),
        Shape::Table => {
            let table = Table::new(call.kind(), accepted.meta_version(), call.include);
            Ok(response::json_for(code, table.of_list(&list), accepted.pretty))
        }
        Shape::PartialList => {
            Ok(response::json_for(code, list::partial(&list, accepted.meta_version()), accepted.pretty))
        }
        Shape::Partial => Err(status::wrong_shape("PartialObjectMetadata", true).into()),
    }
}

/// Answers a deletion: with the object that waits for its finalizers, or a Status that says what is gone.
///
/// # Errors
/// As [`respond`].
pub fn respond_deleted(call: &Call<'_>, deleted: Deleted) -> Result<Response, Refused> {
    match deleted {
        Deleted::Marked(object) => respond(call, StatusCode::OK, Answer::Object(object), &[]),
        Deleted::Forced => {
            let (name, kind) = (call.request.name.clone(), call.kind().kind.clone());
            let mut status = Status::success(Some(StatusDetails { name, kind, ..StatusDetails::default() }));
            status.code = 200;
            Ok(response::status(&status, call.accepted.pretty))
        }
        Deleted::Gone { object, uid } => {
            let kind = call.kind();
            let details = StatusDetails {
                name: object.name().to_owned(),
                group: kind.group_version.group.clone(),
                kind: kind.plural.clone(),
                uid,
                ..StatusDetails::default()
            };
            Ok(response::status(&Status::success(Some(details)), call.accepted.pretty))
        }
    }
}
