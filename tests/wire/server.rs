//! The server around the API: its TLS, the files of the first run, and errors with remedies.

use std::{os::unix::fs::PermissionsExt, path::Path, sync::Arc, time::Duration};

use http_body_util::{BodyExt, Empty, Full};
use hyper::{Request, body::Bytes, client::conn};
use hyper_util::rt::{TokioExecutor, TokioIo};
use kindsmith::{
    Server,
    auth::{Attributes, Authenticate, Authorize, Credentials, Decision, Identity, Soon, Unauthenticated, User},
    server::Builder,
};
use kindsmith_tests::{Client, Folder};
use serde_json::Value;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};
use tokio_rustls::{
    TlsConnector,
    client::TlsStream,
    rustls::{
        ClientConfig, RootCertStore,
        pki_types::{CertificateDer, ServerName, pem::PemObject},
    },
};

fn mode(path: &Path) -> u32 {
    std::fs::metadata(path).unwrap_or_else(|error| panic!("{}: {error}", path.display())).permissions().mode() & 0o777
}

/// Performs a TLS handshake with a server, trusting only one authority.
async fn shake_hands(port: u16, authority: &Path, name: &str, alpn: &[u8]) -> std::io::Result<TlsStream<TcpStream>> {
    let pem = std::fs::read(authority)?;
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_slice(&pem).expect("a certificate")).expect("an authority");
    let mut config =
        ClientConfig::builder_with_provider(Arc::new(tokio_rustls::rustls::crypto::ring::default_provider()))
            .with_safe_default_protocol_versions()
            .expect("versions that ring knows")
            .with_root_certificates(roots)
            .with_no_client_auth();
    config.alpn_protocols = vec![alpn.to_vec()];
    let stream = TcpStream::connect(("127.0.0.1", port)).await?;
    let name = ServerName::try_from(name.to_owned()).expect("a name");
    TlsConnector::from(Arc::new(config)).connect(name, stream).await
}

fn request(uri: &str, token: &str) -> Request<Empty<Bytes>> {
    let request = Request::get(uri).header("host", "x").header("authorization", format!("Bearer {token}"));
    request.body(Empty::new()).expect("a sound request")
}

#[tokio::test]
async fn tls_with_its_own_authority_works_for_every_loopback_name_and_http_version() {
    let server = Server::test().tls().configure(|server| server.host_name("books.example.com")).start().await;
    assert!(server.url().starts_with("https://127.0.0.1:"));
    for name in ["127.0.0.1", "localhost", "::1", "books.example.com"] {
        let stream = shake_hands(server.port(), server.authority(), name, b"http/1.1").await;
        let stream = stream.unwrap_or_else(|error| panic!("{name}: {error}"));
        let (mut sender, connection) = conn::http1::handshake(TokioIo::new(stream)).await.expect("HTTP/1");
        tokio::spawn(connection);
        let answer = sender.send_request(request("/api", server.token())).await.expect("an answer");
        assert_eq!(answer.status(), 200);
    }
    let other = shake_hands(server.port(), server.authority(), "other.example.com", b"h2").await;
    assert!(other.is_err(), "the certificate is for no other name");

    let stream = shake_hands(server.port(), server.authority(), "localhost", b"h2").await.expect("TLS");
    let (mut sender, connection) =
        conn::http2::handshake(TokioExecutor::new(), TokioIo::new(stream)).await.expect("HTTP/2");
    tokio::spawn(connection);
    let answer = sender.send_request(request("https://localhost/api", server.token())).await.expect("an answer");
    assert_eq!(answer.status(), 200);
    let body = answer.into_body().collect().await.expect("a body").to_bytes();
    assert!(body.starts_with(b"{\"kind\":\"APIVersions\""), "{body:?}");
}

#[tokio::test]
async fn http_without_tls_is_refused_in_words_that_its_client_understands() {
    let server = Server::test().tls().start().await;
    let body = "x".repeat(100_000);
    for head in ["GET /api HTTP/1.1\r\nhost: x\r\n\r\n", "DELETE /api HTTP/1.0\r\n\r\n", "OPTIONS * HTTP/1.1\r\n\r\n"] {
        let mut stream = TcpStream::connect(("127.0.0.1", server.port())).await.expect("a connection");
        // In two pieces, so that the first byte alone decides nothing.
        stream.write_all(&head.as_bytes()[..1]).await.expect("a byte");
        stream.flush().await.expect("a byte");
        stream.write_all(&head.as_bytes()[1..]).await.expect("the rest");
        // What the server does not read does not lose its answer.
        stream.write_all(body.as_bytes()).await.expect("more");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.expect("an answer");
        assert!(answer.starts_with("HTTP/1.0 400 Bad Request\r\n"), "{answer}");
        assert!(answer.ends_with("\r\n\r\nClient sent an HTTP request to an HTTPS server.\n"), "{answer}");
    }
    let stream = shake_hands(server.port(), server.authority(), "localhost", b"h2").await;
    assert!(stream.is_ok(), "clients with TLS are served");
}

