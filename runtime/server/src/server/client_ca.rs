//! Client certificates: verified in the TLS handshake against authorities from the user's file, which is read again when
//! it changes. A client may do without one.

use std::{path::PathBuf, sync::Arc};

use arc_swap::ArcSwapOption;
use tokio_rustls::rustls::{
    CertificateError, DigitallySignedStruct, DistinguishedName, Error as TlsError, RootCertStore, SignatureScheme,
    client::danger::HandshakeSignatureValid,
    crypto::{self, WebPkiSupportedAlgorithms, ring},
    pki_types::{CertificateDer, UnixTime, pem::PemObject},
    server::{
        WebPkiClientVerifier,
        danger::{ClientCertVerified, ClientCertVerifier},
    },
};

use super::{Error, Result, files::FileWatcher};

/// The authorities last read from the file.
#[derive(Debug)]
pub(super) struct ClientAuthorities {
    current: ArcSwapOption<WebPki>,
    algorithms: WebPkiSupportedAlgorithms,
}

/// The verifier of one state of the file. (An `ArcSwap` cannot hold a trait object itself.)
#[derive(Debug)]
struct WebPki(Arc<dyn ClientCertVerifier>);

impl ClientAuthorities {
    /// The authorities in a PEM file, and the file to watch.
    pub(super) fn open(path: PathBuf) -> Result<(Arc<Self>, FileWatcher)> {
        let algorithms = ring::default_provider().signature_verification_algorithms;
        let authorities = Arc::new(Self { current: ArcSwapOption::empty(), algorithms });
        let (read, paths) = (authorities.clone(), vec![path.clone()]);
        let watcher = FileWatcher::open("authorities of client certificates", paths, move || {
            read.current.store(Some(Arc::new(read_file(&path)?)));
            Ok(())
        })?;
        Ok((authorities, watcher))
    }
}

fn read_file(path: &PathBuf) -> Result<WebPki> {
    let failed = |why: String| Error::ClientAuthority(path.clone(), why);
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_file_iter(path).map_err(|error| failed(error.to_string()))? {
        let certificate = certificate.map_err(|error| failed(error.to_string()))?;
        roots.add(certificate).map_err(|error| failed(error.to_string()))?;
    }
    if roots.is_empty() {
        return Err(failed("it has no certificate in PEM".to_owned()));
    }
    let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), Arc::new(ring::default_provider()));
    verifier.allow_unauthenticated().build().map(WebPki).map_err(|error| failed(error.to_string()))
}

impl ClientCertVerifier for ClientAuthorities {
    fn client_auth_mandatory(&self) -> bool {
        false
    }

    /// None: the authorities may change, and clients then send the certificate that they have.
    fn root_hint_subjects(&self) -> &[DistinguishedName] {
        &[]
    }

    fn verify_client_cert(
        &self,
        certificate: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        now: UnixTime,
    ) -> std::result::Result<ClientCertVerified, TlsError> {
        match &*self.current.load() {
            Some(verifier) => verifier.0.verify_client_cert(certificate, intermediates, now),
            None => Err(CertificateError::UnknownIssuer.into()),
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> std::result::Result<HandshakeSignatureValid, TlsError> {
        crypto::verify_tls12_signature(message, certificate, signature, &self.algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> std::result::Result<HandshakeSignatureValid, TlsError> {
        crypto::verify_tls13_signature(message, certificate, signature, &self.algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.algorithms.supported_schemes()
    }
}
