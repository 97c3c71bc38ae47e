//! Client certificates: who they say a user is, whom they keep out, and authorities that change.

use std::{path::Path, sync::Arc, time::Duration};

use http_body_util::{BodyExt, Empty};
use hyper::{Request, body::Bytes, client::conn};
use hyper_util::rt::{TokioExecutor, TokioIo};
use kindsmith::{Server, server::TestServer};
use kindsmith_tests::Folder;
use rcgen::{CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair};
use tokio::net::TcpStream;
use tokio_rustls::{
    TlsConnector,
    rustls::{
        ClientConfig, RootCertStore,
        crypto::ring,
        pki_types::{CertificateDer, PrivateKeyDer, ServerName, pem::PemObject},
    },
};

/// An authority of clients.
struct Authority {
    pem: String,
    issuer: Issuer<'static, KeyPair>,
}

/// A client's certificate and key in DER.
type Identity = (CertificateDer<'static>, PrivateKeyDer<'static>);

impl Authority {
    fn new(name: &str) -> Self {
        let key = KeyPair::generate().expect("a key");
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
        params.distinguished_name.push(DnType::CommonName, name);
        let pem = params.self_signed(&key).expect("a certificate").pem();
        Self { pem, issuer: Issuer::new(params, key) }
    }

    fn issue(&self, user: &str, group: &str, change: impl FnOnce(&mut CertificateParams)) -> Identity {
        let key = KeyPair::generate().expect("a key");
        let mut params = CertificateParams::default();
        params.distinguished_name = rcgen::DistinguishedName::new();
        params.distinguished_name.push(DnType::CommonName, user);
        params.distinguished_name.push(DnType::OrganizationName, group);
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth];
        change(&mut params);
        let certificate = params.signed_by(&key, &self.issuer).expect("a certificate");
        (certificate.der().clone(), PrivateKeyDer::Pkcs8(key.serialize_der().into()))
    }

    fn client(&self, user: &str, group: &str) -> Identity {
        self.issue(user, group, |_| {})
    }
}

async fn start(file: &Path) -> TestServer {
    Server::test().tls().configure(|server| server.client_ca(file)).start().await
}

/// Lists ConfigMaps: the status and the message.
async fn list(
    server: &TestServer,
    identity: Option<&Identity>,
    token: Option<&str>,
    alpn: &[u8],
) -> Result<(u16, String), Box<dyn std::error::Error>> {
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_file(server.authority())?)?;
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()?
        .with_root_certificates(roots);
    let mut config = match identity {
        None => config.with_no_client_auth(),
        Some((certificate, key)) => config.with_client_auth_cert(vec![certificate.clone()], key.clone_key())?,
    };
    config.alpn_protocols = vec![alpn.to_vec()];
    let stream = TcpStream::connect(("127.0.0.1", server.port())).await?;
    let stream = TlsConnector::from(Arc::new(config)).connect(ServerName::try_from("localhost")?, stream).await?;
    let mut request =
        Request::get("https://localhost/api/v1/namespaces/default/configmaps").header("host", "localhost");
    if let Some(token) = token {
        request = request.header("authorization", format!("Bearer {token}"));
    }
    let request = request.body(Empty::<Bytes>::new())?;
    let answer = if alpn == b"h2" {
        let (mut sender, connection) = conn::http2::handshake(TokioExecutor::new(), TokioIo::new(stream)).await?;
        tokio::spawn(connection);
        sender.send_request(request).await?
    } else {
        let (mut sender, connection) = conn::http1::handshake(TokioIo::new(stream)).await?;
        tokio::spawn(connection);
        sender.send_request(request).await?
    };
    let status = answer.status().as_u16();
    Ok((status, String::from_utf8(answer.into_body().collect().await?.to_bytes().to_vec())?))
}

