//! Tests of calls and reviews against a webhook over loopback: caches, retries, failures, and what is sent.
use std::{
    collections::VecDeque,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use base64::{Engine, engine::general_purpose::STANDARD};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpListener,
};
use tokio_rustls::{
    TlsAcceptor,
    rustls::{
        ServerConfig,
        crypto::ring,
        pki_types::{CertificateDer, PrivateKeyDer},
    },
};

use super::{
    access_review::{self, AccessReviews, OnFailure, Version},
    client::{Client, Deadlines},
    conditions::Conditions,
    kubeconfig::Endpoint,
    token_review::{self, TokenReviews},
};
use crate::{
    auth::{Attributes, Authenticate, Authorize, Credentials, Decision, User},
    meta::selector::{Fields, Labels},
};

/// A webhook that gives answers in their order, and the last one again and again.
struct Webhook {
    kubeconfig: tempfile::Folder,
    received: Arc<Mutex<Vec<(String, Value)>>>,
    connections: Arc<AtomicUsize>,
}

/// The folder of a kubeconfig.
mod tempfile {
    use std::{fs, path::PathBuf};

    pub(super) struct Folder(pub(super) PathBuf);

    impl Folder {
        pub(super) fn new() -> Self {
            let path = std::env::temp_dir().join(format!("kindsmith-upstream-{}", crate::meta::uid::uid().unwrap()));
            fs::create_dir_all(&path).unwrap();
            Self(path)
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }
}

impl Webhook {
    async fn start(answers: &[(u16, Value)]) -> Self {
        let key = rcgen::KeyPair::generate().unwrap();
        let params = rcgen::CertificateParams::new(["127.0.0.1".to_owned()]).unwrap();
        let certificate = params.self_signed(&key).unwrap();
        let chain = vec![CertificateDer::from(certificate.der().to_vec())];
        let private = PrivateKeyDer::Pkcs8(key.serialize_der().into());
        let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(chain, private)
            .unwrap();
        let tls = TlsAcceptor::from(Arc::new(config));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (received, connections) = (Arc::<Mutex<Vec<_>>>::default(), Arc::new(AtomicUsize::new(0)));
        let answers = Arc::new(Mutex::new(VecDeque::from(answers.to_vec())));
        let (log, count) = (received.clone(), connections.clone());
        tokio::spawn(async move {
            while let Ok((socket, _)) = listener.accept().await {
                count.fetch_add(1, Ordering::SeqCst);
                let (tls, log, answers) = (tls.clone(), log.clone(), answers.clone());
                tokio::spawn(async move {
                    let Ok(mut stream) = tls.accept(socket).await else { return };
                    let mut bytes = Vec::new();
                    while let Some((head, body)) = receive(&mut stream, &mut bytes).await {
                        log.lock().unwrap().push((head, body));
                        let (code, body) = {
                            let mut answers = answers.lock().unwrap();
                            if answers.len() > 1 { answers.pop_front().unwrap() } else { answers[0].clone() }
                        };
                        let body = body.to_string();
                        let answer = format!("HTTP/1.1 {code} X\r\ncontent-length: {}\r\n\r\n{body}", body.len());
                        stream.write_all(answer.as_bytes()).await.unwrap();
                    }
                });
            }
        });
        let kubeconfig = tempfile::Folder::new();
        let text = format!(
            "current-context: c\ncontexts: [{{name: c, context: {{cluster: k, user: u}}}}]\nusers: [{{name: u, user: {{token: own}}}}]\n\
             clusters: [{{name: k, cluster: {{server: 'https://{address}/review', certificate-authority-data: {}}}}}]\n",
            STANDARD.encode(certificate.pem())
        );
        std::fs::write(kubeconfig.0.join("config"), text).unwrap();
        Self { kubeconfig, received, connections }
    }

    fn client(&self) -> Arc<Client> {
        let endpoint = Endpoint::from_file(&self.kubeconfig.0.join("config")).unwrap();
        Arc::new(Client::new(endpoint).unwrap())
    }

