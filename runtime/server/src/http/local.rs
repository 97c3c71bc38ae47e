//! Requests without a connection, for tests inside the process. They take the normal path except for the network.

use std::{future::poll_fn, pin::Pin, sync::Arc};

use axum_core::body::Body;
use bytes::{Bytes, BytesMut};
use http::{HeaderValue, Method, Request, header::AUTHORIZATION};
use http_body::Body as _;
use serde_json::Value;
use tower_service::Service as _;

use super::{Service, warnings};
use crate::auth::User;

/// The sender of a request inside the process.
#[derive(Clone, Copy, Debug)]
pub enum Caller<'a> {
    /// The user with this bearer token.
    Token(&'a str),
    /// This user, without authentication.
    User(&'a User),
}

/// The answer to a request inside the process.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Answer {
    /// The HTTP status.
    pub code: u16,
    /// The texts of the warnings, as kubectl prints them.
    pub warnings: Vec<String>,
    /// The body: JSON, or text if it is not JSON.
    pub body: Value,
}

/// Sends a request with a JSON body, or without one for null (a PATCH is a JSON merge patch).
///
/// # Panics
/// If the method or path is invalid.
pub async fn call(service: &Service, caller: Caller<'_>, method: &str, path: &str, sent: &Value) -> Answer {
    let kind = match method {
        "PATCH" => "application/merge-patch+json",
        _ => "application/json",
    };
    let bytes = if sent.is_null() { Vec::new() } else { sent.to_string().into_bytes() };
    let mut request = Request::builder()
        .method(Method::from_bytes(method.as_bytes()).expect("a method"))
        .uri(path)
        .header("content-type", kind)
        .body(Body::from(bytes))
        .expect("a path that requests can have");
    match caller {
        Caller::Token(token) => {
            let bearer = HeaderValue::from_str(&format!("Bearer {token}")).expect("a token that headers can have");
            request.headers_mut().insert(AUTHORIZATION, bearer);
        }
        Caller::User(user) => drop(request.extensions_mut().insert(Arc::new(user.clone()))),
    }
    let answer = service.clone().call(request).await.unwrap_or_else(|never| match never {});
    let code = answer.status().as_u16();
    let warnings = warnings::read(answer.headers());
    let body = whole(answer.into_body()).await.expect("an answer that is whole");
    let text = || Value::String(String::from_utf8_lossy(&body).into_owned());
    Answer { code, warnings, body: serde_json::from_slice(&body).unwrap_or_else(|_| text()) }
}

/// Reads a whole body.
///
/// # Errors
/// If it breaks off.
pub(super) async fn whole(mut body: Body) -> Result<Bytes, axum_core::Error> {
    let mut all = BytesMut::new();
    while let Some(frame) = poll_fn(|cx| Pin::new(&mut body).poll_frame(cx)).await {
        if let Ok(data) = frame?.into_data() {
            all.extend_from_slice(&data);
        }
    }
    Ok(all.freeze())
}
