//! Fetches one small document with `GET` over HTTPS, such as the keys of an issuer. Connections are not kept, and redirects not followed.
use std::{sync::Arc, time::Duration};

use base64::{Engine, engine::general_purpose::STANDARD};
use hyper::{Request, StatusCode, client::conn::http1, header};
use hyper_util::rt::TokioIo;
use tokio::{net::TcpStream, time::timeout};
use tokio_rustls::{TlsConnector, rustls::pki_types::ServerName};

use super::connection::{read, tls};
use crate::{
    auth::oidc::Fetch,
    meta::url::Url,
    tasks::{self, BoxFuture},
};

/// How long a request may take, as in kube-apiserver.
const TIMEOUT: Duration = Duration::from_secs(30);
/// The maximum size of a document.
const MOST_BYTES: usize = 1 << 20;

/// Fetches documents from servers that certain authorities vouch for.
pub(crate) struct Getter {
    /// The reason why there is none is that the system has no authorities.
    tls: Result<TlsConnector, String>,
}

impl Getter {
    /// Trusts the authorities in PEM, or those of the system for an empty text.
    ///
    /// # Errors
    /// The text has no certificates.
    pub(crate) fn new(authorities: &str) -> Result<Self, String> {
        let tls = tls(&STANDARD.encode(authorities)).map(|config| TlsConnector::from(Arc::new(config)));
        if authorities.is_empty() || tls.is_ok() { Ok(Self { tls }) } else { Err(tls.err().unwrap_or_default()) }
    }
}

impl Fetch for Getter {
    fn get(&self, url: &str) -> BoxFuture<Result<Vec<u8>, String>> {
        let (tls, url) = (self.tls.clone(), url.to_owned());
        tasks::boxed(async move {
            let fetching = async { get(&tls?, &url).await };
            timeout(TIMEOUT, fetching).await.unwrap_or_else(|_| Err("context deadline exceeded".to_owned()))
        })
    }
}

async fn get(tls: &TlsConnector, url: &str) -> Result<Vec<u8>, String> {
    let url = Url::parse(url)?;
    if url.scheme != "https" {
        return Err("unsupported protocol scheme".to_owned());
    }
    let name = ServerName::try_from(url.host.to_owned()).map_err(|error| format!("invalid host: {error}"))?;
    let port = url.port_or(443).ok_or_else(|| format!("dial tcp: address {}: invalid port", url.port))?;
    let query = if url.query.is_empty() { String::new() } else { format!("?{}", url.query) };
    let request = Request::get(format!("{}{query}", url.request_path()))
        .header(header::HOST, url.authority)
        .header(header::ACCEPT, "application/json")
        .header(header::USER_AGENT, "kindsmith")
        .body(String::new())
        .map_err(|error| error.to_string())?;
    let socket = TcpStream::connect((url.host, port)).await;
    let socket = socket.map_err(|error| format!("dial tcp {}:{port}: connect: {error}", url.host))?;
    let stream = tls.connect(name, socket).await.map_err(|error| format!("tls: {error}"))?;
    let (mut requests, connection) = http1::handshake(TokioIo::new(stream)).await.map_err(|error| error.to_string())?;
    // Ends with the sender of requests.
    drop(tasks::spawn(connection));
    let response = requests.send_request(request).await.map_err(|error| error.to_string())?;
    if response.status() != StatusCode::OK {
        return Err(format!("the server responded with the status code {}", response.status().as_u16()));
    }
    let mut body = bytes::BytesMut::new();
    if read(std::pin::pin!(response.into_body()), &mut body, MOST_BYTES).await? {
        Ok(body.to_vec())
    } else {
        Err(format!("the response is longer than {MOST_BYTES} bytes"))
    }
}
