//! A plain HTTP/1 client: one connection, one request at a time, and watches as streams of events.

use std::io;

use bytes::{Bytes, BytesMut};
use http_body_util::{BodyExt, Full};
use hyper::{Request, Response, body::Incoming, client::conn::http1};
use hyper_util::rt::TokioIo;
use serde_json::Value;
use tokio::net::TcpStream;

/// A client with a separate connection, opened by the first request and again after a failure.
pub struct Client {
    host: String,
    token: String,
    connection: Option<http1::SendRequest<Full<Bytes>>>,
}

/// A complete answer.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The HTTP status.
    pub status: u16,
    /// The headers.
    pub headers: hyper::HeaderMap,
    /// The body.
    pub body: Bytes,
}

impl Answer {
    /// The body as JSON.
    ///
    /// # Panics
    /// If the body is not JSON.
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body)
            .unwrap_or_else(|error| panic!("{error} in a body of status {}: {:?}", self.status, self.body))
    }
}

fn other(error: impl std::error::Error + Send + Sync + 'static) -> io::Error {
    io::Error::other(error)
}

impl Client {
    /// A client for the server at `http://host:port`, with a bearer token if it is not empty.
    pub fn new(url: &str, token: &str) -> Self {
        let host = url.strip_prefix("http://").expect("the tests speak plain HTTP").to_owned();
        Self { host, token: token.to_owned(), connection: None }
    }

    /// Another client for the same server.
    #[must_use]
    pub fn another(&self) -> Self {
        Self { host: self.host.clone(), token: self.token.clone(), connection: None }
    }

    async fn connect(&self) -> io::Result<http1::SendRequest<Full<Bytes>>> {
        let stream = TcpStream::connect(&self.host).await?;
        stream.set_nodelay(true)?;
        let (sender, connection) = http1::handshake(TokioIo::new(stream)).await.map_err(other)?;
        // The request that is in progress reports a connection error.
        tokio::spawn(async move { drop(connection.await) });
        Ok(sender)
    }

    fn head(&self, method: &str, path: &str, body: Bytes) -> io::Result<Request<Full<Bytes>>> {
        let mut request = Request::builder().method(method).uri(path).header("host", &self.host);
        if !self.token.is_empty() {
            request = request.header("authorization", format!("Bearer {}", self.token));
        }
        request.body(Full::new(body)).map_err(other)
    }

    /// Sends any request.
    ///
    /// # Errors
    /// If the server cannot be reached, or the connection breaks before the answer is complete.
    pub async fn send(&mut self, request: Request<Full<Bytes>>) -> io::Result<Answer> {
        let mut connection = match self.connection.take() {
            Some(open) if !open.is_closed() => open,
            _ => self.connect().await?,
        };
        connection.ready().await.map_err(other)?;
        let response = connection.send_request(request).await.map_err(other)?;
        let (parts, body) = response.into_parts();
        let body = body.collect().await.map_err(other)?.to_bytes();
        self.connection = Some(connection);
        Ok(Answer { status: parts.status.as_u16(), headers: parts.headers, body })
    }

    /// Sends a request with a JSON body, or without a body for null.
    ///
    /// # Errors
    /// Like [`Client::send`].
    pub async fn json(&mut self, method: &str, path: &str, body: &Value) -> io::Result<Answer> {
        let kind = if method == "PATCH" { "application/merge-patch+json" } else { "application/json" };
        self.typed(method, path, kind, body).await
    }

    /// Sends a request with a body of another media type, such as that of a patch.
    ///
    /// # Errors
    /// Like [`Client::send`].
    pub async fn typed(&mut self, method: &str, path: &str, kind: &'static str, body: &Value) -> io::Result<Answer> {
        let bytes = if body.is_null() { Bytes::new() } else { body.to_string().into() };
        let mut request = self.head(method, path, bytes)?;
        request.headers_mut().insert("content-type", hyper::header::HeaderValue::from_static(kind));
        self.send(request).await
    }

    /// Gets a path.
    ///
    /// # Errors
    /// Like [`Client::send`].
    pub async fn get(&mut self, path: &str) -> io::Result<Answer> {
        self.send(self.head("GET", path, Bytes::new())?).await
    }

    /// Gets a path as this media type.
    ///
    /// # Errors
    /// Like [`Client::send`].
    pub async fn accepting(&mut self, path: &str, accept: &'static str) -> io::Result<Answer> {
        let mut request = self.head("GET", path, Bytes::new())?;
        request.headers_mut().insert("accept", hyper::header::HeaderValue::from_static(accept));
        self.send(request).await
    }

    /// Opens a watch on a separate connection.
    ///
    /// # Errors
    /// If the server cannot be reached, or the answer is not 200; the error then contains the answer.
    pub async fn watch(&self, path: &str) -> io::Result<Events> {
        let mut connection = self.connect().await?;
        let request = self.head("GET", path, Bytes::new())?;
        let response = connection.send_request(request).await.map_err(other)?;
        if response.status() != 200 {
            let status = response.status();
            let body = response.into_body().collect().await.map_err(other)?.to_bytes();
            return Err(io::Error::other(format!("{status}: {}", String::from_utf8_lossy(&body))));
        }
        Ok(Events { response, _connection: connection, buffer: BytesMut::new() })
    }
}

/// The events of a watch.
pub struct Events {
    response: Response<Incoming>,
    // Dropping it would close the connection.
    _connection: http1::SendRequest<Full<Bytes>>,
    buffer: BytesMut,
}

impl Events {
    /// The next event, or `None` if the server ended the stream.
    ///
    /// # Errors
    /// If the stream broke, ended inside an event, or contained an invalid event.
    pub async fn next(&mut self) -> io::Result<Option<Value>> {
        loop {
            if let Some(end) = self.buffer.iter().position(|byte| *byte == b'\n') {
                let line = self.buffer.split_to(end + 1);
                return serde_json::from_slice(&line).map(Some).map_err(other);
            }
            match self.response.body_mut().frame().await {
                Some(frame) => {
                    if let Ok(data) = frame.map_err(other)?.into_data() {
                        self.buffer.extend_from_slice(&data);
                    }
                }
                None if self.buffer.is_empty() => return Ok(None),
                None => return Err(io::Error::other("the stream ended inside an event")),
            }
        }
    }
}
