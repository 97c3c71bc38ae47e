//! Kubeconfigs: where another server is, which authorities its certificate must be signed by, and the credentials for it. The fields
//! are those of client-go. What would run a program or needs a proxy is refused.
use std::{
    env, fmt,
    path::{Path, PathBuf},
};

use serde::{Deserialize, de::DeserializeOwned};

use crate::{
    codec::{self, yaml},
    files::{self, Limits},
    meta::{ByteString, url::Url},
    schema::Document,
};

/// The folder of a Pod's service account.
const ACCOUNT: &str = "/var/run/secrets/kubernetes.io/serviceaccount";

/// Another server, and how to sign in there.
#[derive(Clone, Debug)]
pub(crate) struct Endpoint {
    /// The URL, which begins with `https://`.
    pub url: String,
    /// The authorities of its certificate in PEM; `None` for those of the system.
    pub authorities: Option<Content>,
    /// True if any certificate is accepted.
    pub insecure: bool,
    /// The name in its certificate, if it is not the host of the URL.
    pub server_name: Option<String>,
    /// The client certificate and its key in PEM.
    pub identity: Option<(Content, Content)>,
    /// The bearer token.
    pub token: Option<Content>,
}

/// A text in the kubeconfig itself, or in a file that is read again as time goes by.
#[derive(Clone)]
pub(crate) enum Content {
    /// The text.
    Inline(Vec<u8>),
    /// The path of the file.
    File(PathBuf),
}

/// Without the text, which may be a secret.
impl fmt::Debug for Content {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Inline(_) => f.write_str("(inline)"),
            Self::File(path) => write!(f, "{}", path.display()),
        }
    }
}

impl Content {
    /// Reads the text.
    pub(crate) fn read(&self) -> Result<Vec<u8>, String> {
        match self {
            Self::Inline(text) => Ok(text.clone()),
            Self::File(path) => {
                let limits = Limits::of_file(1 << 20);
                files::read_text(path, &limits)
                    .map(String::into_bytes)
                    .map_err(|error| format!("{}: {error}", path.display()))
            }
        }
    }

    /// True if it is in a file.
    pub(super) fn is_file(&self) -> bool {
        matches!(self, Self::File(_))
    }
}

#[derive(Deserialize)]
struct Kubeconfig {
    #[serde(default, rename = "current-context")]
    current_context: String,
    contexts: Option<Vec<NamedContext>>,
    clusters: Option<Vec<NamedCluster>>,
    users: Option<Vec<NamedUser>>,
}

#[derive(Deserialize)]
struct NamedContext {
    name: String,
    context: Context,
}

#[derive(Deserialize)]
struct Context {
    #[serde(default)]
    cluster: String,
    #[serde(default)]
    user: String,
}

#[derive(Deserialize)]
struct NamedCluster {
    name: String,
    cluster: Cluster,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
struct Cluster {
    #[serde(default)]
    server: String,
    certificate_authority: Option<PathBuf>,
    certificate_authority_data: Option<String>,
    #[serde(default)]
    insecure_skip_tls_verify: bool,
    tls_server_name: Option<String>,
    proxy_url: Option<String>,
}

#[derive(Deserialize)]
struct NamedUser {
    name: String,
    user: Option<User>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
struct User {
    client_certificate: Option<PathBuf>,
    client_certificate_data: Option<String>,
    client_key: Option<PathBuf>,
    client_key_data: Option<String>,
    token: Option<String>,
    #[serde(rename = "tokenFile")]
    token_file: Option<PathBuf>,
    username: Option<String>,
    exec: Option<serde_json::Value>,
    auth_provider: Option<serde_json::Value>,
    #[serde(rename = "as")]
    impersonate: Option<String>,
}

impl Endpoint {
    /// The server of a kubeconfig's current context. Relative paths in it are relative to its folder.
    ///
    /// # Errors
    /// The field that cannot be used, and why.
    pub(crate) fn from_file(path: &Path) -> Result<Self, String> {
        let text = files::read_text(path, &Limits::of_file(1 << 20)).map_err(|error| error.to_string())?;
        Self::parse(&text, path.parent().unwrap_or(Path::new("")))
    }

    /// The server of the cluster in which this program runs as a Pod.
    ///
    /// # Errors
    /// If it does not run as a Pod.
    pub(crate) fn in_cluster() -> Result<Self, String> {
        let variable = |name: &str| env::var(name).ok().filter(|value| !value.is_empty());
        let (Some(host), Some(port)) = (variable("KUBERNETES_SERVICE_HOST"), variable("KUBERNETES_SERVICE_PORT"))
        else {
            return Err(
                "KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not set: this is no Pod of a cluster; \
                        name a kubeconfig"
                    .to_owned(),
            );
        };
        let host = if host.contains(':') { format!("[{host}]") } else { host };
        let file = |name: &str| Content::File(Path::new(ACCOUNT).join(name));
        let (authorities, token) = (Some(file("ca.crt")), Some(file("token")));
        Ok(Self { authorities, token, ..Self::of_url(format!("https://{host}:{port}"), None) })
    }

    /// A server whose certificate one of these authorities in PEM has signed, or one of the system's. Without credentials.
    pub(crate) fn of_url(url: String, authorities: Option<Vec<u8>>) -> Self {
        let authorities = authorities.map(Content::Inline);
        Self { url, authorities, insecure: false, server_name: None, identity: None, token: None }
    }

    /// The same server with the credentials of a user's entry in a kubeconfig.
    pub(super) fn with_user(&self, user: &Document) -> Result<Self, String> {
        // The error of a wrong type would quote the value, which may be a secret.
        let user = User::deserialize(user).map_err(|_| "the credentials are not those of a kubeconfig".to_owned())?;
        user.credentials(Path::new(""), Self { identity: None, token: None, ..self.clone() })
    }

