//! JSON over HTTP/1.1 and TLS to the server of a kubeconfig. Connections are used again, and their number is limited, as are the time of
//! a call and the size of an answer. What failed for a while is tried again, as client-go's webhooks do.
use std::{
    pin::pin,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use arc_swap::ArcSwap;
use bytes::{Bytes, BytesMut};
use hyper::{
    Method, Request, Response, StatusCode,
    body::Incoming,
    client::conn::http1::SendRequest,
    header::{self, HeaderValue},
};
use tokio::{
    sync::Semaphore,
    time::{sleep, timeout},
};
use tokio_rustls::{TlsConnector, rustls::pki_types::ServerName};

use super::{
    kubeconfig::{Content, Endpoint},
    tls,
};
use crate::{
    codec,
    meta::{go, url::Url},
    schema::Document,
    tasks,
    webhook::{Pool, Whole, connect, read},
};

/// The maximum number of calls to one server at a time.
const MOST_CALLS: usize = 64;
/// The maximum size of an answer in bytes.
const MAX_ANSWER: usize = 4 << 20;
/// The size of a refusal's text that errors show.
const SHOWN: usize = 1_024;
/// How often files of tokens and certificates are read again, as client-go does for tokens.
const READ_AGAIN: Duration = Duration::from_mins(1);
/// The maximum number of attempts.
const ATTEMPTS: u32 = 5;
/// The pause before the second attempt. Each further one is half as long again.
const FIRST_PAUSE: Duration = Duration::from_millis(500);
/// The longest pause, whatever the server asks for.
const LONGEST_PAUSE: Duration = Duration::from_secs(10);

/// How long a call may take.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Deadlines {
    /// The time for one attempt.
    pub attempt: Duration,
    /// The time for all attempts together.
    pub whole: Duration,
}

/// Why a call failed.
#[derive(Clone, Debug)]
pub(crate) struct CallError {
    /// True if another attempt may succeed.
    is_transient: bool,
    retry_after: Option<Duration>,
    message: String,
}

impl std::fmt::Display for CallError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)
    }
}

impl From<String> for CallError {
    fn from(message: String) -> Self {
        Self { is_transient: false, retry_after: None, message }
    }
}

/// A client of one server.
pub(crate) struct Client {
    endpoint: Endpoint,
    /// `host:port`.
    address: String,
    name: ServerName<'static>,
    host: String,
    /// The path of the URL, without a slash at the end.
    base: String,
    session: ArcSwap<Session>,
    /// When the files were read.
    last_read: Mutex<Instant>,
    pool: Arc<Pool>,
    calls: Semaphore,
}

/// What was read from files.
struct Session {
    tls: TlsConnector,
    /// The value of the header, which is marked as secret.
    authorization: Option<HeaderValue>,
}

impl Session {
    fn open(endpoint: &Endpoint) -> Result<Self, String> {
        let authorization = endpoint.token.as_ref().map(|token| {
            let text = token.read()?;
            let text = std::str::from_utf8(&text).map(str::trim).unwrap_or_default();
            let value = HeaderValue::try_from(format!("Bearer {text}")).ok().filter(|_| !text.is_empty());
            let mut value = value.ok_or_else(|| format!("the token ({token:?}) is empty or no text"))?;
            value.set_sensitive(true);
            Ok::<_, String>(value)
        });
        let tls = TlsConnector::from(Arc::new(tls::config(endpoint)?));
        Ok(Self { tls, authorization: authorization.transpose()? })
    }
}

impl Client {
    /// A client of a server. Reads the files that its kubeconfig names, but does not connect.
    ///
    /// # Errors
    /// The field or the file that cannot be used, and why.
    pub(crate) fn new(endpoint: Endpoint) -> Result<Self, String> {
        let url = Url::parse(&endpoint.url)?;
        let port = url.port_or(443).ok_or("the port is not between 1 and 65535")?;
        let name = endpoint.server_name.clone().unwrap_or_else(|| url.host.to_owned());
        let name = ServerName::try_from(name).map_err(|error| format!("tls-server-name: {error}"))?;
        let host = if url.authority.starts_with('[') { format!("[{}]", url.host) } else { url.host.to_owned() };
        Ok(Self {
            address: format!("{host}:{port}"),
            name,
            host: url.authority.to_owned(),
            base: url.request_path().trim_end_matches('/').to_owned(),
            session: ArcSwap::from_pointee(Session::open(&endpoint)?),
            last_read: Mutex::new(Instant::now()),
            pool: Arc::default(),
            calls: Semaphore::new(MOST_CALLS),
            endpoint,
        })
    }

