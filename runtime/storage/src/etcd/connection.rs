//! One connection to one member.

use std::{
    error::Error,
    pin::pin,
    sync::{Arc, OnceLock},
    time::Duration,
};

use bytes::Bytes;
use hyper::{
    Request,
    body::Incoming,
    client::conn::http2::{self, SendRequest},
    header::{self, HeaderValue},
};
use hyper_util::rt::TokioIo;
use prost::Message;
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::TcpStream,
    sync::mpsc::{UnboundedSender, unbounded_channel},
    time::timeout,
};
use tokio_rustls::rustls;
use tokio_util::sync::CancellationToken;

use super::{
    endpoint::Endpoint,
    fault::{Fault, text},
    wire::{Messages, RequestBody, framed},
};

/// How much of an answer may be on its way: pages of a range and answers to a watch are megabytes.
const WINDOW: u32 = 4 << 20;
/// The same of all answers together.
const CONNECTION_WINDOW: u32 = 16 << 20;

/// Why there is no connection.
#[derive(Clone, Debug)]
pub(super) enum ConnectError {
    /// The member's certificate was refused, or ours.
    Certificate(String),
    /// Anything else.
    Unreachable(String),
}

/// A connection of HTTP/2. Calls run side by side.
pub(super) struct Connection {
    requests: SendRequest<RequestBody>,
    /// The URI of requests without their path.
    base: String,
    closed: CancellationToken,
    /// Why it broke.
    broke: Arc<OnceLock<String>>,
}

/// Runs the tasks of a connection until it is closed. Then they are dropped, and with them the socket: a member that does
/// not answer holds nothing.
#[derive(Clone)]
struct Tasks(CancellationToken);

impl<F: Future<Output: Send> + Send + 'static> hyper::rt::Executor<F> for Tasks {
    fn execute(&self, task: F) {
        let closed = self.0.clone();
        tokio::spawn(async move { closed.run_until_cancelled(task).await.map(drop) });
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.close();
    }
}

impl Connection {
    /// Connects within a time.
    pub(super) async fn open(endpoint: &Endpoint, within: Duration) -> Result<Self, ConnectError> {
        let late = || ConnectError::Unreachable(format!("no connection within {within:?}"));
        timeout(within, Self::connect(endpoint)).await.map_err(|_| late())?
    }

    async fn connect(endpoint: &Endpoint) -> Result<Self, ConnectError> {
        let unreachable = |error: std::io::Error| ConnectError::Unreachable(error.to_string());
        let socket = TcpStream::connect(&endpoint.address).await.map_err(unreachable)?;
        socket.set_nodelay(true).map_err(unreachable)?;
        let Some((tls, name)) = &endpoint.tls else {
            return Self::start(socket, format!("http://{}", endpoint.address)).await;
        };
        let refused = |error: std::io::Error| match error.get_ref() {
            Some(inner) if inner.is::<rustls::Error>() => ConnectError::Certificate(error.to_string()),
            _ => unreachable(error),
        };
        let stream = tls.connect(name.clone(), socket).await.map_err(refused)?;
        Self::start(stream, format!("https://{}", endpoint.address)).await
    }

    async fn start(
        stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
        base: String,
    ) -> Result<Self, ConnectError> {
        let closed = CancellationToken::new();
        let tasks = Tasks(closed.clone());
        let mut builder = http2::Builder::new(tasks.clone());
        builder.initial_stream_window_size(WINDOW).initial_connection_window_size(CONNECTION_WINDOW);
        let (requests, connection) = builder
            .handshake(TokioIo::new(stream))
            .await
            .map_err(|error| ConnectError::Unreachable(error.to_string()))?;
        let broke = Arc::<OnceLock<String>>::default();
        let told = Arc::clone(&broke);
        hyper::rt::Executor::execute(&tasks, async move {
            // The calls that wait fail when it is dropped, and then the reason must be known.
            let mut connection = pin!(connection);
            if let Err(error) = connection.as_mut().await {
                tracing::debug!(why = told.get_or_init(|| text(&error)), "the connection to etcd has ended");
            }
        });
        Ok(Self { requests, base, closed, broke })
    }

    /// Ends the connection. Calls that wait for an answer fail.
    pub(super) fn close(&self) {
        self.closed.cancel();
    }

    pub(super) fn is_closed(&self) -> bool {
        self.requests.is_closed() || self.closed.is_cancelled()
    }

    /// Calls a method that has one answer.
    pub(super) async fn call<A: Message + Default>(
        &self,
        path: &str,
        message: &impl Message,
        token: Option<&HeaderValue>,
        within: Duration,
    ) -> Result<A, Fault> {
        let answer = async {
            let mut messages = self.send(path, RequestBody::one(framed(message)), token).await?;
            let answer = messages.next().await?.ok_or_else(|| Fault::Lost("the answer is empty".to_owned()))?;
            // The outcome follows the answer.
            messages.next::<A>().await?;
            Ok(answer)
        };
        timeout(within, answer).await.unwrap_or_else(|_| Err(Fault::Lost(format!("none within {within:?}"))))
    }

    /// Calls a method that answers as long as the returned sender lives.
    pub(super) async fn stream(
        &self,
        path: &str,
        first: &impl Message,
        token: Option<&HeaderValue>,
        within: Duration,
    ) -> Result<(UnboundedSender<Bytes>, Messages), Fault> {
        let (more, rest) = unbounded_channel();
        let sent = self.send(path, RequestBody::stream(framed(first), rest), token);
        let messages = timeout(within, sent).await;
        messages
            .unwrap_or_else(|_| Err(Fault::Lost(format!("none within {within:?}"))))
            .map(|messages| (more, messages))
    }

    async fn send(&self, path: &str, body: RequestBody, token: Option<&HeaderValue>) -> Result<Messages, Fault> {
        let why = |error: &(dyn Error + 'static)| self.broke.get().cloned().unwrap_or_else(|| text(error));
        let unsent = |error: &(dyn Error + 'static)| Fault::Unsent(why(error));
        let mut request = Request::post(format!("{}{path}", self.base))
            .header(header::CONTENT_TYPE, "application/grpc")
            .header(header::TE, "trailers")
            // A member without a leader refuses at once.
            .header("hasleader", "true")
            .body(body)
            .map_err(|error| unsent(&error))?;
        if let Some(token) = token {
            request.headers_mut().insert("token", token.clone());
        }
        let mut requests = self.requests.clone();
        let response: Result<hyper::Response<Incoming>, _> = requests.try_send_request(request).await;
        let response = response.map_err(|mut error| match error.take_message() {
            Some(_) => unsent(error.error()),
            None => Fault::Lost(format!("the connection broke: {}", why(error.error()))),
        })?;
        Messages::of(response)
    }
}
