//! A member's address, and TLS to it.

use std::sync::Arc;

use tokio_rustls::{
    TlsConnector,
    rustls::{
        ClientConfig, RootCertStore,
        crypto::ring,
        pki_types::{CertificateDer, PrivateKeyDer, ServerName, pem::PemObject},
    },
};

use super::{error::EtcdError, options::EtcdOptions};

/// A member.
pub(super) struct Endpoint {
    /// The URL as it was given.
    pub url: String,
    /// The host and port to connect to, which is also the authority of requests.
    pub address: String,
    /// TLS and the name in the member's certificate.
    pub tls: Option<(TlsConnector, ServerName<'static>)>,
}

impl Endpoint {
    /// The endpoints of options.
    pub(super) fn all(options: &EtcdOptions) -> Result<Vec<Self>, EtcdError> {
        if options.endpoints.is_empty() {
            return Err(EtcdError::Options(
                "there are no endpoints; expected URLs such as http://127.0.0.1:2379".to_owned(),
            ));
        }
        let is_tls = options.endpoints.iter().any(|url| url.starts_with("https://"));
        let tls = is_tls.then(|| connector(options)).transpose()?;
        options.endpoints.iter().map(|url| Self::new(url, tls.as_ref())).collect()
    }

    fn new(url: &str, tls: Option<&TlsConnector>) -> Result<Self, EtcdError> {
        let invalid = |why: String| {
            EtcdError::Options(format!("the endpoint {url:?} {why}; expected a URL such as https://10.0.0.1:2379"))
        };
        if url.contains('@') {
            let message = "an endpoint has a user or a password before its host; set them with `user`";
            return Err(EtcdError::Options(message.to_owned()));
        }
        let uri: hyper::Uri =
            url.trim_end_matches('/').parse().map_err(|error| invalid(format!("is invalid ({error})")))?;
        let host = uri.host().ok_or_else(|| invalid("has no host".to_owned()))?;
        if uri.path() != "/" || uri.query().is_some() {
            return Err(invalid("has a path".to_owned()));
        }
        let tls = match uri.scheme_str() {
            Some("http") => None,
            Some("https") => {
                let name = ServerName::try_from(host.trim_matches(['[', ']']).to_owned());
                let name = name.map_err(|error| invalid(format!("has an invalid host ({error})")))?;
                tls.map(|tls| (tls.clone(), name))
            }
            _ => return Err(invalid("has neither the scheme http nor https".to_owned())),
        };
        let address = format!("{host}:{}", uri.port_u16().unwrap_or(2379));
        Ok(Self { url: url.to_owned(), address, tls })
    }
}

/// TLS with the options' certificates.
fn connector(options: &EtcdOptions) -> Result<TlsConnector, EtcdError> {
    let invalid = |name: &str, why: String| EtcdError::Options(format!("`{name}` is no valid PEM: {why}"));
    let Some(ca) = &options.ca else {
        return Err(EtcdError::Options("an endpoint has the scheme https, and `ca` is not set".to_owned()));
    };
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_slice_iter(ca) {
        let certificate = certificate.map_err(|error| invalid("ca", error.to_string()))?;
        roots.add(certificate).map_err(|error| invalid("ca", error.to_string()))?;
    }
    if roots.is_empty() {
        return Err(invalid("ca", "it has no certificate".to_owned()));
    }
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|error| EtcdError::Failed(error.to_string()))?
        .with_root_certificates(roots);
    let mut config = match &options.client_certificate {
        None => config.with_no_client_auth(),
        Some((certificate, key)) => {
            let name = "client_certificate";
            let chain: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(certificate).collect();
            let chain = chain.map_err(|error| invalid(name, error.to_string()))?;
            let key = PrivateKeyDer::from_pem_slice(key).map_err(|error| invalid(name, format!("its key: {error}")))?;
            config.with_client_auth_cert(chain, key).map_err(|error| invalid(name, error.to_string()))?
        }
    };
    config.alpn_protocols = vec![b"h2".to_vec()];
    Ok(TlsConnector::from(Arc::new(config)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_wrong_with_an_endpoint_is_named() {
        let error = |urls: &[&str]| {
            Endpoint::all(&EtcdOptions::new(urls.iter().copied())).map(drop).expect_err("an error").to_string()
        };
        assert!(error(&[]).contains("no endpoints"));
        assert!(error(&["10.0.0.1:2379"]).contains("\"10.0.0.1:2379\""));
        assert!(error(&["http://a:2379/v3"]).contains("has a path"));
        let secret = error(&["http://root:secret@a:2379"]);
        assert!(secret.contains("`user`") && !secret.contains("secret"), "{secret}");
        assert!(error(&["ftp://a"]).contains("neither the scheme"));
        assert!(error(&["https://a:2379"]).contains("`ca` is not set"));
        let one = Endpoint::new("http://[::1]:2379/", None).expect("a valid endpoint");
        assert_eq!(one.address, "[::1]:2379");
    }
}
