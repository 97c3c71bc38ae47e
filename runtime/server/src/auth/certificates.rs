//! Client certificates: the subject's common name is the user, its organizations are the groups, as in kube-apiserver.
//!
//! The listener verifies certificates; here only the subject is read.
use std::sync::Arc;

use yasna::{ASN1Result, BERReader, BERReaderSeq, Tag, tags};

use super::{
    Soon, User,
    authenticate::{Authenticate, Credentials, Identity, Unauthenticated},
};

/// The object identifiers of the attributes.
const COMMON_NAME: [u64; 4] = [2, 5, 4, 3];
const ORGANIZATION: [u64; 4] = [2, 5, 4, 10];

/// Identifies users by verified client certificates. A certificate without a common name identifies no user.
#[derive(Clone, Copy, Debug, Default)]
pub struct Certificates;

impl Authenticate for Certificates {
    fn authenticate<'a>(&'a self, credentials: &'a Credentials<'a>) -> Soon<'a, Identity> {
        let Some(certificate) = credentials.certificates.first() else { return Soon::now(Ok(None)) };
        Soon::now(match subject(certificate) {
            Err(_) => Err(Unauthenticated("the subject of the client's certificate cannot be read".to_owned())),
            Ok(user) if user.name.is_empty() => Ok(None),
            Ok(user) => Ok(Some(Arc::new(user))),
        })
    }
}

/// Verifies client certificates against certain authorities.
pub(crate) trait VerifyClient: Send + Sync + 'static {
    /// Verifies a chain in DER, whose first certificate is the client's.
    ///
    /// # Errors
    /// Why it is not valid.
    fn verify(&self, chain: &[Vec<u8>]) -> Result<(), String>;
}

/// Identifies users like [`Certificates`], by certificates of certain authorities: the listener has verified against others, too.
pub(crate) struct CertificatesOf(pub Arc<dyn VerifyClient>);

impl Authenticate for CertificatesOf {
    fn authenticate<'a>(&'a self, credentials: &'a Credentials<'a>) -> Soon<'a, Identity> {
        if credentials.certificates.is_empty() {
            return Soon::now(Ok(None));
        }
        match self.0.verify(credentials.certificates) {
            Ok(()) => Certificates.authenticate(credentials),
            Err(why) => Soon::now(Err(Unauthenticated(format!("the client's certificate is no user's: {why}")))),
        }
    }
}

/// Hides client certificates of unknown authorities: a client may have one that is meant for another server.
pub(crate) struct KnownCertificates<A> {
    pub authorities: Arc<dyn VerifyClient>,
    /// Who identifies the users.
    pub authenticator: A,
}

impl<A: Authenticate> Authenticate for KnownCertificates<A> {
    fn authenticate<'a>(&'a self, credentials: &'a Credentials<'a>) -> Soon<'a, Identity> {
        if credentials.certificates.is_empty() || self.authorities.verify(credentials.certificates).is_ok() {
            return self.authenticator.authenticate(credentials);
        }
        let credentials = Credentials { certificates: &[], ..*credentials };
        Soon::later(async move { self.authenticator.authenticate(&credentials).await })
    }

    fn knows_audiences(&self) -> bool {
        self.authenticator.knows_audiences()
    }
}

/// The user that a certificate names.
#[expect(clippy::redundant_closure_for_method_calls, reason = "readers of any lifetime need a closure")]
pub(super) fn subject(certificate: &[u8]) -> ASN1Result<User> {
    yasna::parse_der(certificate, |reader| {
        reader.read_sequence(|certificate| {
            let user = certificate.next().read_sequence(|fields| {
                fields.read_optional(|version| version.read_tagged(Tag::context(0), |version| version.read_u8()))?;
                // Serial number, signature algorithm, issuer, validity.
                for _ in 0..4 {
                    fields.next().read_der()?;
                }
                let user = named(fields.next())?;
                skip(fields)?;
                Ok(user)
            })?;
            skip(certificate)?;
            Ok(user)
        })
    })
}

/// The user of a distinguished name. The last common name counts.
fn named(name: BERReader<'_, '_>) -> ASN1Result<User> {
    let mut user = User::default();
    name.read_sequence_of(|attributes| {
        attributes.read_set_of(|attribute| {
            attribute.read_sequence(|attribute| {
                let (kind, value) = (attribute.next().read_oid()?, attribute.next());
                if *kind.components() == COMMON_NAME {
                    user.name = text(value)?;
                } else if *kind.components() == ORGANIZATION {
                    user.groups.push(text(value)?);
                } else {
                    value.read_der()?;
                }
                Ok(())
            })
        })
    })?;
    Ok(user)
}

