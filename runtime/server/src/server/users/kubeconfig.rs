//! Kubeconfigs: that of the administrator, which is read, and that of the user, which is written.

use std::{
    fs,
    path::{Path, PathBuf},
};

use base64::{Engine, engine::general_purpose::STANDARD};
use serde_json::{Map, Value, json};

use super::{Result, Target};
use crate::{
    codec::{Limits, yaml},
    server::first_run::KUBECONFIG,
};

/// A server and a user's credentials.
pub(super) struct Kubeconfig {
    pub server: Cluster,
    /// `token`, or `client-certificate-data` and `client-key-data`, as in the file.
    pub user: Value,
}

/// Where a server is, and what to trust.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Cluster {
    /// The base of its URLs.
    pub url: String,
    /// Its authorities in PEM; without any, those of the system count.
    pub authority_pem: Option<String>,
}

/// The kubeconfig in a data directory.
pub(super) fn of_data_dir(dir: &Path) -> Result<Kubeconfig> {
    let file = dir.join(KUBECONFIG);
    if file.is_file() {
        return read(&file);
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
        (Some(file), _) => read(file).map(|read| read.server),
        (None, Some(dir)) => of_data_dir(dir).map(|read| read.server).or_else(|error| {
            // A server that never listened has no address yet.
            let authority = fs::read_to_string(dir.join("ca.crt")).ok();
            url.map(|url| Cluster { url: url.to_owned(), authority_pem: authority }).ok_or(error)
        }),
        (None, None) => Err("neither a data directory nor a kubeconfig is named".into()),
    }?;
    Ok(Cluster { url: url.map_or(known.url, str::to_owned), ..known })
}

/// Reads the current context of a kubeconfig. Plugins that make credentials (`exec`) are not run.
pub(super) fn read(path: &Path) -> Result<Kubeconfig> {
    let failed = |why: String| format!("the kubeconfig {} cannot be used: {why}", path.display());
    let bytes = fs::read(path).map_err(|error| failed(error.to_string()))?;
    let decoded = yaml::decode(&bytes, &Limits::default()).map_err(|error| failed(error.reason))?;
    Ok(current(&decoded.document, path).map_err(failed)?)
}

fn current(config: &Value, path: &Path) -> Result<Kubeconfig, String> {
    let name = config["current-context"].as_str().filter(|name| !name.is_empty());
    let name = name.ok_or("it has no current-context; kubectl config use-context sets one")?;
    let context = named(config, "contexts", "context", name)?;
    let cluster = named(config, "clusters", "cluster", context["cluster"].as_str().unwrap_or_default())?;
    let user = named(config, "users", "user", context["user"].as_str().unwrap_or_default())?;
    if cluster["insecure-skip-tls-verify"] == true {
        return Err(
            "insecure-skip-tls-verify is not supported; name the authority with certificate-authority".to_owned()
        );
    }
    let url = cluster["server"].as_str().ok_or("the cluster has no server")?.to_owned();
    let authority_pem = data(cluster, "certificate-authority", path)?;
    let mut credentials = Map::new();
    if let Some(token) = user["token"].as_str() {
        credentials.insert("token".to_owned(), token.into());
    } else if let Some(file) = user["tokenFile"].as_str() {
        let token = fs::read_to_string(beside(path, file)).map_err(|error| format!("tokenFile {file}: {error}"))?;
        credentials.insert("token".to_owned(), token.trim().into());
    }
    for field in ["client-certificate", "client-key"] {
        if let Some(pem) = data(user, field, path)? {
            credentials.insert(format!("{field}-data"), STANDARD.encode(pem).into());
        }
    }
    if credentials.is_empty() {
        return Err(
            "its user has neither a token nor a client certificate; credentials of plugins (exec) are not supported"
                .to_owned(),
        );
    }
    Ok(Kubeconfig { server: Cluster { url, authority_pem }, user: credentials.into() })
}

/// The entry of this name in one of the three lists.
fn named<'c>(config: &'c Value, list: &str, field: &str, name: &str) -> Result<&'c Value, String> {
    let entries = config[list].as_array().map(Vec::as_slice).unwrap_or_default();
    let entry = entries.iter().find(|entry| entry["name"] == name);
    Ok(&entry.ok_or_else(|| format!("{list} has no entry named {name:?}"))?[field])
}

/// The text of `FIELD-data`, or of the file that `FIELD` names.
fn data(entry: &Value, field: &str, path: &Path) -> Result<Option<String>, String> {
    if let Some(text) = entry[format!("{field}-data")].as_str() {
        let bytes = STANDARD.decode(text).map_err(|error| format!("{field}-data is not base64: {error}"))?;
        return String::from_utf8(bytes).map(Some).map_err(|_| format!("{field}-data is not PEM"));
    }
    let read = |file: &str| fs::read_to_string(beside(path, file)).map_err(|error| format!("{field} {file}: {error}"));
    entry[field].as_str().map(read).transpose()
}

/// A path as kubectl reads it: relative to the kubeconfig.
fn beside(path: &Path, file: &str) -> PathBuf {
    path.parent().unwrap_or(Path::new(".")).join(file)
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
        if let Some(pem) = &server.authority_pem {
            cluster["certificate-authority-data"] = STANDARD.encode(pem).into();
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
