//! The authority of client certificates in the data directory. The server trusts it unless the builder names another file, and
//! `kindsmith user add` signs with it.
//!
//! `rcgen` writes one organization at most, but each group of a user is one, so certificates are written here.

use std::{path::PathBuf, time::Duration};

use base64::{Engine, engine::general_purpose::STANDARD};
use jiff::{Timestamp, tz::TimeZone};
use rcgen::{KeyPair, PKCS_ECDSA_P256_SHA256, PublicKeyData, SigningKey};
use tokio_rustls::rustls::pki_types::{CertificateDer, pem::PemObject};
use yasna::{ASN1Result, DERWriter, DERWriterSeq, Tag, models::ObjectIdentifier};

use super::{
    Error, Result,
    tls::{authority_params, open_authority},
};
use crate::storage::private::PrivateDir;

/// The files of the authority.
pub(super) const CERTIFICATE: &str = "client-ca.crt";
const KEY: &str = "client-ca.key";
/// Clients whose clocks are behind may use a certificate at once.
const BEFORE: i64 = 5 * 60;

/// Object identifiers: a common name, an organization, ECDSA with SHA-256, the usages of a key, and those by clients.
const COMMON_NAME: [u64; 4] = [2, 5, 4, 3];
const ORGANIZATION: [u64; 4] = [2, 5, 4, 10];
const ECDSA_SHA256: [u64; 7] = [1, 2, 840, 10045, 4, 3, 2];
const KEY_USAGE: [u64; 4] = [2, 5, 29, 15];
const EXTENDED_KEY_USAGE: [u64; 4] = [2, 5, 29, 37];
const CLIENT_AUTH: [u64; 9] = [1, 3, 6, 1, 5, 5, 7, 3, 2];

/// Signs client certificates.
pub(super) struct ClientIssuer {
    files: PrivateDir,
    /// The authority's name in DER.
    name: Vec<u8>,
    key: KeyPair,
}

/// A signed certificate.
pub(super) struct ClientCertificate {
    pub certificate_pem: String,
    pub key_pem: String,
    pub expires: Timestamp,
}

impl ClientIssuer {
    /// The authority in the data directory, which is made if it is missing.
    pub(super) fn open(files: &PrivateDir) -> Result<Self> {
        let (pem, key) = open_authority(files, CERTIFICATE, KEY, &authority_params("kindsmith-client-ca"))?;
        let failed = |name: &str, why: String| Error::Certificates(files.file(name), why);
        if key.algorithm() != &PKCS_ECDSA_P256_SHA256 {
            return Err(failed(KEY, "its key is not of the curve P-256".to_owned()));
        }
        let certificate =
            CertificateDer::from_pem_slice(pem.as_bytes()).map_err(|error| failed(CERTIFICATE, error.to_string()))?;
        let name = subject(&certificate).map_err(|_| failed(CERTIFICATE, "its subject cannot be read".to_owned()))?;
        Ok(Self { files: files.clone(), name, key })
    }

    /// The file with the authority's certificate.
    pub(super) fn file(&self) -> PathBuf {
        self.files.file(CERTIFICATE)
    }

    /// A certificate for a user, valid from now on, but not longer than until the end of 2049.
    pub(super) fn issue(&self, user: &str, groups: &[String], valid_for: Duration) -> Result<ClientCertificate> {
        let failed = |why: String| Error::Certificates(self.file(), why);
        let client_key = KeyPair::generate().map_err(|error| failed(error.to_string()))?;
        let now = Timestamp::now();
        let start = Timestamp::from_second(now.as_second() - BEFORE).map_err(|error| failed(error.to_string()))?;
        // Later times have another form in certificates.
        let last = Timestamp::constant(2_524_607_999, 0);
        let expires = now.checked_add(valid_for).map_or(last, |end| end.min(last));
        let mut serial = [0; 16];
        getrandom::fill(&mut serial).map_err(|error| failed(error.to_string()))?;
        let fields = yasna::construct_der(|writer| {
            writer.write_sequence(|fields| {
                // The version 3.
                fields.next().write_tagged(Tag::context(0), |version| version.write_u8(2));
                fields.next().write_bigint_bytes(&serial, true);
                write_algorithm(fields.next());
                fields.next().write_der(&self.name);
                fields.next().write_sequence(|times| [start, expires].map(|time| write_time(times.next(), time)));
                write_name(fields.next(), user, groups);
                fields.next().write_der(&client_key.subject_public_key_info());
                fields.next().write_tagged(Tag::context(3), |extensions| {
                    extensions.write_sequence(write_extensions);
                });
            });
        });
        let signature = self.key.sign(&fields).map_err(|error| failed(error.to_string()))?;
        let certificate = yasna::construct_der(|writer| {
            writer.write_sequence(|parts| {
                parts.next().write_der(&fields);
                write_algorithm(parts.next());
                parts.next().write_bitvec_bytes(&signature, signature.len() * 8);
            });
        });
        Ok(ClientCertificate { certificate_pem: pem(&certificate), key_pem: client_key.serialize_pem(), expires })
    }
}