fn text(value: BERReader<'_, '_>) -> ASN1Result<String> {
    match value.lookahead_tag()? {
        tags::TAG_PRINTABLESTRING => value.read_printable_string(),
        tags::TAG_IA5STRING => value.read_ia5_string(),
        _ => value.read_utf8string(),
    }
}

/// Skips the elements that are left.
#[expect(clippy::redundant_closure_for_method_calls, reason = "readers of any lifetime need a closure")]
fn skip(elements: &mut BERReaderSeq<'_, '_>) -> ASN1Result<()> {
    while elements.read_optional(|element| element.read_der())?.is_some() {}
    Ok(())
}

#[cfg(test)]
mod tests {
    use rcgen::{CertificateParams, DnType, DnValue, KeyPair};
    use yasna::{DERWriter, models::ObjectIdentifier};

    use super::*;

    fn certificate(names: &[(DnType, DnValue)]) -> Vec<u8> {
        let mut params = CertificateParams::default();
        params.distinguished_name = rcgen::DistinguishedName::new();
        for (kind, value) in names {
            params.distinguished_name.push(kind.clone(), value.clone());
        }
        params.self_signed(&KeyPair::generate().unwrap()).unwrap().der().to_vec()
    }

    fn text(value: &str) -> DnValue {
        DnValue::Utf8String(value.to_owned())
    }

    #[test]
    fn the_common_name_is_the_user_and_organizations_are_groups() {
        let long = "x".repeat(300);
        let names = [
            (DnType::CountryName, DnValue::PrintableString("CH".try_into().unwrap())),
            (DnType::OrganizationName, text("editors")),
            (DnType::CommonName, text("Ada Ἄδα")),
            (DnType::OrganizationalUnitName, text(&long)),
        ];
        let user = subject(&certificate(&names)).unwrap();
        assert_eq!((user.name.as_str(), user.groups), ("Ada Ἄδα", vec!["editors".to_owned()]));
        let printable = [(DnType::CommonName, DnValue::PrintableString("ada".try_into().unwrap()))];
        assert_eq!(subject(&certificate(&printable)).unwrap().name, "ada");
    }

    #[test]
    fn several_organizations_are_several_groups_and_the_last_common_name_counts() {
        let names = [(ORGANIZATION, "a"), (COMMON_NAME, "first"), (ORGANIZATION, "b"), (COMMON_NAME, "last")];
        let name = |writer: DERWriter<'_>| {
            writer.write_sequence(|attributes| {
                for (kind, value) in names {
                    attributes.next().write_set_of(|set| {
                        set.next().write_sequence(|attribute| {
                            attribute.next().write_oid(&ObjectIdentifier::from_slice(&kind));
                            attribute.next().write_utf8_string(value);
                        });
                    });
                }
            });
        };
        let certificate = yasna::construct_der(|writer| {
            writer.write_sequence(|certificate| {
                certificate.next().write_sequence(|fields| {
                    fields.next().write_u64(1);
                    for _ in 0..3 {
                        fields.next().write_sequence(|_| {});
                    }
                    name(fields.next());
                });
            });
        });
        let user = subject(&certificate).unwrap();
        assert_eq!((user.name.as_str(), user.groups.join(" ")), ("last", "a b".to_owned()));
    }

    #[tokio::test]
    async fn without_a_common_name_a_certificate_identifies_no_user() {
        let certificates = [certificate(&[(DnType::OrganizationName, text("editors"))])];
        let credentials = Credentials { certificates: &certificates, ..Credentials::NONE };
        assert_eq!(Certificates.authenticate(&credentials).await, Ok(None));
        assert_eq!(Certificates.authenticate(&Credentials::NONE).await, Ok(None));
    }

    #[tokio::test]
    async fn no_cut_or_changed_certificate_causes_a_panic() {
        let whole = certificate(&[(DnType::CommonName, text("ada"))]);
        for end in 0..whole.len() {
            assert!(subject(&whole[..end]).is_err(), "cut after {end} bytes");
        }
        for at in 0..whole.len() {
            for byte in [0, 0x7f, 0x80, 0x83, 0x84, 0xff] {
                let mut changed = whole.clone();
                changed[at] = byte;
                let _ = subject(&changed);
            }
        }
        let certificates = [b"no certificate".to_vec()];
        let credentials = Credentials { certificates: &certificates, ..Credentials::NONE };
        assert!(Certificates.authenticate(&credentials).await.is_err());
    }
}
