//! WebSockets: the handshake with its subprotocols, and connections with pings, limits and a graceful end.

use std::{
    future::poll_fn,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
    time::Duration,
};

use axum_core::{body::Body, response::Response};
use base64::{
    Engine,
    engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD},
};
use bytes::Bytes;
use futures_core::Stream;
use futures_sink::Sink;
use http::{
    HeaderMap, HeaderValue, StatusCode,
    header::{
        CONNECTION, SEC_WEBSOCKET_ACCEPT, SEC_WEBSOCKET_KEY, SEC_WEBSOCKET_PROTOCOL, SEC_WEBSOCKET_VERSION, UPGRADE,
    },
    request::Parts,
};
use http_body::Body as _;
use hyper::upgrade::{OnUpgrade, Upgraded};
use hyper_util::rt::TokioIo;
use ring::digest::{SHA1_FOR_LEGACY_USE_ONLY, digest};
use tokio::time::{Instant, Interval, MissedTickBehavior, interval_at, timeout, timeout_at};
pub(super) use tokio_websockets::Message;
use tokio_websockets::{CloseCode, Error, Limits, ServerBuilder, WebSocketStream};

use super::{deadline::EndsAt, headers, inflight::Slot, status::StatusError};
use crate::{
    handlers::{ConnectionGuard, Handlers},
    meta::status::Status,
    tasks,
};

/// The subprotocol with which browsers, which cannot set headers, send a bearer token.
const BEARER: &str = "base64url.bearer.authorization.k8s.io.";
/// The error for SPDY requests.
const SPDY: &str = "Upgrade request required: to WebSocket, since SPDY is not served here (kubectl exec and attach ask for a \
                    WebSocket by themselves since 1.30; kubectl port-forward speaks SPDY even inside of one)";
/// What the answer to a handshake hashes after the client's key (RFC 6455, section 1.3).
const GUID: &[u8] = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
/// The maximum size of a message that is read; clients send pieces of about 32 KiB.
pub(super) const MESSAGE_BYTES: usize = 1 << 20;
/// The ping interval. A peer that sends nothing until the next ping is gone.
const PING: Duration = Duration::from_secs(30);
/// How long after its end a watch may still try to send.
const OVERTIME: Duration = Duration::from_secs(1);
/// The maximum idle time of a connection, apart from pings.
const IDLE: Duration = Duration::from_hours(4);
/// The maximum time for the peer to answer a close.
const GOODBYE: Duration = Duration::from_secs(5);
/// The same while the server is stopping.
const LAST_GOODBYE: Duration = Duration::from_secs(1);

/// True if a request asks for a WebSocket.
pub(super) fn is_upgrade_request(headers: &HeaderMap) -> bool {
    headers::asks_for(headers, "websocket")
}

/// The requested subprotocols, in their order.
pub(super) fn protocols(headers: &HeaderMap) -> impl Iterator<Item = &str> {
    let values = headers.get_all(SEC_WEBSOCKET_PROTOCOL).iter().filter_map(|value| value.to_str().ok());
    values.flat_map(|value| value.split(',')).map(str::trim).filter(|protocol| !protocol.is_empty())
}

/// True for a subprotocol that is a token.
pub(super) fn is_bearer(protocol: &str) -> bool {
    protocol.starts_with(BEARER)
}

/// The token among the subprotocols of a WebSocket request.
pub(super) fn bearer(headers: &HeaderMap) -> Option<String> {
    if !is_upgrade_request(headers) {
        return None;
    }
    let token = protocols(headers).find_map(|protocol| protocol.strip_prefix(BEARER))?;
    // Another subprotocol must be present for the agreement: the token itself is never sent back.
    protocols(headers).find(|protocol| !protocol.starts_with(BEARER))?;
    let token = String::from_utf8(URL_SAFE_NO_PAD.decode(token.trim_end_matches('=')).ok()?).ok()?;
    (!token.is_empty()).then_some(token)
}

/// A handshake and its agreed subprotocol.
pub(super) struct Handshake {
    upgrade: OnUpgrade,
    /// The proof that the server understood the handshake.
    proof: HeaderValue,
    slot: Option<Arc<Slot>>,
    /// The subprotocol; empty if the client named none.
    pub protocol: String,
}

