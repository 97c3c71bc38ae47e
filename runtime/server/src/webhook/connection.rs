//! HTTP/1.1 over TLS to one webhook. Connections are used again; redirects are not followed; the size of a response is
//! limited, and of what it says, errors show the beginning.
use std::{
    borrow::Cow,
    convert::Infallible,
    env, fs,
    pin::{Pin, pin},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    task::{Context, Poll},
    time::Duration,
};

use bytes::{Bytes, BytesMut};
use http_body::{Body, Frame, SizeHint};
use hyper::{
    Request, StatusCode,
    body::Incoming,
    client::conn::http1::{self, SendRequest},
    header,
    http::uri::PathAndQuery,
};
use hyper_util::rt::TokioIo;
use tokio::{
    net::TcpStream,
    sync::{OwnedSemaphorePermit, Semaphore, SemaphorePermit},
    time::timeout,
};
use tokio_rustls::{
    TlsConnector,
    rustls::{ClientConfig, client::danger::ServerCertVerifier, crypto::ring, pki_types::ServerName},
};

use super::{
    breaker::{Breaker, Call},
    certificate::{self, Verifier},
    pool::Pool,
    slots::Queue,
};
use crate::{
    kind::convert::Webhook,
    meta::{ByteString, go, url::Url},
    tasks,
};

/// The maximum size of a response: a batch of the largest size whose objects grow several times.
const MAX_RESPONSE: usize = 32 << 20;
/// The size above which only one response is in memory at a time: decoding takes several times as much.
const LARGE_RESPONSE: usize = 2 << 20;
/// How long the rest of a large response may take, which others wait for.
const LARGE_WITHIN: Duration = Duration::from_secs(10);
/// The size of a refusal's text that errors show.
const SHOWN: usize = 1_024;

/// Files that have the certificates of the system, as Go's programs look for them.
const SYSTEM_ROOTS: [&str; 5] = [
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/ca-bundle.pem",
    "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
    "/etc/ssl/cert.pem",
];

/// A client of one webhook.
pub(super) struct Client {
    /// The URL that messages name.
    url: String,
    target: Result<Target, String>,
    /// Its connections in the pool.
    number: u64,
    pool: Arc<Pool>,
    /// The calls.
    pub(super) queue: Queue,
    /// The turn of a large response among its own, before that among those of all.
    large: Arc<Semaphore>,
}

/// The address of a webhook, and how to connect to it.
struct Target {
    /// The host and port to connect to.
    address: String,
    /// The name in its certificate.
    name: ServerName<'static>,
    host: String,
    path: PathAndQuery,
    tls: TlsConnector,
}

impl Client {
    /// A client of a webhook; the address is that of its service, if it is known.
    pub(super) fn new(webhook: &Webhook, address: Option<String>, pool: &Arc<Pool>, timeout: Duration) -> Self {
        static LAST: AtomicU64 = AtomicU64::new(0);
        let url = match (&webhook.service, &webhook.url) {
            (Some(service), _) => {
                let path = service.path.trim_start_matches('/');
                format!("https://{}.{}.svc:{}/{path}", service.name, service.namespace, service.port)
            }
            (None, url) => url.clone().unwrap_or_default(),
        };
        let target = Target::new(&url, &webhook.ca_bundle, address);
        let (url, number) = (format!("{}?timeout=30s", go::shortened(&url)), LAST.fetch_add(1, Ordering::Relaxed));
        let (queue, large) = (Queue::new(Breaker::new(timeout)), Arc::new(Semaphore::new(1)));
        Self { url, target, number, pool: pool.clone(), queue, large }
    }

    /// The error for a failed request.
    pub(super) fn failed(&self, why: &str) -> String {
        format!("Post {:?}: {}", self.url, go::shortened(why))
    }