    fn tokens(&self) -> TokenReviews {
        let settings = token_review::Settings {
            path: "",
            known_for: Duration::from_mins(2),
            unknown_for: Duration::from_secs(30),
            deadlines: DEADLINES,
            names_audiences: true,
        };
        TokenReviews::new(self.client(), settings).unwrap()
    }

    fn access(&self, on_failure: OnFailure, conditions: Conditions) -> AccessReviews {
        let settings = access_review::Settings {
            name: "test".to_owned(),
            path: "",
            version: Version::V1,
            allowed_for: Duration::from_mins(5),
            refused_for: Duration::ZERO,
            deadlines: DEADLINES,
            on_failure,
        };
        AccessReviews::new(self.client(), settings, conditions)
    }

    fn count(&self) -> usize {
        self.received.lock().unwrap().len()
    }
}

const DEADLINES: Deadlines = Deadlines { attempt: Duration::from_secs(5), whole: Duration::from_secs(20) };

/// A request: its head in lower case, and its body.
async fn receive(stream: &mut (impl AsyncReadExt + Unpin), bytes: &mut Vec<u8>) -> Option<(String, Value)> {
    loop {
        if let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") {
            let head = String::from_utf8_lossy(&bytes[..end]).to_lowercase();
            let length =
                head.lines().find_map(|line| line.strip_prefix("content-length: ")).map_or(0, |n| n.parse().unwrap());
            if bytes.len() >= end + 4 + length {
                let body = serde_json::from_slice(&bytes[end + 4..end + 4 + length]).unwrap_or(Value::Null);
                bytes.drain(..end + 4 + length);
                return Some((head, body));
            }
        }
        let mut more = [0; 4096];
        match stream.read(&mut more).await {
            Ok(0) | Err(_) => return None,
            Ok(read) => bytes.extend_from_slice(&more[..read]),
        }
    }
}

fn token_review(status: &Value) -> Value {
    json!({"apiVersion": "authentication.k8s.io/v1", "kind": "TokenReview", "status": status})
}

fn access_review(status: &Value) -> Value {
    json!({"apiVersion": "authorization.k8s.io/v1", "kind": "SubjectAccessReview", "status": status})
}

#[tokio::test]
async fn a_token_is_reviewed_once_for_all_requests() {
    let user = json!({"username": "ada", "uid": "7", "groups": ["a"], "extra": {"scope": ["x", "y"]}});
    let webhook = Webhook::start(&[(200, token_review(&json!({"authenticated": true, "user": user})))]).await;
    let tokens = Arc::new(webhook.tokens());
    let many: Vec<_> = (0..20)
        .map(|_| {
            let tokens = tokens.clone();
            tokio::spawn(async move { tokens.authenticate(&Credentials::token("secret")).await })
        })
        .collect();
    for one in many {
        let user = one.await.unwrap().unwrap().unwrap();
        assert_eq!(
            (&*user.name, &*user.uid, &user.groups[..]),
            ("ada", "7", &["a", "system:authenticated"].map(str::to_owned)[..])
        );
        assert_eq!(user.extra["scope"], ["x", "y"]);
    }
    assert_eq!(webhook.count(), 1);
    tokens.authenticate(&Credentials::token("other")).await.unwrap().unwrap();
    let other = Credentials { audiences: &["elsewhere"], ..Credentials::token("secret") };
    assert_eq!(tokens.authenticate(&other).await, Ok(None), "the webhook's own audience is not another's");
    assert_eq!(tokens.authenticate(&Credentials::NONE).await, Ok(None));
    let received = webhook.received.lock().unwrap();
    let (head, body) = &received[0];
    assert!(head.starts_with("post /review http/1.1") && head.contains("authorization: bearer own"), "{head}");
    assert_eq!(body["spec"], json!({"token": "secret", "audiences": ["https://kubernetes.default.svc"]}));
    assert_eq!(received[2].1["spec"]["audiences"], json!(["elsewhere"]));
    assert_eq!((received.len(), webhook.connections.load(Ordering::SeqCst)), (3, 1), "connections are used again");
}