    /// The same server with the credentials of another user's entry in a kubeconfig.
    ///
    /// # Errors
    /// The field that cannot be used, and why.
    pub(crate) fn with_user(&self, user: &Document) -> Result<Self, String> {
        Self::new(self.endpoint.with_user(user)?)
    }

    /// Sends one request on a connection of its own, and returns the status and the text of the answer, whatever the status is.
    ///
    /// # Errors
    /// If there is no answer in time, or it is longer than this number of bytes.
    pub(crate) async fn exchange(
        &self,
        method: &Method,
        path: &str,
        body: Bytes,
        (within, most): (Duration, usize),
    ) -> Result<(u16, Bytes), String> {
        let exchanging = async {
            let session = self.session().await;
            let mut connection = connect(&self.address, &self.name, &session.tls).await?;
            let request = self.request(method, path, &body, &session).map_err(|error| error.message)?;
            let response = connection.send_request(request).await.map_err(|error| error.to_string())?;
            let (code, mut text) = (response.status().as_u16(), BytesMut::new());
            if !read(pin!(response.into_body()), &mut text, most).await? {
                return Err(format!("the answer is longer than {most} bytes"));
            }
            Ok((code, text.freeze()))
        };
        timeout(within, exchanging).await.unwrap_or_else(|_| Err("context deadline exceeded".to_owned()))
    }

    /// The server's URL.
    pub(crate) fn url(&self) -> &str {
        &self.endpoint.url
    }

    /// Posts a document to a path below the URL; to the URL itself if the path is empty.
    ///
    /// # Errors
    /// [`CallError`] for an answer other than 2xx or without JSON, and without an answer in time.
    pub(crate) async fn post(
        &self,
        path: &str,
        document: &Document,
        deadlines: Deadlines,
    ) -> Result<Document, CallError> {
        self.retry(Method::POST, path, Bytes::from(document.to_string()), deadlines).await
    }

    /// Gets a document at a path below the URL.
    ///
    /// # Errors
    /// Like [`Client::post`].
    pub(crate) async fn get(&self, path: &str, deadlines: Deadlines) -> Result<Document, CallError> {
        self.retry(Method::GET, path, Bytes::new(), deadlines).await
    }

    async fn retry(
        &self,
        method: Method,
        path: &str,
        body: Bytes,
        deadlines: Deadlines,
    ) -> Result<Document, CallError> {
        let late = || CallError::from(format!("{method} {}{path}: context deadline exceeded", self.url()));
        let mut last = None;
        let attempts = async {
            let mut pause = FIRST_PAUSE;
            for left in (0..ATTEMPTS).rev() {
                let sending = self.send(&method, path, &body);
                let error = match timeout(deadlines.attempt, sending).await {
                    Ok(Ok(answer)) => return Ok(answer),
                    Ok(Err(error)) => CallError {
                        message: format!("{method} {}{path}: {}", self.url(), go::shortened(&error.message)),
                        ..error
                    },
                    Err(_) => late(),
                };
                if left == 0 || !error.is_transient {
                    return Err(error);
                }
                let longer = error.retry_after.unwrap_or_default().clamp(jittered(pause), LONGEST_PAUSE);
                last = Some(error);
                sleep(longer).await;
                pause = pause * 3 / 2;
            }
            unreachable!("the last attempt returns")
        };
        let ended = timeout(deadlines.whole, attempts).await;
        // The error of the last attempt says more than that the time is up.
        ended.unwrap_or_else(|_| Err(last.unwrap_or_else(late)))
    }

    async fn send(&self, method: &Method, path: &str, body: &Bytes) -> Result<Document, CallError> {
        let _slot = self.calls.acquire().await.expect("the semaphore is never closed");
        let session = self.session().await;
        // The server may have closed an idle connection. Then another one is used: neither reviews nor reads have effects.
        while let Some(mut idle) = self.pool.take(0) {
            if idle.ready().await.is_ok()
                && let Ok(response) = idle.send_request(self.request(method, path, body, &session)?).await
            {
                return self.answer(response, idle).await;
            }
        }
        let mut connection = connect(&self.address, &self.name, &session.tls).await?;
        match connection.send_request(self.request(method, path, body, &session)?).await {
            Ok(response) => self.answer(response, connection).await,
            Err(error) => Err(CallError { is_transient: true, ..error.to_string().into() }),
        }
    }

