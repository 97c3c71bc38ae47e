//! Connections to a server: requests over HTTP/1.1 or HTTP/2, with or without TLS, and watches as streams of lines.
use std::{sync::Arc, time::Duration};

use bytes::{Bytes, BytesMut};
use http_body_util::{BodyExt, Full};
use hyper::{
    Method, Response,
    body::Incoming,
    client::conn::{http1, http2},
    header,
};
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::TcpStream,
};

use crate::{
    Outcome,
    target::{Http, Target},
};

/// How much of an answer is kept: the error in a refusal, or the metadata of a list.
const KEPT: usize = 4 << 10;
/// The size of the pieces in which a slow client reads, and its pause after each.
const SLOW_PIECE: usize = 64 << 10;
const SLOW_PAUSE: Duration = Duration::from_millis(200);

/// A request, apart from what all requests to a server share.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    pub(crate) method: Method,
    /// Path and query.
    pub(crate) path: String,
    /// The media type of the answer.
    pub(crate) accept: &'static str,
    /// Whether the answer may be compressed.
    pub(crate) gzip: bool,
    /// True if the user is the one of [`Target::reader`].
    pub(crate) as_reader: bool,
    /// The media type of the body.
    pub(crate) content_type: &'static str,
    pub(crate) body: Bytes,
}

impl Request {
    /// GET of a path in JSON.
    pub(crate) fn get(path: String) -> Self {
        let json = "application/json";
        Self {
            method: Method::GET,
            path,
            accept: json,
            gzip: false,
            as_reader: false,
            content_type: json,
            body: Bytes::new(),
        }
    }

    /// A request with a body; the answer is in JSON.
    pub(crate) fn write(method: Method, path: String, content_type: &'static str, body: String) -> Self {
        Self { method, content_type, body: body.into(), ..Self::get(path) }
    }
}

/// A successful answer, read to its end.
#[derive(Debug)]
pub(crate) struct Answer {
    /// The size of the body in bytes.
    pub(crate) length: u64,
    /// The beginning of the body.
    pub(crate) head: BytesMut,
}

/// Why there is no successful answer.
#[derive(Debug)]
pub(crate) enum Failed {
    /// The server answered with this status code, and this body.
    Refused(u16, String),
    /// The connection broke, or could not be opened.
    Broken(String),
}

impl std::fmt::Display for Failed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Refused(code, body) => write!(f, "the server answered {code}: {}", body.trim_end()),
            Self::Broken(reason) => f.write_str(reason),
        }
    }
}

impl std::error::Error for Failed {}

fn broken(error: impl std::error::Error) -> Failed {
    // Hyper's errors say only "connection error"; their source has the reason.
    Failed::Broken(match error.source() {
        Some(source) => format!("{error}: {source}"),
        None => error.to_string(),
    })
}

enum Sender {
    One(http1::SendRequest<Full<Bytes>>),
    Two(http2::SendRequest<Full<Bytes>>),
}

impl Sender {
    fn is_closed(&self) -> bool {
        match self {
            Self::One(sender) => sender.is_closed(),
            Self::Two(sender) => sender.is_closed(),
        }
    }
}

/// A connection, opened again by the first request after it broke.
pub(crate) struct Connection {
    target: Arc<Target>,
    slow: bool,
    sender: Option<Sender>,
}

impl Connection {
    /// Opens a connection. A slow one reads answers in small pieces with pauses.
    pub(crate) async fn open(target: &Arc<Target>, slow: bool) -> Outcome<Self> {
        let mut connection = Self { target: target.clone(), slow, sender: None };
        connection.sender = Some(connection.connect().await.map_err(|e| format!("{}: {e}", target.url))?);
        Ok(connection)
    }

    /// The server.
    pub(crate) fn target(&self) -> &Arc<Target> {
        &self.target
    }

    /// Another stream of the same HTTP/2 connection.
    pub(crate) fn stream(&self) -> Option<Self> {
        match &self.sender {
            Some(Sender::Two(sender)) => {
                let sender = Some(Sender::Two(sender.clone()));
                Some(Self { target: self.target.clone(), slow: self.slow, sender })
            }
            _ => None,
        }
    }

    async fn connect(&self) -> Result<Sender, Failed> {
        let stream = TcpStream::connect(&self.target.address).await.map_err(broken)?;
        stream.set_nodelay(true).map_err(broken)?;
        let Some(tls) = &self.target.tls else { return self.greet(stream).await };
        let stream = tls.connector.connect(tls.name.clone(), stream).await.map_err(broken)?;
        let chosen = stream.get_ref().1.alpn_protocol();
        if self.target.http == Http::Two && chosen != Some(b"h2") {
            return Err(Failed::Broken("the server does not offer HTTP/2; use --http 1".into()));
        }
        self.greet(stream).await
    }

