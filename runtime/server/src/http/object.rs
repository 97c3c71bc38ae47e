//! Answers with objects in the negotiated form: as cached, as a Table, or only their metadata.

use std::sync::Arc;

use axum_core::response::Response;
use http::StatusCode;
use serde_json::json;

use super::{
    heavy,
    list::{ListBody, Part},
    listing::{Listing, Unlisted},
    negotiate::{Accepted, Shape},
    offload, partial, pieces,
    resource::Call,
    response, status,
    status::Refused,
    table::Table,
    warnings,
};
use crate::{
    cache::Object,
    codec::Encoding,
    meta::status::{Status, StatusDetails},
    schema::Document,
    verbs::{Answer, Deleted, List},
};

const PARTIAL: &str = "PartialObjectMetadata";
const PARTIAL_LIST: &str = "PartialObjectMetadataList";

/// Lists up to these sizes are rendered on the request's thread, in less than a millisecond.
const SHORT_ITEMS: usize = 16;
const SHORT_BYTES: usize = heavy::LARGE;

/// Answers with one object. Fails with 406 if the shape of a list was requested.
pub(super) async fn respond(
    call: &Call<'_>,
    code: StatusCode,
    answer: Answer,
    warnings: &[String],
) -> Result<Response, Refused> {
    let mut response = match answer {
        Answer::Object(object) => one(call, code, object).await?,
        Answer::Document(document) => response::document(code, &shaped(document, call.accepted)?, call.accepted),
    };
    warnings::warn(response.headers_mut(), warnings);
    Ok(response)
}

/// A document of a kind other than the object's, such as Scale. It has no columns, so clients get it instead of a
/// Table. Fails with 406 if the shape of a list was requested.
fn shaped(mut document: Document, accepted: Accepted) -> Result<Document, Refused> {
    match accepted.shape {
        Shape::Full | Shape::Table => Ok(document),
        Shape::Partial => {
            let metadata = document["metadata"].take();
            Ok(json!({"kind": PARTIAL, "apiVersion": accepted.meta_version(), "metadata": metadata}))
        }
        Shape::PartialList => Err(status::wrong_shape(PARTIAL_LIST, false).into()),
    }
}

async fn one(call: &Call<'_>, code: StatusCode, object: Arc<Object>) -> Result<Response, Refused> {
    let accepted = call.accepted;
    if accepted.shape == Shape::PartialList {
        return Err(status::wrong_shape(PARTIAL_LIST, false).into());
    }
    if accepted.shape == Shape::Full && accepted.encoding == Encoding::Json && !accepted.pretty {
        return Ok(response::json(code, object.json()));
    }
    let (renderer, kind, include) = (call.renderer(), call.kind.clone(), call.include);
    let is_large = object.json_bytes().len() > heavy::LARGE;
    let render = move || {
        if let Some(renderer) = renderer {
            return Ok(response::encoded(code, accepted.encoding, renderer.object(&object)?));
        }
        let text = match accepted.shape {
            Shape::Table => Table::new(kind, accepted.meta_version(), include).of_event(&object, true).into(),
            Shape::Partial | Shape::PartialList => {
                let mut out = Vec::new();
                partial::write(&mut out, &object, accepted.meta_version());
                out.into()
            }
            Shape::Full => object.json(),
        };
        Ok(response::text_form(code, text, accepted))
    };
    // Boxed to keep the state of a request for a small object small.
    if is_large { Box::pin(offload::answer(render)).await } else { render() }
}

/// Answers with a list. Fails with 406 if the shape of one object was requested; [`Unlisted`].
pub(super) async fn respond_list(call: &Call<'_>, list: List) -> Result<Response, Unlisted> {
    let accepted = call.accepted;
    if accepted.shape == Shape::Partial {
        return Err(Refused::from(status::wrong_shape(PARTIAL, true)).into());
    }
    let is_short = list.items.len() <= SHORT_ITEMS && list.items.json_bytes() <= SHORT_BYTES;
    let served = &call.request.served;
    let kind = &served.kind;
    let listing = match call.renderer() {
        Some(renderer) => Listing::binary(served, renderer, accepted, list),
        None if accepted.shape == Shape::Table => {
            let table = Table::new(kind.clone(), accepted.meta_version(), call.include);
            Listing::text(served, accepted, Some(table), list)
        }
        None if accepted.encoding == Encoding::Json && !accepted.pretty && served.view.is_none() => {
            let body = ListBody::new(kind, Part::of(kind, accepted), list);
            return Ok(response::stream(Encoding::Json.media_type(), body));
        }
        None => Listing::text(served, accepted, None, list),
    };
    pieces::respond(accepted.encoding, listing, is_short).await
}

/// Answers the deletion of a collection: with its objects, or, if some cannot be converted to the requested version, with
/// a Status that names them. All of them were deleted, which needs no conversion.
pub(super) async fn respond_deleted_list(call: &Call<'_>, list: List) -> Result<Response, Refused> {
    match respond_list(call, list).await {
        Err(Unlisted::Unconverted(unconverted)) => {
            let refusal = Status::from(unconverted.refusal(&call.request.served, ""));
            let version = &call.kind.group_version;
            let message = format!("all objects were deleted; those named in details cannot be converted to {version}");
            let success = Status::success(refusal.details);
            Ok(response::status(&Status { code: 200, message, ..success }, call.accepted))
        }
        answer => answer.map_err(|unlisted| unlisted.refusal(&call.request.served)),
    }
}

/// Answers a deletion: with the object that waits for its finalizers, or with a Status about the deleted one, or with that one
/// where the kind says so.
pub(super) async fn respond_deleted(call: &Call<'_>, deleted: Deleted) -> Result<Response, Refused> {
    match deleted {
        Deleted::Gone { object, .. } if call.kind.version.returns_deleted => {
            respond(call, StatusCode::OK, Answer::Object(object), &[]).await
        }
        Deleted::Marked(object) => respond(call, StatusCode::OK, Answer::Object(object), &[]).await,
        Deleted::Forced => {
            let (name, kind) = (call.request.name.clone(), call.kind.names().kind.clone());
            let success = Status::success(Some(StatusDetails { name, kind, ..StatusDetails::default() }));
            Ok(response::status(&Status { code: 200, ..success }, call.accepted))
        }
        Deleted::Gone { object, uid } => {
            let kind = &call.kind;
            let details = StatusDetails {
                name: object.name().to_owned(),
                group: kind.group_version.group.clone(),
                kind: kind.names().plural.clone(),
                uid,
                ..StatusDetails::default()
            };
            Ok(response::status(&Status::success(Some(details)), call.accepted))
        }
    }
}