/// The subprotocols that an endpoint supports.
#[derive(Clone, Copy)]
pub(super) enum SupportedProtocols<'a> {
    /// These; the empty one stands for a client that names none.
    Only(&'a [&'a str]),
    /// Any that the client names.
    Any,
}

/// Agrees on a subprotocol. Fails with 400 for a request that is not a handshake, 403 for one without a supported
/// subprotocol.
pub(super) fn agree(headers: &HeaderMap, supported: SupportedProtocols<'_>) -> Result<String, StatusError> {
    if !is_upgrade_request(headers) {
        let spdy = headers::asks_for(headers, "SPDY/3.1");
        let why = if spdy { SPDY } else { "Upgrade request required: to WebSocket" };
        return Err(Status::bad_request(why).into());
    }
    let named: Vec<&str> = protocols(headers).filter(|protocol| !protocol.starts_with(BEARER)).collect();
    let chosen = match (supported, named.as_slice()) {
        (SupportedProtocols::Only(supported), []) => supported.contains(&"").then_some(""),
        (SupportedProtocols::Only(supported), named) => {
            named.iter().find(|protocol| supported.contains(protocol)).copied()
        }
        (SupportedProtocols::Any, []) => Some(""),
        (SupportedProtocols::Any, [one]) => Some(*one),
        (SupportedProtocols::Any, _) => None,
    };
    chosen.map(str::to_owned).ok_or_else(|| {
        let supported: &[&str] =
            if let SupportedProtocols::Only(supported) = supported { supported } else { &["any one"] };
        let supported: Vec<&str> = supported.iter().filter(|protocol| !protocol.is_empty()).copied().collect();
        let (named, supported) = (named.join(" "), supported.join(" "));
        let why = format!("requested protocol(s) are not supported: [{named}]; supports [{supported}]");
        // 403, as in kube-apiserver, although it has nothing to do with permissions.
        Status::failure(403, "Forbidden", why, None).into()
    })
}

/// Reads a handshake, by GET or POST. The resulting connection shares the slot of the request.
///
/// # Errors
/// Like [`agree`], and 400 for a handshake of another version of the protocol or without a key.
pub(super) fn handshake(
    parts: &Parts,
    slot: Option<Arc<Slot>>,
    supported: SupportedProtocols<'_>,
) -> Result<Handshake, StatusError> {
    let protocol = agree(&parts.headers, supported)?;
    if parts.headers.get(SEC_WEBSOCKET_VERSION).is_none_or(|version| version != "13") {
        return Err(Status::bad_request("`Sec-WebSocket-Version` header did not include '13'").into());
    }
    let key = parts.headers.get(SEC_WEBSOCKET_KEY);
    let key = key.ok_or_else(|| Status::bad_request("`Sec-WebSocket-Key` header missing"))?;
    let upgrade = parts.extensions.get::<OnUpgrade>().cloned();
    let upgrade = upgrade.ok_or_else(|| Status::bad_request("the connection of the request cannot be upgraded"))?;
    Ok(Handshake { upgrade, proof: proof(key), slot, protocol })
}

fn proof(key: &HeaderValue) -> HeaderValue {
    let hash = digest(&SHA1_FOR_LEGACY_USE_ONLY, &[key.as_bytes(), GUID].concat());
    HeaderValue::from_str(&STANDARD.encode(hash)).expect("base64 is a header value")
}

impl Handshake {
    /// Accepts the handshake, and runs code on the resulting connection.
    pub(super) fn accept<F, Fut>(self, handlers: &Handlers, run: F) -> Response
    where
        F: FnOnce(Socket) -> Fut + Send + 'static,
        Fut: Future<Output = ()> + Send + 'static,
    {
        let (stopping, connected) = (Box::pin(handlers.open.stopping()), handlers.open.connect());
        let Self { upgrade, proof, slot, protocol } = self;
        tasks::spawn(async move {
            // Otherwise the client has gone before it read the answer.
            if let Ok(upgraded) = upgrade.await {
                let limits = Limits::default().max_payload_len(Some(MESSAGE_BYTES));
                let socket = WebSocket(ServerBuilder::new().limits(limits).serve(TokioIo::new(upgraded)));
                run(Socket::new(socket, PING, stopping, (connected, slot))).await;
            }
        });
        let mut answer = Response::new(Body::empty());
        *answer.status_mut() = StatusCode::SWITCHING_PROTOCOLS;
        let headers = answer.headers_mut();
        headers.insert(CONNECTION, HeaderValue::from_static("upgrade"));
        headers.insert(UPGRADE, HeaderValue::from_static("websocket"));
        headers.insert(SEC_WEBSOCKET_ACCEPT, proof);
        if !protocol.is_empty() {
            let protocol = HeaderValue::from_str(&protocol).expect("a part of a header's value");
            headers.insert(SEC_WEBSOCKET_PROTOCOL, protocol);
        }
        answer
    }
}

