//! A whole server with an issuer on loopback: discovery and keys over HTTPS, a file that changes, and anonymous users by paths.
use std::{
    convert::Infallible,
    fs,
    path::PathBuf,
    sync::{Mutex, PoisonError},
};

use hyper::{Request, Response, body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::TokioIo;
use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use tokio::net::TcpListener;
use tokio_rustls::{
    TlsAcceptor,
    rustls::{
        ServerConfig,
        crypto::ring,
        pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer},
    },
};

use super::*;
use crate::{
    auth::{AnonymousAccess, jwt::SigningKey},
    server::{TestBuilder, TestServer},
};

/// An issuer that listens on loopback.
struct Provider {
    url: String,
    /// Its authority in PEM.
    authority: String,
    keys: Arc<Mutex<Vec<SigningKey>>>,
    folder: PathBuf,
}

fn key() -> SigningKey {
    SigningKey::from_pkcs8(&KeyPair::generate().unwrap().serialize_der()).unwrap()
}

impl Provider {
    async fn start(name: &str) -> Self {
        let authority_key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let authority = params.self_signed(&authority_key).unwrap();
        let own_key = KeyPair::generate().unwrap();
        let own = CertificateParams::new(["127.0.0.1".to_owned()]).unwrap();
        let own = own.signed_by(&own_key, &Issuer::from_params(&params, &authority_key)).unwrap();
        let own_key = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(own_key.serialize_der()));
        let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()));
        let config = config.with_safe_default_protocol_versions().unwrap().with_no_client_auth();
        let config = config.with_single_cert(vec![own.der().clone()], own_key).unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("https://{}", listener.local_addr().unwrap());
        let keys = Arc::new(Mutex::new(vec![key()]));
        tokio::spawn(serve(listener, TlsAcceptor::from(Arc::new(config)), url.clone(), Arc::clone(&keys)));
        let folder = std::env::temp_dir().join(format!("kindsmith-oidc-{name}-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        Self { url, authority: authority.pem(), keys, folder }
    }

    fn sign(&self, subject: &str) -> String {
        let expires = crate::meta::Time::now().parts().0 + 600;
        let claims = json!({"iss": self.url, "aud": "us", "sub": subject, "groups": ["staff"], "exp": expires});
        self.keys.lock().unwrap_or_else(PoisonError::into_inner)[0].sign(&claims)
    }

    /// Writes a file with this issuer, a prefix of groups, and what it says about anonymous users. Returns its path.
    fn write(&self, prefix: &str, anonymous: &Value) -> PathBuf {
        let path = self.folder.join("authentication.yaml");
        let file = json!({
            "apiVersion": "apiserver.config.k8s.io/v1",
            "kind": "AuthenticationConfiguration",
            "jwt": [{
                "issuer": {"url": self.url, "certificateAuthority": self.authority, "audiences": ["us"]},
                "claimMappings": {
                    "username": {"expression": "'acme:' + claims.sub"},
                    "groups": {"claim": "groups", "prefix": prefix},
                },
            }],
            "anonymous": anonymous,
        });
        fs::write(&path, file.to_string()).unwrap();
        path
    }
}

impl Drop for Provider {
    fn drop(&mut self) {
        drop(fs::remove_dir_all(&self.folder));
    }
}

async fn serve(listener: TcpListener, tls: TlsAcceptor, url: String, keys: Arc<Mutex<Vec<SigningKey>>>) {
    while let Ok((socket, _)) = listener.accept().await {
        let (tls, url, keys) = (tls.clone(), url.clone(), Arc::clone(&keys));
        tokio::spawn(async move {
            let Ok(stream) = tls.accept(socket).await else { return };
            let answer = service_fn(move |request: Request<Incoming>| {
                let document = if request.uri().path() == "/.well-known/openid-configuration" {
                    json!({"issuer": url, "jwks_uri": format!("{url}/keys")})
                } else {
                    let keys = keys.lock().unwrap_or_else(PoisonError::into_inner);
                    json!({"keys": keys.iter().map(|key| key.public.to_jwk()).collect::<Vec<_>>()})
                };
                async move { Ok::<_, Infallible>(Response::new(document.to_string())) }
            });
            drop(http1::Builder::new().serve_connection(TokioIo::new(stream), answer).await);
        });
    }
}

const WHO: &str = "/apis/authentication.k8s.io/v1/selfsubjectreviews";

