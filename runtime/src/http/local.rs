//! Requests without a connection, for tests inside the process: they take the whole way but the wire.

use axum::{
    body::{self, Body},
    http::{Method, Request},
};
use hyper::service::Service as _;
use serde_json::Value;

use super::Service;

/// Sends a request with a JSON body, or none where it is null (a PATCH is a JSON merge patch), and reads the whole
/// answer: its status, and its body as JSON, or as text where it is none.
///
/// # Panics
/// On a method or a path that no request can have.
pub async fn call(service: &Service, token: &str, method: &str, path: &str, sent: &Value) -> (u16, Value) {
    let kind = match method {
        "PATCH" => "application/merge-patch+json",
        _ => "application/json",
    };
    let bytes = if sent.is_null() { Vec::new() } else { sent.to_string().into_bytes() };
    let request = Request::builder()
        .method(Method::from_bytes(method.as_bytes()).expect("a method"))
        .uri(path)
        .header("content-type", kind)
        .header("authorization", format!("Bearer {token}"))
        .body(Body::from(bytes))
        .expect("a path that requests can have");
    let answer = service.call(request).await.unwrap_or_else(|never| match never {});
    let status = answer.status().as_u16();
    let body = body::to_bytes(answer.into_body(), usize::MAX).await.expect("an answer that is whole");
    let text = || Value::String(String::from_utf8_lossy(&body).into_owned());
    (status, serde_json::from_slice(&body).unwrap_or_else(|_| text()))
}