/// An upgraded connection.
struct WebSocket(WebSocketStream<TokioIo<Upgraded>>);

impl WebSocket {
    /// Receives. Answers pings and a close, as far as the peer takes it without waiting. Safe to cancel.
    async fn receive(&mut self) -> Option<Result<Message, Error>> {
        poll_fn(|cx| self.poll_receive(cx)).await
    }

    fn poll_receive(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Message, Error>>> {
        // Every ping adds an answer to the queue: a peer that does not read its answers is no longer read.
        ready!(Pin::new(&mut self.0).poll_ready(cx))?;
        let received = ready!(Pin::new(&mut self.0).poll_next(cx));
        // An answer to what was received does not wait for the next call. If the connection broke, that call says so.
        let _ = Pin::new(&mut self.0).poll_flush(cx);
        Poll::Ready(received)
    }

    /// Sends a message. If it is cancelled, the rest is sent before the next one.
    async fn send(&mut self, message: Message) -> Result<(), Error> {
        poll_fn(|cx| Pin::new(&mut self.0).poll_ready(cx)).await?;
        Pin::new(&mut self.0).start_send(message)?;
        poll_fn(|cx| Pin::new(&mut self.0).poll_flush(cx)).await
    }
}

/// A WebSocket connection that sends pings and ends when the server stops.
pub(super) struct Socket {
    socket: WebSocket,
    stopping: Pin<Box<dyn Future<Output = ()> + Send>>,
    ping: Interval,
    /// The time of the last message.
    last_received: Instant,
    /// A ping was sent, and nothing was received since.
    unanswered: bool,
    /// Counts the connection until it is dropped.
    _counted: (ConnectionGuard, Option<Arc<Slot>>),
}

/// Why a connection ends before its work does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// The peer has gone.
    Gone,
    /// The connection was idle for too long.
    Idle,
    /// The server stops.
    Stopping,
}

impl Socket {
    fn new(
        socket: WebSocket,
        every: Duration,
        stopping: Pin<Box<dyn Future<Output = ()> + Send>>,
        counted: (ConnectionGuard, Option<Arc<Slot>>),
    ) -> Self {
        let now = Instant::now();
        let mut ping = interval_at(now + every, every);
        ping.set_missed_tick_behavior(MissedTickBehavior::Delay);
        Self { socket, stopping, ping, last_received: now, unanswered: false, _counted: counted }
    }

    /// The next message with data; `None` if the caller should check its state and call again. With `listening` false,
    /// because the reader is behind, it does not read from the peer. Safe to cancel.
    pub(super) async fn receive(&mut self, listening: bool) -> Result<Option<Message>, End> {
        // In this order: an answer that has arrived counts, even if its time is over.
        tokio::select! {
            biased;
            () = &mut self.stopping => Err(End::Stopping),
            received = self.socket.receive(), if listening => {
                self.unanswered = false;
                match received {
                    Some(Ok(message)) if message.is_ping() || message.is_pong() => Ok(None),
                    Some(Ok(message)) if !message.is_close() => {
                        self.last_received = Instant::now();
                        Ok(Some(message))
                    }
                    _ => Err(End::Gone),
                }
            },
            now = self.ping.tick() => {
                if self.unanswered && listening {
                    return Err(End::Gone);
                }
                if now.duration_since(self.last_received) > IDLE {
                    return Err(End::Idle);
                }
                // A peer that is not read cannot answer.
                self.unanswered = listening;
                self.socket.send(Message::ping("")).await.map_err(|_| End::Gone)?;
                Ok(None)
            }
        }
    }