#[tokio::test]
async fn the_authority_stays_when_the_server_starts_again() {
    let folder = Folder::new("server");
    let data = folder.path().join("data");
    let start = || Server::test().tls().data_dir(&data).start();
    let first = start().await;
    let (authority, token) = (std::fs::read(first.authority()).expect("a certificate"), first.token().to_owned());
    assert_eq!(mode(&data), 0o700);
    for secret in ["admin.token", "ca.key", "kubeconfig"] {
        assert_eq!(mode(&data.join(secret)), 0o600, "{secret}");
    }
    let kubeconfig = std::fs::read_to_string(first.kubeconfig()).expect("a kubeconfig");
    assert!(kubeconfig.contains(first.url()) && kubeconfig.contains(&token), "{kubeconfig}");
    first.stop();

    // A lost certificate is created again with its key, so that clients which trust the old one trust the new one.
    std::fs::write(folder.path().join("old.crt"), &authority).expect("the folder takes a file");
    std::fs::remove_file(data.join("ca.crt")).expect("the certificate is there");
    let second = start().await;
    assert_eq!(second.token(), token);
    let old = folder.path().join("old.crt");
    shake_hands(second.port(), &old, "localhost", b"h2").await.expect("the same authority as before");
    second.stop();

    std::fs::remove_file(data.join("ca.key")).expect("the key is there");
    let error = Server::test().tls().data_dir(&data).try_start().await.err().expect("no key").to_string();
    assert!(error.contains("ca.key is missing") && error.contains("new ones are made"), "{error}");
}

#[tokio::test]
async fn a_directory_serves_one_server_at_a_time() {
    let folder = Folder::new("server");
    let first = Server::test().data_dir(folder.path()).start().await;
    let error = Server::test().data_dir(folder.path()).try_start().await.err().expect("it is taken").to_string();
    assert!(error.contains(folder.text()) && error.contains("in use"), "{error}");
    first.stop();
    Server::test().data_dir(folder.path()).start().await;
}

#[tokio::test]
async fn a_port_serves_one_server_at_a_time() {
    let first = Server::test().start().await;
    let error = Server::test().port(first.port()).try_start().await.err().expect("it is taken").to_string();
    assert!(error.contains(&format!("127.0.0.1:{} is in use", first.port())), "{error}");
    let port = first.port();
    drop(first);
    Server::test().port(port).start().await;
}

#[tokio::test]
async fn a_server_needs_a_store_and_an_address() {
    let error = Server::builder().serve("127.0.0.1:0").await.expect_err("no store").to_string();
    assert!(error.contains("data_dir(") && error.contains("memory()"), "{error}");
    let error = Server::builder().memory().serve("no port").await.expect_err("no address").to_string();
    assert!(error.contains("`no port`") && error.contains("127.0.0.1:8080"), "{error}");
    let error = Server::builder().memory().http().serve("0.0.0.0:0").await.expect_err("not safe").to_string();
    assert!(error.contains("plain HTTP is refused"), "{error}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_silent_peer_is_disconnected() {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    let server = Server::test().start().await;
    let peers = [&b""[..], b"P", b"PRI * HTTP/2.0\r\n"].map(|beginning| {
        let address = server.url().trim_start_matches("http://").to_owned();
        tokio::spawn(async move {
            let mut stream = TcpStream::connect(address).await.expect("the server accepts connections");
            stream.write_all(beginning).await.expect("the server reads");
            let read = tokio::time::timeout(Duration::from_secs(20), stream.read(&mut [0; 64])).await;
            assert!(matches!(read, Ok(Ok(0) | Err(_))), "{beginning:?}: {read:?}");
        })
    });
    for peer in peers {
        peer.await.expect("neither silence nor half a preface holds a connection");
    }
    assert_eq!(Client::new(server.url(), server.token()).get("/readyz").await.expect("the server answers").status, 200);
}

/// Authenticates the value of a header, if it is not empty.
struct ByHeader;

impl Authenticate for ByHeader {
    fn authenticate<'a>(&'a self, credentials: &'a Credentials<'a>) -> Soon<'a, Identity> {
        let name = credentials.headers.header("x-name").filter(|name| !name.is_empty()).map(str::to_owned);
        Soon::later(async move { Ok(name.map(|name| Arc::new(User::new(name, &[])))) })
    }
}

