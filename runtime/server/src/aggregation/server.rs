//! HTTP/1.1 over TLS to one server behind. Bodies are passed on as they come, in both directions. A connection is used again once
//! its answer was read to the end; it is closed if the answer is dropped before.
use std::{
    collections::VecDeque,
    fmt,
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll, ready},
    time::Duration,
};

use axum_core::body::Body;
use bytes::Bytes;
use http_body::{Body as _, Frame, SizeHint};
use hyper::{
    HeaderMap, Method, Request, Response, StatusCode,
    body::Incoming,
    client::conn::http1::{self, SendRequest},
    header,
};
use hyper_util::rt::TokioIo;
use tokio::{
    net::TcpStream,
    time::{Instant, timeout},
};
use tokio_rustls::{TlsConnector, rustls::pki_types::ServerName};

use super::{
    CHECK_WITHIN, CHECKER, headers,
    tls::{self, ProxyIdentity},
};
use crate::{auth::User, kind::convert::WebhookService, tasks, webhook::Resolver};

/// How long it may take to connect, with the handshake of TLS.
const CONNECT_WITHIN: Duration = Duration::from_secs(30);
/// The maximum number of idle connections to one server.
const MOST_IDLE: usize = 16;
/// How long a connection stays open when no request uses it.
const IDLE_FOR: Duration = Duration::from_secs(30);

/// The address of a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Address {
    /// A service: its namespace, its name, and the port.
    Service(String, String, u16),
    /// A host and a port.
    Url(String, u16),
}

/// How to reach a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ServerSettings {
    /// The address, or why it is unknown.
    pub address: Result<Address, String>,
    /// The authorities of its certificate in PEM; those of the system if it is empty.
    pub ca_bundle: Vec<u8>,
    /// True if any certificate will do.
    pub insecure: bool,
}

/// A server behind this one.
pub(crate) struct RemoteServer {
    pub(super) settings: ServerSettings,
    resolver: Option<Resolver>,
    tls: Result<TlsConnector, String>,
    /// The one that was used last is at the end.
    idle: Mutex<VecDeque<(Instant, SendRequest<Body>)>>,
}

/// Why a server did not answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Unreachable(pub String);

impl fmt::Display for Unreachable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl RemoteServer {
    pub(super) fn new(settings: ServerSettings, resolver: Option<Resolver>, identity: Arc<dyn ProxyIdentity>) -> Self {
        let tls = tls::config(&settings.ca_bundle, settings.insecure, identity);
        let tls = tls.map(|config| TlsConnector::from(Arc::new(config)));
        Self { settings, resolver, tls, idle: Mutex::default() }
    }

    /// The host and port that messages and the `Host` header name.
    pub(crate) fn host(&self) -> String {
        match &self.settings.address {
            Ok(Address::Service(namespace, name, port)) => format!("{name}.{namespace}.svc:{port}"),
            Ok(Address::Url(host, port)) if host.contains(':') => format!("[{host}]:{port}"),
            Ok(Address::Url(host, port)) => format!("{host}:{port}"),
            Err(_) => String::new(),
        }
    }

    /// Sends a request with a path, and returns the answer as it begins. Its headers are complete except for `Host`.
    ///
    /// # Errors
    /// If the server cannot be reached, or breaks off before it answers.
    pub(crate) async fn send(self: &Arc<Self>, request: Request<Body>) -> Result<Response<RemoteBody>, Unreachable> {
        let mut request = request;
        let host = self.host().parse().map_err(|_| Unreachable("the name of the service is no host".to_owned()))?;
        request.headers_mut().insert(header::HOST, host);
        // The server may have closed an idle connection. Then another one is used, if nothing was sent yet.
        while let Some(mut idle) = self.take() {
            match idle.try_send_request(request).await {
                Ok(answer) => return Ok(self.body(answer, idle)),
                Err(mut error) => match error.take_message() {
                    Some(unsent) => request = unsent,
                    None => return Err(Unreachable(error.into_error().to_string())),
                },
            }
        }
        let mut connection = self.connect().await.map_err(Unreachable)?;
        let answer = connection.send_request(request).await.map_err(|error| Unreachable(error.to_string()))?;
        Ok(self.body(answer, connection))
    }