#[tokio::test]
async fn a_token_without_a_user_is_kept_and_an_error_is_not() {
    let unknown = token_review(&json!({"authenticated": false}));
    let error = token_review(&json!({"authenticated": false, "error": "the token secret is bad"}));
    let known = token_review(&json!({"authenticated": true, "user": {"username": "ada"}}));
    let webhook = Webhook::start(&[(200, unknown), (200, error), (403, json!("secret?")), (200, known)]).await;
    let tokens = webhook.tokens();
    for _ in 0..3 {
        assert_eq!(tokens.authenticate(&Credentials::token("first")).await, Ok(None));
    }
    let credentials = Credentials::token("secret");
    let refused = tokens.authenticate(&credentials).await.unwrap_err().0;
    assert_eq!(refused, "the token (the token)");
    let refused = tokens.authenticate(&credentials).await.unwrap_err().0;
    assert!(refused.contains("the answer is 403") && !refused.contains("secret"), "{refused}");
    assert_eq!(tokens.authenticate(&credentials).await.unwrap().unwrap().name, "ada");
    assert_eq!(webhook.count(), 4);
}

#[tokio::test]
async fn what_failed_for_a_while_is_tried_again_and_a_refusal_is_not() {
    let known = token_review(&json!({"authenticated": true, "user": {"username": "ada"}}));
    let webhook = Webhook::start(&[(500, json!({})), (429, json!({})), (200, known)]).await;
    let user = webhook.tokens().authenticate(&Credentials::token("secret")).await.unwrap().unwrap();
    assert_eq!((&*user.name, webhook.count()), ("ada", 3));
    let webhook = Webhook::start(&[(404, json!({"kind": "Status", "message": "no such path"}))]).await;
    let refused = webhook.tokens().authenticate(&Credentials::token("secret")).await.unwrap_err().0;
    assert!(refused.ends_with("the answer is 404 Not Found: no such path"), "{refused}");
    assert_eq!(webhook.count(), 1);
}

fn attributes<'a>(user: &'a User, fields: &'a Fields, labels: &'a Labels) -> Attributes<'a> {
    Attributes {
        group: "apps",
        version: "v1",
        resource: "deployments",
        subresource: "status",
        namespace: "default",
        field_selector: Some(fields),
        label_selector: Some(labels),
        ..Attributes::new(user, "list", "/apis/apps/v1/namespaces/default/deployments")
    }
}

#[tokio::test]
async fn access_is_reviewed_with_selectors_and_what_is_allowed_is_kept() {
    let answers = [
        (200, access_review(&json!({"allowed": true, "reason": "why not"}))),
        (200, access_review(&json!({"denied": true}))),
    ];
    let webhook = Webhook::start(&answers).await;
    let access = webhook.access(OnFailure::NoOpinion, Conditions::default());
    let (user, fields) = (User::new("ada", &["a"]), Fields::parse("metadata.name=x,spec.a!=b").unwrap());
    let labels = Labels::parse("app in (a,b),!old,n>3").unwrap();
    let attributes = attributes(&user, &fields, &labels);
    for _ in 0..3 {
        assert_eq!(access.authorize(&attributes).await, Decision::Allow("why not".into()));
    }
    assert_eq!(webhook.count(), 1);
    let expected = json!({
        "user": "ada",
        "groups": ["a", "system:authenticated"],
        "resourceAttributes": {
            "verb": "list", "group": "apps", "version": "v1", "resource": "deployments", "subresource": "status",
            "namespace": "default",
            "fieldSelector": {"requirements": [
                {"key": "metadata.name", "operator": "In", "values": ["x"]},
                {"key": "spec.a", "operator": "NotIn", "values": ["b"]},
            ]},
            "labelSelector": {"requirements": [
                {"key": "app", "operator": "In", "values": ["a", "b"]},
                {"key": "old", "operator": "DoesNotExist"},
            ]},
        },
    });
    assert_eq!(webhook.received.lock().unwrap()[0].1["spec"], expected);
    let path = Attributes::new(&user, "get", "/metrics");
    for _ in 0..2 {
        assert_eq!(access.authorize(&path).await, Decision::Deny(String::new()));
    }
    assert_eq!(webhook.count(), 3, "refusals are kept for no time here");
    assert_eq!(
        webhook.received.lock().unwrap()[1].1["spec"]["nonResourceAttributes"],
        json!({"path": "/metrics", "verb": "get"})
    );
    let long = "x".repeat(10_000);
    let long = Attributes::new(&user, "get", &long);
    access.authorize(&long).await;
    assert_eq!(webhook.count(), 4);
}