/// The code of the answer, and user and groups, as a request with a token sees them.
async fn who(server: &TestServer, token: &str) -> (u16, String) {
    let answer = http::call(&server.service(), Caller::Token(token), "POST", WHO, &json!({})).await;
    let user = &answer.body["status"]["userInfo"];
    (answer.code, format!("{} {}", user["username"].as_str().unwrap_or_default(), user["groups"]))
}

/// The code of the answer to a request without credentials.
async fn anonymous(server: &TestServer, path: &str) -> u16 {
    use tower::ServiceExt;
    let request = http_body_util::Empty::<bytes::Bytes>::new();
    let request = hyper::Request::get(path).body(axum_core::body::Body::new(request)).unwrap();
    server.service().oneshot(request).await.unwrap().status().as_u16()
}

#[tokio::test]
async fn users_of_an_issuer_sign_in_and_the_file_may_change() {
    let provider = Provider::start("sign-in").await;
    let path = provider.write("o:", &Value::Null);
    let server = TestBuilder::new().configure(|builder| builder.authentication_config(&path)).start().await;
    let ann = provider.sign("ann");
    let expected = |prefix: &str| (201, format!(r#"acme:ann ["{prefix}staff","system:authenticated"]"#));
    assert_eq!(who(&server, &ann).await, expected("o:"));
    assert_eq!(who(&server, &format!("{ann}x")).await.0, 401);
    // Rotated keys.
    let old = std::mem::replace(&mut provider.keys.lock().unwrap()[0], key());
    assert_eq!(who(&server, &provider.sign("bob")).await.0, 201);
    let forged = old.sign(&json!({"iss": provider.url, "aud": "us", "sub": "root", "exp": 99_999_999_999_i64}));
    assert_eq!(who(&server, &forged).await.0, 401);
    // Another prefix, and a broken file that changes nothing.
    assert_eq!(anonymous(&server, "/version").await, 200);
    let ann = provider.sign("ann");
    provider.write("team:", &json!({"enabled": true, "conditions": [{"path": "/livez"}]}));
    server.reload();
    until("the file is read", async || who(&server, &ann).await == expected("team:")).await;
    assert_eq!([anonymous(&server, "/livez").await, anonymous(&server, "/version").await], [200, 401]);
    assert_eq!(anonymous(&server, "/livez/ping").await, 401);
    fs::write(&path, "kind: Nothing").unwrap();
    server.reload();
    assert_eq!(who(&server, &ann).await, expected("team:"));
    provider.write("team:", &json!({"enabled": false}));
    server.reload();
    until("nobody is anonymous", async || anonymous(&server, "/livez").await == 401).await;
    assert_eq!(who(&server, &ann).await, expected("team:"));
}

#[tokio::test]
async fn a_server_with_a_broken_file_or_two_settings_does_not_start() {
    let provider = Provider::start("broken").await;
    let path = provider.write("o:", &json!({"enabled": true}));
    let started = |set: bool| {
        let server = TestBuilder::new().configure(|builder| builder.authentication_config(&path));
        let server = if set { server.configure(|builder| builder.anonymous(AnonymousAccess::Refused)) } else { server };
        async { server.try_start().await.err().map(|error| error.to_string()).unwrap_or_default() }
    };
    assert_eq!(started(false).await, "");
    let error = started(true).await;
    assert!(error.contains("authentication.yaml cannot be used: anonymous: Forbidden"), "{error}");
    fs::write(&path, "kind: Nothing").unwrap();
    let error = started(false).await;
    assert!(error.contains("authentication.yaml cannot be used: apiVersion: Required value"), "{error}");
    fs::remove_file(&path).unwrap();
    assert!(started(false).await.contains("authentication.yaml cannot be used: "));
}

#[tokio::test]
async fn an_issuer_with_the_certificate_of_another_authority_is_not_trusted() {
    let (mut provider, other) = (Provider::start("tls").await, Provider::start("other").await);
    provider.authority.clone_from(&other.authority);
    let path = provider.write("o:", &Value::Null);
    let server = TestBuilder::new().configure(|builder| builder.authentication_config(&path)).start().await;
    assert_eq!(who(&server, &provider.sign("ann")).await.0, 401);
}

#[tokio::test]
async fn the_program_says_who_may_be_anonymous() {
    let paths = AnonymousAccess::Paths([String::from("/readyz")].into());
    let server = TestBuilder::new().configure(|builder| builder.anonymous(paths)).start().await;
    assert_eq!([anonymous(&server, "/readyz").await, anonymous(&server, "/livez").await], [200, 401]);
}