    fn parse(text: &str, folder: &Path) -> Result<Self, String> {
        let config: Kubeconfig = typed(text)?;
        let (contexts, clusters) = (config.contexts.unwrap_or_default(), config.clusters.unwrap_or_default());
        let context = match (&*config.current_context, &contexts[..]) {
            ("", [only]) => only,
            ("", _) => return Err("current-context is missing".to_owned()),
            (current, all) => {
                let found = all.iter().find(|context| context.name == current);
                found.ok_or_else(|| format!("contexts: there is no {current:?}, which current-context names"))?
            }
        };
        let of = &context.context;
        let cluster = clusters.into_iter().find(|cluster| cluster.name == of.cluster);
        let cluster = cluster.ok_or_else(|| {
            format!("clusters: there is no {:?}, which the context {:?} names", of.cluster, context.name)
        })?;
        let user = if of.user.is_empty() {
            User::default()
        } else {
            let found = config.users.unwrap_or_default().into_iter().find(|user| user.name == of.user);
            let missing = || format!("users: there is no {:?}, which the context {:?} names", of.user, context.name);
            found.ok_or_else(missing)?.user.unwrap_or_default()
        };
        let in_cluster = |why: String| format!("clusters[{}].cluster.{why}", cluster.name);
        let in_user = |why: String| format!("users[{}].user.{why}", of.user);
        let endpoint = cluster.cluster.endpoint(folder).map_err(in_cluster)?;
        user.credentials(folder, endpoint).map_err(in_user)
    }
}

/// Reads a document in YAML. Fields that are not known are ignored, as client-go does.
fn typed<T: DeserializeOwned>(text: &str) -> Result<T, String> {
    let decoded = yaml::decode(text.as_bytes(), &codec::Limits::OPTIONS).map_err(|error| error.to_string())?;
    // The error of a wrong type would quote the value, which may be a secret.
    serde_json::from_value(decoded.document)
        .map_err(|_| "it is no kubeconfig: expected contexts, clusters and users, with text in their fields".to_owned())
}

/// A text of which one form is in the kubeconfig and the other in a file. The first counts before the second, as in client-go.
fn content(data: Option<&str>, file: Option<&Path>, name: &str, folder: &Path) -> Result<Option<Content>, String> {
    match (data.filter(|data| !data.is_empty()), file.filter(|file| !file.as_os_str().is_empty())) {
        (Some(data), _) => {
            let decoded = ByteString::from_base64(data).map_err(|_| format!("{name}-data: it is not base64"))?;
            Ok(Some(Content::Inline(decoded.0)))
        }
        (None, Some(file)) => Ok(Some(Content::File(folder.join(file)))),
        (None, None) => Ok(None),
    }
}

impl Cluster {
    fn endpoint(&self, folder: &Path) -> Result<Endpoint, String> {
        let url = Url::parse(&self.server).map_err(|why| format!("server: {why}"))?;
        if url.scheme != "https" || !url.names_host() || url.user.is_some() {
            return Err(format!("server: {:?} is not a URL such as https://HOST:PORT", self.server));
        }
        if url.port_or(443).is_none() {
            return Err(format!("server: {:?} has no port between 1 and 65535", url.port));
        }
        if self.proxy_url.as_ref().is_some_and(|url| !url.is_empty()) {
            return Err("proxy-url: proxies are not supported".to_owned());
        }
        let (file, data) = (self.certificate_authority.as_deref(), self.certificate_authority_data.as_deref());
        let authorities = content(data, file, "certificate-authority", folder)?;
        if self.insecure_skip_tls_verify && authorities.is_some() {
            return Err("insecure-skip-tls-verify: not together with certificate-authority".to_owned());
        }
        Ok(Endpoint {
            url: self.server.clone(),
            authorities,
            insecure: self.insecure_skip_tls_verify,
            server_name: self.tls_server_name.clone().filter(|name| !name.is_empty()),
            identity: None,
            token: None,
        })
    }
}

impl User {
    fn credentials(&self, folder: &Path, endpoint: Endpoint) -> Result<Endpoint, String> {
        let unsupported = [
            ("exec", self.exec.is_some()),
            ("auth-provider", self.auth_provider.is_some()),
            ("username", self.username.is_some()),
            ("as", self.impersonate.is_some()),
        ];
        if let Some((field, _)) = unsupported.iter().find(|(_, is_set)| *is_set) {
            return Err(format!("{field}: not supported; use token, tokenFile, or client-certificate and client-key"));
        }
        let (file, data) = (self.client_certificate.as_deref(), self.client_certificate_data.as_deref());
        let certificate = content(data, file, "client-certificate", folder)?;
        let (file, data) = (self.client_key.as_deref(), self.client_key_data.as_deref());
        let key = content(data, file, "client-key", folder)?;
        let identity = match (certificate, key) {
            (Some(certificate), Some(key)) => Some((certificate, key)),
            (None, None) => None,
            (Some(_), None) => return Err("client-key: it is missing, client-certificate is set".to_owned()),
            (None, Some(_)) => return Err("client-certificate: it is missing, client-key is set".to_owned()),
        };
        let file = self.token_file.as_ref().filter(|file| !file.as_os_str().is_empty());
        let text = self.token.as_ref().filter(|token| !token.is_empty());
        let token = file.map(|file| Content::File(folder.join(file)));
        let token = token.or_else(|| text.map(|text| Content::Inline(text.clone().into_bytes())));
        Ok(Endpoint { identity, token, ..endpoint })
    }
}

#[cfg(test)]
mod tests;