    /// Sends a request, and returns the response, or the error for a code other than 2xx and for a connection that is closed
    /// over the request. Fails if the webhook cannot be reached, and if a response ends early.
    pub(super) async fn post(&self, body: Bytes, call: &Call<'_>) -> Result<Result<Answer, String>, String> {
        let target = self.target.as_ref()?;
        // The webhook may have closed an idle connection. Then another one is used: conversions have no effects.
        while let Some(mut idle) = self.pool.take(self.number) {
            if idle.ready().await.is_ok()
                && let Ok(response) = idle.send_request(target.request(body.clone())).await
            {
                return self.read(response, idle, call).await;
            }
        }
        let mut connection = target.connect().await?;
        match connection.send_request(target.request(body)).await {
            Ok(response) => self.read(response, connection, call).await,
            // It has taken the request, and broke off over it, as a server in Go does when its code panics.
            Err(error) => Ok(Err(self.failed(&error.to_string()))),
        }
    }

    /// Reads a response. Of the responses of one webhook, only one at a time waits for the turn of all, so that a slow one delays
    /// others once.
    async fn whole(&self, body: Incoming, call: &Call<'_>) -> Result<Answer, String> {
        let (mut body, mut all) = (pin!(body), BytesMut::new());
        if read(body.as_mut(), &mut all, LARGE_RESPONSE).await? {
            return Ok(Answer { body: all.freeze(), _large: None });
        }
        let of_one = self.large.clone().acquire_owned().await.expect("the semaphore is never closed");
        let of_all = call.excused(LARGE.acquire()).await.expect("the semaphore is never closed");
        let late = |_| format!("the rest of a large response did not arrive within {} s", LARGE_WITHIN.as_secs());
        if timeout(LARGE_WITHIN, read(body, &mut all, MAX_RESPONSE)).await.map_err(late)?? {
            return Ok(Answer { body: all.freeze(), _large: Some((of_one, of_all)) });
        }
        Err(format!("the response is longer than {MAX_RESPONSE} bytes"))
    }

    async fn read(
        &self,
        response: hyper::Response<Incoming>,
        connection: SendRequest<Whole>,
        call: &Call<'_>,
    ) -> Result<Result<Answer, String>, String> {
        let code = response.status();
        let answer = self.whole(response.into_body(), call).await?;
        self.pool.put(self.number, connection);
        Ok(match code {
            _ if code.is_success() => Ok(answer),
            StatusCode::NOT_FOUND => Err("the server could not find the requested resource".to_owned()),
            _ if code.is_server_error() => {
                let text = String::from_utf8_lossy(&answer.body[..answer.body.len().min(SHOWN)]).trim().to_owned();
                Err(format!("an error on the server ({text:?}) has prevented the request from succeeding"))
            }
            _ => Err(format!(
                "the server responded with the status code {} but did not return more information",
                code.as_u16()
            )),
        })
    }
}

impl Target {
    fn new(text: &str, ca_bundle: &str, address: Option<String>) -> Result<Self, String> {
        let url = Url::parse(text)?;
        if url.scheme != "https" {
            return Err("unsupported protocol scheme".to_owned());
        }
        let name = ServerName::try_from(url.host.to_owned()).map_err(|error| format!("invalid host: {error}"))?;
        let port = url.port_or(443).ok_or_else(|| format!("dial tcp: address {}: invalid port", url.port))?;
        let path = format!("{}?timeout=30s", url.request_path());
        let path = path.parse().map_err(|error| format!("invalid path: {error}"))?;
        let host = if url.authority.starts_with('[') { format!("[{}]", url.host) } else { url.host.to_owned() };
        let address = address.unwrap_or_else(|| format!("{host}:{port}"));
        let tls = TlsConnector::from(Arc::new(tls(ca_bundle)?));
        Ok(Self { address, name, host: url.authority.to_owned(), path, tls })
    }

    async fn connect(&self) -> Result<SendRequest<Whole>, String> {
        connect(&self.address, &self.name, &self.tls).await
    }