    /// Asks for a document as the server itself, which may do everything. The answer is limited in time and size.
    ///
    /// # Errors
    /// If the server cannot be reached, or does not answer in time.
    pub(super) async fn get(
        self: &Arc<Self>,
        path: &str,
        accept: &'static str,
        most_bytes: usize,
    ) -> Result<(StatusCode, HeaderMap, Vec<u8>), Unreachable> {
        let asking = async {
            let user = User { name: CHECKER.to_owned(), groups: vec![User::MASTERS.to_owned()], ..User::default() };
            let mut request = Request::new(Body::empty());
            *request.method_mut() = Method::GET;
            *request.uri_mut() = path.parse().map_err(|_| Unreachable(format!("{path:?} is no path")))?;
            request.headers_mut().insert(header::ACCEPT, header::HeaderValue::from_static(accept));
            headers::identify(request.headers_mut(), &user).map_err(Unreachable)?;
            let (parts, mut body) = self.send(request).await?.into_parts();
            let mut read = Vec::new();
            while let Some(frame) = std::future::poll_fn(|cx| Pin::new(&mut body).poll_frame(cx)).await {
                let frame = frame.map_err(|error| Unreachable(error.to_string()))?;
                read.extend_from_slice(frame.data_ref().map_or(&[], |data| data));
                if read.len() > most_bytes {
                    return Err(Unreachable(format!("the answer is longer than {most_bytes} bytes")));
                }
            }
            Ok((parts.status, parts.headers, read))
        };
        let late = |_| Err(Unreachable("context deadline exceeded".to_owned()));
        timeout(CHECK_WITHIN, asking).await.unwrap_or_else(late)
    }

    fn body(self: &Arc<Self>, answer: Response<Incoming>, connection: SendRequest<Body>) -> Response<RemoteBody> {
        // After an upgrade the connection is no longer one of HTTP.
        let connection = (answer.status() != StatusCode::SWITCHING_PROTOCOLS).then(|| (self.clone(), connection));
        answer.map(|body| RemoteBody { body, connection })
    }

    async fn connect(&self) -> Result<SendRequest<Body>, String> {
        let late = |_| Err(format!("dial tcp: lookup or connection of {}: i/o timeout", self.host()));
        timeout(CONNECT_WITHIN, self.connect_now()).await.unwrap_or_else(late)
    }

    async fn connect_now(&self) -> Result<SendRequest<Body>, String> {
        let (address, name) = match self.settings.address.clone()? {
            Address::Service(namespace, name, port) => {
                let host = format!("{name}.{namespace}.svc");
                let service = WebhookService { namespace, name, path: String::new(), port };
                let address = self.resolver.as_ref().and_then(|resolver| resolver(&service));
                (address.unwrap_or_else(|| format!("{host}:{port}")), host)
            }
            Address::Url(host, _) => (self.host(), host),
        };
        let tls = self.tls.clone()?;
        let name = ServerName::try_from(name).map_err(|error| format!("invalid host: {error}"))?;
        let socket = TcpStream::connect(address.as_str()).await;
        let socket = socket.map_err(|error| format!("dial tcp {address}: connect: {error}"))?;
        // Small writes are sent at once (no Nagle's algorithm).
        socket.set_nodelay(true).map_err(|error| error.to_string())?;
        let stream = tls.connect(name, socket).await.map_err(|error| format!("tls: {error}"))?;
        let (requests, connection) = http1::handshake(TokioIo::new(stream)).await.map_err(|error| error.to_string())?;
        tasks::spawn(async move {
            if let Err(error) = connection.with_upgrades().await {
                tracing::debug!(%error, "the connection to a server behind has ended");
            }
        });
        Ok(requests)
    }

    fn idle(&self) -> MutexGuard<'_, VecDeque<(Instant, SendRequest<Body>)>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take(&self) -> Option<SendRequest<Body>> {
        self.sweep();
        let mut idle = self.idle();
        // The body of the request before may still be on its way, if it was answered early.
        let at = idle.iter().rposition(|(_, connection)| connection.is_ready())?;
        idle.remove(at).map(|(_, connection)| connection)
    }

    fn put(&self, connection: SendRequest<Body>) {
        let mut idle = self.idle();
        if idle.len() >= MOST_IDLE {
            idle.pop_front();
        }
        idle.push_back((Instant::now(), connection));
    }

    /// Closes connections that were not used for long.
    pub(super) fn sweep(&self) {
        self.idle().retain(|(since, connection)| since.elapsed() < IDLE_FOR && !connection.is_closed());
    }
}

/// The body of an answer, with its connection.
pub(crate) struct RemoteBody {
    body: Incoming,
    connection: Option<(Arc<RemoteServer>, SendRequest<Body>)>,
}

impl http_body::Body for RemoteBody {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        let frame = ready!(Pin::new(&mut self.body).poll_frame(cx));
        if frame.is_none() {
            if let Some((server, connection)) = self.connection.take() {
                server.put(connection);
            }
        } else if matches!(frame, Some(Err(_))) {
            self.connection = None;
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl Drop for RemoteBody {
    fn drop(&mut self) {
        // A reader that knows the length does not ask for the end.
        if self.body.is_end_stream()
            && let Some((server, connection)) = self.connection.take()
        {
            server.put(connection);
        }
    }
}
