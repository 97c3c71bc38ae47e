//! Certificates and users.

use std::fs;

use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use tokio_rustls::rustls::{
    ServerConfig, ServerConnection,
    crypto::ring,
    pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject},
};

use super::*;

/// An authority for tests.
struct Authority {
    pem: String,
    issuer: Issuer<'static, KeyPair>,
}

impl Authority {
    fn new() -> Self {
        let key = KeyPair::generate().expect("a key");
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let pem = params.self_signed(&key).expect("a certificate").pem();
        Self { pem, issuer: Issuer::new(params, key) }
    }

    /// A certificate and its key, as PEM.
    fn issue(&self, names: &[&str]) -> (String, String) {
        let key = KeyPair::generate().expect("a key");
        let names: Vec<_> = names.iter().map(|&name| name.to_owned()).collect();
        let params = CertificateParams::new(names).expect("names");
        (params.signed_by(&key, &self.issuer).expect("a certificate").pem(), key.serialize_pem())
    }
}

/// A temporary directory, removed on drop.
struct Folder(std::path::PathBuf);

impl Folder {
    fn new() -> Self {
        let folder = std::env::temp_dir().join(format!("kindsmith-etcd-tls-{}", std::process::id()));
        fs::create_dir_all(&folder).expect("a temporary directory");
        Self(folder)
    }

    fn file(&self, name: &str, content: &str) -> String {
        let path = self.0.join(name);
        fs::write(&path, content).expect("a file");
        path.display().to_string()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[test]
fn certificates_are_checked_on_both_sides() {
    let (folder, ours, other) = (Folder::new(), Authority::new(), Authority::new());
    let (certificate, key) = ours.issue(&["127.0.0.1"]);
    let files = [("ca", &ours.pem), ("certificate", &certificate), ("key", &key)];
    let [ca, certificate, key] = files.map(|(name, content)| folder.file(name, content));
    let arguments = ["--client-cert-auth", "--trusted-ca-file", &ca, "--cert-file", &certificate, "--key-file", &key];
    let Some(member) = Member::start_with("https", &arguments) else { return };
    let options = EtcdOptions::new([member.url()]).ca(ours.pem.clone());
    let (client, client_key) = ours.issue(&[]);
    let store =
        Etcd::open(options.clone().client_certificate(client.clone(), client_key.clone())).expect("etcd is open");
    let seen = Seen::of(&store);
    put(&store, "/things/a", "1");
    assert_eq!(numbers(&seen), [1]);

    let refused = |options: EtcdOptions| Etcd::open(options).err().expect("a refusal");
    let (stranger, stranger_key) = other.issue(&[]);
    for options in [
        options.clone(),
        options.clone().client_certificate(stranger, stranger_key),
        options.ca(other.pem).client_certificate(client.clone(), client_key.clone()),
        // The name is not the certificate's.
        EtcdOptions::new([member.url().replace("127.0.0.1", "localhost")])
            .ca(ours.pem)
            .client_certificate(client, client_key),
    ] {
        let error = refused(options);
        assert!(matches!(error, EtcdError::Certificate(_)), "{error}");
    }
}

#[test]
fn a_connection_that_breaks_is_no_fault_of_certificates() {
    let authority = Authority::new();
    let (certificate, key) = authority.issue(&["127.0.0.1"]);
    let certificate = CertificateDer::from_pem_slice(certificate.as_bytes()).expect("a certificate");
    let key = PrivateKeyDer::from_pem_slice(key.as_bytes()).expect("a key");
    let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()));
    let config = config.with_safe_default_protocol_versions().expect("the versions of TLS").with_no_client_auth();
    let mut config = config.with_single_cert(vec![certificate], key).expect("a configuration");
    config.alpn_protocols = vec![b"h2".to_vec()];
    let config = Arc::new(config);
    for shakes_hands in [false, true] {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
        let url = format!("https://{}", listener.local_addr().expect("its address"));
        let config = Arc::clone(&config);
        thread::spawn(move || {
            for mut client in listener.incoming().flatten() {
                if shakes_hands {
                    let mut tls = ServerConnection::new(Arc::clone(&config)).expect("a connection");
                    let _ = tls.complete_io(&mut client);
                }
            }
        });
        let error = Etcd::open(EtcdOptions::new([url]).ca(authority.pem.clone())).err().expect("an error");
        assert!(matches!(error, EtcdError::Unreachable(_)), "{error}");
    }
}

#[test]
fn users_have_passwords_and_permissions() {
    let Some(member) = Member::start() else { return };
    enable_users(&member);
    let options = |prefix: &str| EtcdOptions::new([member.url()]).prefix(prefix);
    let refused = |options: EtcdOptions| Etcd::open(options).err().expect("a refusal");
    assert_eq!(refused(options("/shop")), EtcdError::UserRequired);
    let error = refused(options("/shop").user("ann", "wrong"));
    assert!(matches!(&error, EtcdError::Password { user, .. } if user == "ann"), "{error}");
    let error = refused(options("/registry").user("ann", "pass"));
    assert_eq!(error, EtcdError::Forbidden { user: "ann".to_owned(), prefix: "/registry".to_owned() });

    let store = Etcd::open(options("/shop").user("ann", "pass")).expect("etcd is open");
    let seen = Seen::of(&store);
    put(&store, "/things/a", "1");
    // A change of the users makes earlier tokens stale.
    member.control(&["--user", "root:secret", "user", "add", "bob:pass"]);
    put(&store, "/things/a", "2");
    assert_eq!(numbers(&seen), [1, 2]);
    let confirmed = block_on(store.confirm().expect("other processes write")).expect("a revision");
    until("the sink reaches it", || seen.lock().unwrap().upto >= confirmed);
}