    fn request(&self, body: Bytes) -> Request<Whole> {
        let request = Request::post(self.path.as_str())
            .header(header::HOST, &self.host)
            .header(header::CONTENT_TYPE, "application/json")
            .header(header::ACCEPT, "application/json, */*")
            .header(header::USER_AGENT, "kube-apiserver-admission");
        request.body(Whole(Some(body))).expect("the path and the host were parsed as parts of a URL")
    }
}

/// Connects to an address, `host:port`, whose certificate must be for a name.
pub(crate) async fn connect(
    address: &str,
    name: &ServerName<'static>,
    tls: &TlsConnector,
) -> Result<SendRequest<Whole>, String> {
    let socket = TcpStream::connect(address);
    let socket = socket.await.map_err(|error| format!("dial tcp {address}: connect: {error}"))?;
    // A request is written at once; waiting for more of it would only delay it.
    socket.set_nodelay(true).map_err(|error| error.to_string())?;
    let stream = tls.connect(name.clone(), socket).await.map_err(|error| format!("tls: {error}"))?;
    let (requests, connection) = http1::handshake(TokioIo::new(stream)).await.map_err(|error| error.to_string())?;
    tasks::spawn(async move {
        if let Err(error) = connection.await {
            tracing::debug!(%error, "the connection to a webhook has ended");
        }
    });
    Ok(requests)
}

/// The authorities of the system in PEM; empty on a system without any.
fn system_authorities() -> Vec<u8> {
    let named = env::var_os("SSL_CERT_FILE").and_then(|path| fs::read(path).ok());
    named.or_else(|| SYSTEM_ROOTS.iter().find_map(|path| fs::read(path).ok())).unwrap_or_default()
}

/// TLS with these authorities, or with those of the system.
fn tls(ca_bundle: &str) -> Result<ClientConfig, String> {
    let bundle = ByteString::from_base64(ca_bundle);
    let bundle = bundle.map_err(|error| format!("unable to load root certificates: {error}"))?;
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()));
    let config = config.with_safe_default_protocol_versions().map_err(|error| error.to_string())?;
    Ok(config.dangerous().with_custom_certificate_verifier(verifier(&bundle.0)?).with_no_client_auth())
}

/// Verifies servers by the authorities in PEM, or by those of the system if the text is empty.
pub(crate) fn verifier(pem: &[u8]) -> Result<Arc<dyn ServerCertVerifier>, String> {
    let pem: Cow<'_, [u8]> = if pem.is_empty() { system_authorities().into() } else { pem.into() };
    let authorities = certificate::authorities(&pem)?;
    Ok(Arc::new(Verifier::new(authorities, Arc::new(ring::default_provider()))?))
}

/// The body of a response.
pub(super) struct Answer {
    pub body: Bytes,
    /// Held while a large one is in memory.
    _large: Option<(OwnedSemaphorePermit, SemaphorePermit<'static>)>,
}

/// The turn of a large response among those of all webhooks.
static LARGE: Semaphore = Semaphore::const_new(1);

/// Reads a response until it ends, or is longer than a limit. Returns true if it has ended.
pub(crate) async fn read(mut body: Pin<&mut Incoming>, all: &mut BytesMut, limit: usize) -> Result<bool, String> {
    while let Some(frame) = std::future::poll_fn(|cx| body.as_mut().poll_frame(cx)).await {
        let frame = frame.map_err(|error| error.to_string())?;
        let Ok(data) = frame.into_data() else { continue };
        all.extend_from_slice(&data);
        if all.len() > limit {
            return Ok(false);
        }
    }
    Ok(true)
}

/// A body in one piece.
pub(crate) struct Whole(pub Option<Bytes>);

impl Body for Whole {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        Poll::Ready(self.0.take().map(|bytes| Ok(Frame::data(bytes))))
    }

    fn is_end_stream(&self) -> bool {
        self.0.is_none()
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.0.as_ref().map_or(0, Bytes::len) as u64)
    }
}
