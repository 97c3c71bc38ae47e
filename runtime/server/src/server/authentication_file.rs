//! The file that names the issuers of ID tokens and says who may be anonymous. It is followed, so that changes hold without a restart.

use std::{
    collections::HashMap,
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use bytes::Bytes;
use hyper::Method;

use super::{Error, Result, files::FileWatcher};
use crate::{
    auth::{
        AnonymousAccess, CurrentAnonymousAccess,
        oidc::{Fetch, IdTokens},
    },
    files::{self, Limits},
    meta::url::Url,
    tasks::{self, BoxFuture},
    upstream::{client::Client, kubeconfig::Endpoint},
    webhook,
};

/// Reads the file. ID tokens and anonymous access change with it once it is watched. `set` is what the builder says about anonymous
/// access.
pub(super) fn open(
    path: PathBuf,
    set: Option<AnonymousAccess>,
    anonymous: &Arc<CurrentAnonymousAccess>,
) -> Result<(Arc<IdTokens>, FileWatcher)> {
    let id_tokens = Arc::new(IdTokens::default());
    let (current, anonymous, paths) = (Arc::clone(&id_tokens), Arc::clone(anonymous), vec![path.clone()]);
    let watcher = FileWatcher::open("authentication configuration", paths, move || {
        let failed = |why: String| Error::AuthenticationConfiguration(path.clone(), why);
        let text = files::read_text(&path, &Limits::default()).map_err(|error| failed(error.to_string()))?;
        let access = current.replace(&text, set.is_some(), &documents).map_err(failed)?;
        anonymous.replace(access.or_else(|| set.clone()).unwrap_or_default());
        Ok(())
    })?;
    Ok((id_tokens, watcher))
}

/// How long a document may take, as in kube-apiserver, and its maximum size in bytes.
const LIMITS: (Duration, usize) = (Duration::from_secs(30), 1 << 20);
/// The maximum number of servers whose clients are kept.
const MOST_SERVERS: usize = 8;

/// Fetches documents from servers whose certificates these authorities have signed; without any, those of the system. Redirects are
/// not followed.
struct Documents {
    authorities: Option<Vec<u8>>,
    /// By URL. Making a client reads the authorities.
    clients: Arc<Mutex<HashMap<String, Arc<Client>>>>,
}

impl Fetch for Documents {
    fn get(&self, url: &str) -> BoxFuture<std::result::Result<Vec<u8>, String>> {
        let (authorities, clients, url) = (self.authorities.clone(), self.clients.clone(), url.to_owned());
        tasks::boxed(async move {
            let url = Url::parse(&url)?;
            if url.scheme != "https" {
                return Err("unsupported protocol scheme".to_owned());
            }
            let query = if url.query.is_empty() { String::new() } else { format!("?{}", url.query) };
            let path = format!("{}{query}", url.request_path());
            let server = format!("https://{}", url.authority);
            let known = clients.lock().unwrap_or_else(PoisonError::into_inner).get(&server).cloned();
            let client = match known {
                Some(client) => client,
                None => connect(clients, server, authorities).await?,
            };
            match client.exchange(&Method::GET, &path, Bytes::new(), LIMITS).await? {
                (200, text) => Ok(text.into()),
                (code, _) => Err(format!("the server responded with the status code {code}")),
            }
        })
    }
}

/// Makes the client of a server, and keeps it.
async fn connect(
    clients: Arc<Mutex<HashMap<String, Arc<Client>>>>,
    server: String,
    authorities: Option<Vec<u8>>,
) -> std::result::Result<Arc<Client>, String> {
    let endpoint = Endpoint::of_url(server.clone(), authorities);
    let making = tasks::blocking(move || Client::new(endpoint)).await;
    let client = Arc::new(making.map_err(|error| error.to_string())??);
    let mut clients = clients.lock().unwrap_or_else(PoisonError::into_inner);
    if clients.len() >= MOST_SERVERS {
        clients.clear();
    }
    clients.insert(server, client.clone());
    Ok(client)
}

/// A client of servers that these authorities in PEM vouch for.
fn documents(authorities: &str) -> std::result::Result<Arc<dyn Fetch>, String> {
    let authorities = Some(authorities).filter(|pem| !pem.is_empty()).map(|pem| pem.as_bytes().to_vec());
    if let Some(pem) = &authorities {
        webhook::authorities(pem)?;
    }
    Ok(Arc::new(Documents { authorities, clients: Arc::default() }))
}
