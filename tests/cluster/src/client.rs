//! Requests in JSON over HTTP/1.1, each with a time limit, and watches as streams of lines.
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http_body_util::{BodyExt, Full};
use hyper::{Method, Request, Response, body::Incoming, client::conn::http1};
use hyper_util::rt::TokioIo;
use serde_json::Value;
use tokio::{net::TcpStream, time::timeout};

use crate::network::Dialer;

/// How long a client waits for an answer.
pub(crate) const PATIENCE: Duration = Duration::from_secs(3);

/// How clients reach a server.
#[derive(Clone)]
pub(crate) enum Target {
    /// Dialed in the server's namespace.
    Inside(Dialer),
    /// An address that this process reaches.
    Address(String),
}

/// Why there is no answer.
#[derive(Debug)]
pub(crate) struct Failed {
    /// False if the request cannot have reached the server.
    pub(crate) sent: bool,
    pub(crate) reason: String,
}

impl Failed {
    fn new(sent: bool, error: impl std::error::Error) -> Self {
        // Hyper's errors say only "connection error"; their source has the reason.
        let source = error.source().map_or(String::new(), |source| format!(": {source}"));
        Self { sent, reason: format!("{error}{source}") }
    }

    fn timeout(sent: bool) -> Self {
        Self { sent, reason: format!("no answer within {} s", PATIENCE.as_secs()) }
    }
}

type Sender = http1::SendRequest<Full<Bytes>>;

/// A client with a separate connection, opened again after a failure.
pub(crate) struct Client {
    target: Target,
    token: Option<String>,
    connection: Option<Sender>,
}

impl Client {
    pub(crate) fn new(target: Target, token: Option<&str>) -> Self {
        Self { target, token: token.map(str::to_owned), connection: None }
    }

    async fn connect(&self) -> Result<Sender, Failed> {
        let open = async {
            let stream = match &self.target {
                Target::Inside(dialer) => dialer.dial().await,
                Target::Address(address) => TcpStream::connect(address).await,
            };
            let stream = stream.map_err(|error| Failed::new(false, error))?;
            let shaken = http1::handshake(TokioIo::new(stream)).await;
            let (sender, connection) = shaken.map_err(|error| Failed::new(false, error))?;
            // The request that is in progress reports a connection error.
            tokio::spawn(async move { drop(connection.await) });
            Ok::<_, Failed>(sender)
        };
        timeout(PATIENCE, open).await.map_err(|_| Failed::timeout(false))?
    }

    fn request(&self, method: &Method, path: &str, body: &Value) -> Result<Request<Full<Bytes>>, Failed> {
        let kind = if method == Method::PATCH { "application/merge-patch+json" } else { "application/json" };
        let host = match &self.target {
            Target::Inside(_) => "localhost",
            Target::Address(address) => address,
        };
        let mut request = Request::builder().method(method).uri(path).header("host", host).header("content-type", kind);
        if let Some(token) = &self.token {
            request = request.header("authorization", format!("Bearer {token}"));
        }
        let bytes = if body.is_null() { Bytes::new() } else { body.to_string().into() };
        request.body(Full::new(bytes)).map_err(|error| Failed::new(false, error))
    }

    /// Sends a request; returns the status code and the body.
    pub(crate) async fn send(&mut self, method: Method, path: &str, body: &Value) -> Result<(u16, Value), Failed> {
        let request = self.request(&method, path, body)?;
        let mut connection = match self.connection.take() {
            Some(open) if !open.is_closed() => open,
            _ => self.connect().await?,
        };
        let exchange = async {
            connection.ready().await.map_err(|error| Failed::new(false, error))?;
            let response = connection.send_request(request).await.map_err(|error| Failed::new(true, error))?;
            let status = response.status().as_u16();
            let body = response.into_body().collect().await.map_err(|error| Failed::new(true, error))?.to_bytes();
            Ok::<_, Failed>((status, serde_json::from_slice(&body).unwrap_or(Value::Null)))
        };
        // Without an answer the connection is dropped: what it brings later belongs to no request.
        let answer = timeout(PATIENCE, exchange).await.map_err(|_| Failed::timeout(true))??;
        self.connection = Some(connection);
        Ok(answer)
    }

    /// Opens a watch on a separate connection. An answer other than 200 is a status code.
    pub(crate) async fn watch(&self, path: &str) -> Result<Result<Lines, u16>, Failed> {
        let request = self.request(&Method::GET, path, &Value::Null)?;
        let mut connection = self.connect().await?;
        let exchange = connection.send_request(request);
        let response = timeout(PATIENCE, exchange).await.map_err(|_| Failed::timeout(true))?;
        let response = response.map_err(|error| Failed::new(true, error))?;
        let status = response.status().as_u16();
        let lines = Lines { response, _connection: connection, buffer: BytesMut::new() };
        Ok(if status == 200 { Ok(lines) } else { Err(status) })
    }
}

/// The events of a watch.
pub(crate) struct Lines {
    response: Response<Incoming>,
    // Dropping it would close the connection.
    _connection: Sender,
    buffer: BytesMut,
}

impl Lines {
    /// The next whole event; `None` at the end of the stream, also where it broke.
    pub(crate) async fn next(&mut self) -> Option<Value> {
        loop {
            if let Some(end) = self.buffer.iter().position(|byte| *byte == b'\n') {
                let line = self.buffer.split_to(end + 1);
                return serde_json::from_slice(&line).ok();
            }
            let frame = self.response.body_mut().frame().await?.ok()?;
            if let Ok(data) = frame.into_data() {
                self.buffer.extend_from_slice(&data);
            }
        }
    }
}
