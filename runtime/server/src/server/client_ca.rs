//! Client certificates: verified in the TLS handshake against authorities, of users and of front proxies, which are replaced while the
//! server runs. A client may do without one. Which authorities a certificate belongs to is verified again when it signs in.

use std::{
    collections::HashMap,
    path::{Path, PathBuf},
    sync::{Arc, PoisonError, RwLock},
    time::{Duration, Instant},
};

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
use crate::auth::certificates::VerifyClient;

/// How long the result for a certificate is kept: an open connection has it in every request.
const KEPT_FOR: Duration = Duration::from_mins(1);
/// The maximum number of kept results.
const MOST_KEPT: usize = 1_024;

/// The digest of a chain of certificates.
type Digest = [u8; 32];

/// The verdict on a certificate: it is of the authorities, or the reason why it is not.
type Verified = std::result::Result<(), String>;

/// Authorities of one purpose.
#[derive(Debug, Default)]
pub(super) struct Authorities {
    current: ArcSwapOption<WebPki>,
    /// The results for certificates that sign in, with the time at which they were made.
    kept: RwLock<HashMap<Digest, (Instant, Verified)>>,
}

/// The verifier of one state of the authorities. (An `ArcSwap` cannot hold a trait object itself.)
#[derive(Debug)]
pub(super) struct WebPki(Arc<dyn ClientCertVerifier>);

impl Authorities {
    /// The authorities in a PEM file, and the file to watch.
    pub(super) fn open(what: &'static str, path: PathBuf) -> Result<(Arc<Self>, FileWatcher)> {
        let authorities = Arc::new(Self::default());
        let (read, paths) = (authorities.clone(), vec![path.clone()]);
        let watcher = FileWatcher::open(what, paths, move || {
            let pem = read_file(&path)?;
            read.replace(&pem).map_err(|why| Error::ClientAuthority(path.clone(), why))
        })?;
        Ok((authorities, watcher))
    }

    /// Replaces the authorities by those in PEM.
    pub(super) fn replace(&self, pem: &[u8]) -> std::result::Result<(), String> {
        self.set(Some(verifier(pem)?));
        Ok(())
    }

    /// Replaces the authorities.
    pub(super) fn set(&self, verifier: Option<WebPki>) {
        self.current.store(verifier.map(Arc::new));
        self.kept.write().unwrap_or_else(PoisonError::into_inner).clear();
    }

    fn verify_chain(
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
}

impl VerifyClient for Authorities {
    fn verify(&self, chain: &[Vec<u8>]) -> std::result::Result<(), String> {
        let digest = digest(chain);
        let kept = self.kept.read().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, result)) = kept.get(&digest).filter(|(since, _)| since.elapsed() < KEPT_FOR) {
            return result.clone();
        }
        drop(kept);
        let before = self.current.load_full();
        let certificates: Vec<CertificateDer<'_>> = chain.iter().map(|der| CertificateDer::from(&**der)).collect();
        let (certificate, intermediates) = certificates.split_first().ok_or("there is none")?;
        let verified = self.verify_chain(certificate, intermediates, UnixTime::now());
        let result = verified.map(|_| ()).map_err(|error| error.to_string());
        let mut kept = self.kept.write().unwrap_or_else(PoisonError::into_inner);
        if kept.len() >= MOST_KEPT {
            kept.clear();
        }
        // Under the lock, which replacing takes after it: no result of authorities that are gone is kept.
        if same(before.as_ref(), self.current.load().as_ref()) {
            kept.insert(digest, (Instant::now(), result.clone()));
        }
        result
    }
}

fn same(one: Option<&Arc<WebPki>>, other: Option<&Arc<WebPki>>) -> bool {
    match (one, other) {
        (Some(one), Some(other)) => Arc::ptr_eq(one, other),
        (None, None) => true,
        _ => false,
    }
}

fn digest(chain: &[Vec<u8>]) -> Digest {
    let mut context = ::ring::digest::Context::new(&::ring::digest::SHA256);
    for der in chain {
        context.update(&der.len().to_be_bytes());
        context.update(der);
    }
    context.finish().as_ref().try_into().expect("SHA-256 has 32 bytes")
}

fn read_file(path: &Path) -> Result<Vec<u8>> {
    std::fs::read(path).map_err(|error| Error::ClientAuthority(path.to_owned(), error.to_string()))
}

/// Reads authorities in PEM.
pub(super) fn verifier(pem: &[u8]) -> std::result::Result<WebPki, String> {
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_slice_iter(pem) {
        let certificate = certificate.map_err(|error| error.to_string())?;
        roots.add(certificate).map_err(|error| error.to_string())?;
    }
    if roots.is_empty() {
        return Err("it has no certificate in PEM".to_owned());
    }
    let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), Arc::new(ring::default_provider()));
    verifier.allow_unauthenticated().build().map(WebPki).map_err(|error| error.to_string())
}

/// The authorities of all purposes, for the handshake.
#[derive(Debug)]
pub(super) struct ClientAuthorities {
    purposes: Vec<Arc<Authorities>>,
    /// True if clients may connect with a certificate of another authority, which then identifies no user.
    admits_others: bool,
    algorithms: WebPkiSupportedAlgorithms,
}

impl ClientAuthorities {
    /// Accepts certificates of any of these authorities.
    pub(super) fn new(purposes: Vec<Arc<Authorities>>, admits_others: bool) -> Self {
        let algorithms = ring::default_provider().signature_verification_algorithms;
        Self { purposes, admits_others, algorithms }
    }

    /// True if the handshake does not say whether a certificate is valid.
    pub(super) fn admits_others(&self) -> bool {
        self.admits_others
    }
}

impl VerifyClient for ClientAuthorities {
    fn verify(&self, chain: &[Vec<u8>]) -> std::result::Result<(), String> {
        let mut result = Err("there are no authorities".to_owned());
        for authorities in &self.purposes {
            result = authorities.verify(chain);
            if result.is_ok() {
                break;
            }
        }
        result
    }
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
        let mut first = None;
        for authorities in &self.purposes {
            match authorities.verify_chain(certificate, intermediates, now) {
                Ok(verified) => return Ok(verified),
                Err(error) => first = first.or(Some(error)),
            }
        }
        if self.admits_others {
            return Ok(ClientCertVerified::assertion());
        }
        Err(first.unwrap_or_else(|| CertificateError::UnknownIssuer.into()))
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
