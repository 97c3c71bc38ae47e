//! Bindings of users to roles: `RoleBinding` in a namespace, `ClusterRoleBinding` without one. A label marks those that were made here.

use serde_json::{Value, json};

use super::{
    Credential, NewUser, Result,
    api::{Api, message, refused},
};

/// The label of the objects that are made here.
pub(super) const MANAGED_BY: &str = "app.kubernetes.io/managed-by";
pub(super) const MANAGER: &str = "kindsmith-user";

const API: &str = "/apis/rbac.authorization.k8s.io/v1";

/// A user with one of its roles.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub struct BoundUser {
    /// The name.
    pub name: String,
    /// `User` or `ServiceAccount`.
    pub kind: String,
    /// The namespace in which the role is bound; empty for all.
    pub namespace: String,
    /// The role.
    pub role: String,
}

/// A role that exists.
pub(super) struct FoundRole {
    /// `ClusterRole` or `Role`.
    kind: &'static str,
    name: String,
}

/// Finds a `ClusterRole`, or a Role of the namespace.
pub(super) async fn find_role(api: &Api, name: &str, namespace: Option<&str>) -> Result<FoundRole> {
    if let Some(namespace) = namespace {
        let (code, answer) =
            api.call("GET", &format!("/api/v1/namespaces/{}", encoded(namespace)), Value::Null).await?;
        if code == 404 {
            let found = message(code, &answer);
            return Err(format!("{found}; kubectl create namespace {namespace} creates it").into());
        }
    }
    let of_cluster = format!("{API}/clusterroles");
    let of_namespace = namespace.map(|namespace| format!("{API}/namespaces/{}/roles", encoded(namespace)));
    for (kind, path) in [("ClusterRole", Some(&of_cluster)), ("Role", of_namespace.as_ref())] {
        let Some(path) = path else { continue };
        match api.call("GET", &format!("{path}/{}", encoded(name)), Value::Null).await? {
            (200, _) => return Ok(FoundRole { kind, name: name.to_owned() }),
            (404, _) => {}
            (code, answer) => return Err(refused(&format!("the role {name} cannot be read"), code, &answer)),
        }
    }
    let (code, all) = api.call("GET", &of_cluster, Value::Null).await?;
    if code != 200 {
        return Err(refused("the roles cannot be listed", code, &all));
    }
    let names = items(&all).iter().filter_map(|role| role["metadata"]["name"].as_str());
    let mut names: Vec<&str> = names.filter(|name| !name.starts_with("system:")).collect();
    names.sort_unstable();
    let place = namespace.map_or(String::new(), |namespace| format!(", and no Role in the namespace {namespace}"));
    Err(format!("there is no ClusterRole {name:?}{place}; ClusterRoles are {}", names.join(", ")).into())
}

/// Binds a user to a role. Returns what was made, or that it was there.
pub(super) async fn bind(api: &Api, user: &NewUser, role: &FoundRole) -> Result<String> {
    let name = match user.credential {
        Credential::Certificate => format!("{}:{}", user.name, role.name),
        Credential::Token => format!("serviceaccount:{}:{}", user.name, role.name),
    };
    let (kind, path) = match &user.namespace {
        Some(namespace) => ("RoleBinding", format!("{API}/namespaces/{}/rolebindings", encoded(namespace))),
        None => ("ClusterRoleBinding", format!("{API}/clusterrolebindings")),
    };
    let subject = match user.credential {
        Credential::Certificate => json!({"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": user.name}),
        Credential::Token => {
            let namespace = user.namespace.as_deref().unwrap_or("default");
            json!({"kind": "ServiceAccount", "name": user.name, "namespace": namespace})
        }
    };
    let reference = json!({"apiGroup": "rbac.authorization.k8s.io", "kind": role.kind, "name": role.name});
    let metadata = json!({"name": name, "labels": {MANAGED_BY: MANAGER}});
    let binding = json!({
        "apiVersion": "rbac.authorization.k8s.io/v1", "kind": kind, "metadata": metadata, "roleRef": reference, "subjects": [subject],
    });
    let place = user.namespace.as_ref().map_or(String::new(), |namespace| format!(" in the namespace {namespace}"));
    let shown = format!("{}/{name}{place}", kind.to_lowercase());
    let (code, answer) = api.call("POST", &path, binding).await?;
    if code == 201 {
        return Ok(format!("{shown} created: {} {} for {}", role.kind, role.name, user.name));
    }
    if !exists(code, &answer) {
        return Err(refused(&format!("the {kind} {name} cannot be created"), code, &answer));
    }
    let (code, found) = api.call("GET", &format!("{path}/{}", encoded(&name)), Value::Null).await?;
    if code != 200 {
        return Err(refused(&format!("the {kind} {name} cannot be read"), code, &found));
    }
    let subjects = found["subjects"].as_array().map(Vec::as_slice).unwrap_or_default();
    if found["roleRef"] == reference && subjects.contains(&subject) {
        return Ok(format!("{shown} is there already"));
    }
    Err(format!(
        "the {kind} {name}{place} exists and binds another role or user; delete it with kubectl delete {}",
        kind.to_lowercase()
    )
    .into())
}

