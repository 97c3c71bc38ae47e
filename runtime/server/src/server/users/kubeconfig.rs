//! Kubeconfigs: that of the administrator, which is read, and that of the user, which is written.

use std::{fs, io::ErrorKind, path::Path};

use base64::{Engine, engine::general_purpose::STANDARD};
use serde_json::{Value, json};

use super::{Result, Target};
use crate::{
    server::first_run::KUBECONFIG,
    upstream::kubeconfig::{Content, Endpoint},
};

/// The address of a server, and its authority.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Cluster {
    /// The base of its URLs.
    pub url: String,
    /// Its authorities in PEM; without any, those of the system count.
    pub authority: Option<Vec<u8>>,
    /// The name in its certificate, if it is not the host of the URL.
    pub name: Option<String>,
}

/// The kubeconfig in a data directory.
pub(super) fn of_data_dir(dir: &Path) -> Result<Endpoint> {
    let file = dir.join(KUBECONFIG);
    match fs::metadata(&file) {
        Ok(_) => return read(&file),
        Err(error) if error.kind() != ErrorKind::NotFound => {
            let shown = file.display();
            return Err(format!("{shown} cannot be read: {error}; run the command as the server's user").into());
        }
        Err(_) => {}
    }
    let shown = dir.display();
    Err(if dir.is_dir() {
        format!(
            "{shown} has no kubeconfig; its server uses plain HTTP or a token file, or has not been started yet: name the kubeconfig of \
             an administrator with --kubeconfig, or start the server once"
        )
    } else {
        format!("there is no data directory {shown}; start the server once, or name its directory with --data-dir")
    }
    .into())
}

/// The server in the kubeconfig of a user who is added: the named URL, or that of the administrator.
pub(super) fn cluster(target: &Target, url: Option<&str>) -> Result<Cluster> {
    let known = match (&target.kubeconfig, &target.data_dir) {
        (Some(file), _) => read(file).and_then(|endpoint| Cluster::of(&endpoint)),
        (None, Some(dir)) => of_data_dir(dir).and_then(|endpoint| Cluster::of(&endpoint)).or_else(|error| {
            // A server that never listened has no address yet.
            let authority = fs::read(dir.join("ca.crt")).ok();
            url.map(|url| Cluster { url: url.to_owned(), authority, name: None }).ok_or(error)
        }),
        (None, None) => Err("neither a data directory nor a kubeconfig is named".into()),
    }?;
    Ok(Cluster { url: url.map_or(known.url, str::to_owned), ..known })
}

/// Reads the current context of a kubeconfig. Plugins that make credentials (`exec`) are not run.
pub(super) fn read(path: &Path) -> Result<Endpoint> {
    let failed = |why: String| format!("the kubeconfig {} cannot be used: {why}", path.display());
    Ok(Endpoint::from_file(path).map_err(failed)?)
}

impl Cluster {
    /// The server of an administrator's kubeconfig.
    fn of(endpoint: &Endpoint) -> Result<Self> {
        if endpoint.insecure {
            let way_out = "name the authority with certificate-authority";
            return Err(format!("insecure-skip-tls-verify cannot be handed on to users; {way_out}").into());
        }
        let (url, name) = (endpoint.url.clone(), endpoint.server_name.clone());
        Ok(Self { url, authority: endpoint.authorities.as_ref().map(Content::read).transpose()?, name })
    }
}

/// The kubeconfig of a user.
pub(super) struct NewKubeconfig<'a> {
    pub server: &'a Cluster,
    pub user: &'a str,
    /// The fields of the user's entry.
    pub credential: &'a Value,
    pub namespace: Option<&'a str>,
}

impl NewKubeconfig<'_> {
    /// Its text: YAML whose values are written as in JSON.
    pub(super) fn text(&self) -> String {
        let Self { server, user, credential, namespace } = self;
        let fields = |fields: &Value| -> String {
            let fields = fields.as_object().into_iter().flatten();
            fields.flat_map(|(name, value)| ["    ", name, ": ", &value.to_string(), "\n"].map(str::to_owned)).collect()
        };
        let mut cluster = json!({"server": server.url});
        if let Some(pem) = &server.authority {
            cluster["certificate-authority-data"] = STANDARD.encode(pem).into();
        }
        if let Some(name) = &server.name {
            cluster["tls-server-name"] = name.as_str().into();
        }
        let mut context = json!({"cluster": "kindsmith", "user": user});
        if let Some(namespace) = namespace {
            context["namespace"] = (*namespace).into();
        }
        format!(
            "apiVersion: v1\nkind: Config\nclusters:\n- name: kindsmith\n  cluster:\n{}users:\n- name: {}\n  user:\n{}\
             contexts:\n- name: kindsmith\n  context:\n{}current-context: kindsmith\n",
            fields(&cluster),
            json!(user),
            fields(credential),
            fields(&context)
        )
    }
}