/// The subject of a certificate in DER.
#[expect(clippy::redundant_closure_for_method_calls, reason = "readers of any lifetime need a closure")]
fn subject(certificate: &[u8]) -> ASN1Result<Vec<u8>> {
    yasna::parse_der(certificate, |reader| {
        reader.read_sequence(|certificate| {
            let name = certificate.next().read_sequence(|fields| {
                fields.read_optional(|version| version.read_tagged(Tag::context(0), |version| version.read_u8()))?;
                // Serial number, signature algorithm, issuer, validity.
                for _ in 0..4 {
                    fields.next().read_der()?;
                }
                let name = fields.next().read_der()?;
                while fields.read_optional(|field| field.read_der())?.is_some() {}
                Ok(name)
            })?;
            // Signature algorithm, signature.
            for _ in 0..2 {
                certificate.next().read_der()?;
            }
            Ok(name)
        })
    })
}

fn write_algorithm(writer: DERWriter<'_>) {
    writer.write_sequence(|algorithm| algorithm.next().write_oid(&ObjectIdentifier::from_slice(&ECDSA_SHA256)));
}

/// A time before 2050.
fn write_time(writer: DERWriter<'_>, time: Timestamp) {
    let text = time.to_zoned(TimeZone::UTC).strftime("%y%m%d%H%M%SZ").to_string();
    // The tag of UTCTime.
    writer.write_tagged_implicit(yasna::tags::TAG_UTCTIME, |time| time.write_bytes(text.as_bytes()));
}

/// The name of a user: groups, then the user.
fn write_name(writer: DERWriter<'_>, user: &str, groups: &[String]) {
    let groups = groups.iter().map(|group| (ORGANIZATION, group.as_str()));
    writer.write_sequence(|name| {
        for (kind, value) in groups.chain([(COMMON_NAME, user)]) {
            name.next().write_set_of(|set| {
                set.next().write_sequence(|attribute| {
                    attribute.next().write_oid(&ObjectIdentifier::from_slice(&kind));
                    attribute.next().write_utf8_string(value);
                });
            });
        }
    });
}

/// The usages of the certificate: signatures of clients.
fn write_extensions(extensions: &mut DERWriterSeq<'_>) {
    // The first bit: digital signatures.
    let usage = yasna::construct_der(|writer| writer.write_bitvec_bytes(&[0x80], 1));
    let extended = yasna::construct_der(|writer| {
        writer.write_sequence(|usages| usages.next().write_oid(&ObjectIdentifier::from_slice(&CLIENT_AUTH)));
    });
    for (name, is_critical, value) in [(KEY_USAGE, true, usage), (EXTENDED_KEY_USAGE, false, extended)] {
        extensions.next().write_sequence(|extension| {
            extension.next().write_oid(&ObjectIdentifier::from_slice(&name));
            // The default is left out in DER.
            if is_critical {
                extension.next().write_bool(true);
            }
            extension.next().write_bytes(&value);
        });
    }
}

/// A certificate in PEM.
fn pem(certificate: &[u8]) -> String {
    let text = STANDARD.encode(certificate);
    let mut lines = String::from("-----BEGIN CERTIFICATE-----\n");
    let mut rest = text.as_str();
    while !rest.is_empty() {
        let (line, left) = rest.split_at(rest.len().min(64));
        lines.push_str(line);
        lines.push('\n');
        rest = left;
    }
    lines + "-----END CERTIFICATE-----\n"
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        auth::{Authenticate, Certificates, Credentials},
        server::state::StateDir,
    };

    #[tokio::test]
    async fn a_certificate_says_the_user_and_all_groups() {
        let state = StateDir::temporary().unwrap();
        let issuer = ClientIssuer::open(&state.files).unwrap();
        let groups = ["editors", "readers", "Ἄδα"].map(str::to_owned);
        let issued = issuer.issue("ada@example.com", &groups, Duration::from_hours(24)).unwrap();
        let certificate = CertificateDer::from_pem_slice(issued.certificate_pem.as_bytes()).unwrap();
        let certificates = [certificate.to_vec()];
        let credentials = Credentials { certificates: &certificates, ..Credentials::NONE };
        let user = Certificates.authenticate(&credentials).await.unwrap().unwrap();
        assert_eq!((user.name.as_str(), &user.groups[..]), ("ada@example.com", &groups[..]));
        let again = ClientIssuer::open(&state.files).unwrap();
        assert_eq!((again.name, again.key.serialize_pem()), (issuer.name, issuer.key.serialize_pem()));
    }

    #[test]
    fn a_long_validity_ends_in_2049() {
        let state = StateDir::temporary().unwrap();
        let issuer = ClientIssuer::open(&state.files).unwrap();
        let issued = issuer.issue("ada", &[], Duration::from_secs(u64::MAX)).unwrap();
        assert_eq!(issued.expires.to_string(), "2049-12-31T23:59:59Z");
    }

    #[test]
    fn a_key_of_another_kind_is_refused() {
        let state = StateDir::temporary().unwrap();
        let key = KeyPair::generate_for(&rcgen::PKCS_ED25519).unwrap();
        state.files.write(KEY, crate::storage::private::Access::Secret, &key.serialize_pem()).unwrap();
        let error = ClientIssuer::open(&state.files).err().unwrap().to_string();
        assert!(error.contains("client-ca.key") && error.contains("P-256"), "{error}");
    }
}