    async fn greet<S>(&self, stream: S) -> Result<Sender, Failed>
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        // The request that is in progress reports an error of the connection.
        match self.target.http {
            Http::One => {
                let mut builder = http1::Builder::new();
                if self.slow {
                    builder.max_buf_size(SLOW_PIECE);
                }
                let (sender, connection) = builder.handshake(TokioIo::new(stream)).await.map_err(broken)?;
                tokio::spawn(async move { drop(connection.await) });
                Ok(Sender::One(sender))
            }
            Http::Two => {
                let mut builder = http2::Builder::new(TokioExecutor::new());
                if self.slow {
                    builder.initial_stream_window_size(u32::try_from(SLOW_PIECE).ok());
                }
                let (sender, connection) = builder.handshake(TokioIo::new(stream)).await.map_err(broken)?;
                tokio::spawn(async move { drop(connection.await) });
                Ok(Sender::Two(sender))
            }
        }
    }

    async fn respond(&mut self, request: &Request) -> Result<Response<Incoming>, Failed> {
        let mut sender = match self.sender.take() {
            Some(open) if !open.is_closed() => open,
            _ => self.connect().await?,
        };
        let head = self.head(request)?;
        let response = match &mut sender {
            Sender::One(sender) => {
                sender.ready().await.map_err(broken)?;
                sender.send_request(head).await
            }
            Sender::Two(sender) => {
                sender.ready().await.map_err(broken)?;
                sender.send_request(head).await
            }
        };
        let response = response.map_err(broken)?;
        self.sender = Some(sender);
        Ok(response)
    }

    fn head(&self, request: &Request) -> Result<hyper::Request<Full<Bytes>>, Failed> {
        let target = &self.target;
        let head = hyper::Request::builder().method(&request.method).header(header::ACCEPT, request.accept);
        let mut head = match target.http {
            Http::One => head.uri(format!("{}{}", target.prefix, request.path)).header(header::HOST, &target.authority),
            Http::Two => head.uri(format!("{}{}", target.url, request.path)),
        };
        let reader = target.reader.get().filter(|_| request.as_reader);
        if let Some(authorization) = reader.or(target.authorization.as_ref()) {
            head = head.header(header::AUTHORIZATION, authorization);
        }
        if request.gzip {
            head = head.header(header::ACCEPT_ENCODING, "gzip");
        }
        if !request.body.is_empty() {
            head = head.header(header::CONTENT_TYPE, request.content_type);
        }
        head.body(Full::new(request.body.clone())).map_err(broken)
    }

    /// Sends a request and reads the answer to its end.
    pub(crate) async fn send(&mut self, request: &Request) -> Result<Answer, Failed> {
        self.read(request, |_| ()).await
    }

    /// Counts how often a text occurs in an answer.
    pub(crate) async fn count(&mut self, request: &Request, text: &[u8]) -> Result<usize, Failed> {
        let (mut rest, mut found) = (Vec::new(), 0);
        self.read(request, |data| {
            // With the end of the piece before, which may have the beginning of an occurrence.
            rest.extend_from_slice(data);
            found += rest.windows(text.len()).filter(|window| *window == text).count();
            rest.drain(..rest.len().saturating_sub(text.len() - 1));
        })
        .await?;
        Ok(found)
    }

    async fn read(&mut self, request: &Request, mut each: impl FnMut(&[u8])) -> Result<Answer, Failed> {
        let mut response = self.respond(request).await?;
        let mut answer = Answer { length: 0, head: BytesMut::new() };
        while let Some(frame) = response.frame().await {
            let Ok(data) = frame.map_err(broken)?.into_data() else { continue };
            answer.length += data.len() as u64;
            let room = KEPT.saturating_sub(answer.head.len()).min(data.len());
            answer.head.extend_from_slice(&data[..room]);
            each(&data);
            if self.slow {
                tokio::time::sleep(SLOW_PAUSE).await;
            }
        }
        match response.status() {
            status if status.is_success() => Ok(answer),
            status => Err(Failed::Refused(status.as_u16(), String::from_utf8_lossy(&answer.head).into_owned())),
        }
    }

    /// Opens a watch. It occupies the connection, unless that is HTTP/2.
    pub(crate) async fn watch(mut self, path: String) -> Result<Lines, Failed> {
        let mut response = self.respond(&Request::get(path)).await?;
        if response.status().is_success() {
            return Ok(Lines { response, _connection: self, buffer: BytesMut::new() });
        }
        let body = response.body_mut().collect().await.map_err(broken)?.to_bytes();
        Err(Failed::Refused(response.status().as_u16(), String::from_utf8_lossy(&body).into_owned()))
    }
}

/// The lines of a watch, each with one event.
pub(crate) struct Lines {
    response: Response<Incoming>,
    // Dropping it would close the connection.
    _connection: Connection,
    buffer: BytesMut,
}

impl Lines {
    /// The next line; none when the server ends the watch.
    pub(crate) async fn next(&mut self) -> Result<Option<BytesMut>, Failed> {
        let mut searched = 0;
        loop {
            if let Some(end) = self.buffer[searched..].iter().position(|byte| *byte == b'\n') {
                return Ok(Some(self.buffer.split_to(searched + end + 1)));
            }
            searched = self.buffer.len();
            let Some(frame) = self.response.frame().await else { return Ok(None) };
            if let Ok(data) = frame.map_err(broken)?.into_data() {
                self.buffer.extend_from_slice(&data);
            }
        }
    }
}
