//! TLS to another server: whom to trust, and which certificate to show.
use std::sync::Arc;

use tokio_rustls::rustls::{
    ClientConfig,
    crypto::ring,
    pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject},
};

use super::kubeconfig::{Content, Endpoint};
use crate::webhook;

/// The configuration for a server. Reads the files that the kubeconfig names.
pub(super) fn config(endpoint: &Endpoint) -> Result<ClientConfig, String> {
    let pem = endpoint.authorities.as_ref().map(Content::read).transpose()?;
    // No text would stand for the authorities of the system.
    if pem.as_ref().is_some_and(Vec::is_empty) {
        return Err("certificate-authority: it is empty".to_owned());
    }
    let verifier = if endpoint.insecure { webhook::any_server() } else { webhook::verifier(&pem.unwrap_or_default())? };
    let provider = Arc::new(ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    let config = config.map_err(|error| error.to_string())?.dangerous().with_custom_certificate_verifier(verifier);
    let Some((certificate, key)) = &endpoint.identity else { return Ok(config.with_no_client_auth()) };
    let chain: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&certificate.read()?).collect();
    let chain = chain.map_err(|error| format!("client-certificate: {error}"))?;
    let key = PrivateKeyDer::from_pem_slice(&key.read()?).map_err(|error| format!("client-key: {error}"))?;
    config.with_client_auth_cert(chain, key).map_err(|error| format!("client-certificate: {error}"))
}
