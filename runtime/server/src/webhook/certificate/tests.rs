//! Certificates of webhooks that Go's verifier accepts, and refuses.
use std::{net::Ipv4Addr, time::Duration};

use rcgen::{
    BasicConstraints, CertificateParams, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair, KeyUsagePurpose, date_time_ymd,
};
use tokio_rustls::rustls::crypto::ring;

use super::*;

fn now() -> UnixTime {
    // 2026-06-01.
    UnixTime::since_unix_epoch(Duration::from_hours(494_520))
}

/// A certificate of `127.0.0.1` for the year 2026.
fn params() -> CertificateParams {
    let mut params = CertificateParams::new(["127.0.0.1".to_owned()]).unwrap();
    (params.not_before, params.not_after) = (date_time_ymd(2026, 1, 1), date_time_ymd(2027, 1, 1));
    params
}

fn self_signed(params: &CertificateParams) -> CertificateDer<'static> {
    params.self_signed(&KeyPair::generate().unwrap()).unwrap().der().clone()
}

fn verify(certificate: &CertificateDer<'_>, authority: &CertificateDer<'static>) -> Result<(), Error> {
    let verifier = Verifier::new(vec![authority.clone()], ring::default_provider().into()).unwrap();
    let name = ServerName::from(std::net::IpAddr::from(Ipv4Addr::LOCALHOST));
    verifier.verify_server_cert(certificate, &[], &name, &[], now()).map(drop)
}

#[test]
fn a_certificate_that_is_its_own_authority_is_trusted() {
    let mut params = params();
    for is_ca in [IsCa::NoCa, IsCa::ExplicitNoCa, IsCa::Ca(BasicConstraints::Unconstrained)] {
        params.is_ca = is_ca;
        let certificate = self_signed(&params);
        assert_eq!(verify(&certificate, &certificate), Ok(()), "{:?}", params.is_ca);
        let other = self_signed(&params);
        assert!(verify(&certificate, &other).is_err(), "another of the same name: {:?}", params.is_ca);
    }
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign];
    for usages in [
        vec![ExtendedKeyUsagePurpose::ServerAuth],
        vec![ExtendedKeyUsagePurpose::ClientAuth, ExtendedKeyUsagePurpose::ServerAuth],
        vec![ExtendedKeyUsagePurpose::Any],
    ] {
        params.extended_key_usages = usages;
        let certificate = self_signed(&params);
        assert_eq!(verify(&certificate, &certificate), Ok(()), "{:?}", params.extended_key_usages);
    }
}

#[test]
fn it_still_has_to_be_the_servers_and_valid() {
    let mut ca = params();
    ca.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let refused = |params: &CertificateParams| {
        let certificate = self_signed(params);
        verify(&certificate, &certificate).unwrap_err()
    };
    let mut old = ca.clone();
    (old.not_before, old.not_after) = (date_time_ymd(1999, 1, 1), date_time_ymd(2026, 5, 31));
    assert_eq!(refused(&old), CertificateError::Expired.into());
    let mut early = ca.clone();
    (early.not_before, early.not_after) = (date_time_ymd(2026, 6, 2), date_time_ymd(2060, 1, 1));
    assert_eq!(refused(&early), CertificateError::NotValidYet.into());
    let mut of_clients = ca.clone();
    of_clients.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth];
    assert_eq!(refused(&of_clients), CertificateError::InvalidPurpose.into());
    let mut other = CertificateParams::new(["example.com".to_owned(), "127.0.0.2".to_owned()]).unwrap();
    (other.is_ca, other.not_before, other.not_after) = (ca.is_ca, ca.not_before, ca.not_after);
    assert!(format!("{:?}", refused(&other)).contains("NotValidForName"));
    let mut lasting = ca;
    (lasting.not_before, lasting.not_after) = (date_time_ymd(1960, 1, 1), date_time_ymd(2060, 1, 1));
    let certificate = self_signed(&lasting);
    assert_eq!(verify(&certificate, &certificate), Ok(()), "times of either form");
}

#[test]
fn certificates_by_an_authority_are_verified_as_ever() {
    let (key, mut ca) = (KeyPair::generate().unwrap(), params());
    ca.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let authority = ca.self_signed(&key).unwrap();
    let issued = params().signed_by(&KeyPair::generate().unwrap(), &Issuer::from_params(&ca, &key)).unwrap();
    assert_eq!(verify(issued.der(), authority.der()), Ok(()));
    assert!(verify(issued.der(), &self_signed(&ca)).is_err());
}

#[test]
fn authorities_are_read_as_go_reads_them() {
    let pem = params().self_signed(&KeyPair::generate().unwrap()).unwrap().pem();
    assert_eq!(authorities(pem.as_bytes()).map(|all| all.len()), Ok(1));
    let text = format!("text before\n{pem}\n-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n{pem}");
    assert_eq!(authorities(text.as_bytes()).map(|all| all.len()), Ok(2), "what is no certificate is skipped");
    for (text, why) in [
        ("CA", "unable to parse bytes as PEM block"),
        (" \n", "unable to parse bytes as PEM block"),
        ("-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n", "no valid certificate authority data seen"),
        (
            "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n",
            "failed to parse certificate: x509: malformed certificate",
        ),
    ] {
        assert_eq!(authorities(text.as_bytes()), Err(format!("unable to load root certificates: {why}")), "{text}");
    }
}
