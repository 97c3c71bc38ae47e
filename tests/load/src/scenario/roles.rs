//! A user who may do only what roles say, beside many other roles and bindings.
use std::sync::Arc;

use hyper::{Method, header::HeaderValue};
use serde_json::{Value, json};
use tokio::task::JoinSet;

use super::objects::{READ, create};
use crate::{
    Outcome,
    client::{Connection, Request},
    target::Target,
};

/// The number of roles, and of bindings of other users to them.
pub(crate) const ROLES: usize = 1_000;
pub(crate) const BINDINGS: usize = 5_000;
/// Concurrent creations.
const CLIENTS: usize = 16;
/// The service account of the user, and the role and the binding that let it read.
const READER: &str = "load-reader";

const CORE: &str = "/api/v1/namespaces";
const GROUP: &str = "/apis/rbac.authorization.k8s.io/v1/namespaces";

/// The paths of what is created.
pub(super) fn paths() -> [String; 3] {
    [
        format!("{GROUP}/{READ}/rolebindings"),
        format!("{GROUP}/{READ}/roles"),
        format!("{CORE}/{READ}/serviceaccounts/{READER}"),
    ]
}

fn role(name: &str, resource: &str) -> Value {
    json!({
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "Role",
        "metadata": {"name": name},
        "rules": [
            {"apiGroups": [""], "resources": [resource], "verbs": ["get", "list", "watch"]},
            {"apiGroups": ["apps", "batch"], "resources": ["deployments", "jobs"], "verbs": ["*"]},
        ],
    })
}

fn binding(name: &str, role: &str, account: &str) -> Value {
    json!({
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "RoleBinding",
        "metadata": {"name": name},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": role},
        "subjects": [{"kind": "ServiceAccount", "name": account, "namespace": READ}],
    })
}

/// Creates the user, the roles and the bindings, as far as they do not exist, and gives the target a token of the user.
pub(crate) async fn prepare(target: &Arc<Target>) -> Outcome<()> {
    let namespace = json!({"metadata": {"name": READ}}).to_string();
    create(&mut Connection::open(target, false).await?, CORE.to_owned(), namespace).await?;
    let mut tasks = JoinSet::new();
    for client in 0..CLIENTS {
        let target = target.clone();
        tasks.spawn(async move {
            let mut connection = Connection::open(&target, false).await?;
            for number in (client..ROLES).step_by(CLIENTS) {
                let body = role(&format!("load-{number}"), "secrets").to_string();
                create(&mut connection, format!("{GROUP}/{READ}/roles"), body).await?;
            }
            for number in (client..BINDINGS).step_by(CLIENTS) {
                let (role, account) = (format!("load-{}", number % ROLES), format!("load-{number}"));
                let body = binding(&account, &role, &account).to_string();
                create(&mut connection, format!("{GROUP}/{READ}/rolebindings"), body).await?;
            }
            Outcome::Ok(())
        });
    }
    while let Some(done) = tasks.join_next().await {
        done??;
    }
    let mut connection = Connection::open(target, false).await?;
    let account = json!({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": READER}});
    create(&mut connection, format!("{CORE}/{READ}/serviceaccounts"), account.to_string()).await?;
    create(&mut connection, format!("{GROUP}/{READ}/roles"), role(READER, "configmaps").to_string()).await?;
    create(&mut connection, format!("{GROUP}/{READ}/rolebindings"), binding(READER, READER, READER).to_string())
        .await?;
    let path = format!("{CORE}/{READ}/serviceaccounts/{READER}/token");
    let body = json!({"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}}).to_string();
    let request = Request::write(Method::POST, path.clone(), "application/json", body);
    let answer = connection.send(&request).await.map_err(|failed| format!("POST {path}: {failed}"))?;
    let issued: Value = serde_json::from_slice(&answer.head)?;
    let token = issued["status"]["token"].as_str().ok_or_else(|| format!("POST {path}: there is no token"))?;
    // Only the first token is kept: it is valid for an hour.
    let _ = target.reader.set(HeaderValue::from_str(&format!("Bearer {token}"))?);
    Ok(())
}
