//! The server and user of a kubeconfig's current context.
use std::path::Path;

use base64::{Engine, engine::general_purpose::STANDARD};
use kindsmith_model::codec::{Limits, yaml};
use serde_json::Value;

use crate::{
    Outcome,
    target::{self, Access},
};

/// Reads a kubeconfig. Plugins that make credentials (`exec`) are not run.
pub(crate) fn read(path: &Path) -> Outcome<Access> {
    let bytes = target::read(path)?;
    let decoded = yaml::decode(&bytes, &Limits::default()).map_err(|e| format!("{}: {}", path.display(), e.reason))?;
    access(&decoded.document, path).map_err(|e| format!("{}: {e}", path.display()).into())
}

fn access(config: &Value, path: &Path) -> Outcome<Access> {
    let current =
        config["current-context"].as_str().ok_or("there is no current-context; kubectl config use-context sets it")?;
    let context = named(config, "contexts", "context", current)?;
    let cluster = named(config, "clusters", "cluster", context["cluster"].as_str().unwrap_or_default())?;
    let user = named(config, "users", "user", context["user"].as_str().unwrap_or_default())?;
    if cluster["insecure-skip-tls-verify"] == true {
        return Err("insecure-skip-tls-verify is not supported; name the certificate authority with --ca".into());
    }
    let token = match (&user["token"], &user["tokenFile"]) {
        (Value::String(token), _) => Some(token.clone()),
        (_, Value::String(file)) => Some(target::token(&beside(path, file).to_string_lossy())?),
        _ => None,
    };
    let identity = match (data(user, "client-certificate", path)?, data(user, "client-key", path)?) {
        (Some(certificate), Some(key)) => Some((certificate, key)),
        _ => None,
    };
    if token.is_none() && identity.is_none() && !user["exec"].is_null() {
        return Err("the user's credentials come from a plugin (exec), which is not supported; give --token".into());
    }
    let url = cluster["server"].as_str().ok_or("the cluster has no server")?.to_owned();
    Ok(Access { url, authorities: data(cluster, "certificate-authority", path)?, token, identity })
}

/// The entry of this name in one of the three lists.
fn named<'c>(config: &'c Value, list: &str, field: &str, name: &str) -> Outcome<&'c Value> {
    let entries = config[list].as_array().map(Vec::as_slice).unwrap_or_default();
    let entry = entries.iter().find(|entry| entry["name"] == name);
    Ok(&entry.ok_or_else(|| format!("{list} has no entry named {name:?}"))?[field])
}

/// The value of `FIELD-data`, or of the file that `FIELD` names.
fn data(entry: &Value, field: &str, path: &Path) -> Outcome<Option<Vec<u8>>> {
    if let Some(text) = entry[format!("{field}-data")].as_str() {
        return Ok(Some(STANDARD.decode(text).map_err(|e| format!("{field}-data is not base64: {e}"))?));
    }
    entry[field].as_str().map(|file| target::read(&beside(path, file))).transpose()
}

/// A path as kubectl reads it: relative to the kubeconfig.
fn beside(path: &Path, file: &str) -> std::path::PathBuf {
    path.parent().unwrap_or(Path::new(".")).join(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(user: &str, cluster: &str) -> Result<Access, String> {
        let text = format!(
            "current-context: c\ncontexts:\n- name: c\n  context: {{cluster: k, user: u}}\n\
             clusters:\n- name: k\n  cluster: {{server: 'https://host:6443'{cluster}}}\nusers:\n- name: u\n  user: {{{user}}}\n"
        );
        let decoded = yaml::decode(text.as_bytes(), &Limits::default()).unwrap();
        access(&decoded.document, Path::new("/nowhere/config")).map_err(|error| error.to_string())
    }

    #[test]
    fn the_current_context_names_the_server_and_the_user() {
        let access = of("token: t", ", certificate-authority-data: aGVsbG8=").unwrap();
        assert_eq!((access.url.as_str(), access.token.as_deref()), ("https://host:6443", Some("t")));
        assert_eq!(access.authorities.as_deref(), Some(&b"hello"[..]));
    }

    #[test]
    fn what_is_not_supported_says_the_way_out() {
        assert!(of("exec: {command: x}", "").unwrap_err().contains("give --token"));
        assert!(of("token: t", ", insecure-skip-tls-verify: true").unwrap_err().contains("--ca"));
        assert!(of("token: t", ", certificate-authority: ca.crt").unwrap_err().contains("/nowhere/ca.crt"));
    }
}
