//! Tests of the headers of a proxy, and of who is believed.
use rcgen::{CertificateParams, DnType, KeyPair};

use super::{super::authenticate::Headers, *};

struct Sent(Vec<(&'static str, &'static [u8])>);

impl Headers for Sent {
    fn header(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(known, _)| *known == name).and_then(|(_, value)| std::str::from_utf8(value).ok())
    }

    fn each(&self, visit: &mut dyn FnMut(&str, &[u8])) {
        self.0.iter().for_each(|(name, value)| visit(name, value));
    }
}

struct Verdict(bool);

impl VerifyClient for Verdict {
    fn verify(&self, _: &[Vec<u8>]) -> Result<(), String> {
        if self.0 { Ok(()) } else { Err("another authority".to_owned()) }
    }
}

fn certificate(name: &str) -> Vec<u8> {
    let mut params = CertificateParams::default();
    params.distinguished_name = rcgen::DistinguishedName::new();
    params.distinguished_name.push(DnType::CommonName, name);
    params.self_signed(&KeyPair::generate().unwrap()).unwrap().der().to_vec()
}

fn names(names: &[&str]) -> Vec<String> {
    names.iter().map(|&name| name.to_owned()).collect()
}

fn standard(allowed: &[&str]) -> ProxyHeaders {
    ProxyHeaders {
        user: names(&["x-remote-user", "x-other-user"]),
        uid: names(&["x-remote-uid"]),
        group: names(&["x-remote-group", "x-other-group"]),
        extra_prefix: names(&["x-remote-extra-"]),
        allowed_names: names(allowed),
    }
}

fn identify(
    verdict: bool,
    allowed: &[&str],
    certificates: &[Vec<u8>],
    sent: Vec<(&'static str, &'static [u8])>,
) -> Identity {
    let proxies = FrontProxies::new(Arc::new(Verdict(verdict)), standard(allowed));
    let credentials = Credentials { certificates, headers: &Sent(sent), ..Credentials::NONE };
    proxies.identify(&credentials)
}

#[test]
fn all_values_of_all_headers_count() {
    let sent: Vec<(&str, &[u8])> = vec![
        ("x-other-group", b"d"),
        ("x-remote-group", b"b"),
        ("x-remote-extra-example.com%2fscopes", b"one"),
        ("x-other-user", b"eve"),
        ("x-remote-user", "Ἄδα".as_bytes()),
        ("x-remote-user", b"second"),
        ("x-remote-group", b"a"),
        ("x-remote-group", b""),
        ("x-remote-uid", b"7"),
        ("x-remote-extra-example.com%2fscopes", b"two, three"),
        ("x-remote-extra-bad%zz", b""),
        ("authorization", b"\xff"),
    ];
    let user = identify(true, &[], &[certificate("p")], sent).unwrap().unwrap();
    assert_eq!((&*user.name, &*user.uid, user.groups.join(" ")), ("Ἄδα", "7", "b a d".to_owned()));
    let extra =
        [("example.com/scopes".to_owned(), names(&["one", "two, three"])), ("bad%zz".to_owned(), vec![String::new()])];
    assert_eq!(user.extra, extra.into());
}

#[test]
fn only_an_allowed_proxy_is_believed() {
    let root = || -> Vec<(&'static str, &'static [u8])> {
        vec![("x-remote-user", b"root"), ("x-remote-group", b"system:masters")]
    };
    let proxy = [certificate("proxy")];
    assert_eq!(identify(true, &["other", "proxy"], &proxy, root()).unwrap().unwrap().name, "root");
    assert_eq!(identify(true, &[], &[], root()), Ok(None), "without a certificate");
    let refused = |verdict, allowed: &[&str]| identify(verdict, allowed, &proxy, root()).unwrap_err().0;
    let of_no_proxy = "the client's certificate is no front proxy's: ";
    assert_eq!(refused(false, &[]), format!("{of_no_proxy}another authority"));
    assert_eq!(refused(true, &["other"]), format!("{of_no_proxy}its common name \"proxy\" is not allowed"));
    assert!(identify(true, &["p"], &[b"none".to_vec()], root()).is_err());
}

#[test]
fn a_proxy_without_a_user_identifies_none_and_bytes_that_are_no_text_are_refused() {
    let proxy = [certificate("proxy")];
    let groups: Vec<(&str, &[u8])> = vec![("x-remote-group", b"system:masters"), ("x-remote-user", b"")];
    assert_eq!(identify(true, &[], &proxy, groups), Ok(None));
    let broken: Vec<(&str, &[u8])> = vec![("x-remote-user", b"ada"), ("x-remote-group", b"\xff")];
    let why = identify(true, &[], &proxy, broken).unwrap_err().0;
    assert_eq!(why, "the header x-remote-group of the front proxy is not text in UTF-8");
}
