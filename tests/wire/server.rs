//! The server around the API: its TLS, the files of the first run, and errors with remedies.

use std::{os::unix::fs::PermissionsExt, path::Path, sync::Arc, time::Duration};

use http_body_util::{BodyExt, Empty, Full};
use hyper::{Request, body::Bytes, client::conn};
use hyper_util::rt::{TokioExecutor, TokioIo};
use kindsmith::{
    Server,
    auth::{Attributes, Authenticate, Authorize, Credentials, Decision, Soon, User, authenticate::Identity},
    server::Builder,
};
use kindsmith_tests::{Client, Folder};
use tokio::net::TcpStream;
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

/// Authenticates the value of a header.
struct ByHeader;

impl Authenticate for ByHeader {
    fn authenticate<'a>(&'a self, credentials: &'a Credentials<'a>) -> Soon<'a, Identity> {
        let name = credentials.headers.header("x-name").map(str::to_owned);
        Soon::later(async move { Ok(name.map(|name| Arc::new(User { name, ..User::default() }))) })
    }
}

/// Allows only Ada, and only reads.
struct OnlyAdaReads;

impl Authorize for OnlyAdaReads {
    fn authorize<'a>(&'a self, attributes: &'a Attributes<'a>) -> Soon<'a, Decision> {
        let may = attributes.user.name == "ada" && ["get", "list"].contains(&attributes.verb);
        Soon::now(if may { Decision::Allow } else { Decision::Deny("reading is for Ada".into()) })
    }
}

#[tokio::test]
async fn the_users_own_authenticator_and_authorizer_are_asked_on_every_request() {
    let own = |server: Builder| server.authenticator(ByHeader).authorizer(OnlyAdaReads);
    let server = Server::test().configure(own).start().await;
    assert_eq!(server.token(), "", "no admin is made beside the test's own users");
    let mut client = Client::new(server.url(), "");
    for (name, method, status) in [("ada", "GET", 200), ("ada", "DELETE", 403), ("bob", "GET", 403), ("", "GET", 401)] {
        let mut request = Request::builder().method(method).uri("/api/v1/namespaces/default").header("host", "x");
        if !name.is_empty() {
            request = request.header("x-name", name);
        }
        let answer = client.send(request.body(Full::default()).expect("a request")).await.expect("an answer");
        assert_eq!(answer.status, status, "{method} by {name:?}: {:?}", answer.body);
        if status == 403 {
            let message = answer.json()["message"].as_str().expect("a message").to_owned();
            assert!(message.contains(name) && message.ends_with("reading is for Ada"), "{message}");
        }
    }
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
