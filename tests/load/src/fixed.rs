//! A plain axum server that answers every request with the same bytes: the most that a server in Rust could do here.
use std::{convert::Infallible, net::SocketAddr};

use axum::{Router, body::Body, http::header, response::Response, routing::any};
use bytes::Bytes;

use crate::Outcome;

/// Serves until the process ends.
pub(crate) async fn serve(listen: SocketAddr, size: usize) -> Outcome<Infallible> {
    let body = Bytes::from(vec![b'x'; size]);
    let answer = move || {
        let body = body.clone();
        async move {
            let mut response = Response::new(Body::from(body));
            let json = header::HeaderValue::from_static("application/json");
            response.headers_mut().insert(header::CONTENT_TYPE, json);
            response
        }
    };
    let listener = tokio::net::TcpListener::bind(listen).await.map_err(|e| format!("{listen}: {e}"))?;
    println!("listening on http://{}", listener.local_addr()?);
    axum::serve(listener, Router::new().fallback(any(answer))).await?;
    Err("the server ended".into())
}
