//! Several servers over a member of etcd. Without etcd this says that it did not run; in CI it fails.
use serde_json::{Value, json};

use super::{App, BOLTS, DEFINITIONS, Server, bolts, call, holder, member::Member, until};
use crate::{
    builtin::ConfigMap,
    client::WatchEvent,
    meta::{
        ObjectMeta,
        options::{DeleteOptions, ListOptions},
    },
    storage::EtcdOptions,
};

async fn server(member: &Member) -> App {
    let builder = Server::builder().etcd(EtcdOptions::new([member.url()])).http().definitions();
    builder.build().await.expect("a server over etcd")
}

fn map(name: &str) -> ConfigMap {
    ConfigMap { metadata: ObjectMeta::named(name), ..ConfigMap::default() }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_server_sees_what_the_other_has_acknowledged() {
    let Some(member) = Member::start() else { return };
    let (first, second) = tokio::join!(server(&member), server(&member));
    let (of_first, of_second) = (first.client().of::<ConfigMap>("default"), second.client().of::<ConfigMap>("default"));
    let mut moved = of_first.watch(&ListOptions::default()).await.unwrap();
    for round in 0..20 {
        let name = format!("map-{round:02}");
        let made = of_first.create(&map(&name)).await.unwrap();
        let seen = of_second.get(&name).await.unwrap();
        assert_eq!(seen.metadata.resource_version, made.metadata.resource_version, "read at once on the other server");
        let mut newer = seen.clone();
        newer.data.insert("by".to_owned(), "second".to_owned());
        let newer = of_second.replace(&name, &newer).await.unwrap();
        let mut newest = newer.clone();
        newest.data.insert("by".to_owned(), "first".to_owned());
        of_first.replace(&name, &newest).await.expect("the newest version is given");
        assert!(of_second.replace(&name, &newer).await.is_err(), "the version before is not");
    }
    let page = ListOptions { limit: 7, ..ListOptions::default() };
    let begun = of_first.list(&page).await.unwrap();
    of_first.delete("map-19", &DeleteOptions::default()).await.unwrap();
    let rest = ListOptions { continue_token: begun.metadata.continue_token.clone(), ..ListOptions::default() };
    let rest = of_second.list(&rest).await.unwrap();
    assert_eq!((begun.items.len(), rest.items.len()), (7, 13), "at the revision of the first page");
    assert_eq!(of_second.list(&ListOptions::default()).await.unwrap().items.len(), 19);

    // The watch goes on at the other server where it was.
    let Some(Ok(WatchEvent::Added(first_seen))) = moved.next().await else { panic!("an event") };
    drop(moved);
    let from =
        ListOptions { resource_version: first_seen.metadata.resource_version.parse().ok(), ..ListOptions::default() };
    let mut moved = of_second.watch(&from).await.unwrap();
    let Some(Ok(WatchEvent::Modified(next))) = moved.next().await else { panic!("an event") };
    assert_eq!((next.metadata.name.as_str(), next.data["by"].as_str()), ("map-00", "second"));
    first.stop().await;
    second.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_leads_and_the_other_takes_over() {
    let Some(member) = Member::start() else { return };
    let first = server(&member).await;
    until("a leader", || async { !holder(&first).await.is_empty() }).await;
    let second = server(&member).await;
    assert_eq!(call(&second, "POST", DEFINITIONS, &bolts()).await.0, 201);
    until("both serve it", || async {
        call(&first, "GET", BOLTS, &Value::Null).await.0 == 200
            && call(&second, "GET", BOLTS, &Value::Null).await.0 == 200
    })
    .await;
    let bolt = json!({"apiVersion": "example.com/v1", "kind": "Bolt", "metadata": {"name": "a"}});
    assert_eq!(call(&second, "POST", BOLTS, &bolt).await.0, 201);
    first.stop().await;
    let path = format!("{DEFINITIONS}/bolts.example.com");
    assert_eq!(call(&second, "DELETE", &path, &Value::Null).await.0, 200);
    until("the new leader removes it", || async { call(&second, "GET", &path, &Value::Null).await.0 == 404 }).await;
    second.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_resource_that_may_be_defined_elsewhere_is_not_reported_as_removed() {
    let Some(mut member) = Member::start() else { return };
    let server = server(&member).await;
    let path = BOLTS.replace("bolts", "nuts");
    assert_eq!(call(&server, "GET", &path, &Value::Null).await.0, 404);
    // It is established, and this server cannot serve it.
    let mut nuts = bolts();
    nuts["metadata"]["name"] = "nuts.example.com".into();
    nuts["spec"]["names"] = json!({"kind": "Nut", "listKind": "NutList", "plural": "nuts", "singular": "nut"});
    nuts["spec"]["versions"][0]["schema"] = json!({"openAPIV3Schema": {"type": "string"}});
    nuts["status"] = json!({"acceptedNames": nuts["spec"]["names"], "storedVersions": ["v1"],
        "conditions": [{"type": "Established", "status": "True", "reason": "InitialNamesAccepted", "message": "",
            "lastTransitionTime": "2024-05-06T07:08:09Z"}]});
    let key = "/registry/apiextensions.k8s.io/customresourcedefinitions/nuts.example.com";
    member.control(&["put", key, &nuts.to_string()]);
    let (code, answer) = call(&server, "GET", &path, &Value::Null).await;
    assert_eq!((code, &answer["reason"]), (503, &json!("ServiceUnavailable")), "{answer}");
    member.kill();
    let (code, answer) = call(&server, "GET", &BOLTS.replace("bolts", "screws"), &Value::Null).await;
    assert_eq!((code, &answer["reason"]), (504, &json!("Timeout")), "{answer}");
    member.restart();
    server.stop().await;
}
