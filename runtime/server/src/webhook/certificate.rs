//! The certificates of webhooks, verified as Go's programs do: a certificate that is itself among the authorities is trusted, which
//! is what `openssl req -x509` makes. It still has to name the host, to be valid now, and to be for servers.
use std::sync::Arc;

use tokio_rustls::rustls::{
    CertificateError, DigitallySignedStruct, Error, RootCertStore, SignatureScheme,
    client::{
        WebPkiServerVerifier,
        danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier},
        verify_server_name,
    },
    crypto::CryptoProvider,
    pki_types::{
        CertificateDer, ServerName, UnixTime,
        pem::{PemObject, SectionKind},
    },
    server::ParsedCertificate,
};
use yasna::{ASN1Result, BERReader, Tag};

/// The extension that says what a certificate is for, that it is for servers, and that it is for anything.
const EXTENDED_KEY_USAGE: [u64; 4] = [2, 5, 29, 37];
const SERVER_AUTH: [u64; 9] = [1, 3, 6, 1, 5, 5, 7, 3, 1];
const ANY_USAGE: [u64; 5] = [2, 5, 29, 37, 0];

/// The certificates in PEM of authorities.
///
/// # Errors
/// The text of Go if there are no certificates.
pub(crate) fn authorities(pem: &[u8]) -> Result<Vec<CertificateDer<'static>>, String> {
    let refused = |why: &str| Err(format!("unable to load root certificates: {why}"));
    // Go skips text outside of sections.
    let sections: Vec<_> = <(SectionKind, Vec<u8>)>::pem_slice_iter(pem).flatten().collect();
    if sections.is_empty() {
        return refused("unable to parse bytes as PEM block");
    }
    let certificates = sections.into_iter().filter(|(kind, _)| *kind == SectionKind::Certificate);
    let certificates: Vec<_> = certificates.map(|(_, der)| CertificateDer::from(der)).collect();
    let is_one = |certificate: &&CertificateDer<'static>| RootCertStore::empty().add((*certificate).clone()).is_ok();
    let usable: Vec<_> = certificates.iter().filter(is_one).cloned().collect();
    match (usable.is_empty(), certificates.is_empty()) {
        (false, _) => Ok(usable),
        (true, true) => refused("no valid certificate authority data seen"),
        (true, false) => refused("failed to parse certificate: x509: malformed certificate"),
    }
}

/// Verifies the certificates of servers.
#[derive(Debug)]
pub(crate) struct Verifier {
    by_issuer: Arc<WebPkiServerVerifier>,
    authorities: Vec<CertificateDer<'static>>,
}

impl Verifier {
    /// Trusts these authorities, of which there is one at least.
    pub(crate) fn new(
        authorities: Vec<CertificateDer<'static>>,
        provider: Arc<CryptoProvider>,
    ) -> Result<Self, String> {
        let mut roots = RootCertStore::empty();
        roots.add_parsable_certificates(authorities.iter().cloned());
        let by_issuer = WebPkiServerVerifier::builder_with_provider(roots.into(), provider).build();
        Ok(Self { by_issuer: by_issuer.map_err(|error| error.to_string())?, authorities })
    }
}

impl ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let verified = self.by_issuer.verify_server_cert(certificate, intermediates, name, ocsp, now);
        if verified.is_ok() || !self.authorities.iter().any(|authority| authority == certificate) {
            return verified;
        }
        verify_server_name(&ParsedCertificate::try_from(certificate)?, name)?;
        match Terms::of(certificate) {
            Err(_) => Err(CertificateError::BadEncoding.into()),
            Ok(terms) if now.as_secs() < terms.not_before => Err(CertificateError::NotValidYet.into()),
            Ok(terms) if now.as_secs() > terms.not_after => Err(CertificateError::Expired.into()),
            Ok(terms) if !terms.is_for_servers => Err(CertificateError::InvalidPurpose.into()),
            Ok(_) => Ok(ServerCertVerified::assertion()),
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.by_issuer.verify_tls12_signature(message, certificate, signature)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.by_issuer.verify_tls13_signature(message, certificate, signature)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.by_issuer.supported_verify_schemes()
    }
}

/// When a certificate is valid, in seconds since 1970, and for what.
struct Terms {
    not_before: u64,
    not_after: u64,
    is_for_servers: bool,
}

impl Terms {
    #[expect(clippy::redundant_closure_for_method_calls, reason = "readers of any lifetime need a closure")]
    fn of(certificate: &[u8]) -> ASN1Result<Self> {
        yasna::parse_der(certificate, |reader| {
            reader.read_sequence(|certificate| {
                let terms = certificate.next().read_sequence(|fields| {
                    fields
                        .read_optional(|version| version.read_tagged(Tag::context(0), |version| version.read_u8()))?;
                    // Serial number, signature algorithm, issuer.
                    for _ in 0..3 {
                        fields.next().read_der()?;
                    }
                    let [not_before, not_after] =
                        fields.next().read_sequence(|times| Ok([time(times.next())?, time(times.next())?]))?;
                    // Subject, public key.
                    for _ in 0..2 {
                        fields.next().read_der()?;
                    }
                    let mut terms = Self { not_before, not_after, is_for_servers: true };
                    // Identifiers of the issuer and the subject, and extensions.
                    while let Some(field) = fields.read_optional(|field| field.read_tagged_der())? {
                        if field.tag() == Tag::context(3) {
                            terms.is_for_servers = yasna::parse_der(field.value(), is_for_servers)?;
                        }
                    }
                    Ok(terms)
                })?;
                // Signature algorithm, signature.
                for _ in 0..2 {
                    certificate.next().read_der()?;
                }
                Ok(terms)
            })
        })
    }
}

/// Whether extensions allow a server. Without the extension, a certificate is for anything.
#[expect(clippy::redundant_closure_for_method_calls, reason = "readers of any lifetime need a closure")]
fn is_for_servers(extensions: BERReader<'_, '_>) -> ASN1Result<bool> {
    let mut allowed = true;
    extensions.read_sequence_of(|extension| {
        extension.read_sequence(|extension| {
            let name = extension.next().read_oid()?;
            extension.read_default(false, |critical| critical.read_bool())?;
            let value = extension.next().read_bytes()?;
            if *name.components() == EXTENDED_KEY_USAGE {
                let usages = yasna::parse_der(&value, |usages| usages.collect_sequence_of(|usage| usage.read_oid()))?;
                let is_allowed = |usage: &[u64]| usage == SERVER_AUTH || usage == ANY_USAGE;
                allowed = usages.iter().any(|usage| is_allowed(usage.components()));
            }
            Ok(())
        })
    })?;
    Ok(allowed)
}

/// A time in seconds since 1970; zero for one before.
fn time(value: BERReader<'_, '_>) -> ASN1Result<u64> {
    let value = value.read_tagged_der()?;
    let text = String::from_utf8_lossy(value.value());
    // Years of two digits are those from 1950 to 2049.
    let century = match text.len() {
        13 if text.as_bytes() < b"50".as_slice() => "20",
        13 => "19",
        _ => "",
    };
    let read = jiff::civil::DateTime::strptime("%Y%m%d%H%M%SZ", format!("{century}{text}"));
    let read = read.ok().and_then(|read| read.to_zoned(jiff::tz::TimeZone::UTC).ok());
    let seconds = read.ok_or_else(|| yasna::ASN1Error::new(yasna::ASN1ErrorKind::Invalid))?.timestamp().as_second();
    Ok(u64::try_from(seconds).unwrap_or_default())
}

#[cfg(test)]
mod tests;
