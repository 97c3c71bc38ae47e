//! TLS to another server: whom to trust, and which certificate to show.
use std::sync::Arc;

use tokio_rustls::rustls::{
    ClientConfig, DigitallySignedStruct, Error, SignatureScheme,
    client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier},
    crypto::{self, WebPkiSupportedAlgorithms, ring},
    pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime, pem::PemObject},
};

use super::kubeconfig::{Content, Endpoint};
use crate::webhook::{Verifier, authorities, system_authorities};

/// The configuration for a server. Reads the files that the kubeconfig names.
pub(super) fn config(endpoint: &Endpoint) -> Result<ClientConfig, String> {
    let provider = Arc::new(ring::default_provider());
    let verifier: Arc<dyn ServerCertVerifier> = if endpoint.insecure {
        Arc::new(AnyCertificate { algorithms: provider.signature_verification_algorithms })
    } else {
        let pem = endpoint.authorities.as_ref().map_or_else(|| Ok(system_authorities()), Content::read)?;
        Arc::new(Verifier::new(authorities(&pem)?, provider.clone())?)
    };
    let config = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    let config = config.map_err(|error| error.to_string())?.dangerous().with_custom_certificate_verifier(verifier);
    let Some((certificate, key)) = &endpoint.identity else { return Ok(config.with_no_client_auth()) };
    let chain: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&certificate.read()?).collect();
    let chain = chain.map_err(|error| format!("client-certificate: {error}"))?;
    let key = PrivateKeyDer::from_pem_slice(&key.read()?).map_err(|error| format!("client-key: {error}"))?;
    config.with_client_auth_cert(chain, key).map_err(|error| format!("client-certificate: {error}"))
}

/// Accepts any certificate, as `insecure-skip-tls-verify` says.
#[derive(Debug)]
struct AnyCertificate {
    algorithms: WebPkiSupportedAlgorithms,
}

impl ServerCertVerifier for AnyCertificate {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        crypto::verify_tls12_signature(message, certificate, signature, &self.algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        crypto::verify_tls13_signature(message, certificate, signature, &self.algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.algorithms.supported_schemes()
    }
}
