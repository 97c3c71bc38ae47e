//! Request bodies: read within limits of size and time, and decoded by their media type.

use std::{future::poll_fn, pin::Pin, time::Duration};

use axum::{
    body::Body,
    http::{
        HeaderMap,
        header::{CONTENT_LENGTH, CONTENT_TYPE},
    },
};
use bytes::{Buf, Bytes, BytesMut};
use http_body::Body as _;

use super::{Limits, status, status::Refused};
use crate::codec;

/// How much of an oversized body is read and dropped before the answer, so that a client that is still sending reads the
/// answer rather than a reset connection.
const DRAINED: usize = 1 << 20;

/// The media type of the body: lower case, without parameters; empty where the client gave none.
pub fn media_type(headers: &HeaderMap) -> String {
    let given = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    given.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}

/// Reads the whole body.
///
/// # Errors
/// 413 past the limit, 408 where it does not arrive in time, 400 where the connection broke.
pub async fn read(headers: &HeaderMap, body: Body, limits: &Limits) -> Result<Bytes, Refused> {
    let time = Duration::from_secs(limits.body_seconds);
    match tokio::time::timeout(time, collect(headers, body, limits.body_bytes)).await {
        Ok(read) => read,
        Err(_) => Err(status::slow_body().into()),
    }
}

async fn collect(headers: &HeaderMap, mut body: Body, limit: usize) -> Result<Bytes, Refused> {
    let announced = headers.get(CONTENT_LENGTH).and_then(|v| v.to_str().ok()?.parse::<usize>().ok());
    let mut all = BytesMut::with_capacity(announced.unwrap_or(0).min(limit));
    let mut length = 0usize;
    while let Some(frame) = poll_fn(|cx| Pin::new(&mut body).poll_frame(cx)).await {
        let frame = frame.map_err(|error| status::bad_request(format!("the body could not be read: {error}")))?;
        let Ok(data) = frame.into_data() else { continue };
        length = length.saturating_add(data.remaining());
        if length > limit.saturating_add(DRAINED) {
            break;
        }
        if length <= limit {
            all.extend_from_slice(&data);
        }
    }
    if length > limit { Err(status::too_large(limit).into()) } else { Ok(all.freeze()) }
}

/// Decodes a body of an object or of options.
///
/// # Errors
/// 415 for a media type that is not read, 400 for a body that cannot be decoded.
pub fn decode(headers: &HeaderMap, body: &Bytes, kind: &str) -> Result<codec::Decoded, Refused> {
    if !matches!(media_type(headers).as_str(), "" | "application/json") {
        return Err(status::unsupported_body().into());
    }
    let decoded = codec::decode(body, &codec::Limits::default());
    Ok(decoded.map_err(|error| {
        status::bad_request(format!(
            "the object provided is unrecognized (must be of type {kind}): couldn't get version/kind; json parse error: {error}"
        ))
    })?)
}
