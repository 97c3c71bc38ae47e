//! Connections: accepting them, TLS, HTTP/1 and HTTP/2 on one port.
//! Guarantees that a peer which sends nothing, or sends it a byte at a time, is cut off, and that a stop is told to every
//! connection. Knows the router as a service only.

use std::{io, time::Duration};

use hyper_util::{
    rt::{TokioExecutor, TokioIo, TokioTimer},
    server::{conn::auto, graceful::GracefulShutdown},
    service::TowerToHyperService,
};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::{TcpListener, TcpStream},
    sync::watch,
    time::timeout,
};
use tokio_rustls::TlsAcceptor;

use crate::http::Router;

/// How long a peer may take to shake hands and to say which HTTP it speaks.
const GREETING: Duration = Duration::from_secs(10);
/// How long the head of a request may take, and how long an idle HTTP/1 connection stays open.
const HEAD: Duration = Duration::from_mins(1);
/// How often an HTTP/2 peer is asked whether it is still there.
const PING: Duration = Duration::from_secs(30);
/// Requests that one HTTP/2 connection may have open; informers keep one watch each.
const STREAMS: u32 = 1000;
/// Most bytes of an HTTP/2 request's headers; selectors in the query are part of them.
const HEADERS: u32 = 256 << 10;
/// The first bytes of an HTTP/2 connection without TLS.
const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// Accepts connections until the stop; what comes back waits for those that are still open.
pub(super) async fn accept(
    listener: TcpListener,
    tls: Option<TlsAcceptor>,
    router: Router,
    mut stop: watch::Receiver<bool>,
) -> GracefulShutdown {
    let open = GracefulShutdown::new();
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            _ = stop.wait_for(|stopping| *stopping) => return open,
        };
        let stream = match accepted {
            Ok((stream, _)) => stream,
            Err(error) => {
                // Such as too many open files: connections must end before the next one can begin.
                tracing::warn!(%error, "a connection could not be accepted");
                tokio::time::sleep(Duration::from_millis(50)).await;
                continue;
            }
        };
        let (tls, router, watcher, mut stop) = (tls.clone(), router.clone(), open.watcher(), stop.clone());
        tokio::spawn(async move {
            let greeted = tokio::select! {
                greeted = timeout(GREETING, greet(stream, tls)) => greeted,
                _ = stop.wait_for(|stopping| *stopping) => return,
            };
            let result = match greeted {
                Ok(Ok(Greeted::Plain(stream, http))) => converse(stream, http, router, watcher).await,
                Ok(Ok(Greeted::Tls(stream, http))) => converse(*stream, http, router, watcher).await,
                Ok(Err(error)) => Err(error.to_string()),
                Err(_) => Err("it said nothing for too long".to_owned()),
            };
            if let Err(error) = result {
                tracing::debug!(error, "a connection ended early");
            }
        });
    }
}

/// Which HTTP a peer speaks.
#[derive(Clone, Copy)]
enum Http {
    One,
    Two,
}

/// A connection that has made itself known.
enum Greeted {
    Plain(TcpStream, Http),
    Tls(Box<tokio_rustls::server::TlsStream<TcpStream>>, Http),
}

async fn greet(stream: TcpStream, tls: Option<TlsAcceptor>) -> io::Result<Greeted> {
    // Answers are written whole; waiting for more to send only delays them.
    stream.set_nodelay(true)?;
    let Some(tls) = tls else {
        let http = peek_http(&stream).await?;
        return Ok(Greeted::Plain(stream, http));
    };
    let stream = tls.accept(stream).await?;
    let http = if stream.get_ref().1.alpn_protocol() == Some(b"h2") { Http::Two } else { Http::One };
    Ok(Greeted::Tls(Box::new(stream), http))
}

/// Looks at the first bytes, which stay to be read.
async fn peek_http(stream: &TcpStream) -> io::Result<Http> {
    let mut buffer = [0; PREFACE.len()];
    loop {
        let seen = stream.peek(&mut buffer).await?;
        if seen == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        if buffer[..seen] != PREFACE[..seen] {
            return Ok(Http::One);
        }
        if seen == PREFACE.len() {
            return Ok(Http::Two);
        }
        // A peek returns at once while there is anything to see, so the rest of a preface cannot be awaited.
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

async fn converse(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    http: Http,
    router: Router,
    watcher: hyper_util::server::graceful::Watcher,
) -> Result<(), String> {
    let mut builder = auto::Builder::new(TokioExecutor::new());
    builder.http1().timer(TokioTimer::new()).header_read_timeout(HEAD);
    builder
        .http2()
        .timer(TokioTimer::new())
        .keep_alive_interval(PING)
        .max_concurrent_streams(STREAMS)
        .max_header_list_size(HEADERS)
        .initial_stream_window_size(1 << 20)
        .initial_connection_window_size(4 << 20);
    let builder = match http {
        Http::One => builder.http1_only(),
        Http::Two => builder.http2_only(),
    };
    let connection =
        builder.serve_connection_with_upgrades(TokioIo::new(stream), TowerToHyperService::new(router)).into_owned();
    watcher.watch(connection).await.map_err(|error| error.to_string())
}
