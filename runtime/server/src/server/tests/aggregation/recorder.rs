//! A server behind that records requests, streams watches, and echoes on upgraded connections.
use std::{
    convert::Infallible,
    sync::{Arc, Mutex},
};

use axum_core::body::Body;
use bytes::Bytes;
use http_body_util::BodyExt;
use hyper::{HeaderMap, Request, Response, StatusCode, body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::TokioIo;
use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use tokio::{
    net::TcpListener,
    sync::{mpsc, watch},
    task::JoinSet,
};
use tokio_rustls::{
    TlsAcceptor,
    rustls::{
        DigitallySignedStruct, DistinguishedName, Error, ServerConfig, SignatureScheme,
        client::danger::HandshakeSignatureValid,
        crypto::ring,
        pki_types::{CertificateDer, PrivateKeyDer, UnixTime},
        server::danger::{ClientCertVerified, ClientCertVerifier},
    },
};

use crate::auth::{Authenticate, Certificates, Credentials};

/// A recorded request.
#[derive(Clone, Default)]
pub(super) struct Recorded {
    /// The method and the target.
    pub line: String,
    pub headers: HeaderMap,
    pub body: String,
    /// The name in the certificate of the client.
    pub client: String,
}

impl Recorded {
    /// The values of a header.
    pub(super) fn values(&self, name: &str) -> Vec<&str> {
        self.headers.get_all(name).iter().map(|value| value.to_str().unwrap()).collect()
    }
}

#[derive(Default)]
struct Shared {
    last: Mutex<Recorded>,
    /// The last request that the server in front has sent on its own.
    last_check: Mutex<Recorded>,
    /// What the running watch sends.
    says: Mutex<Option<mpsc::Sender<String>>>,
    watches: watch::Sender<usize>,
}

pub(super) struct Recorder {
    pub port: u16,
    /// The certificate to trust in PEM.
    pub authority: String,
    shared: Arc<Shared>,
    _serving: JoinSet<()>,
}

impl Recorder {
    pub(super) async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let (authority, config) = tls();
        let (acceptor, shared) = (TlsAcceptor::from(Arc::new(config)), Arc::new(Shared::default()));
        let mut serving = JoinSet::new();
        let recorded = shared.clone();
        serving.spawn(async move {
            let mut connections = JoinSet::new();
            loop {
                let (socket, _) = listener.accept().await.unwrap();
                let (acceptor, shared) = (acceptor.clone(), recorded.clone());
                connections.spawn(async move {
                    let Ok(stream) = acceptor.accept(socket).await else { return };
                    let certificates = [stream.get_ref().1.peer_certificates().unwrap()[0].to_vec()];
                    let credentials = Credentials { certificates: &certificates, ..Credentials::NONE };
                    let client = Certificates.authenticate(&credentials).await.unwrap().unwrap().name.clone();
                    let serve = service_fn(move |request| {
                        let (shared, client) = (shared.clone(), client.clone());
                        async move { Ok::<_, Infallible>(answer(&shared, &client, request).await) }
                    });
                    let _ = http1::Builder::new().serve_connection(TokioIo::new(stream), serve).with_upgrades().await;
                });
            }
        });
        Self { port, authority, shared, _serving: serving }
    }

    /// The last request of the server in front itself.
    pub(super) fn last_check(&self) -> Recorded {
        self.shared.last_check.lock().unwrap().clone()
    }

    /// The last request of a user.
    pub(super) fn last(&self) -> Recorded {
        self.shared.last.lock().unwrap().clone()
    }

    /// Sends a piece to the watch.
    pub(super) async fn say(&self, piece: &str) {
        let sender = self.shared.says.lock().unwrap().clone().expect("a watch");
        sender.send(piece.to_owned()).await.unwrap();
    }

    /// Waits until no watch runs.
    pub(super) async fn watch_ended(&self) {
        self.shared.watches.subscribe().wait_for(|running| *running == 0).await.unwrap();
    }
}

