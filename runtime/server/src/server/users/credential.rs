//! What a user signs in with: a client certificate that the data directory's authority signs, or the token of a service account.

use base64::{Engine, engine::general_purpose::STANDARD};
use serde_json::{Value, json};

use super::{
    NewUser, Result, Target,
    api::{Api, message, refused},
    binding::{MANAGED_BY, MANAGER, encoded, exists},
};
use crate::{
    auth::User,
    server::client_issuer::{CERTIFICATE, ClientIssuer},
    storage::private::PrivateDir,
};

/// Credentials of a user.
pub(super) struct Issued {
    /// The user that the server knows.
    pub user: String,
    /// The fields of the user's entry in a kubeconfig.
    pub entry: Value,
    /// When they expire, as RFC 3339.
    pub expires: String,
}

/// The authority of a target.
pub(super) fn issuer(target: &Target) -> Result<ClientIssuer> {
    let dir = target.data_dir.as_ref().filter(|dir| dir.is_dir()).ok_or_else(|| {
        format!(
            "certificates are signed with {CERTIFICATE} and its key in the server's data directory: name it with --data-dir, or use --token"
        )
    })?;
    let files = PrivateDir::open(dir).map_err(|error| error.to_string())?;
    Ok(ClientIssuer::open(&files).map_err(|error| error.to_string())?)
}

/// A certificate for a user.
pub(super) fn certificate(issuer: &ClientIssuer, user: &NewUser) -> Result<Issued> {
    let issued = issuer.issue(&user.name, &user.groups, user.valid_for).map_err(|error| error.to_string())?;
    let entry = json!({
        "client-certificate-data": STANDARD.encode(issued.certificate_pem),
        "client-key-data": STANDARD.encode(issued.key_pem),
    });
    let expires = issued.expires.strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
    Ok(Issued { user: user.name.clone(), entry, expires })
}

/// A token of the service account of this name, which is made if it is missing.
pub(super) async fn token(api: &Api, user: &NewUser, changes: &mut Vec<String>) -> Result<Issued> {
    if matches!(api, Api::Stopped(_)) {
        // Its keys may be elsewhere, which only its program knows.
        return Err("tokens are signed by a running server: start it, or use a certificate".into());
    }
    let (name, namespace) = (&user.name, user.namespace.as_deref().unwrap_or("default"));
    let accounts = format!("/api/v1/namespaces/{}/serviceaccounts", encoded(namespace));
    let account = json!({
        "apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": name, "labels": {MANAGED_BY: MANAGER}},
    });
    let doing = format!("the service account {name} cannot be created in the namespace {namespace}");
    let (code, answer) = api.call("POST", &accounts, account).await?;
    match code {
        201 => changes.push(format!("serviceaccount/{name} created in the namespace {namespace}")),
        404 => {
            return Err(format!(
                "{doing}: {}; kubectl create namespace {namespace} creates it",
                message(code, &answer)
            )
            .into());
        }
        _ if exists(code, &answer) => {}
        _ => return Err(refused(&doing, code, &answer)),
    }
    let request = json!({
        "apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {"expirationSeconds": user.valid_for.as_secs()},
    });
    let (code, answer) = api.call("POST", &format!("{accounts}/{}/token", encoded(name)), request).await?;
    let status = &answer["status"];
    let (Some(token), Some(expires), 201) = (status["token"].as_str(), status["expirationTimestamp"].as_str(), code)
    else {
        return Err(refused(&format!("no token can be made for the service account {name}"), code, &answer));
    };
    let user = User::service_account_name(namespace, name);
    Ok(Issued { user, entry: json!({"token": token}), expires: expires.to_owned() })
}
