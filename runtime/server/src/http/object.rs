//! Answers with objects in the negotiated form: as cached, as a Table, or only their metadata.

use std::sync::Arc;

use axum_core::response::Response;
use http::StatusCode;
use serde_json::json;

use super::{
    call::Call,
    list::{ListBody, Part},
    list_encoder::{ListEncoder, ListError},
    negotiate::{ResponseFormat, Shape},
    offload, partial, pieces, response, status,
    status::StatusError,
    table::Table,
    warnings,
};
use crate::{
    cache::Object,
    codec::Encoding,
    meta::status::{Status, StatusDetails},
    schema::Document,
    verbs::{Answer, DeleteResult, List},
};

const PARTIAL: &str = "PartialObjectMetadata";
const PARTIAL_LIST: &str = "PartialObjectMetadataList";

/// Lists up to these sizes are rendered on the request's thread, in less than a millisecond.
const SHORT_ITEMS: usize = 16;
const SHORT_BYTES: usize = offload::LARGE;

/// Answers with one object. Fails with 406 if the shape of a list was requested.
pub(super) async fn respond(
    call: &Call<'_>,
    code: StatusCode,
    answer: Answer,
    warnings: &[String],
) -> Result<Response, StatusError> {
    let mut response = match answer {
        Answer::Object(object) => one(call, code, object).await?,
        Answer::Document(document) => response::document(code, &shaped(document, call.format)?, call.format),
    };
    warnings::warn(response.headers_mut(), warnings);
    Ok(response)
}

/// A document of a kind other than the object's, such as Scale. It has no columns, so clients get it instead of a
/// Table. Fails with 406 if the shape of a list was requested.
fn shaped(mut document: Document, format: ResponseFormat) -> Result<Document, StatusError> {
    match format.shape {
        Shape::Full | Shape::Table => Ok(document),
        Shape::Partial => {
            let metadata = document["metadata"].take();
            Ok(json!({"kind": PARTIAL, "apiVersion": format.meta_version(), "metadata": metadata}))
        }
        Shape::PartialList => Err(status::wrong_shape(PARTIAL_LIST, false).into()),
    }
}

async fn one(call: &Call<'_>, code: StatusCode, object: Arc<Object>) -> Result<Response, StatusError> {
    let format = call.format;
    if format.shape == Shape::PartialList {
        return Err(status::wrong_shape(PARTIAL_LIST, false).into());
    }
    if format.shape == Shape::Full && format.encoding == Encoding::Json && !format.pretty {
        return Ok(response::json(code, object.json()));
    }
    let (renderer, kind, include) = (call.renderer(), call.kind.clone(), call.include);
    let is_large = object.json_bytes().len() > offload::LARGE;
    let render = move || {
        if let Some(renderer) = renderer {
            return Ok(response::encoded(code, format.encoding, renderer.object(&object)?));
        }
        let text = match format.shape {
            Shape::Table => Table::new(kind, format.meta_version(), include).of_event(&object, true).into(),
            Shape::Partial | Shape::PartialList => {
                let mut out = Vec::new();
                partial::write(&mut out, &object, format.meta_version());
                out.into()
            }
            Shape::Full => object.json(),
        };
        Ok(response::text_form(code, text, format))
    };
    // Boxed to keep the state of a request for a small object small.
    if is_large { Box::pin(offload::answer(render)).await } else { render() }
}

/// Answers with a list. Fails with 406 if the shape of one object was requested; [`ListError`].
pub(super) async fn respond_list(call: &Call<'_>, list: List) -> Result<Response, ListError> {
    let format = call.format;
    if format.shape == Shape::Partial {
        return Err(StatusError::from(status::wrong_shape(PARTIAL, true)).into());
    }
    let is_short = list.items.len() <= SHORT_ITEMS && list.items.json_bytes() <= SHORT_BYTES;
    let served = &call.request.resource;
    let kind = &served.kind;
    let encoder = match call.renderer() {
        Some(renderer) => ListEncoder::binary(served, renderer, format, list),
        None if format.shape == Shape::Table => {
            let table = Table::new(kind.clone(), format.meta_version(), call.include);
            ListEncoder::text(served, format, Some(table), list)
        }
        None if format.encoding == Encoding::Json && !format.pretty && served.view.is_none() => {
            let body = ListBody::new(kind, Part::of(kind, format), list);
            return Ok(response::stream(Encoding::Json.media_type(), body));
        }
        None => ListEncoder::text(served, format, None, list),
    };
    pieces::respond(format.encoding, encoder, is_short).await
}

/// Answers the deletion of a collection: with its objects, or, if some cannot be converted to the requested version, with
/// a Status that names them. All of them were deleted, which needs no conversion.
pub(super) async fn respond_deleted_list(call: &Call<'_>, list: List) -> Result<Response, StatusError> {
    match respond_list(call, list).await {
        Err(ListError::Unconverted(unconverted)) => {
            let refusal = Status::from(unconverted.refusal(&call.request.resource, ""));
            let version = &call.kind.group_version;
            let message = format!("all objects were deleted; those named in details cannot be converted to {version}");
            let success = Status::success(refusal.details);
            Ok(response::status(&Status { code: 200, message, ..success }, call.format))
        }
        answer => answer.map_err(|error| error.into_status_error(&call.request.resource)),
    }
}

/// Answers a deletion: with the object that waits for its finalizers, or with a Status about the deleted one, or with that one
/// where the kind says so.
pub(super) async fn respond_deleted(call: &Call<'_>, deleted: DeleteResult) -> Result<Response, StatusError> {
    match deleted {
        DeleteResult::Gone { object, .. } if call.kind.version.returns_deleted => {
            respond(call, StatusCode::OK, Answer::Object(object), &[]).await
        }
        DeleteResult::Marked(object) => respond(call, StatusCode::OK, Answer::Object(object), &[]).await,
        DeleteResult::Forced => {
            let (name, kind) = (call.request.name.clone(), call.kind.names().kind.clone());
            let success = Status::success(Some(StatusDetails { name, kind, ..StatusDetails::default() }));
            Ok(response::status(&Status { code: 200, ..success }, call.format))
        }
        DeleteResult::Gone { object, uid } => {
            let kind = &call.kind;
            let details = StatusDetails {
                name: object.name().to_owned(),
                group: kind.group_version.group.clone(),
                kind: kind.names().plural.clone(),
                uid,
                ..StatusDetails::default()
            };
            Ok(response::status(&Status::success(Some(details)), call.format))
        }
    }
}