    /// Sends a message. Waits while the peer is slow, as long as the server runs.
    pub(super) async fn send(&mut self, message: Message) -> Result<(), End> {
        self.last_received = Instant::now();
        tokio::select! {
            sent = self.socket.send(message) => sent.map_err(|_| End::Gone),
            () = &mut self.stopping => Err(End::Stopping),
        }
    }

    /// Sends an optional last message and a close, and waits for the peer's close for a while, so that the peer reads
    /// them.
    pub(super) async fn close(mut self, last: Option<Message>, end: Option<End>) {
        let (code, reason) = match end {
            None => (CloseCode::NORMAL_CLOSURE, ""),
            Some(End::Gone) => return,
            Some(End::Idle) => (CloseCode::GOING_AWAY, "nothing was said for too long"),
            Some(End::Stopping) => (CloseCode::GOING_AWAY, "the server is stopping"),
        };
        let goodbye = async {
            if let Some(last) = last {
                self.socket.send(last).await?;
            }
            self.socket.send(Message::close(Some(code), reason)).await?;
            while let Some(Ok(message)) = self.socket.receive().await
                && !message.is_close()
            {}
            Ok::<_, Error>(())
        };
        // A peer that no longer reads loses nothing.
        let within = if end == Some(End::Stopping) { LAST_GOODBYE } else { GOODBYE };
        let _ = timeout(within, goodbye).await;
    }
}

/// Sends the pieces of a body as messages until the body ends, or until the given time, whatever the peer does.
pub(super) async fn carry(
    mut socket: Socket,
    body: Body,
    ends: Option<EndsAt>,
    message: impl Fn(Bytes) -> Message + Send,
) {
    let all = carry_all(&mut socket, body, message);
    let end = match ends {
        Some(EndsAt(at)) => timeout_at(at + OVERTIME, all).await.unwrap_or(Some(End::Gone)),
        None => all.await,
    };
    socket.close(None, end).await;
}

async fn carry_all(socket: &mut Socket, mut body: Body, message: impl Fn(Bytes) -> Message) -> Option<End> {
    loop {
        let piece = tokio::select! {
            piece = poll_fn(|cx| Pin::new(&mut body).poll_frame(cx)) => piece,
            // Messages of the client are ignored, except that they show that it is alive.
            received = socket.receive(true) => match received {
                Ok(_) => continue,
                Err(end) => return Some(end),
            },
        };
        let Some(Ok(piece)) = piece.map(|piece| piece.map(http_body::Frame::into_data)) else { return None };
        let Ok(piece) = piece else { continue };
        if let Err(end) = socket.send(message(piece)).await {
            return Some(end);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(protocol: &str) -> HeaderMap {
        [("connection", "keep-alive, Upgrade"), ("upgrade", "WebSocket"), ("sec-websocket-protocol", protocol)]
            .into_iter()
            .map(|(name, value)| (name.parse::<http::HeaderName>().unwrap(), value.parse().unwrap()))
            .collect()
    }

    #[test]
    fn the_proof_of_a_handshake_is_that_of_rfc_6455() {
        let proof = proof(&HeaderValue::from_static("dGhlIHNhbXBsZSBub25jZQ=="));
        assert_eq!(proof, "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
    }

    #[test]
    fn a_token_comes_among_the_subprotocols_of_a_handshake() {
        let token = |protocol: &str| bearer(&headers(protocol));
        assert_eq!(token("base64url.bearer.authorization.k8s.io.c2VjcmV0, v4.channel.k8s.io"), Some("secret".into()));
        assert_eq!(token("v4.channel.k8s.io,base64url.bearer.authorization.k8s.io.c2VjcmV0"), Some("secret".into()));
        assert_eq!(token("base64url.bearer.authorization.k8s.io.c2VjcmV0"), None, "nothing is left to agree on");
        assert_eq!(token("base64url.bearer.authorization.k8s.io.***, v4.channel.k8s.io"), None);
        assert_eq!(token("v4.channel.k8s.io"), None);
        let mut plain = headers("base64url.bearer.authorization.k8s.io.c2VjcmV0, v4.channel.k8s.io");
        plain.remove(UPGRADE);
        assert_eq!(bearer(&plain), None, "a header of a request that is no handshake means nothing");
    }
}
