//! Requests to a running server over HTTPS, one connection each.

use std::{future::poll_fn, pin::Pin, sync::Arc, time::Duration};

use axum_core::body::Body;
use base64::{Engine, engine::general_purpose::STANDARD};
use bytes::BytesMut;
use http_body::Body as _;
use hyper::{Request, client::conn::http1, header};
use hyper_util::rt::TokioIo;
use serde_json::Value;
use tokio::{net::TcpStream, time::timeout};
use tokio_rustls::{
    TlsConnector,
    rustls::{
        ClientConfig, RootCertStore,
        crypto::ring,
        pki_types::{CertificateDer, PrivateKeyDer, ServerName, pem::PemObject},
    },
};

use super::{Result, kubeconfig::Kubeconfig};
use crate::{meta::url::Url, tasks, webhook::system_authorities};

/// How long a request may take.
const WITHIN: Duration = Duration::from_secs(30);
/// The maximum size of an answer in bytes.
const LARGEST: usize = 16 << 20;

/// A running server, and who sends requests.
pub(super) struct Remote {
    url: String,
    /// The host and port to connect to.
    address: String,
    /// The name in its certificate.
    name: ServerName<'static>,
    /// The value of the header `Host`.
    host: String,
    /// The path before those of the API.
    base: String,
    roots: Arc<RootCertStore>,
    tls: TlsConnector,
    token: Option<String>,
}

impl Remote {
    pub(super) fn new(config: &Kubeconfig) -> Result<Self> {
        let text = &config.server.url;
        let failed = |why: String| format!("the server {text:?} of the kubeconfig cannot be used: {why}");
        let url = Url::parse(text).map_err(failed)?;
        if url.scheme != "https" {
            return Err(failed(
                "only https:// is supported, because tokens could be read on the way otherwise".to_owned(),
            )
            .into());
        }
        let name = ServerName::try_from(url.host.to_owned()).map_err(|error| failed(error.to_string()))?;
        let port = url.port_or(443).ok_or_else(|| failed("its port is invalid".to_owned()))?;
        let host = if url.authority.starts_with('[') { format!("[{}]", url.host) } else { url.host.to_owned() };
        let roots = Arc::new(roots(config.server.authority_pem.as_deref()).map_err(failed)?);
        let (tls, token) = credentials(&roots, &config.user)?;
        Ok(Self {
            address: format!("{host}:{port}"),
            host: url.authority.to_owned(),
            base: url.path.trim_end_matches('/').to_owned(),
            url: text.clone(),
            name,
            roots,
            tls,
            token,
        })
    }

    /// The same server with other credentials: the fields of a user in a kubeconfig.
    pub(super) fn with_credentials(&self, user: &Value) -> Result<Self> {
        let (tls, token) = credentials(&self.roots, user)?;
        let Self { url, address, name, host, base, roots, .. } = self;
        let (url, address, host, base) = (url.clone(), address.clone(), host.clone(), base.clone());
        Ok(Self { url, address, name: name.clone(), host, base, roots: roots.clone(), tls, token })
    }

    /// Sends a request with a JSON body, or without one for null. Returns the status and the body.
    pub(super) async fn call(&self, method: &str, path: &str, body: &Value) -> Result<(u16, Value)> {
        let failed = |why: String| format!("the server at {} cannot be reached: {why}; is it running?", self.url);
        let answered = timeout(WITHIN, self.send(method, path, body)).await;
        Ok(answered.unwrap_or_else(|_| Err(format!("no answer within {} s", WITHIN.as_secs()))).map_err(failed)?)
    }

    async fn send(&self, method: &str, path: &str, body: &Value) -> Result<(u16, Value), String> {
        let text = |error: &dyn std::error::Error| error.to_string();
        let socket = TcpStream::connect(&*self.address).await.map_err(|error| text(&error))?;
        let stream = self.tls.connect(self.name.clone(), socket).await.map_err(|error| text(&error))?;
        let (mut requests, connection) = http1::handshake(TokioIo::new(stream)).await.map_err(|error| text(&error))?;
        let connection = tasks::spawn(async move { drop(connection.await) });
        let mut request = Request::builder()
            .method(method)
            .uri(format!("{}{path}", self.base))
            .header(header::HOST, &self.host)
            .header(header::ACCEPT, "application/json")
            .header(header::CONTENT_TYPE, "application/json");
        if let Some(token) = &self.token {
            request = request.header(header::AUTHORIZATION, format!("Bearer {token}"));
        }
        let body = if body.is_null() { Body::empty() } else { Body::from(body.to_string()) };
        let request = request.body(body).map_err(|error| text(&error))?;
        let answer = requests.send_request(request).await.map_err(|error| text(&error))?;
        let (code, mut body, mut all) = (answer.status().as_u16(), answer.into_body(), BytesMut::new());
        while let Some(frame) = poll_fn(|cx| Pin::new(&mut body).poll_frame(cx)).await {
            if let Ok(data) = frame.map_err(|error| text(&error))?.into_data() {
                all.extend_from_slice(&data);
            }
            if all.len() > LARGEST {
                return Err(format!("its answer is longer than {LARGEST} bytes"));
            }
        }
        connection.abort();
        Ok((code, serde_json::from_slice(&all).unwrap_or_else(|_| String::from_utf8_lossy(&all).into())))
    }
}

/// The authorities to trust: these, or those of the system.
fn roots(pem: Option<&str>) -> Result<RootCertStore, String> {
    let pem = pem.map_or_else(system_authorities, |pem| pem.as_bytes().to_vec());
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(CertificateDer::pem_slice_iter(&pem).flatten());
    if roots.is_empty() { Err("there is no certificate authority to trust".to_owned()) } else { Ok(roots) }
}

/// TLS with the client certificate, if there is one, and the token.
fn credentials(roots: &Arc<RootCertStore>, user: &Value) -> Result<(TlsConnector, Option<String>)> {
    let failed = |why: &dyn std::fmt::Display| format!("the client certificate or its key cannot be used: {why}");
    let pem = |field: &str| -> Result<Option<Vec<u8>>> {
        let text = user[field].as_str();
        Ok(text.map(|text| STANDARD.decode(text)).transpose().map_err(|error| failed(&error))?)
    };
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|error| failed(&error))?
        .with_root_certificates(roots.clone());
    let config = match (pem("client-certificate-data")?, pem("client-key-data")?) {
        (Some(certificate), Some(key)) => {
            let chain: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&certificate).collect();
            let key = PrivateKeyDer::from_pem_slice(&key).map_err(|error| failed(&error))?;
            let chain = chain.map_err(|error| failed(&error))?;
            config.with_client_auth_cert(chain, key).map_err(|error| failed(&error))?
        }
        _ => config.with_no_client_auth(),
    };
    Ok((TlsConnector::from(Arc::new(config)), user["token"].as_str().map(str::to_owned)))
}
