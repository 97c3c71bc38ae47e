//! The subresource `binding` of Kubernetes' Pods. Documents describe it; that it assigns a Pod to a node is code of the API server.

use std::sync::Arc;

use axum_core::{body::Body, response::Response};
use http::StatusCode;

use super::{
    call::Call,
    documents::prepare,
    response,
    status::{self, StatusError},
    warnings,
};
use crate::{
    meta::{Operation, Status, options::WriteOptions},
    verbs::{Subject, bind::SUBRESOURCE},
};

/// Assigns a Pod to the node that the body names.
pub(super) async fn create(mut call: Call<'_>, body: Body) -> Result<Response, StatusError> {
    let options = WriteOptions { client: call.exchange.client_name(), ..WriteOptions::for_create(call.query())? };
    let api = &call.backend().api;
    let binding = api.registry.find("", "v1", "bindings").ok_or_else(|| status::no_handler("bindings"))?;
    call.request.subresource = Arc::from("");
    let body = call.read(body).await?;
    let subject = Subject { subresource: SUBRESOURCE.into(), operation: Operation::Create, old: None };
    let (document, warnings) = prepare(&call, binding.kind.clone(), body, options.clone(), Some(subject)).await?;
    api.bind(&call.request, &options, &document).await?;
    let mut answer = response::status(&Status::success(None), call.format);
    *answer.status_mut() = StatusCode::CREATED;
    warnings::warn(answer.headers_mut(), &warnings);
    Ok(answer)
}