/// Refuses an empty header.
struct Suspicious;

impl Authenticate for Suspicious {
    fn authenticate<'a>(&'a self, credentials: &'a Credentials<'a>) -> Soon<'a, Identity> {
        let forged = credentials.headers.header("x-name") == Some("");
        Soon::now(if forged { Err(Unauthenticated("an empty name".into())) } else { Ok(None) })
    }
}

/// Allows one user to read, and has no opinion on anything else.
struct Reads(&'static str);

impl Authorize for Reads {
    fn authorize<'a>(&'a self, attributes: &'a Attributes<'a>) -> Soon<'a, Decision> {
        let may = attributes.user.name == self.0 && ["get", "list"].contains(&attributes.verb);
        let decision = if may { Decision::ALLOW } else { Decision::NoOpinion(format!("{} may read", self.0)) };
        Soon::later(async move { decision })
    }
}

/// Forbids everything about secrets.
struct NoSecrets;

impl Authorize for NoSecrets {
    fn authorize<'a>(&'a self, attributes: &'a Attributes<'a>) -> Soon<'a, Decision> {
        let secret = attributes.resource == "secrets";
        Soon::now(if secret { Decision::Deny("secrets stay".into()) } else { Decision::NO_OPINION })
    }
}

#[tokio::test]
async fn authenticators_are_added_to_the_tokens_and_the_first_that_knows_the_user_decides() {
    let own = |server: Builder| server.authenticator(Suspicious).authenticator(ByHeader).authorizer(Reads("ada"));
    let server = Server::test().configure(own).start().await;
    for (token, name, status) in [
        (server.token(), None, 200),
        (server.token(), Some("ada"), 200),
        ("", Some("ada"), 200),
        ("wrong", Some("ada"), 200),
        ("", Some("bob"), 403),
        // Anonymous.
        ("", None, 403),
        ("wrong", None, 401),
        // Refused credentials do not make a request anonymous.
        ("", Some(""), 401),
    ] {
        let mut request = Request::get("/api/v1/namespaces/default").header("host", "x");
        if let Some(name) = name {
            request = request.header("x-name", name);
        }
        if !token.is_empty() {
            request = request.header("authorization", format!("Bearer {token}"));
        }
        let mut client = Client::new(server.url(), "");
        let answer = client.send(request.body(Full::default()).expect("a request")).await.expect("an answer");
        assert_eq!(answer.status, status, "{name:?} with the token {token:?}: {:?}", answer.body);
    }
    let mut client = Client::new(server.url(), "");
    let request = Request::get("/apis").header("host", "x").header("x-name", "bob").body(Full::default());
    let answer = client.send(request.expect("a request")).await.expect("an answer");
    assert_eq!(answer.status, 200, "whom an authenticator knows is authenticated, and may read discovery");
}

#[tokio::test]
async fn the_first_authorizer_that_allows_or_denies_decides_and_the_last_no_opinion_denies() {
    let own = |server: Builder| server.authorizer(NoSecrets).authorizer(Reads("ada")).authorizer(Reads("eve"));
    let server = Server::test().configure(own).start().await;
    let [ada, bob, eve] = ["ada", "bob", "eve"].map(|name| User::new(name, &["readers"]));
    let admin = User::new("root", &[User::MASTERS]);
    for (user, method, resource, status) in [
        (&ada, "GET", "configmaps", 200),
        (&eve, "GET", "configmaps", 200),
        (&bob, "GET", "configmaps", 403),
        (&ada, "DELETE", "configmaps", 403),
        (&ada, "GET", "secrets", 403),
        (&admin, "GET", "secrets", 200),
    ] {
        let path = format!("/api/v1/namespaces/default/{resource}");
        let (answered, body) = server.call_as(user, method, &path, Value::Null).await;
        assert_eq!(answered, status, "{} {method} {resource}: {body}", user.name);
        let reasons = match (status, resource) {
            (200, _) => continue,
            (_, "secrets") => "secrets stay",
            _ => "ada may read\neve may read",
        };
        let message = body["message"].as_str().expect("a message");
        assert!(message.contains(&format!("User \"{}\" cannot", user.name)), "{message}");
        assert!(message.ends_with(reasons), "{message}");
    }
}

