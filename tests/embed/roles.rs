//! Roles: what they allow from one request to the next, and that users grant only what they have, in whatever way.

use std::{sync::Arc, time::Duration};

use axum::body::{Body, to_bytes};
use hyper::Request;
use kindsmith::{ObjectMeta, Resource, Server, auth::User, server::TestServer};
use serde_json::{Value, json};
use tower::ServiceExt;

const RBAC: &str = "/apis/rbac.authorization.k8s.io/v1";
const API_VERSION: &str = "rbac.authorization.k8s.io/v1";
const TEAM: &str = "/apis/rbac.authorization.k8s.io/v1/namespaces/team";
const CONFIG_MAPS: &str = "/api/v1/namespaces/team/configmaps";
const SECRETS: &str = "/api/v1/namespaces/team/secrets";

const JSON: &str = "application/json";
const YAML: &str = "application/yaml";
const MERGE: &str = "application/merge-patch+json";
const STRATEGIC: &str = "application/strategic-merge-patch+json";
const JSON_PATCH: &str = "application/json-patch+json";
const APPLY: &str = "application/apply-patch+yaml";

fn mallory() -> User {
    User::new("mallory", &[])
}

fn rule(group: &str, resource: &str, verb: &str) -> Value {
    json!({"apiGroups": [group], "resources": [resource], "verbs": [verb]})
}

fn role(kind: &str, name: &str, rules: &[Value]) -> Value {
    json!({"apiVersion": API_VERSION, "kind": kind, "metadata": {"name": name}, "rules": rules})
}

fn binding(kind: &str, name: &str, role_kind: &str, role: &str, user: &str) -> Value {
    json!({
        "apiVersion": API_VERSION,
        "kind": kind,
        "metadata": {"name": name},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": role_kind, "name": role},
        "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": user}],
    })
}

async fn create(server: &TestServer, path: &str, object: Value) {
    let (code, answer) = server.call("POST", path, object).await;
    assert_eq!(code, 201, "{answer}");
}

/// A server on which mallory may write all roles and bindings, and read config maps. She may neither escalate nor bind.
async fn server() -> TestServer {
    let server = Server::test().start().await;
    create(&server, "/api/v1/namespaces", json!({"metadata": {"name": "team"}})).await;
    let kinds = json!({
        "apiGroups": ["rbac.authorization.k8s.io"],
        "resources": ["roles", "rolebindings", "clusterroles", "clusterrolebindings"],
        "verbs": ["get", "list", "create", "update", "patch", "delete"],
    });
    let editor = role("ClusterRole", "access-editor", &[kinds, rule("", "configmaps", "get")]);
    create(&server, &format!("{RBAC}/clusterroles"), editor).await;
    let bound = binding("ClusterRoleBinding", "access-editor", "ClusterRole", "access-editor", "mallory");
    create(&server, &format!("{RBAC}/clusterrolebindings"), bound).await;

    let secrets = [rule("", "secrets", "list")];
    create(&server, &format!("{RBAC}/clusterroles"), role("ClusterRole", "powerful", &secrets)).await;
    create(&server, &format!("{TEAM}/roles"), role("Role", "strong", &secrets)).await;
    create(&server, &format!("{TEAM}/roles"), role("Role", "own", &[rule("", "configmaps", "get")])).await;
    create(&server, &format!("{TEAM}/rolebindings"), binding("RoleBinding", "others", "Role", "strong", "carol")).await;
    create(&server, "/api/v1/namespaces/team/serviceaccounts", json!({"metadata": {"name": "robot"}})).await;
    server
}

/// Sends a request as mallory, with further headers.
async fn send(
    server: &TestServer,
    (method, path): (&str, &str),
    media_type: &str,
    body: String,
    headers: &[(&str, &str)],
) -> (u16, Value) {
    let mut request = Request::builder().method(method).uri(path).header("content-type", media_type);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let request = request.extension(Arc::new(mallory())).body(Body::from(body)).expect("a request");
    let answer = server.service().oneshot(request).await.unwrap_or_else(|never| match never {});
    let code = answer.status().as_u16();
    let body = to_bytes(answer.into_body(), 1 << 20).await.expect("a body");
    (code, serde_json::from_slice(&body).unwrap_or_default())
}

