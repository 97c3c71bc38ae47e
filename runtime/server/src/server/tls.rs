//! The server's TLS: a certificate authority in the data directory, and certificates for the addresses on which the
//! server listens.
//!
//! Only the authority is stored. A server certificate takes less than a millisecond (ECDSA P-256), so one is created at
//! each start for its addresses, and again while the server runs, long before it expires. There is no file to become
//! stale, and no renewal to forget.
//!
//! Alternatively, a certificate and a key from the user's files, read again when they change.

use std::{
    net::{IpAddr, SocketAddr},
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, Instant},
};

use arc_swap::{ArcSwap, ArcSwapOption};
use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair, KeyUsagePurpose,
    SanType,
};
use tokio_rustls::rustls::{
    ServerConfig,
    crypto::ring,
    pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject},
    server::{ClientHello, NoServerSessionStorage, ResolvesServerCert},
    sign::CertifiedKey,
};

use super::{
    Error, Result,
    client_ca::ClientAuthorities,
    files::{FileWatcher, warn_if_open},
    state::StateDir,
};
use crate::storage::private::{Access, PrivateDir};

/// The files of an authority in the data directory, and its name.
pub(super) struct AuthorityFiles {
    pub certificate: &'static str,
    pub key: &'static str,
    pub name: &'static str,
}

/// The authority of the server's own certificates.
const SERVING: AuthorityFiles = AuthorityFiles { certificate: "ca.crt", key: "ca.key", name: "kindsmith-ca" };
/// The validity of a server certificate, and the age at which the next one is created.
const VALID_DAYS: i64 = 365;
const RENEW_AFTER: Duration = Duration::from_hours(180 * 24);

/// The server's own certificate authority.
pub(super) struct Authority {
    /// Its certificate, for clients to trust.
    pub certificate_pem: String,
    issuer: Issuer<'static, KeyPair>,
}

impl Authority {
    /// The authority of the server's own certificates.
    pub(super) fn open(state: &StateDir) -> Result<Self> {
        Self::open_in(state, &SERVING)
    }

    /// The authority in these files, or a new one.
    pub(super) fn open_in(state: &StateDir, files: &AuthorityFiles) -> Result<Self> {
        let params = || authority_params(files.name);
        let (certificate_pem, key) = open_authority(&state.files, files.certificate, files.key, &params())?;
        Ok(Self { certificate_pem, issuer: Issuer::new(params(), key) })
    }

    /// A certificate for a client of this name.
    pub(super) fn client(self, name: &str) -> Result<RotatingCertificate> {
        let failed = |message: String| Error::Certificates(name.into(), message);
        RotatingCertificate::new(self.issuer, Subject::Client(name.to_owned())).map_err(failed)
    }

    /// The TLS configuration of a server at an address and under other names.
    pub(super) fn server_config(self, address: SocketAddr, names: &[String], clients: Clients) -> Result<ServerConfig> {
        let failed = |message: String| Error::Certificates(SERVING.certificate.into(), message);
        let certificate =
            RotatingCertificate::new(self.issuer, subject(address.ip(), names).map_err(failed)?).map_err(failed)?;
        Ok(config(Arc::new(certificate), clients))
    }
}

/// The certificate in PEM and the key of an authority in these files, which are made if they are missing.
pub(super) fn open_authority(
    files: &PrivateDir,
    certificate: &str,
    key: &str,
    params: &CertificateParams,
) -> Result<(String, KeyPair)> {
    let failed = |name: &str, message: String| Error::Certificates(files.file(name), message);
    let stored = files.read(key, Access::Secret)?;
    let stored = stored.map(|pem| KeyPair::from_pem(&pem).map_err(|e| failed(key, e.to_string()))).transpose()?;
    match (files.read(certificate, Access::Public)?, stored) {
        (Some(pem), Some(stored)) => {
            CertificateDer::from_pem_slice(pem.as_bytes()).map_err(|e| failed(certificate, e.to_string()))?;
            Ok((pem, stored))
        }
        (Some(_), None) => Err(failed(certificate, format!("its key {key} is missing"))),
        // A missing certificate is created again with its key, so that clients which trust the lost one trust it, too.
        (None, stored) => {
            let made = match stored {
                Some(stored) => stored,
                None => KeyPair::generate().map_err(|e| failed(key, e.to_string()))?,
            };
            let signed = params.self_signed(&made).map_err(|e| failed(certificate, e.to_string()))?;
            files.write(key, Access::Secret, &made.serialize_pem())?;
            files.write(certificate, Access::Public, &signed.pem())?;
            Ok((signed.pem(), made))
        }
    }
}

