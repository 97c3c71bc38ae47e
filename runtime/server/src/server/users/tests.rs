//! Tests of users on running and stopped servers.

use std::time::Duration;

use serde_json::{Value, json};

use super::{Credential, NewUser, Target, api, kubeconfig};
use crate::{
    Server,
    server::{TestServer, state::StateDir},
    upstream::client::Client,
};

fn user(name: &str) -> NewUser {
    NewUser {
        name: name.to_owned(),
        groups: Vec::new(),
        credential: Credential::Certificate,
        role: None,
        namespace: None,
        valid_for: Duration::from_hours(1),
        server: None,
    }
}

/// Sends a request with a kubeconfig. Returns the status, and the message of a refusal.
async fn ask(state: &StateDir, text: &str, method: &str, path: &str, body: Value) -> (u16, String) {
    let file = state.files.file("user.conf");
    std::fs::write(&file, text).unwrap();
    let client = Client::new(kubeconfig::read(&file).unwrap()).unwrap();
    let (code, answer) = api::call(&client, method, path, &body).await.unwrap();
    (code, answer["message"].as_str().unwrap_or_default().to_owned())
}

async fn started(state: &StateDir) -> (TestServer, Target) {
    let dir = state.files.path().join("data");
    let server = Server::test().tls().data_dir(&dir).start().await;
    (server, Target { data_dir: Some(dir), kubeconfig: None })
}

/// Waits until no server of this process has the store open: its threads end a moment after it.
async fn closed(target: &Target) {
    let lock = std::fs::File::open(target.data_dir.as_ref().unwrap().join("LOCK")).unwrap();
    let locking = crate::tasks::blocking(move || lock.lock());
    tokio::time::timeout(Duration::from_secs(30), locking).await.expect("the store is closed").unwrap().unwrap();
}

const MAPS: &str = "/api/v1/namespaces/default/configmaps";