/// A certificate of a new authority's, for one name: its chain's PEM, its key's, and the authority's.
fn certificate(name: &str) -> [String; 3] {
    let authority_key = rcgen::KeyPair::generate().expect("a key");
    let mut params = rcgen::CertificateParams::default();
    params.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
    params.distinguished_name.push(rcgen::DnType::CommonName, format!("the authority of {name}"));
    let authority = params.self_signed(&authority_key).expect("a certificate");
    let issuer = rcgen::Issuer::new(params, authority_key);
    let key = rcgen::KeyPair::generate().expect("a key");
    let params = rcgen::CertificateParams::new([name.to_owned()]).expect("a name");
    let certificate = params.signed_by(&key, &issuer).expect("a certificate");
    [certificate.pem(), key.serialize_pem(), authority.pem()]
}

#[tokio::test]
async fn a_certificate_of_the_users_is_served_and_read_again_when_it_changes() {
    let folder = Folder::new("server");
    let file = |name: &str| folder.path().join(name);
    let write = |name: &str, text: &str| std::fs::write(file(name), text).expect("the folder takes a file");
    let [first, second] = ["one.example.com", "two.example.com"].map(certificate);
    write("tls.crt", &first[0]);
    write("tls.key", &first[1]);
    write("one.ca", &first[2]);
    write("two.ca", &second[2]);
    let own = |server: Builder| server.certificate(file("tls.crt"), file("tls.key")).host_name("one.example.com");
    let server = Server::test().tls().configure(own).start().await;
    let port = server.url().strip_prefix("https://one.example.com:").expect("the certificate's name");
    let port: u16 = port.parse().expect("a port");
    shake_hands(port, &file("one.ca"), "one.example.com", b"h2").await.expect("the first certificate");
    let kubeconfig = std::fs::read_to_string(server.kubeconfig()).expect("a kubeconfig");
    assert!(kubeconfig.contains(server.url()) && !kubeconfig.contains("certificate-authority"), "{kubeconfig}");

    // A key that does not belong to the certificate changes nothing.
    write("tls.key", &second[1]);
    server.reload();
    tokio::time::sleep(Duration::from_millis(300)).await;
    shake_hands(port, &file("one.ca"), "one.example.com", b"h2").await.expect("the first certificate still");

    write("tls.crt", &second[0]);
    let changed = async {
        while shake_hands(port, &file("two.ca"), "two.example.com", b"h2").await.is_err() {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(20), changed).await.expect("the second certificate, without a restart");
    assert!(shake_hands(port, &file("one.ca"), "one.example.com", b"h2").await.is_err(), "the first one is gone");
}

#[tokio::test]
async fn a_certificate_that_cannot_be_used_is_named() {
    let folder = Folder::new("server");
    let (certificate_file, key_file) = (folder.path().join("tls.crt"), folder.path().join("tls.key"));
    let [one, two] = ["one.example.com", "two.example.com"].map(certificate);
    let refused = async |certificate: &str, key: &str| {
        std::fs::write(&certificate_file, certificate).expect("the folder takes a file");
        std::fs::write(&key_file, key).expect("the folder takes a file");
        let own = |server: Builder| server.certificate(&certificate_file, &key_file);
        Server::test().tls().configure(own).try_start().await.err().expect("it is refused").to_string()
    };
    let error = refused("nothing", &one[1]).await;
    assert!(error.contains("tls.crt") && error.contains("no certificate in PEM"), "{error}");
    assert!(refused(&one[0], "nothing").await.contains("tls.key"));
    let error = refused(&one[0], &two[1]).await;
    assert!(error.contains("tls.key") && error.contains("tls.crt"), "{error}");
}

#[tokio::test]
async fn the_ready_callback_runs_when_the_server_listens() {
    let (tell, told) = tokio::sync::oneshot::channel();
    let serving = tokio::spawn(
        Server::builder()
            .memory()
            .on_ready(move |ready| {
                let kubeconfig = ready.kubeconfig.as_ref().is_some_and(|path| path.exists());
                tell.send((ready.clone(), kubeconfig)).expect("the test waits");
            })
            .serve("localhost:0"),
    );
    let (ready, kubeconfig) = told.await.expect("the server says when it listens");
    assert!(kubeconfig, "a server in memory has a kubeconfig, too");
    assert!(ready.address.ip().is_loopback() && ready.address.port() != 0, "{ready:?}");
    TcpStream::connect(ready.address).await.expect("it listens");
    serving.abort();
    let _ = serving.await;
    assert!(!ready.kubeconfig.is_some_and(|path| path.exists()), "what a server in memory wrote goes with it");
}
