//! A conversion webhook: a server with a certificate of its own that converts crates between `size: "3x4"` (v1) and
//! `width: 3, height: 4` (v2), and may misbehave.
use std::{
    convert::Infallible,
    net::SocketAddr,
    sync::{Arc, Mutex},
    time::Duration,
};

use base64::{Engine, engine::general_purpose::STANDARD};
use http_body_util::{BodyExt, Full};
use hyper::{
    Request, Response,
    body::{Bytes, Incoming},
    server::conn::http1,
    service::service_fn,
};
use hyper_util::rt::TokioIo;
use rcgen::{CertificateParams, IsCa, KeyPair};
use serde_json::{Value, json};
use tokio::{
    net::TcpListener,
    task::{JoinHandle, JoinSet},
};
use tokio_rustls::{
    TlsAcceptor,
    rustls::{ServerConfig, crypto::ring, pki_types::PrivateKeyDer},
};

/// How the webhook answers.
#[derive(Clone, Debug)]
pub(crate) enum Manner {
    Well,
    /// With these members of the response replaced.
    Response(Value),
    /// With these members of the metadata of each object replaced.
    Metadata(Value),
    /// It refuses objects with this name.
    Refusing(&'static str),
    /// As version v3.
    Elsewhere,
    Slow(Duration),
    /// With another page.
    Redirect,
}

#[derive(Default)]
struct Seen {
    manner: Option<Manner>,
    /// The requested versions and the names of the objects, one a request.
    calls: Vec<(String, Vec<String>)>,
    connections: usize,
}

/// The webhook.
pub(crate) struct Converter {
    address: SocketAddr,
    ca_bundle: String,
    tls: TlsAcceptor,
    seen: Arc<Mutex<Seen>>,
    task: Option<JoinHandle<()>>,
}

impl Converter {
    pub(crate) async fn start() -> Self {
        Self::named("127.0.0.1").await
    }

    /// With a certificate for a name.
    pub(crate) async fn named(name: &str) -> Self {
        let key = KeyPair::generate().expect("a key");
        let mut params = CertificateParams::new([name.to_owned()]).expect("a name");
        params.is_ca = IsCa::ExplicitNoCa;
        let certificate = params.self_signed(&key).expect("a certificate");
        let private = PrivateKeyDer::Pkcs8(key.serialize_der().into());
        let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .expect("versions")
            .with_no_client_auth()
            .with_single_cert(vec![certificate.der().clone()], private)
            .expect("a certificate and its key");
        let mut converter = Self {
            address: ([127, 0, 0, 1], 0).into(),
            ca_bundle: STANDARD.encode(certificate.pem()),
            tls: TlsAcceptor::from(Arc::new(config)),
            seen: Arc::default(),
            task: None,
        };
        converter.rise().await;
        converter
    }

    /// Listens, at the address of before.
    pub(crate) async fn rise(&mut self) {
        let listener = TcpListener::bind(self.address).await.expect("a listener");
        self.address = listener.local_addr().expect("an address");
        let (tls, seen) = (self.tls.clone(), self.seen.clone());
        self.task = Some(tokio::spawn(async move {
            let mut connections = JoinSet::new();
            while let Ok((socket, _)) = listener.accept().await {
                let (tls, seen) = (tls.clone(), seen.clone());
                seen.lock().expect("no panic").connections += 1;
                connections.spawn(async move {
                    let Ok(stream) = tls.accept(socket).await else { return };
                    let service = service_fn(move |request| answer(seen.clone(), request));
                    drop(http1::Builder::new().serve_connection(TokioIo::new(stream), service).await);
                });
            }
        }));
    }

    /// Stops listening, and closes all connections.
    pub(crate) async fn fall(&mut self) {
        if let Some(task) = self.task.take() {
            task.abort();
            drop(task.await);
        }
    }

    pub(crate) fn behave(&self, manner: Manner) {
        self.seen.lock().expect("no panic").manner = Some(manner);
    }

    pub(crate) fn port(&self) -> u16 {
        self.address.port()
    }

