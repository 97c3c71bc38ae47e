//! Requests over TLS with a client certificate and headers, for tests of who is believed.
use std::{path::PathBuf, pin::pin, sync::Arc};

use bytes::BytesMut;
use hyper::Request;
use rcgen::{CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair};
use serde_json::Value;
use tokio_rustls::{
    TlsConnector,
    rustls::{
        ClientConfig, RootCertStore,
        crypto::ring,
        pki_types::{CertificateDer, PrivateKeyDer, ServerName, pem::PemObject},
    },
};

use crate::{
    server::TestServer,
    webhook::{self, Whole},
};

/// A folder that is removed on drop.
pub(super) struct Folder(PathBuf);

impl Folder {
    pub(super) fn new() -> Self {
        let path = std::env::temp_dir().join(format!("kindsmith-server-{}", crate::meta::uid::uid().unwrap()));
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    pub(super) fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.0.join(name);
        std::fs::write(&path, text).unwrap();
        path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// An authority of clients.
pub(super) struct Authority {
    pub pem: String,
    issuer: Issuer<'static, KeyPair>,
}

/// A client's certificate and its key in DER.
pub(super) type Identity = (Vec<u8>, Vec<u8>);

impl Authority {
    pub(super) fn new(name: &str) -> Self {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
        params.distinguished_name.push(DnType::CommonName, name);
        let pem = params.self_signed(&key).unwrap().pem();
        Self { pem, issuer: Issuer::new(params, key) }
    }

    /// A client certificate of a user in a group.
    pub(super) fn client(&self, user: &str, group: &str) -> Identity {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::default();
        params.distinguished_name = rcgen::DistinguishedName::new();
        params.distinguished_name.push(DnType::CommonName, user);
        params.distinguished_name.push(DnType::OrganizationName, group);
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth];
        let certificate = params.signed_by(&key, &self.issuer).unwrap();
        (certificate.der().to_vec(), key.serialize_der())
    }
}

/// Sends a request to a server over TLS: the status and the body, or the reason why there is no answer.
pub(super) async fn send(
    server: &TestServer,
    identity: Option<&Identity>,
    headers: &[(&str, &str)],
    (method, path, body): (&str, &str, &Value),
) -> Result<(u16, Value), String> {
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_file(server.authority()).unwrap()).unwrap();
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots);
    let config = match identity {
        None => config.with_no_client_auth(),
        Some((certificate, key)) => {
            let chain = vec![CertificateDer::from(certificate.clone())];
            config.with_client_auth_cert(chain, PrivateKeyDer::Pkcs8(key.clone().into())).unwrap()
        }
    };
    let tls = TlsConnector::from(Arc::new(config));
    let address = format!("127.0.0.1:{}", server.port());
    let mut connection = webhook::connect(&address, &ServerName::try_from("localhost").unwrap(), &tls).await?;
    let mut request = Request::builder().method(method).uri(path).header("host", "localhost");
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let body = if body.is_null() {
        Whole(None)
    } else {
        request = request.header("content-type", "application/json");
        Whole(Some(body.to_string().into()))
    };
    let response = connection.send_request(request.body(body).unwrap()).await.map_err(|error| error.to_string())?;
    let (status, mut all) = (response.status().as_u16(), BytesMut::new());
    webhook::read(pin!(response.into_body()), &mut all, 1 << 20).await?;
    Ok((status, serde_json::from_slice(&all).unwrap_or_else(|_| String::from_utf8_lossy(&all).into_owned().into())))
}

/// The name and the groups under which a server knows a sender; or the status code of its refusal.
pub(super) async fn who_am_i(
    server: &TestServer,
    identity: Option<&Identity>,
    headers: &[(&str, &str)],
) -> Result<(String, Value), u16> {
    let review = serde_json::json!({"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"});
    let request = ("POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews", &review);
    let (status, body) = send(server, identity, headers, request).await.map_err(|_| 0_u16)?;
    if status != 201 {
        // The refusal names the user.
        let message = body["message"].as_str().unwrap_or_default();
        let name = message.split('"').nth(1).filter(|_| status == 403).ok_or(status)?;
        return Ok((name.to_owned(), Value::Null));
    }
    let user = &body["status"]["userInfo"];
    Ok((user["username"].as_str().unwrap_or_default().to_owned(), user.clone()))
}