async fn answer(shared: &Arc<Shared>, client: &str, mut request: Request<Incoming>) -> Response<Body> {
    let line = format!("{} {}", request.method(), request.uri());
    let headers = request.headers().clone();
    if headers.contains_key("upgrade") {
        *shared.last.lock().unwrap() =
            Recorded { line, headers: headers.clone(), client: client.to_owned(), ..Recorded::default() };
        let upgrade = hyper::upgrade::on(&mut request);
        tokio::spawn(async move {
            let (mut from, mut to) = tokio::io::split(TokioIo::new(upgrade.await.unwrap()));
            let _ = tokio::io::copy(&mut from, &mut to).await;
        });
        let answer = Response::builder().status(StatusCode::SWITCHING_PROTOCOLS).header("connection", "Upgrade");
        return answer.header("upgrade", headers["upgrade"].clone()).body(Body::empty()).unwrap();
    }
    let watches = request.uri().query().is_some_and(|query| query.contains("watch=true"));
    let body = String::from_utf8(request.into_body().collect().await.unwrap().to_bytes().to_vec()).unwrap();
    let is_check = headers.get("x-remote-user").is_some_and(|user| user == "system:kube-aggregator");
    let last = if is_check { &shared.last_check } else { &shared.last };
    *last.lock().unwrap() = Recorded { line, headers, body, client: client.to_owned() };
    let answer = Response::builder().header("x-behind", "yes").header("keep-alive", "timeout=5");
    if watches { answer.body(watch(shared)).unwrap() } else { answer.body(Body::from("{}")).unwrap() }
}

/// A body that says what the test wants, until its reader has gone.
fn watch(shared: &Arc<Shared>) -> Body {
    struct Watch(mpsc::Receiver<String>, watch::Sender<usize>);
    impl Drop for Watch {
        fn drop(&mut self) {
            self.1.send_modify(|running| *running -= 1);
        }
    }
    impl http_body::Body for Watch {
        type Data = Bytes;
        type Error = Infallible;

        fn poll_frame(
            mut self: std::pin::Pin<&mut Self>,
            cx: &mut std::task::Context<'_>,
        ) -> std::task::Poll<Option<Result<http_body::Frame<Bytes>, Infallible>>> {
            self.0.poll_recv(cx).map(|piece| piece.map(|piece| Ok(http_body::Frame::data(piece.into()))))
        }
    }
    let (sender, receiver) = mpsc::channel(4);
    sender.try_send("first\n".to_owned()).unwrap();
    *shared.says.lock().unwrap() = Some(sender);
    shared.watches.send_modify(|running| *running += 1);
    Body::new(Watch(receiver, shared.watches.clone()))
}

/// A certificate for the service `b` in `a`, and TLS that wants one of the client.
fn tls() -> (String, ServerConfig) {
    let key = KeyPair::generate().unwrap();
    let mut params = CertificateParams::default();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let authority = params.self_signed(&key).unwrap();
    let issuer = Issuer::new(params, key);
    let key = KeyPair::generate().unwrap();
    let certificate = CertificateParams::new(vec!["b.a.svc".to_owned()]).unwrap().signed_by(&key, &issuer).unwrap();
    let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()));
    let config = config.with_safe_default_protocol_versions().unwrap().with_client_cert_verifier(Arc::new(AnyClient));
    let config =
        config.with_single_cert(vec![certificate.der().clone()], PrivateKeyDer::Pkcs8(key.serialize_der().into()));
    (authority.pem(), config.unwrap())
}

/// Takes any certificate of a client, and wants one.
#[derive(Debug)]
struct AnyClient;

impl ClientCertVerifier for AnyClient {
    fn root_hint_subjects(&self) -> &[DistinguishedName] {
        &[]
    }

    fn verify_client_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: UnixTime,
    ) -> Result<ClientCertVerified, Error> {
        Ok(ClientCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = ring::default_provider().signature_verification_algorithms;
        tokio_rustls::rustls::crypto::verify_tls12_signature(message, certificate, signature, &algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = ring::default_provider().signature_verification_algorithms;
        tokio_rustls::rustls::crypto::verify_tls13_signature(message, certificate, signature, &algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        ring::default_provider().signature_verification_algorithms.supported_schemes()
    }
}