    /// The client configuration of a definition.
    pub(crate) fn client_config(&self) -> Value {
        json!({"url": format!("https://{}/convert", self.address), "caBundle": self.ca_bundle})
    }

    pub(crate) fn ca_bundle(&self) -> &str {
        &self.ca_bundle
    }

    /// The requests since the last call of this.
    pub(crate) fn calls(&self) -> Vec<(String, Vec<String>)> {
        std::mem::take(&mut self.seen.lock().expect("no panic").calls)
    }

    pub(crate) fn connections(&self) -> usize {
        self.seen.lock().expect("no panic").connections
    }
}

async fn answer(seen: Arc<Mutex<Seen>>, request: Request<Incoming>) -> Result<Response<Full<Bytes>>, Infallible> {
    assert_eq!((request.method().as_str(), request.uri().to_string()), ("POST", "/convert?timeout=30s".to_owned()));
    let body = request.into_body().collect().await.expect("a body").to_bytes();
    let review: Value = serde_json::from_slice(&body).expect("JSON");
    assert_eq!(
        (&review["apiVersion"], &review["kind"]),
        (&json!("apiextensions.k8s.io/v1"), &json!("ConversionReview"))
    );
    let desired = review["request"]["desiredAPIVersion"].as_str().expect("a version").to_owned();
    let objects = review["request"]["objects"].as_array().expect("objects").clone();
    let name = |object: &Value| object["metadata"]["name"].as_str().unwrap_or_default().to_owned();
    let manner = {
        let mut seen = seen.lock().expect("no panic");
        seen.calls.push((desired.clone(), objects.iter().map(name).collect()));
        seen.manner.clone().unwrap_or(Manner::Well)
    };
    let refused = matches!(&manner, Manner::Refusing(bad) if objects.iter().any(|object| name(object) == *bad));
    let mut converted: Vec<Value> = objects.into_iter().map(|object| convert(object, &desired)).collect();
    let mut response = json!({"uid": review["request"]["uid"], "result": {"status": "Success"}});
    match manner {
        Manner::Slow(time) => tokio::time::sleep(time).await,
        Manner::Redirect => {
            let redirect = Response::builder().status(302).header("location", "/convert?timeout=30s");
            return Ok(redirect.body(Full::default()).expect("a response"));
        }
        Manner::Metadata(members) => {
            for object in &mut converted {
                put(&mut object["metadata"], &members);
            }
        }
        Manner::Elsewhere => converted.iter_mut().for_each(|object| object["apiVersion"] = json!("hw.example.com/v3")),
        _ => {}
    }
    if refused {
        response["result"] = json!({"status": "Failure", "message": "no form for it"});
    } else {
        response["convertedObjects"] = json!(converted);
    }
    if let Some(Manner::Response(members)) = &seen.lock().expect("no panic").manner {
        put(&mut response, members);
    }
    let review = json!({"apiVersion": review["apiVersion"], "kind": review["kind"], "response": response});
    Ok(Response::new(Full::from(review.to_string())))
}

fn put(object: &mut Value, members: &Value) {
    for (name, value) in members.as_object().expect("members") {
        object[name] = value.clone();
    }
}

fn convert(mut object: Value, desired: &str) -> Value {
    assert_ne!(object["apiVersion"], desired, "what has the version already is not sent");
    object["apiVersion"] = json!(desired);
    let spec = object["spec"].as_object_mut().expect("a spec");
    if desired.ends_with("/v2") {
        let size = spec.remove("size").unwrap_or_default();
        let (width, height) = size.as_str().and_then(|size| size.split_once('x')).unwrap_or(("0", "0"));
        spec.insert("width".to_owned(), json!(width.parse::<i64>().unwrap_or(-1)));
        spec.insert("height".to_owned(), json!(height.parse::<i64>().unwrap_or(-1)));
    } else {
        let (width, height) = (spec.remove("width").unwrap_or(json!(0)), spec.remove("height").unwrap_or(json!(0)));
        spec.insert("size".to_owned(), json!(format!("{width}x{height}")));
    }
    object
}
