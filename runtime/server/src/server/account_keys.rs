//! The keys that sign the tokens of service accounts: a file in PEM, in the data directory or where the builder says.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use rcgen::KeyPair;
use serde_json::json;
use tokio_rustls::rustls::pki_types::{PrivateKeyDer, pem::PemObject};

use super::{
    Error, Result,
    controllers::Controller,
    files::{FileWatcher, warn_if_open},
    state::StateDir,
};
use crate::{
    auth::{authenticate::AUDIENCE, jwt::SigningKey},
    builtin::accounts::{AccountKeys, Accounts, Authority},
    files::{self, Limits},
    http::{DocumentsAt, PathPrefix},
    storage::private::Access,
};

/// The path of the public keys.
const KEY_SET: &str = "/openid/v1/jwks";
/// The file in the data directory.
const KEY: &str = "service-account.key";

/// The file of the keys.
#[derive(Clone)]
pub(super) struct KeyFile(PathBuf);

impl KeyFile {
    /// The named file, or the one in the data directory, which is made if it is missing.
    pub(super) fn find(named: Option<PathBuf>, state: &StateDir) -> Result<Self> {
        if let Some(path) = named {
            return Ok(Self(path));
        }
        let path = state.files.file(KEY);
        if state.files.read(KEY, Access::Secret)?.is_none() {
            let made = KeyPair::generate().map_err(|error| Error::AccountKeys(path.clone(), error.to_string()))?;
            state.files.write(KEY, Access::Secret, &made.serialize_pem())?;
        }
        Ok(Self(path))
    }

    /// Reads the keys.
    pub(super) fn read(&self) -> Result<AccountKeys> {
        read(&self.0).map_err(|why| Error::AccountKeys(self.0.clone(), why))
    }

    /// Replaces the keys of a server whenever the file changes.
    pub(super) fn watch(self, accounts: Arc<Accounts>) -> Result<FileWatcher> {
        FileWatcher::open("service account keys", vec![self.0.clone()], move || {
            accounts.replace_keys(self.read()?);
            Ok(())
        })
    }
}

fn read(path: &Path) -> Result<AccountKeys, String> {
    let text = files::read_text(path, &Limits::default()).map_err(|error| error.to_string())?;
    warn_if_open(path, "file of service account keys");
    let mut keys = Vec::new();
    for key in PrivateKeyDer::pem_slice_iter(text.as_bytes()) {
        let key = key.map_err(|error| error.to_string())?;
        let usable =
            if let PrivateKeyDer::Pkcs8(der) = &key { SigningKey::from_pkcs8(der.secret_pkcs8_der()) } else { None };
        let number = keys.len() + 1;
        keys.push(usable.ok_or_else(|| {
            format!("key {number} is not in PKCS #8 (BEGIN PRIVATE KEY), or neither of the curve P-256 nor of RSA with 2048 bits")
        })?);
    }
    AccountKeys::new(keys).ok_or_else(|| "it has no private key in PEM".to_owned())
}

/// The controller that fills the Secrets of service accounts. They get the server's own authority, unless its certificate is the
/// builder's.
pub(super) fn secrets_controller(accounts: &Arc<Accounts>, state: &StateDir, own_certificate: bool) -> Controller {
    let (accounts, files) = (accounts.clone(), state.files.clone());
    let read = move || if own_certificate { files.read("ca.crt", Access::Public).ok().flatten() } else { None };
    let authority: Authority = Arc::new(read);
    Controller::new("tokens-controller".to_owned(), move |context, shutdown| {
        let (accounts, authority, client) = (accounts.clone(), authority.clone(), context.client());
        async move {
            tokio::select! {
                () = accounts.fill_secrets(&client, &authority) => {}
                () = shutdown.requested() => {}
            }
            Ok::<_, Error>(())
        }
    })
}

/// OpenID Connect's discovery document, and the public keys, for others that check tokens themselves. On the server's own listener both
/// are below a prefix.
pub(super) fn documents(accounts: &Arc<Accounts>, prefix: Option<&PathPrefix>) -> DocumentsAt {
    let prefix = prefix.map_or(String::new(), |prefix| prefix.as_str().to_owned());
    let mut documents = DocumentsAt::default();
    documents.add("/.well-known/openid-configuration", "application/json", move |host| {
        let document = json!({
            "issuer": AUDIENCE,
            "jwks_uri": format!("https://{host}{prefix}{KEY_SET}"),
            "response_types_supported": ["id_token"],
            "subject_types_supported": ["public"],
            "id_token_signing_alg_values_supported": ["ES256", "RS256"],
        });
        document.to_string()
    });
    let accounts = accounts.clone();
    documents.add(KEY_SET, "application/jwk-set+json", move |_| accounts.key_set().to_string());
    documents
}
