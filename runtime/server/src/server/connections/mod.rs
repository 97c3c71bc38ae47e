//! Connections: accepting them, TLS, HTTP/1 and HTTP/2 on one port.
//!
//! Guarantees:
//! - A peer is disconnected if it sends nothing, sends one byte at a time, or reads nothing.
//! - Idle connections are closed when descriptors run short.
//! - The memory for data that a peer has not read is limited.
//! - A stop ends every connection, and does not wait for clients that do not read.
//!
//! Uses the server only as a service that answers requests.

use crate::tasks;
use std::{
    convert::Infallible,
    io,
    pin::{Pin, pin},
    sync::Arc,
    time::Duration,
};

use axum_core::{extract::Request, response::Response};
use hyper::{
    body::Incoming,
    server::conn::{http1, http2},
    service::service_fn,
};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::{net::TcpListener, sync::watch, time::timeout};
use tokio_rustls::TlsAcceptor;
use tower_service::Service;

mod flow;
mod greet;
mod peers;
mod socket;

use flow::{Flow, Streams};
use greet::{Http, Stream};
use peers::{Peer, Peers};
use socket::Socket;

/// The maximum number of concurrent requests on one HTTP/2 connection, as in kube-apiserver.
const STREAMS: u32 = 250;
/// The maximum number of streams that the peer has reset and that are not yet processed.
const RESETS: usize = 20;
/// The maximum number of streams of one connection that are reset because of errors of the peer.
const ERRORS: usize = 100;
/// The maximum number of buffered bytes of a connection in each direction, including the head of a request.
/// TLS has another buffer of this size for unsent records.
const BUFFER: usize = 64 << 10;
/// The size of the kernel's send buffer for a peer (the kernel doubles the given value).
pub(super) const SEND_BUFFER: u32 = 128 << 10;
/// The interval of pings on HTTP/2 connections.
const PING: Duration = Duration::from_secs(30);
/// The time for a connection that must close to tell its peer.
const GOODBYE: Duration = Duration::from_millis(100);

/// Timeouts and numbers of clients.
#[derive(Clone, Debug)]
pub struct Limits {
    /// The time for a TLS handshake and the first bytes of HTTP.
    pub greeting: Duration,
    /// The time for the head of a request. Idle HTTP/1 connections are closed after this time, too.
    pub head: Duration,
    /// A connection is closed if its peer reads nothing for this time.
    pub stall: Duration,
    /// The same while the server stops.
    pub last_stall: Duration,
    /// The time after the end of an answer in which its client may read the rest. A watcher that reads the rest in this
    /// time gets complete events; otherwise its connection is closed, possibly in the middle of an event.
    pub overtime: Duration,
    /// The total time for reading, and discarding, data that a peer sends after the last answer.
    pub linger: Duration,
    /// The same, without any data from the peer.
    pub silence: Duration,
    /// The maximum number of concurrent handshakes; the oldest is closed for a new one.
    pub greetings: usize,
    /// The maximum number of connections that read after the last answer; see `linger`.
    pub lingering: usize,
    /// The maximum number of connections; the one that has been idle longest is closed for a new one.
    pub open: usize,
}

impl Default for Limits {
    fn default() -> Self {
        let open = peers::descriptors_to_spare();
        Self {
            greeting: Duration::from_secs(10),
            head: Duration::from_mins(1),
            stall: Duration::from_secs(30),
            last_stall: Duration::from_secs(1),
            overtime: Duration::from_secs(5),
            linger: Duration::from_secs(10),
            silence: Duration::from_secs(1),
            greetings: (open / 2).clamp(1, 1000),
            lingering: (open / 4).clamp(1, 100),
            open,
        }
    }
}

/// A service that answers requests and is always ready.
pub(super) trait Answers:
    Service<Request<Incoming>, Response = Response, Error = Infallible, Future: Send> + Clone + Send + Sync + 'static
{
}

impl<S> Answers for S where
    S: Service<Request<Incoming>, Response = Response, Error = Infallible, Future: Send>
        + Clone
        + Send
        + Sync
        + 'static
{
}

/// Accepts connections until the stop. Each connection holds a clone of `stop` until it has ended.
pub(super) async fn accept(
    listener: TcpListener,
    tls: Option<TlsAcceptor>,
    service: impl Answers,
    limits: Limits,
    mut stop: watch::Receiver<bool>,
) {
    let peers = Peers::new(limits, stop.clone());
    let stopped = stop.clone();
    let accepting = async {
        loop {
            peers.make_room().await;
            match listener.accept().await {
                Ok((stream, _)) => {
                    let peer = peers.welcome();
                    let socket = Socket::new(stream, peer.clone());
                    tasks::spawn(serve(socket, peer, tls.clone(), service.clone(), stopped.clone()));
                }
                Err(error) => {
                    // For example too many open files: a connection must end before the next one can be accepted.
                    tracing::warn!(%error, "a connection could not be accepted");
                    peers.evict();
                    tokio::time::sleep(Duration::from_millis(20)).await;
                }
            }
        }
    };
    tokio::select! {
        () = stopping(&mut stop) => {}
        () = accepting => {}
    }
}