/// The users that were bound here.
pub(super) async fn list(api: &Api) -> Result<Vec<BoundUser>> {
    let mut users: Vec<_> = bindings(api).await?.iter().flat_map(Binding::users).collect();
    users.sort();
    Ok(users)
}

/// Removes what was made here for a user.
pub(super) async fn remove(api: &Api, name: &str, namespace: Option<&str>) -> Result<Vec<String>> {
    let mut removed = Vec::new();
    let is_of = |found: &str| namespace.is_none_or(|namespace| namespace == found);
    for binding in bindings(api).await? {
        if is_of(&binding.namespace) && binding.users().iter().any(|user| user.name == name) {
            removed.extend(delete(api, &binding.path, &binding.shown).await?);
        }
    }
    let path = format!("/api/v1/serviceaccounts?labelSelector={MANAGED_BY}%3D{MANAGER}");
    let (code, accounts) = api.call("GET", &path, Value::Null).await?;
    if code != 200 && code != 404 {
        return Err(refused("service accounts cannot be listed", code, &accounts));
    }
    for account in items(&accounts).iter().filter(|account| account["metadata"]["name"] == name) {
        let found = account["metadata"]["namespace"].as_str().unwrap_or_default();
        if is_of(found) {
            let path = format!("/api/v1/namespaces/{found}/serviceaccounts/{}", encoded(name));
            removed.extend(delete(api, &path, &format!("serviceaccount/{name} in the namespace {found}")).await?);
        }
    }
    if removed.is_empty() {
        let place = namespace.map_or(String::new(), |namespace| format!(" in the namespace {namespace}"));
        return Err(format!(
            "{name:?} has no binding{place} that kindsmith user has made; kindsmith user list shows them"
        )
        .into());
    }
    Ok(removed)
}

/// Deletes an object. Returns what was deleted, unless it was gone.
async fn delete(api: &Api, path: &str, shown: &str) -> Result<Option<String>> {
    match api.call("DELETE", path, Value::Null).await? {
        (200 | 202, _) => Ok(Some(format!("{shown} deleted"))),
        (404, _) => Ok(None),
        (code, answer) => Err(refused(&format!("{shown} cannot be deleted"), code, &answer)),
    }
}

/// A binding that was made here.
struct Binding {
    path: String,
    shown: String,
    namespace: String,
    document: Value,
}

impl Binding {
    fn users(&self) -> Vec<BoundUser> {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let role = text(&self.document["roleRef"]["name"]);
        let subjects = self.document["subjects"].as_array().into_iter().flatten();
        let bound = subjects.map(|subject| BoundUser {
            name: text(&subject["name"]),
            kind: text(&subject["kind"]),
            namespace: self.namespace.clone(),
            role: role.clone(),
        });
        bound.collect()
    }
}

async fn bindings(api: &Api) -> Result<Vec<Binding>> {
    let mut all = Vec::new();
    for plural in ["clusterrolebindings", "rolebindings"] {
        let path = format!("{API}/{plural}?labelSelector={MANAGED_BY}%3D{MANAGER}");
        let (code, answer) = api.call("GET", &path, Value::Null).await?;
        if code != 200 {
            return Err(refused(&format!("{plural} cannot be listed"), code, &answer));
        }
        for document in items(&answer) {
            let text = |name: &str| document["metadata"][name].as_str().unwrap_or_default().to_owned();
            let (name, namespace) = (text("name"), text("namespace"));
            let (below, place) = match &*namespace {
                "" => (String::new(), String::new()),
                namespace => (format!("/namespaces/{namespace}"), format!(" in the namespace {namespace}")),
            };
            let path = format!("{API}{below}/{plural}/{}", encoded(&name));
            let shown = format!("{}/{name}{place}", plural.trim_end_matches('s'));
            all.push(Binding { path, shown, namespace, document: document.clone() });
        }
    }
    Ok(all)
}

fn items(list: &Value) -> &[Value] {
    list["items"].as_array().map(Vec::as_slice).unwrap_or_default()
}

/// True if a create failed because there is an object of this name.
pub(super) fn exists(code: u16, answer: &Value) -> bool {
    code == 409 && answer["reason"] == "AlreadyExists"
}

/// A name as a segment of a path: bytes other than letters, digits and `-._~` are escaped.
pub(super) fn encoded(name: &str) -> String {
    let mut text = String::new();
    for byte in name.bytes() {
        match byte {
            b'-' | b'.' | b'_' | b'~' => text.push(byte.into()),
            _ if byte.is_ascii_alphanumeric() => text.push(byte.into()),
            _ => text.extend(["%".to_owned(), format!("{byte:02X}")]),
        }
    }
    text
}
