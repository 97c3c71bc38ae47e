//! Requests that the user's own handlers answer: virtual kinds, and subresources of a kind's own.

use axum::{body::Body, http::StatusCode, response::Response};

use super::{
    object,
    resource::Call,
    status::{self, Refused},
};
use crate::{
    handlers::{Refusal, RequestContext, Told},
    kind::Kind,
    meta::options::WriteOptions,
};

/// What the client is told of a refusal about an object of a kind.
fn refused(refusal: Refusal, kind: &Kind, name: &str) -> Refused {
    match refusal.about(kind, name) {
        Told::Error(error) => error.into(),
        Told::Status(status) => status.into(),
    }
}

/// Asks a virtual kind.
///
/// # Errors
/// What is wrong with the object; what its handler says.
pub async fn ask(call: Call<'_>, body: Body) -> Result<Response, Refused> {
    let mut options = WriteOptions::for_create(&call.exchange.query)?;
    options.client = call.client_name();
    let app = call.app;
    let ask = app.handlers.ask(call.kind()).ok_or_else(status::method_not_allowed)?;
    let decoded = call.document(body).await?;
    let (document, warnings) = app.api.prepare(&call.request, decoded, &options)?;
    let at = (call.request.namespace.clone(), String::new());
    let context = RequestContext::new(app.api.clone(), call.request.user.clone(), at, options, &call.exchange.query);
    let name = document["metadata"]["name"].as_str().unwrap_or_default().to_owned();
    let answer = ask(context, document).await.map_err(|refusal| refused(refusal, call.kind(), &name))?;
    let answer = app.api.show(&call.request, &answer)?;
    object::respond(&call, StatusCode::CREATED, answer, &warnings)
}