/// Completes when the server stops.
async fn stopping(stop: &mut watch::Receiver<bool>) {
    // A dropped sender also stops it.
    let _ = stop.wait_for(|stopping| *stopping).await;
}

async fn serve(
    socket: Socket,
    peer: Arc<Peer>,
    tls: Option<TlsAcceptor>,
    service: impl Answers,
    mut stop: watch::Receiver<bool>,
) {
    // Boxed, like the futures below: a connection then has only the state of its own protocol.
    let greeted = tokio::select! {
        greeted = timeout(peer.limits().greeting, Box::pin(greet::greet(socket, tls))) => greeted,
        () = peer.told_to_go() => return,
        () = stopping(&mut stop) => return,
    };
    let result = match greeted {
        Ok(Ok((stream, http))) => {
            peer.greeted();
            if let Some(certificates) = greet::certificates(&stream) {
                let _ = peer.certificates.set(certificates);
            }
            match http {
                Http::One => Box::pin(http1(stream, service, &peer, stop)).await,
                Http::Two => Box::pin(http2(stream, service, &peer, stop)).await,
            }
        }
        Ok(Err(error)) => Err(error.to_string()),
        Err(_) => Err("it sent nothing for too long".to_owned()),
    };
    peer.leave_http();
    if let Err(error) = result {
        tracing::debug!(error, "a connection ended early");
    }
}

async fn http1(
    stream: Stream,
    service: impl Answers,
    peer: &Arc<Peer>,
    stop: watch::Receiver<bool>,
) -> Result<(), String> {
    let (requester, flow) = (peer.clone(), Flow::of_connection(peer));
    let service = service_fn(move |request: Request<Incoming>| {
        let request = with_certificates(request, &requester);
        let (busy, flow, answer) = (requester.begin(), flow.clone(), service.clone().call(request));
        async move { answer.await.map(|answer| flow::pace(answer, busy, flow)) as Result<_, Infallible> }
    });
    let mut builder = http1::Builder::new();
    builder.timer(TokioTimer::new()).header_read_timeout(peer.limits().head).max_buf_size(BUFFER);
    let connection = pin!(builder.serve_connection(TokioIo::new(stream), service).with_upgrades());
    run(connection, http1::UpgradeableConnection::graceful_shutdown, peer, stop).await
}

async fn http2(
    stream: Stream,
    service: impl Answers,
    peer: &Arc<Peer>,
    stop: watch::Receiver<bool>,
) -> Result<(), String> {
    let requester = peer.clone();
    let service = service_fn(move |request: Request<Incoming>| {
        let request = with_certificates(request, &requester);
        let (busy, mut service) = (requester.begin(), service.clone());
        // The answer's future is created when the stream is first polled, because a connection may send hundreds of
        // requests at once. It is boxed, so that its memory is freed while the answer, such as a watch, is sent.
        Box::pin(async move {
            service.call(request).await.map(|answer| flow::pace(answer, busy, Flow::of_stream()))
                as Result<_, Infallible>
        })
    });
    let window = u32::try_from(BUFFER).expect("a buffer is small");
    let mut builder = http2::Builder::new(Streams::new(peer));
    builder
        .timer(TokioTimer::new())
        .keep_alive_interval(PING)
        .max_concurrent_streams(STREAMS)
        .max_pending_accept_reset_streams(RESETS)
        .max_local_error_reset_streams(ERRORS)
        .max_header_list_size(window)
        .max_send_buf_size(BUFFER)
        .initial_stream_window_size(window)
        .initial_connection_window_size(window);
    let connection = pin!(builder.serve_connection(TokioIo::new(stream), service));
    run(connection, http2::Connection::graceful_shutdown, peer, stop).await
}

/// A request with the certificates of its sender.
fn with_certificates(mut request: Request<Incoming>, peer: &Peer) -> Request<Incoming> {
    if let Some(certificates) = peer.certificates.get() {
        request.extensions_mut().insert(certificates.clone());
    }
    request
}

/// Runs a connection until it ends, must be closed for another one, or does not read while the server stops.
async fn run<C: Future<Output = hyper::Result<()>>>(
    mut connection: Pin<&mut C>,
    shut_down: fn(Pin<&mut C>),
    peer: &Peer,
    mut stop: watch::Receiver<bool>,
) -> Result<(), String> {
    let result = tokio::select! {
        result = connection.as_mut() => result,
        () = peer.told_to_go() => {
            shut_down(connection.as_mut());
            timeout(GOODBYE, connection).await.unwrap_or(Ok(()))
        }
        () = stopping(&mut stop) => {
            shut_down(connection.as_mut());
            tokio::select! {
                result = connection => result,
                () = peer.given_up() => return Err("it read nothing while the server was stopping".to_owned()),
            }
        }
    };
    result.map_err(|error| error.to_string())
}

/// An error of a peer that did not read.
fn timed_out() -> io::Error {
    io::Error::new(io::ErrorKind::TimedOut, "the peer read nothing for too long")
}

#[cfg(test)]
mod tests;
