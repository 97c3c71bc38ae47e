//! Where requests go: the address, the credentials, and how to connect.
use std::{
    fs,
    path::Path,
    sync::{Arc, OnceLock},
};

use clap::ValueEnum;
use hyper::{Uri, header::HeaderValue};
use tokio_rustls::{
    TlsConnector,
    rustls::{
        ClientConfig, RootCertStore,
        crypto::ring,
        pki_types::{CertificateDer, PrivateKeyDer, ServerName, pem::PemObject},
    },
};

use crate::Outcome;

/// Files with the certificates that the system trusts, by distribution.
const SYSTEM_ROOTS: [&str; 3] =
    ["/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/cert.pem"];

/// The version of HTTP.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Http {
    /// HTTP/1.1: one request at a time on a connection.
    #[value(name = "1")]
    One,
    /// HTTP/2, without TLS by prior knowledge.
    #[value(name = "2")]
    Two,
}

/// The address of a server, and the credentials of a user.
#[derive(Clone, Debug, Default)]
pub(crate) struct Access {
    /// Such as `https://127.0.0.1:8080`.
    pub(crate) url: String,
    /// Certificates of the authorities to trust in PEM; without them, those of the system.
    pub(crate) authorities: Option<Vec<u8>>,
    /// A bearer token.
    pub(crate) token: Option<String>,
    /// A client certificate and its key, in PEM.
    pub(crate) identity: Option<(Vec<u8>, Vec<u8>)>,
}

/// A server that can be connected to.
pub(crate) struct Target {
    /// Scheme, authority and the path below which the API is; without a slash at the end.
    pub(crate) url: String,
    /// The path below which the API is.
    pub(crate) prefix: String,
    /// Host and port as in the URL.
    pub(crate) authority: String,
    /// Host and port to connect to.
    pub(crate) address: String,
    pub(crate) tls: Option<Tls>,
    pub(crate) authorization: Option<HeaderValue>,
    /// The authorization of a user who may do only what roles say; set by scenarios that need it.
    pub(crate) reader: OnceLock<HeaderValue>,
    pub(crate) http: Http,
}

/// How to connect with TLS.
pub(crate) struct Tls {
    pub(crate) connector: TlsConnector,
    /// The name that the server's certificate must have.
    pub(crate) name: ServerName<'static>,
}

impl Target {
    /// Checks the URL and reads the certificates.
    pub(crate) fn new(access: &Access, http: Http) -> Outcome<Arc<Self>> {
        let invalid = |reason: &str| format!("{:?} is not the URL of a server: {reason}", access.url);
        let uri: Uri = access.url.parse().map_err(|e| invalid(&format!("{e}")))?;
        let secure = match uri.scheme_str() {
            Some("https") => true,
            Some("http") => false,
            _ => return Err(invalid("it begins with http:// or https://").into()),
        };
        let authority = uri.authority().ok_or_else(|| invalid("it has no host"))?;
        let port = authority.port_u16().unwrap_or(if secure { 443 } else { 80 });
        let prefix = uri.path().trim_end_matches('/').to_owned();
        let authorization = match &access.token {
            Some(token) => {
                let value = HeaderValue::from_str(&format!("Bearer {token}"));
                Some(value.map_err(|_| "the token has characters that a header cannot have")?)
            }
            None => None,
        };
        let tls = secure.then(|| Tls::new(access, authority.host(), http)).transpose();
        Ok(Arc::new(Self {
            url: format!("{}://{authority}{prefix}", if secure { "https" } else { "http" }),
            prefix,
            authority: authority.to_string(),
            address: format!("{}:{port}", authority.host()),
            tls: tls.map_err(|e| format!("{}: {e}", access.url))?,
            authorization,
            reader: OnceLock::new(),
            http,
        }))
    }
}

impl Tls {
    fn new(access: &Access, host: &str, http: Http) -> Outcome<Self> {
        let pem = match &access.authorities {
            Some(pem) => pem.clone(),
            None => SYSTEM_ROOTS.iter().find_map(|path| fs::read(path).ok()).unwrap_or_default(),
        };
        let mut roots = RootCertStore::empty();
        for certificate in CertificateDer::pem_slice_iter(&pem) {
            roots.add(certificate.map_err(|e| format!("the certificate authority cannot be read: {e}"))?)?;
        }
        if roots.is_empty() {
            return Err("there is no certificate authority to trust; give its PEM file with --ca".into());
        }
        let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()?
            .with_root_certificates(roots);
        let mut config = match &access.identity {
            Some((certificate, key)) => {
                let chain: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(certificate).collect();
                let chain = chain.map_err(|e| format!("the client certificate cannot be read: {e}"))?;
                let key = PrivateKeyDer::from_pem_slice(key);
                config.with_client_auth_cert(chain, key.map_err(|e| format!("the client key cannot be read: {e}"))?)?
            }
            None => config.with_no_client_auth(),
        };
        let protocol = if http == Http::Two { "h2" } else { "http/1.1" };
        config.alpn_protocols = vec![protocol.into()];
        let name = ServerName::try_from(host.trim_matches(['[', ']']).to_owned())?;
        Ok(Self { connector: TlsConnector::from(Arc::new(config)), name })
    }
}

/// Reads a file; the error names it.
pub(crate) fn read(path: &Path) -> Outcome<Vec<u8>> {
    fs::read(path).map_err(|e| format!("{}: {e}", path.display()).into())
}

/// The token that an argument is, or that the file of this name has.
pub(crate) fn token(argument: &str) -> Outcome<String> {
    match fs::read_to_string(argument) {
        Ok(text) => Ok(text.trim().to_owned()),
        Err(_) if argument.contains('/') => Err(format!("{argument}: there is no such token file").into()),
        Err(_) => Ok(argument.to_owned()),
    }
}