/// The authorities of client certificates, if clients are asked for any.
pub(super) type Clients = Option<Arc<ClientAuthorities>>;

/// The TLS configuration of a server with these certificates.
fn config(certificates: Arc<dyn ResolvesServerCert>, clients: Clients) -> ServerConfig {
    let builder = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .expect("the provider has the cipher suites of the default versions");
    let resumes = clients.as_ref().is_none_or(|clients| clients.admits_others());
    let builder = match clients {
        Some(authorities) => builder.with_client_cert_verifier(authorities),
        None => builder.with_no_client_auth(),
    };
    let mut config = builder.with_cert_resolver(certificates);
    // A resumed session would not be verified again, even if the authorities have changed. Where certificates of others are
    // admitted, those of each request are verified.
    if !resumes {
        config.session_storage = Arc::new(NoServerSessionStorage {});
        config.send_tls13_tickets = 0;
    }
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    config
}

/// The user's certificate chain and key in PEM files.
#[derive(Clone, Debug)]
pub(super) struct CertificateFiles {
    pub certificate: PathBuf,
    pub key: PathBuf,
}

impl CertificateFiles {
    /// The TLS configuration, whose certificate changes with the watched files.
    pub(super) fn server_config(self, clients: Clients) -> Result<(ServerConfig, FileWatcher)> {
        let current = Arc::new(FromFiles(ArcSwapOption::empty()));
        let (read, paths) = (current.clone(), vec![self.certificate.clone(), self.key.clone()]);
        let watcher = FileWatcher::open("certificates", paths, move || {
            read.0.store(Some(Arc::new(self.read()?)));
            Ok(())
        })?;
        Ok((config(current, clients), watcher))
    }

    fn read(&self) -> Result<CertifiedKey> {
        let failed = |path: &Path, why: String| Error::Certificate(path.to_owned(), why);
        let chain = CertificateDer::pem_file_iter(&self.certificate)
            .and_then(Iterator::collect::<std::result::Result<Vec<_>, _>>)
            .map_err(|error| failed(&self.certificate, error.to_string()))?;
        if chain.is_empty() {
            return Err(failed(&self.certificate, "it has no certificate in PEM".to_owned()));
        }
        warn_if_open(&self.key, "key of the certificate");
        let key = PrivateKeyDer::from_pem_file(&self.key).map_err(|error| failed(&self.key, error.to_string()))?;
        CertifiedKey::from_der(chain, key, &ring::default_provider())
            .map_err(|error| failed(&self.key, format!("with {}: {error}", self.certificate.display())))
    }
}

/// The last certificate read from files.
#[derive(Debug)]
struct FromFiles(ArcSwapOption<CertifiedKey>);

impl ResolvesServerCert for FromFiles {
    fn resolve(&self, _hello: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        self.0.load_full()
    }
}

/// What the certificate of an authority of ours says.
pub(super) fn authority_params(name: &str) -> CertificateParams {
    let mut params = CertificateParams::default();
    params.distinguished_name = rcgen::DistinguishedName::new();
    params.distinguished_name.push(DnType::CommonName, name);
    params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign, KeyUsagePurpose::DigitalSignature];
    // RFC 5280 4.1.2.5 defines this as the end of certificates without one: the authority serves one data directory and
    // lives as long as it does.
    params.not_before = rcgen::date_time_ymd(2020, 1, 1);
    params.not_after = rcgen::date_time_ymd(9999, 12, 31);
    params
}