#[tokio::test]
async fn a_certificate_names_its_user_and_groups_over_both_versions_of_http() {
    let (folder, authority) = (Folder::new("embed"), Authority::new("clients"));
    let file = folder.path().join("clients.crt");
    std::fs::write(&file, &authority.pem).expect("the folder takes a file");
    let server = start(&file).await;
    let (ada, root) = (authority.client("ada", "editors"), authority.client("root", "system:masters"));
    for alpn in [b"http/1.1".as_slice(), b"h2"] {
        let (status, message) = list(&server, Some(&ada), None, alpn).await.expect("an answer");
        assert!(status == 403 && message.contains(r#"User \"ada\" cannot list"#), "{status} {message}");
        assert_eq!(list(&server, Some(&root), None, alpn).await.expect("an answer").0, 200);
        let (status, message) = list(&server, None, None, alpn).await.expect("certificates are optional");
        assert!(status == 403 && message.contains(r#"User \"system:anonymous\" cannot list"#), "{status} {message}");
        assert_eq!(
            list(&server, None, Some(server.token()), alpn).await.expect("an answer").0,
            200,
            "tokens still count"
        );
        let (status, message) = list(&server, Some(&ada), Some(server.token()), alpn).await.expect("an answer");
        assert!(status == 403 && message.contains("ada"), "the certificate counts before a token: {status} {message}");
    }
}

#[tokio::test]
async fn a_certificate_that_is_not_valid_cannot_connect() {
    let (folder, authority) = (Folder::new("embed"), Authority::new("clients"));
    let file = folder.path().join("clients.crt");
    std::fs::write(&file, &authority.pem).expect("the folder takes a file");
    let server = start(&file).await;
    let masters = "system:masters";
    let foreign = Authority::new("clients").client("root", masters);
    let expired = authority.issue("root", masters, |params| params.not_after = rcgen::date_time_ymd(2020, 1, 1));
    let of_a_server = authority.issue("root", masters, |params| {
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
    });
    // The key of another certificate.
    let stolen = (authority.client("root", masters).0, authority.client("root", masters).1);
    for (what, identity) in
        [("foreign", foreign), ("expired", expired), ("of a server", of_a_server), ("stolen", stolen)]
    {
        let answer = list(&server, Some(&identity), Some(server.token()), b"http/1.1").await;
        assert!(answer.is_err(), "{what}: {answer:?}");
    }
    assert_eq!(list(&server, Some(&authority.client("root", masters)), None, b"h2").await.expect("an answer").0, 200);
}

#[tokio::test]
async fn authorities_are_read_again_when_their_file_changes() {
    let folder = Folder::new("embed");
    let file = folder.path().join("clients.crt");
    let [first, second] = ["first", "second"].map(Authority::new);
    std::fs::write(&file, &first.pem).expect("the folder takes a file");
    let server = start(&file).await;
    let (old, new) = (first.client("old", "system:masters"), second.client("new", "system:masters"));
    assert_eq!(list(&server, Some(&old), None, b"h2").await.expect("an answer").0, 200);
    assert!(list(&server, Some(&new), None, b"h2").await.is_err());

    std::fs::write(&file, "nothing").expect("the folder takes a file");
    server.reload();
    tokio::time::sleep(Duration::from_millis(300)).await;
    assert_eq!(list(&server, Some(&old), None, b"h2").await.expect("an invalid file changes nothing").0, 200);

    std::fs::write(&file, &second.pem).expect("the folder takes a file");
    server.reload();
    let changed = async {
        while list(&server, Some(&new), None, b"h2").await.is_err() {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(20), changed).await.expect("the second authority, without a restart");
    assert!(list(&server, Some(&old), None, b"h2").await.is_err(), "the first one is gone");
}

#[tokio::test]
async fn a_file_without_authorities_and_plain_http_are_refused() {
    let folder = Folder::new("embed");
    let file = folder.path().join("clients.crt");
    for (text, why) in [(None, "No such file"), (Some("nothing"), "no certificate in PEM")] {
        if let Some(text) = text {
            std::fs::write(&file, text).expect("the folder takes a file");
        }
        let started = Server::test().tls().configure(|server| server.client_ca(&file)).try_start().await;
        let error = started.err().expect("it is refused").to_string();
        assert!(error.contains("clients.crt") && error.contains(why), "{error}");
    }
    let started = Server::test().configure(|server| server.client_ca(&file)).try_start().await;
    let error = started.err().expect("plain HTTP has no certificates").to_string();
    assert!(error.contains("client_ca() needs TLS"), "{error}");
}