    fn request(
        &self,
        method: &Method,
        path: &str,
        body: &Bytes,
        session: &Session,
    ) -> Result<Request<Whole>, CallError> {
        let whole = format!("{}{path}", self.base);
        let uri = if whole.is_empty() { "/" } else { &whole };
        let mut request = Request::builder()
            .method(method)
            .uri(uri)
            .header(header::HOST, &self.host)
            .header(header::ACCEPT, "application/json")
            .header(header::USER_AGENT, concat!("kindsmith/", env!("CARGO_PKG_VERSION")));
        if let Some(value) = &session.authorization {
            request = request.header(header::AUTHORIZATION, value);
        }
        let body = if body.is_empty() {
            Whole(None)
        } else {
            request = request.header(header::CONTENT_TYPE, "application/json");
            Whole(Some(body.clone()))
        };
        request.body(body).map_err(|error| error.to_string().into())
    }

    async fn answer(
        &self,
        response: Response<Incoming>,
        connection: SendRequest<Whole>,
    ) -> Result<Document, CallError> {
        let (parts, body) = response.into_parts();
        let (body, mut all) = (pin!(body), BytesMut::new());
        let broken = |message: String| CallError { is_transient: true, ..message.into() };
        if !read(body, &mut all, MAX_ANSWER).await.map_err(broken)? {
            return Err(format!("the answer is longer than {MAX_ANSWER} bytes").into());
        }
        self.pool.put(0, connection);
        if !parts.status.is_success() {
            let seconds = parts.headers.get(header::RETRY_AFTER).and_then(|value| value.to_str().ok()?.parse().ok());
            return Err(refused(parts.status, &all, seconds.map(Duration::from_secs)));
        }
        let limits = codec::Limits { depth: 100, memory: 4 * MAX_ANSWER };
        let decoded = codec::decode(&all, &limits);
        Ok(decoded.map_err(|error| format!("the answer cannot be decoded: {error}"))?.document)
    }

    /// What was read from files, which are read again every minute. If that fails, what was read before stays valid.
    async fn session(&self) -> Arc<Session> {
        let endpoint = &self.endpoint;
        let contents = [&endpoint.authorities, &endpoint.token].into_iter().flatten();
        let identity = endpoint.identity.iter().flat_map(|(certificate, key)| [certificate, key]);
        if contents.chain(identity).any(Content::is_file) && self.is_due() {
            let endpoint = endpoint.clone();
            match tasks::blocking(move || Session::open(&endpoint)).await {
                Ok(Ok(session)) => {
                    self.session.store(Arc::new(session));
                    // Connections of the certificate that was read before.
                    while self.pool.take(0).is_some() {}
                }
                Ok(Err(error)) => {
                    tracing::error!(error, server = self.url(), "credentials for another server cannot be read again");
                }
                // The runtime is stopping.
                Err(_) => {}
            }
        }
        self.session.load_full()
    }

    /// True once a minute, for one of the callers.
    fn is_due(&self) -> bool {
        let mut last_read = self.last_read.lock().unwrap_or_else(PoisonError::into_inner);
        let is_due = last_read.elapsed() >= READ_AGAIN;
        if is_due {
            *last_read = Instant::now();
        }
        is_due
    }
}

/// A pause that is up to a fifth longer, so that clients do not try again all at once.
fn jittered(pause: Duration) -> Duration {
    let mut byte = [0];
    // Without randomness, pauses are equally long.
    let _ = getrandom::fill(&mut byte);
    pause + pause * u32::from(byte[0]) / (5 * 255)
}

/// The error of an answer other than 2xx. Those that client-go's webhooks try again are transient.
fn refused(code: StatusCode, body: &[u8], retry_after: Option<Duration>) -> CallError {
    let status = codec::decode(body, &codec::Limits::OPTIONS).ok().map(|decoded| decoded.document);
    let status = status.filter(|status| status["kind"] == "Status");
    let text = String::from_utf8_lossy(&body[..body.len().min(SHOWN)]);
    let message = status.as_ref().and_then(|status| status["message"].as_str()).unwrap_or_else(|| text.trim());
    let shown = go::shortened(message);
    let message =
        if shown.is_empty() { format!("the answer is {code}") } else { format!("the answer is {code}: {shown}") };
    let is_transient = matches!(code.as_u16(), 429 | 500 | 504) || retry_after.is_some();
    CallError { is_transient, retry_after, message }
}
