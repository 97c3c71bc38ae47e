//! Client certificates: the subject's common name is the user, its organizations are the groups, as in kube-apiserver.
//!
//! The listener verifies certificates; here only the subject is read.
use std::sync::Arc;

use super::{
    Soon, User,
    authenticate::{Authenticate, Credentials, Identity, Unauthenticated},
};

/// The tags of the DER elements on the way to the subject.
const SEQUENCE: u8 = 0x30;
const SET: u8 = 0x31;
const VERSION: u8 = 0xa0;
const OBJECT_IDENTIFIER: u8 = 0x06;
/// Strings whose bytes are UTF-8: UTF8String, PrintableString, IA5String.
const STRINGS: [u8; 3] = [0x0c, 0x13, 0x16];
/// The object identifiers of the attributes: 2.5.4.3 and 2.5.4.10.
const COMMON_NAME: [u8; 3] = [0x55, 0x04, 0x03];
const ORGANIZATION: [u8; 3] = [0x55, 0x04, 0x0a];

/// Identifies users by verified client certificates. A certificate without a common name identifies no user.
#[derive(Clone, Copy, Debug, Default)]
pub struct Certificates;

impl Authenticate for Certificates {
    fn authenticate<'a>(&'a self, credentials: &'a Credentials<'a>) -> Soon<'a, Identity> {
        let Some(certificate) = credentials.certificates.first() else { return Soon::now(Ok(None)) };
        Soon::now(match subject(certificate) {
            None => Err(Unauthenticated("the subject of the client's certificate cannot be read".to_owned())),
            Some(user) if user.name.is_empty() => Ok(None),
            Some(user) => Ok(Some(Arc::new(user))),
        })
    }
}

/// The user that a certificate names.
fn subject(certificate: &[u8]) -> Option<User> {
    let (certificate, _) = expect(SEQUENCE, certificate)?;
    let (mut fields, _) = expect(SEQUENCE, certificate)?;
    if let Some((_, rest)) = expect(VERSION, fields) {
        fields = rest;
    }
    // Serial number, signature algorithm, issuer, validity.
    for _ in 0..4 {
        fields = element(fields)?.2;
    }
    let (mut names, _) = expect(SEQUENCE, fields)?;
    let mut user = User::default();
    while !names.is_empty() {
        let (mut attributes, rest) = expect(SET, names)?;
        names = rest;
        while !attributes.is_empty() {
            let (attribute, rest) = expect(SEQUENCE, attributes)?;
            attributes = rest;
            let (kind, value) = expect(OBJECT_IDENTIFIER, attribute)?;
            if kind == COMMON_NAME {
                user.name = text(value)?;
            } else if kind == ORGANIZATION {
                user.groups.push(text(value)?);
            }
        }
    }
    Some(user)
}

fn text(value: &[u8]) -> Option<String> {
    let (tag, content, _) = element(value)?;
    STRINGS.contains(&tag).then(|| String::from_utf8(content.to_vec()).ok()).flatten()
}

/// The content of the first element, which must have this tag, and what follows the element.
fn expect(tag: u8, der: &[u8]) -> Option<(&[u8], &[u8])> {
    element(der).filter(|(found, ..)| *found == tag).map(|(_, content, rest)| (content, rest))
}

/// The tag and the content of the first element, and what follows it.
fn element(der: &[u8]) -> Option<(u8, &[u8], &[u8])> {
    let (&[tag, first], rest) = der.split_first_chunk()?;
    let (length, rest) = match first {
        0..=0x7f => (usize::from(first), rest),
        // A certificate is far smaller than what three bytes count.
        0x81..=0x83 => {
            let (length, rest) = rest.split_at_checked(usize::from(first & 0x7f))?;
            (length.iter().fold(0, |length, &byte| length << 8 | usize::from(byte)), rest)
        }
        _ => return None,
    };
    let (content, rest) = rest.split_at_checked(length)?;
    Some((tag, content, rest))
}

#[cfg(test)]
mod tests {
    use rcgen::{CertificateParams, DnType, DnValue, KeyPair};

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

    /// An element of DER shorter than 128 bytes.
    fn der(tag: u8, parts: &[&[u8]]) -> Vec<u8> {
        let content = parts.concat();
        [&[tag, u8::try_from(content.len()).unwrap()], content.as_slice()].concat()
    }

    #[test]
    fn several_organizations_are_several_groups_and_the_last_common_name_counts() {
        let attribute = |kind: &[u8], value: &str| {
            der(SET, &[&der(SEQUENCE, &[&der(OBJECT_IDENTIFIER, &[kind]), &der(0x0c, &[value.as_bytes()])])])
        };
        let names = [
            attribute(&ORGANIZATION, "a"),
            attribute(&COMMON_NAME, "first"),
            attribute(&ORGANIZATION, "b"),
            attribute(&COMMON_NAME, "last"),
        ];
        let empty = der(SEQUENCE, &[]);
        let fields = [der(0x02, &[&[1]]), empty.clone(), empty.clone(), empty, der(SEQUENCE, &[&names.concat()])];
        let certificate = der(SEQUENCE, &[&der(SEQUENCE, &[&fields.concat()])]);
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
            assert_eq!(subject(&whole[..end]), None, "cut after {end} bytes");
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