/// Ways to change what a role allows.
fn changes_of_roles() -> Vec<(&'static str, String, &'static str, String)> {
    let own = format!("{TEAM}/roles/own");
    let secrets = [rule("", "secrets", "list")];
    let whole = role("Role", "own", &secrets);
    let rules = json!({"rules": secrets}).to_string();
    let added = json!([{"op": "add", "path": "/rules/-", "value": secrets[0]}]).to_string();
    let wider = json!([{"op": "replace", "path": "/rules/0/verbs/0", "value": "*"}]).to_string();
    let forced = |name: &str| format!("{TEAM}/roles/{name}?fieldManager=m&force=true");
    let label = |role: &str| {
        json!({"metadata": {"labels": {format!("rbac.authorization.k8s.io/aggregate-to-{role}"): "true"}}}).to_string()
    };
    vec![
        ("PUT", own.clone(), JSON, whole.to_string()),
        ("PUT", own.clone(), YAML, whole.to_string()),
        ("PUT", format!("{own}?dryRun=All"), JSON, whole.to_string()),
        ("PATCH", own.clone(), MERGE, rules.clone()),
        ("PATCH", own.clone(), STRATEGIC, rules),
        ("PATCH", own.clone(), JSON_PATCH, added),
        ("PATCH", own, JSON_PATCH, wider),
        ("PATCH", forced("own"), APPLY, whole.to_string()),
        ("PATCH", forced("applied"), APPLY, role("Role", "applied", &secrets).to_string()),
        ("PATCH", format!("{RBAC}/clusterroles/powerful"), MERGE, label("view")),
        ("PATCH", format!("{RBAC}/clusterroles/powerful"), STRATEGIC, label("admin")),
    ]
}

/// Ways to make a role that allows more than mallory has.
fn new_roles() -> Vec<(&'static str, String, &'static str, String)> {
    let rules = [
        rule("", "secrets", "get"),
        rule("", "configmaps", "*"),
        rule("", "*", "get"),
        rule("*", "configmaps", "get"),
        rule("", "configmaps/status", "get"),
        rule("", "*/status", "get"),
        rule("rbac.authorization.k8s.io", "clusterroles", "escalate"),
        rule("rbac.authorization.k8s.io", "clusterroles", "bind"),
        rule("", "users", "impersonate"),
        json!({"apiGroups": [""], "resources": ["secrets"], "resourceNames": ["one"], "verbs": ["get"]}),
    ];
    let cluster = format!("{RBAC}/clusterroles");
    let mut ways = Vec::new();
    for rule in rules {
        ways.push((
            "POST",
            format!("{TEAM}/roles"),
            JSON,
            role("Role", "new", std::slice::from_ref(&rule)).to_string(),
        ));
        ways.push(("POST", cluster.clone(), YAML, role("ClusterRole", "new", &[rule]).to_string()));
    }
    let paths = json!({"nonResourceURLs": ["*"], "verbs": ["get"]});
    ways.push(("POST", cluster.clone(), JSON, role("ClusterRole", "new", &[paths]).to_string()));
    let mut generated = role("Role", "", &[rule("", "secrets", "get")]);
    generated["metadata"] = json!({"generateName": "new-"});
    ways.push(("POST", format!("{TEAM}/roles"), JSON, generated.to_string()));
    let mut labelled = role("ClusterRole", "new", &[rule("", "secrets", "get")]);
    labelled["metadata"]["labels"] = json!({"rbac.authorization.k8s.io/aggregate-to-view": "true"});
    ways.push(("POST", cluster, JSON, labelled.to_string()));
    ways
}