#[tokio::test]
async fn a_running_server_lets_a_person_in_with_a_certificate() {
    let state = StateDir::temporary().unwrap();
    let (_server, target) = started(&state).await;
    let ada = NewUser { role: Some("view".into()), namespace: Some("default".into()), ..user("ada@example.com") };
    let added = target.add(&ada).await.unwrap();
    assert_eq!(added.user, "ada@example.com");
    assert_eq!(added.changes.len(), 1, "{added:?}");
    let all = "/api/v1/configmaps";
    let map = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}});
    assert_eq!(ask(&state, &added.kubeconfig, "GET", MAPS, Value::Null).await.0, 200);
    let (code, why) = ask(&state, &added.kubeconfig, "GET", all, Value::Null).await;
    assert_eq!(
        (code, why.contains(r#"User "ada@example.com" cannot list resource "configmaps""#)),
        (403, true),
        "{why}"
    );
    assert_eq!(ask(&state, &added.kubeconfig, "POST", MAPS, map.clone()).await.0, 403);

    // Another role, and the same once more.
    let more = NewUser { role: Some("edit".into()), ..ada.clone() };
    target.add(&more).await.unwrap();
    let again = target.add(&more).await.unwrap();
    assert!(again.changes[0].contains("is there already"), "{again:?}");
    assert_eq!(ask(&state, &added.kubeconfig, "POST", MAPS, map).await.0, 201);

    let listed: Vec<_> = target.list().await.unwrap().into_iter().map(|user| (user.name, user.role)).collect();
    let of = |role: &str| ("ada@example.com".to_owned(), role.to_owned());
    assert_eq!(listed, [of("edit"), of("view")]);
    let missing = target.remove("ada@example.com", Some("other")).await.unwrap_err().to_string();
    assert!(missing.starts_with("\"ada@example.com\" has no binding in the namespace other "), "{missing}");
    assert_eq!(target.remove("ada@example.com", None).await.unwrap().len(), 2);
    assert_eq!(ask(&state, &added.kubeconfig, "GET", MAPS, Value::Null).await.0, 403);
    assert_eq!(target.list().await.unwrap(), []);
}

#[tokio::test]
async fn a_running_server_lets_ci_in_with_a_token() {
    let state = StateDir::temporary().unwrap();
    let (_server, target) = started(&state).await;
    let ci = NewUser {
        credential: Credential::Token,
        role: Some("edit".into()),
        namespace: Some("default".into()),
        ..user("ci")
    };
    let added = target.add(&ci).await.unwrap();
    assert_eq!(added.user, "system:serviceaccount:default:ci");
    assert!(!format!("{added:?}").contains("kubeconfig:") && added.kubeconfig.contains("token: \"ey"), "{added:?}");
    assert_eq!(ask(&state, &added.kubeconfig, "GET", MAPS, Value::Null).await.0, 200);
    assert_eq!(target.remove("ci", None).await.unwrap().len(), 2);
    assert_eq!(ask(&state, &added.kubeconfig, "GET", MAPS, Value::Null).await.0, 401);
}

#[tokio::test]
async fn a_stopped_server_lets_in_whom_its_data_directory_got() {
    let state = StateDir::temporary().unwrap();
    let (server, target) = started(&state).await;
    let port = server.port();
    server.stop();
    closed(&target).await;
    let grace = NewUser { groups: vec!["editors".into()], role: Some("edit".into()), ..user("grace") };
    let added = target.add(&grace).await.unwrap();
    assert!(added.changes[0].starts_with("clusterrolebinding/grace:edit created"), "{added:?}");
    let token = NewUser { credential: Credential::Token, ..user("ci") };
    let error = target.add(&token).await.unwrap_err().to_string();
    assert!(error.contains("running server"), "{error}");
    closed(&target).await;
    let dir = target.data_dir.clone().unwrap();
    let server = Server::test().tls().data_dir(&dir).port(port).start().await;
    // The role gathers its rules after the start.
    let begun = std::time::Instant::now();
    while ask(&state, &added.kubeconfig, "GET", MAPS, Value::Null).await.0 != 200 {
        assert!(begun.elapsed() < Duration::from_secs(30), "the role of grace allows nothing");
    }
    assert_eq!(target.list().await.unwrap().len(), 1);
    server.stop();
}

#[tokio::test]
async fn what_cannot_be_is_said_with_the_way_out() {
    let state = StateDir::temporary().unwrap();
    let (_server, target) = started(&state).await;
    let ada = || user("ada");
    let wrong = [
        (
            NewUser { role: Some("vieuw".into()), ..ada() },
            "there is no ClusterRole \"vieuw\"; ClusterRoles are admin, cluster-admin, edit, view",
        ),
        (
            NewUser { role: Some("view".into()), namespace: Some("shop".into()), ..ada() },
            "kubectl create namespace shop",
        ),
        (NewUser { role: Some("a/../b".into()), ..ada() }, "the role a/../b cannot be read"),
        (user("a/b"), "without slashes"),
        (user(""), "cannot be a user"),
        (user("system:admin"), "belong to the server"),
        (NewUser { groups: vec!["system:masters".into()], ..ada() }, "--role cluster-admin"),
        (NewUser { groups: vec!["g".into()], credential: Credential::Token, ..ada() }, "leave out the groups"),
        (NewUser { credential: Credential::Token, ..user("Ada Lovelace") }, "service account Ada Lovelace"),
    ];
    for (user, expected) in wrong {
        let error = target.add(&user).await.unwrap_err().to_string();
        assert!(error.contains(expected), "{user:?}: {error}");
    }
    assert_eq!(target.list().await.unwrap(), []);

    let missing = Target { data_dir: Some(state.files.path().join("nowhere")), kubeconfig: None };
    let error = missing.add(&ada()).await.unwrap_err().to_string();
    assert!(error.contains("there is no data directory") && error.contains("--data-dir"), "{error}");
    assert!(!state.files.path().join("nowhere").exists());
}

#[tokio::test]
async fn a_server_that_trusts_another_authority_is_found_out() {
    let state = StateDir::temporary().unwrap();
    let (dir, authority) = (state.files.path().join("data"), state.files.path().join("other.crt"));
    let key = rcgen::KeyPair::generate().unwrap();
    let other = crate::server::tls::authority_params("other").self_signed(&key).unwrap();
    std::fs::write(&authority, other.pem()).unwrap();
    let test = Server::test().tls().data_dir(&dir).configure(|server| server.client_ca(&authority));
    let _server = test.start().await;
    let target = Target { data_dir: Some(dir.clone()), kubeconfig: None };
    let ada = NewUser { role: Some("view".into()), ..user("ada") };
    let error = target.add(&ada).await.unwrap_err().to_string();
    assert!(error.contains("does not trust client-ca.crt"), "{error}");
    assert_eq!(target.list().await.unwrap(), [], "nothing is left behind");
    // Through a kubeconfig alone.
    let remote = Target { data_dir: None, kubeconfig: Some(dir.join("kubeconfig")) };
    let error = remote.add(&user("ada")).await.unwrap_err().to_string();
    assert!(error.contains("--data-dir, or use --token"), "{error}");
    let ci = NewUser { credential: Credential::Token, ..user("ci") };
    assert_eq!(remote.add(&ci).await.unwrap().user, "system:serviceaccount:default:ci");
}