/// Whom a certificate is for.
#[derive(Debug)]
enum Subject {
    /// A server with these names.
    Server(Vec<SanType>),
    /// A client with this name.
    Client(String),
}

/// A certificate of the server, created again after half its validity.
pub(super) struct RotatingCertificate {
    issuer: Issuer<'static, KeyPair>,
    subject: Subject,
    current: ArcSwap<(Instant, Arc<CertifiedKey>)>,
}

impl RotatingCertificate {
    fn new(issuer: Issuer<'static, KeyPair>, subject: Subject) -> std::result::Result<Self, String> {
        let first = Arc::new(issue(&issuer, &subject)?);
        Ok(Self { issuer, subject, current: ArcSwap::from_pointee((Instant::now(), first)) })
    }

    /// The certificate as of now.
    pub(super) fn current(&self) -> Arc<CertifiedKey> {
        let current = self.current.load();
        if current.0.elapsed() > RENEW_AFTER {
            match issue(&self.issuer, &self.subject) {
                Ok(next) => self.current.store(Arc::new((Instant::now(), Arc::new(next)))),
                Err(message) => tracing::error!(message, "a certificate of the server could not be renewed"),
            }
        }
        self.current.load().1.clone()
    }
}

impl ResolvesServerCert for RotatingCertificate {
    fn resolve(&self, _hello: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        Some(self.current())
    }
}

impl std::fmt::Debug for RotatingCertificate {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "the certificate for {:?}", self.subject)
    }
}

/// The names of a certificate: the address, the loopback addresses, localhost, and the given names.
fn subject(ip: IpAddr, names: &[String]) -> std::result::Result<Subject, String> {
    let mut all: Vec<String> = vec!["localhost".into(), "127.0.0.1".into(), "::1".into()];
    if !ip.is_unspecified() {
        all.push(ip.to_string());
    }
    all.extend_from_slice(names);
    all.sort();
    all.dedup();
    Ok(Subject::Server(CertificateParams::new(all).map_err(|e| e.to_string())?.subject_alt_names))
}

fn issue(issuer: &Issuer<'static, KeyPair>, subject: &Subject) -> std::result::Result<CertifiedKey, String> {
    let mut params = CertificateParams::default();
    params.distinguished_name = rcgen::DistinguishedName::new();
    let (name, usage) = match subject {
        Subject::Server(names) => {
            params.subject_alt_names.clone_from(names);
            ("kindsmith", ExtendedKeyUsagePurpose::ServerAuth)
        }
        Subject::Client(name) => (name.as_str(), ExtendedKeyUsagePurpose::ClientAuth),
    };
    params.distinguished_name.push(DnType::CommonName, name);
    params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
    params.extended_key_usages = vec![usage];
    params.use_authority_key_identifier_extension = true;
    // A day early, for clients whose clocks are behind.
    let ((year, month, first), (end_year, end_month, last)) = (day(-1), day(VALID_DAYS));
    params.not_before = rcgen::date_time_ymd(year, month, first);
    params.not_after = rcgen::date_time_ymd(end_year, end_month, last);
    let key = KeyPair::generate().map_err(|e| e.to_string())?;
    let certificate = params.signed_by(&key, issuer).map_err(|e| e.to_string())?;
    let private = PrivateKeyDer::Pkcs8(key.serialize_der().into());
    CertifiedKey::from_der(vec![certificate.der().clone()], private, &ring::default_provider())
        .map_err(|e| e.to_string())
}

/// Midnight (UTC) of a day, counted from today: year, month, day.
fn day(from_today: i64) -> (i32, u8, u8) {
    let then = jiff::Timestamp::now() + jiff::SignedDuration::from_hours(24 * from_today);
    let date = then.to_zoned(jiff::tz::TimeZone::UTC).date();
    (date.year().into(), date.month().unsigned_abs(), date.day().unsigned_abs())
}