#[tokio::test]
async fn a_long_question_is_not_kept() {
    let webhook = Webhook::start(&[(200, access_review(&json!({"allowed": true})))]).await;
    let access = webhook.access(OnFailure::NoOpinion, Conditions::default());
    let (user, path) = (User::new("ada", &[]), "x".repeat(10_000));
    for _ in 0..2 {
        assert_eq!(access.authorize(&Attributes::new(&user, "get", &path)).await, Decision::ALLOW);
    }
    assert_eq!(webhook.count(), 2);
}

#[tokio::test]
async fn failures_and_conditions_decide_as_they_are_told_to() {
    let answers = [
        (400, json!({})),
        (200, json!({"kind": "SubjectAccessReview"})),
        (200, access_review(&json!({"allowed": true}))),
    ];
    let webhook = Webhook::start(&answers).await;
    let mut conditions = Conditions::default();
    conditions.add("request.nonResourceAttributes.path != '/healthz'").unwrap();
    let access = webhook.access(OnFailure::Deny, conditions);
    let user = User::new("ada", &[]);
    let failed = Decision::Deny("the authorization webhook \"test\" failed".to_owned());
    for _ in 0..2 {
        assert_eq!(access.authorize(&Attributes::new(&user, "get", "/x")).await, failed);
    }
    assert_eq!(access.authorize(&Attributes::new(&user, "get", "/x")).await, Decision::ALLOW);
    assert_eq!(access.authorize(&Attributes::new(&user, "get", "/healthz")).await, Decision::NO_OPINION);
    let of_resource = Attributes { resource: "pods", ..Attributes::new(&user, "get", "/api") };
    assert_eq!(access.authorize(&of_resource).await, failed, "the condition fails");
    assert_eq!(webhook.count(), 3);
}

#[tokio::test]
async fn another_certificate_is_refused_and_a_webhook_that_is_down_has_no_opinion() {
    let webhook = Webhook::start(&[(200, access_review(&json!({"allowed": true})))]).await;
    let other = Webhook::start(&[(200, json!({}))]).await;
    let read = |webhook: &Webhook| Endpoint::from_file(&webhook.kubeconfig.0.join("config")).unwrap();
    let mut endpoint = read(&webhook);
    endpoint.authorities = read(&other).authorities;
    let client = Client::new(endpoint.clone()).unwrap();
    let error = client.get("/x", DEADLINES).await.unwrap_err().to_string();
    assert!(error.contains("tls: "), "{error}");
    endpoint.authorities = None;
    endpoint.insecure = true;
    Client::new(endpoint.clone()).unwrap().get("/x", DEADLINES).await.unwrap();
    assert!(webhook.received.lock().unwrap()[0].0.starts_with("get /review/x "), "paths are below the URL");
    endpoint.url = "https://127.0.0.1:1".to_owned();
    let error = Client::new(endpoint).unwrap().get("/x", DEADLINES).await.unwrap_err().to_string();
    assert!(error.starts_with("GET https://127.0.0.1:1/x: dial tcp"), "{error}");
}
