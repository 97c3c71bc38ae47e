//! TLS to servers behind: the certificate with which this server identifies itself, and how theirs is verified.
use std::{fmt, sync::Arc};

use tokio_rustls::rustls::{
    ClientConfig, DigitallySignedStruct, Error, SignatureScheme,
    client::{
        ResolvesClientCert,
        danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier},
    },
    crypto::{self, WebPkiSupportedAlgorithms, ring},
    pki_types::{CertificateDer, ServerName, UnixTime},
    sign::CertifiedKey,
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

/// Accepts any certificate, because the object says so. Signatures of the handshake are verified.
#[derive(Debug)]
struct AnyServer(WebPkiSupportedAlgorithms);

impl ServerCertVerifier for AnyServer {
    fn verify_server_cert(
        &self,
        _certificate: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _name: &ServerName<'_>,
        _ocsp: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        crypto::verify_tls12_signature(message, certificate, signature, &self.0)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        crypto::verify_tls13_signature(message, certificate, signature, &self.0)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.supported_schemes()
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
    let provider = Arc::new(ring::default_provider());
    let verifier: Arc<dyn ServerCertVerifier> = if insecure {
        Arc::new(AnyServer(provider.signature_verification_algorithms))
    } else {
        webhook::verifier(ca_bundle)?
    };
    let config = ClientConfig::builder_with_provider(provider);
    let config = config.with_safe_default_protocol_versions().map_err(|error| error.to_string())?;
    let config = config.dangerous().with_custom_certificate_verifier(verifier);
    let mut config = config.with_client_cert_resolver(Arc::new(Resolver(identity)));
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(config)
}
