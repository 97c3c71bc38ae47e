//! Requests to a service without a socket, by an administrator.
use std::sync::Arc;

use http_body_util::{BodyExt, Full};
use hyper::{Request, header::WARNING};
use kindsmith::auth::User;
use kindsmith_server::http::Service;
use serde_json::Value;
use tower::ServiceExt;

/// An answer.
#[derive(Debug)]
pub(crate) struct Answered {
    pub code: u16,
    pub body: Value,
    pub warnings: Vec<String>,
}

/// Sends a request as `ada` with a JSON body, or without one for null. A PATCH is a merge patch, and
/// `APPLY` a server-side apply.
pub(crate) async fn send(service: Service, method: &str, path: &str, body: Value) -> Answered {
    let (method, kind) = match method {
        "PATCH" => ("PATCH", "application/merge-patch+json"),
        "APPLY" => ("PATCH", "application/apply-patch+yaml"),
        method => (method, "application/json"),
    };
    let body = if body.is_null() { String::new() } else { body.to_string() };
    let user = Arc::new(User::new("ada", &[User::MASTERS]));
    let request = Request::builder().method(method).uri(path).header("content-type", kind).extension(user);
    let request = request.body(Full::from(body)).expect("a request");
    let answer = service.oneshot(request).await.unwrap_or_else(|never| match never {});
    let code = answer.status().as_u16();
    let texts = answer.headers().get_all(WARNING).iter();
    let warnings = texts.map(|text| text.to_str().expect("text").to_owned()).collect();
    let body = answer.into_body().collect().await.expect("a whole answer").to_bytes();
    Answered { code, body: serde_json::from_slice(&body).unwrap_or_default(), warnings }
}
