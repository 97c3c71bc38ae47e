//! Two servers: a host with users and roles, and one behind it that asks the host.
use serde_json::{Value, json};

use super::over_tls::{Authority, Folder, send, who_am_i};
use crate::server::{Server, TestServer};

const MAPS: &str = "/api/v1/namespaces/default/configmaps";

async fn create(host: &TestServer, path: &str, object: Value) -> Value {
    let (status, created) = host.call("POST", path, object).await;
    assert_eq!(status, 201, "{created}");
    created
}

/// A host that publishes its authorities.
async fn host(proxies: &Authority, users: &Authority) -> TestServer {
    let host = Server::test().tls().start().await;
    let map = json!({
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "extension-apiserver-authentication"},
        "data": {
            "client-ca-file": users.pem,
            "requestheader-client-ca-file": proxies.pem,
            "requestheader-allowed-names": "[\"front\"]",
            "requestheader-username-headers": "[\"X-Remote-User\"]",
            "requestheader-group-headers": "[\"X-Remote-Group\"]",
            "requestheader-extra-headers-prefix": "[\"X-Remote-Extra-\"]",
        },
    });
    create(&host, "/api/v1/namespaces/kube-system/configmaps", map).await;
    host
}

/// Lets a subject read ConfigMaps in `default`.
async fn bind(host: &TestServer, name: &str, subject: Value) {
    let (roles, version) = ("/apis/rbac.authorization.k8s.io/v1/namespaces/default", "rbac.authorization.k8s.io/v1");
    let role = json!({
        "apiVersion": version,
        "kind": "Role",
        "metadata": {"name": name},
        "rules": [{"apiGroups": [""], "resources": ["configmaps"], "verbs": ["get", "list"]}],
    });
    create(host, &format!("{roles}/roles"), role).await;
    let binding = json!({
        "apiVersion": version,
        "kind": "RoleBinding",
        "metadata": {"name": name},
        "subjects": [subject],
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": name},
    });
    create(host, &format!("{roles}/rolebindings"), binding).await;
}

async fn account_token(host: &TestServer, name: &str) -> String {
    let accounts = "/api/v1/namespaces/default/serviceaccounts";
    create(host, accounts, json!({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": name}})).await;
    let request = json!({"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}});
    let token = create(host, &format!("{accounts}/{name}/token"), request).await;
    token["status"]["token"].as_str().expect("a token").to_owned()
}

#[tokio::test]
async fn the_host_says_who_users_are_and_what_they_may_do() {
    let (proxies, users) = (Authority::new("proxies"), Authority::new("users"));
    let host = host(&proxies, &users).await;
    let (reader, other) = (account_token(&host, "reader").await, account_token(&host, "other").await);
    bind(&host, "account", json!({"kind": "ServiceAccount", "name": "reader", "namespace": "default"})).await;
    bind(&host, "ada", json!({"kind": "User", "name": "ada", "apiGroup": "rbac.authorization.k8s.io"})).await;
    let behind = Server::test().tls().configure(|server| server.delegated(host.kubeconfig())).start().await;
    assert_eq!(behind.token(), "", "it has no admin token");
    let get = |path: &'static str| ("GET", path, &Value::Null);
    let bearer = |token: &str| format!("Bearer {token}");

    let (reader, other) = (bearer(&reader), bearer(&other));
    for (token, expected) in [(&reader, 200), (&other, 403), (&bearer("invented"), 401), (&bearer(host.token()), 200)] {
        let answer = send(&behind, None, &[("authorization", token)], get(MAPS)).await.unwrap();
        assert_eq!(answer.0, expected, "{answer:?}");
    }
    let answer = send(&behind, None, &[("authorization", &reader)], ("DELETE", MAPS, &Value::Null)).await.unwrap();
    assert_eq!(answer.0, 403, "{answer:?}");

    let front = proxies.client("front", "x");
    for (user, expected) in [("ada", 200), ("eve", 403)] {
        let answer = send(&behind, Some(&front), &[("x-remote-user", user)], get(MAPS)).await.unwrap();
        assert_eq!(answer.0, expected, "{answer:?}");
    }
    let answer = send(&behind, Some(&users.client("ada", "x")), &[("x-remote-user", "root")], get(MAPS)).await.unwrap();
    assert_eq!(answer.0, 200, "a certificate of the host's users: {answer:?}");
    let masters = [("x-remote-user", "root"), ("x-remote-group", "system:masters")];
    assert_eq!(send(&behind, Some(&front), &masters, get("/metrics")).await.unwrap().0, 200);
    assert_eq!(who_am_i(&behind, Some(&proxies.client("eve", "x")), &masters).await, Err(401));
    assert_eq!(send(&behind, None, &masters, get(MAPS)).await.unwrap().0, 403, "anonymous");

    for path in ["/healthz", "/readyz", "/livez"] {
        assert_eq!(send(&behind, None, &[], get(path)).await.unwrap().0, 200, "{path}");
    }
    let roles = get("/apis/rbac.authorization.k8s.io/v1/clusterroles");
    assert_eq!(send(&behind, Some(&front), &masters, roles).await.unwrap().0, 404, "it serves no roles");
}

#[tokio::test]
async fn a_host_that_publishes_nothing_or_is_down_is_an_error_at_the_start() {
    let host = Server::test().tls().start().await;
    let kubeconfig = host.kubeconfig().to_owned();
    let folder = Folder::new();
    let copy = folder.write("kubeconfig", &std::fs::read_to_string(&kubeconfig).unwrap());
    let start = || Server::test().tls().configure(|server| server.delegated(&copy)).try_start();
    let error = start().await.err().expect("no ConfigMap").to_string();
    assert!(error.contains("extension-apiserver-authentication\" not found"), "{error}");
    host.stop();
    let error = start().await.err().expect("no host").to_string();
    assert!(error.contains("dial tcp"), "{error}");
    let conflict = Server::test().tls().configure(|server| server.delegated(&copy).token_file("users.csv"));
    let error = conflict.try_start().await.err().expect("a conflict").to_string();
    assert!(error.starts_with("token_file() and delegated() exclude each other"), "{error}");
}

#[tokio::test]
async fn the_authorizers_of_a_file_decide_in_its_order() {
    let folder = Folder::new();
    let head = "apiVersion: apiserver.config.k8s.io/v1\nkind: AuthorizationConfiguration\nauthorizers:\n";
    let file = folder.write("authz.yaml", &format!("{head}- {{type: AlwaysDeny, name: nothing}}\n"));
    let server = Server::test().configure(|server| server.authorization_config(&file)).start().await;
    let ada = crate::auth::User::new("ada", &[]);
    let (status, refusal) = server.call_as(&ada, "GET", MAPS, Value::Null).await;
    assert!(status == 403 && refusal["message"].as_str().unwrap().contains("Everything is forbidden."), "{refusal}");
    assert_eq!(server.call("GET", MAPS, Value::Null).await.0, 200, "members of system:masters are always allowed");

    folder.write("authz.yaml", "authorizers: []");
    server.reload();
    folder.write("authz.yaml", &format!("{head}- {{type: RBAC, name: rbac}}\n- {{type: AlwaysAllow, name: all}}\n"));
    super::until("the new authorizers", || async {
        server.reload();
        server.call_as(&ada, "GET", MAPS, Value::Null).await.0 == 200
    })
    .await;
}
