//! TLS to servers behind: the certificate with which this server identifies itself, and how theirs is verified.
use std::{fmt, sync::Arc};

use tokio_rustls::rustls::{
    ClientConfig, SignatureScheme, client::ResolvesClientCert, crypto::ring, sign::CertifiedKey,
};

use crate::webhook;

/// The certificate that identifies this server to servers behind.
pub(crate) trait ProxyIdentity: Send + Sync + 'static {
    /// The certificate and its key as of now.
    fn certificate(&self) -> Arc<CertifiedKey>;
}

/// Hands out the certificate.
struct Resolver(Arc<dyn ProxyIdentity>);

impl fmt::Debug for Resolver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the certificate of the front proxy")
    }
}

impl ResolvesClientCert for Resolver {
    fn resolve(&self, _authorities: &[&[u8]], _schemes: &[SignatureScheme]) -> Option<Arc<CertifiedKey>> {
        Some(self.0.certificate())
    }

    fn has_certs(&self) -> bool {
        true
    }
}

/// TLS to a server whose certificate an authority in PEM has signed (one of the system's if there is none), or to any.
///
/// # Errors
/// If the authorities cannot be read, in the words of Go.
pub(super) fn config(
    ca_bundle: &[u8],
    insecure: bool,
    identity: Arc<dyn ProxyIdentity>,
) -> Result<ClientConfig, String> {
    let verifier = if insecure { webhook::any_server() } else { webhook::verifier(ca_bundle)? };
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()));
    let config = config.with_safe_default_protocol_versions().map_err(|error| error.to_string())?;
    let config = config.dangerous().with_custom_certificate_verifier(verifier);
    let mut config = config.with_client_cert_resolver(Arc::new(Resolver(identity)));
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(config)
}