/// Ways to bind a role that allows more than mallory has.
fn bindings() -> Vec<(&'static str, String, &'static str, String)> {
    let in_team = format!("{TEAM}/rolebindings");
    let powerful = binding("RoleBinding", "new", "ClusterRole", "powerful", "mallory").to_string();
    let strong = binding("RoleBinding", "new", "Role", "strong", "mallory").to_string();
    let admin = binding("ClusterRoleBinding", "new", "ClusterRole", "cluster-admin", "mallory").to_string();
    let others = binding("RoleBinding", "others", "Role", "strong", "mallory");
    let subjects = json!({"subjects": others["subjects"]}).to_string();
    let mut group = binding("ClusterRoleBinding", "new", "ClusterRole", "admin", "mallory");
    group["subjects"] =
        json!([{"apiGroup": "rbac.authorization.k8s.io", "kind": "Group", "name": "system:authenticated"}]);
    vec![
        ("POST", in_team.clone(), JSON, powerful),
        ("POST", in_team.clone(), JSON, strong.clone()),
        ("POST", format!("{in_team}?dryRun=All"), JSON, strong),
        ("POST", format!("{RBAC}/clusterrolebindings"), JSON, admin),
        ("POST", format!("{RBAC}/clusterrolebindings"), JSON, group.to_string()),
        ("PUT", format!("{in_team}/others"), JSON, others.to_string()),
        ("PATCH", format!("{in_team}/others"), MERGE, subjects.clone()),
        ("PATCH", format!("{in_team}/others"), STRATEGIC, subjects),
        ("PATCH", format!("{in_team}/others?fieldManager=m&force=true"), APPLY, others.to_string()),
    ]
}

#[tokio::test]
async fn users_grant_only_what_they_have() {
    let server = server().await;
    let (_, before) = server.call("GET", &format!("{TEAM}/roles/own"), Value::Null).await;
    let ways = [changes_of_roles(), new_roles(), bindings()].concat();
    for (method, path, media_type, body) in ways {
        let (code, answer) = send(&server, (method, &path), media_type, body.clone(), &[]).await;
        assert_eq!(code, 403, "{method} {path} {media_type} {body}: {answer}");
        let message = answer["message"].as_str().unwrap_or_default();
        let expected = r#"user "mallory" (groups=["system:authenticated"]) is attempting to grant RBAC permissions not currently held:"#;
        assert!(message.contains(expected), "{method} {path} {body}: {message}");
    }
    let mut sum = role("ClusterRole", "sum", &[]);
    sum["aggregationRule"] = json!({"clusterRoleSelectors": [{"matchLabels": {"any": "true"}}]});
    let (code, answer) = send(&server, ("POST", &format!("{RBAC}/clusterroles")), JSON, sum.to_string(), &[]).await;
    assert_eq!(code, 403, "{answer}");
    let message = answer["message"].as_str().unwrap_or_default();
    assert!(message.contains("must have cluster-admin privileges to use the aggregationRule"), "{message}");

    let (_, after) = server.call("GET", &format!("{TEAM}/roles/own"), Value::Null).await;
    assert_eq!(before, after);
    assert_eq!(server.call_as(&mallory(), "GET", SECRETS, Value::Null).await.0, 403);
}

#[tokio::test]
async fn who_may_write_roles_may_grant_what_they_have() {
    let server = server().await;
    let narrow = json!({"apiGroups": [""], "resources": ["configmaps"], "resourceNames": ["a"], "verbs": ["get"]});
    let ways = [
        ("POST", format!("{TEAM}/roles"), role("Role", "new", &[rule("", "configmaps", "get"), narrow])),
        ("POST", format!("{TEAM}/rolebindings"), binding("RoleBinding", "new", "Role", "own", "bob")),
        ("POST", format!("{RBAC}/clusterroles"), role("ClusterRole", "empty", &[])),
        ("PATCH", format!("{TEAM}/roles/own"), json!({"metadata": {"labels": {"a": "b"}}})),
        ("DELETE", format!("{TEAM}/rolebindings/others"), Value::Null),
        ("DELETE", format!("{RBAC}/clusterroles/powerful"), Value::Null),
    ];
    for (method, path, body) in ways {
        let (code, answer) = server.call_as(&mallory(), method, &path, body).await;
        assert!((200..300).contains(&code), "{method} {path}: {answer}");
    }
}

#[tokio::test]
async fn impersonation_needs_a_grant() {
    let server = server().await;
    let cases: [&[(&str, &str)]; 6] = [
        &[("impersonate-user", "admin")],
        &[("impersonate-user", "mallory"), ("impersonate-group", "system:masters")],
        &[("impersonate-user", "system:serviceaccount:team:robot")],
        &[("impersonate-user", "system:node:a")],
        &[("impersonate-user", "mallory"), ("impersonate-uid", "1")],
        &[("impersonate-user", "mallory"), ("impersonate-extra-scope", "all")],
    ];
    for headers in cases {
        let (code, answer) = send(&server, ("GET", SECRETS), JSON, String::new(), headers).await;
        assert_eq!(code, 403, "{headers:?}: {answer}");
        let message = answer["message"].as_str().unwrap_or_default();
        assert!(message.contains("cannot impersonate"), "{headers:?}: {message}");
    }
    for headers in [&[("impersonate-group", "system:masters")][..], &[("impersonate-uid", "1")]] {
        let (code, answer) = send(&server, ("GET", SECRETS), JSON, String::new(), headers).await;
        assert_eq!(code, 400, "{headers:?}: {answer}");
    }
    let path = "/api/v1/namespaces/team/serviceaccounts/robot/token";
    let (code, answer) = server.call_as(&mallory(), "POST", path, json!({"spec": {}})).await;
    let message = "serviceaccounts \"robot\" is forbidden: User \"mallory\" cannot create resource \"serviceaccounts/token\" in API \
                   group \"\" in the namespace \"team\"";
    assert_eq!((code, answer["message"].as_str()), (403, Some(message)));
}

#[tokio::test]
async fn a_change_of_a_role_or_binding_holds_for_the_next_request() {
    let server = server().await;
    let bob = User::new("bob", &[]);
    let (role_path, binding_path) = (format!("{TEAM}/roles/own"), format!("{TEAM}/rolebindings"));
    let code = async |method: &str| server.call_as(&bob, method, &format!("{CONFIG_MAPS}/a"), Value::Null).await.0;
    for _ in 0..50 {
        assert_eq!(code("GET").await, 403);
        create(&server, &binding_path, binding("RoleBinding", "bob", "Role", "own", "bob")).await;
        assert_eq!((code("GET").await, code("DELETE").await), (404, 403));
        let deletes = json!({"rules": [rule("", "configmaps", "delete")]});
        assert_eq!(server.call("PATCH", &role_path, deletes).await.0, 200);
        assert_eq!((code("GET").await, code("DELETE").await), (403, 404));
        let gets = json!({"rules": [rule("", "configmaps", "get")]});
        assert_eq!(server.call("PATCH", &role_path, gets).await.0, 200);
        assert_eq!((code("GET").await, code("DELETE").await), (404, 403));
        assert_eq!(server.call("DELETE", &format!("{binding_path}/bob"), Value::Null).await.0, 200);
    }
}

/// Audits are read by editors, and written by the server's own code alone.
#[derive(Resource, Clone, Debug)]
#[resource(group = "audits.example.com", version = "v1", roles(read = edit, write = none))]
struct Audit {
    metadata: ObjectMeta,
}

#[derive(Resource, Clone, Debug)]
#[resource(group = "audits.example.com", version = "v1")]
struct Note {
    metadata: ObjectMeta,
}

#[tokio::test]
async fn a_kind_says_which_roles_read_and_write_it() {
    let server = Server::test().kind::<Audit>().kind::<Note>().start().await;
    create(&server, "/api/v1/namespaces", json!({"metadata": {"name": "team"}})).await;
    for name in ["view", "edit", "admin"] {
        let bound = binding("RoleBinding", name, "ClusterRole", name, name);
        create(&server, &format!("{TEAM}/rolebindings"), bound).await;
    }
    let path = |resource: &str| format!("/apis/audits.example.com/v1/namespaces/team/{resource}");
    // The controller gathers the rules of the roles soon after the start.
    for (name, resource) in [("admin", "audits"), ("edit", "audits"), ("view", "notes")] {
        let user = User::new(name, &[]);
        let gathered = async {
            while server.call_as(&user, "GET", &path(resource), Value::Null).await.0 != 200 {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        tokio::time::timeout(Duration::from_secs(10), gathered).await.expect("the role gets its rules");
    }
    for (user, resource, reads, writes) in [
        ("view", "audits", false, false),
        ("edit", "audits", true, false),
        ("admin", "audits", true, false),
        ("view", "notes", true, false),
        ("edit", "notes", true, true),
        ("admin", "notes", true, true),
    ] {
        let (who, made) = (User::new(user, &[]), json!({"metadata": {"name": format!("of-{user}")}}));
        let read = server.call_as(&who, "GET", &path(resource), Value::Null).await.0;
        let written = server.call_as(&who, "POST", &path(resource), made).await.0;
        let expected = (if reads { 200 } else { 403 }, if writes { 201 } else { 403 });
        assert_eq!((read, written), expected, "{user} on {resource}");
    }
}
