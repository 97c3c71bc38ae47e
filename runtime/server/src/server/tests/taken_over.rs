//! A server takes over what a kube-apiserver stored below a prefix of etcd. Without etcd this says that it did not run; in CI it
//! fails.
use bytes::Bytes;
use serde_json::{Value, json};

use super::{App, BOLTS, Builder, DEFINITIONS, Server, bolts, call, member::Member};
use crate::{
    builtin::Namespace,
    client::{Patch, WatchEvent},
    codec::protobuf,
    kind::Resource,
    meta::{options::ListOptions, selector::Fields},
    storage::{
        Commit, Etcd, EtcdOptions, Expect, Foreign, Op, Store,
        tools::{self, CopyOptions, Place},
    },
    widget::Widget,
};

const WIDGETS: &str = "/registry/conformance.example.com/widgets/shop/";

/// A custom resource as kube-apiserver stores it.
fn custom(kind: &str, group: &str, name: &str, spec: &Value) -> Bytes {
    let time = "2024-05-06T07:08:09Z";
    let owned = json!({"f:spec": {"f:size": {}}});
    let object = json!({"apiVersion": format!("{group}/v1"), "kind": kind, "metadata": {
        "creationTimestamp": time, "generation": 3, "name": name, "namespace": "shop", "uid": format!("uid-of-{name}"),
        "labels": {"app": name},
        "managedFields": [{"apiVersion": format!("{group}/v1"), "fieldsType": "FieldsV1", "fieldsV1": owned, "manager": "kubectl",
            "operation": "Update", "time": time}]}, "spec": spec});
    format!("{object}\n").into()
}

/// A namespace as kube-apiserver stores it: Protobuf.
fn namespace(name: &str) -> Bytes {
    let object = json!({"metadata": {"name": name, "uid": format!("uid-of-{name}"), "creationTimestamp": "2024-05-06T07:08:09Z",
        "labels": {"kubernetes.io/metadata.name": name}}, "spec": {"finalizers": ["kubernetes"]}, "status": {"phase": "Active"}});
    let mut message = Vec::new();
    Namespace::kind().message().expect("numbers").encode(&object, &mut message).expect("a message");
    protobuf::seal("v1", "Namespace", &message).into()
}

/// Everything that a kube-apiserver has stored, below `/kube`.
fn kubernetes(member: &Member) -> EtcdOptions {
    let options = EtcdOptions::new([member.url()]).prefix("/kube");
    let mut definition = bolts();
    definition["status"] = json!({"acceptedNames": definition["spec"]["names"], "storedVersions": ["v1"],
        "conditions": [{"type": "Established", "status": "True", "reason": "InitialNamesAccepted", "message": "",
            "lastTransitionTime": "2024-05-06T07:08:09Z"}]});
    definition["metadata"]["uid"] = "uid-of-bolts".into();
    let mut stored = vec![
        (
            "/registry/apiextensions.k8s.io/customresourcedefinitions/bolts.example.com".to_owned(),
            definition.to_string().into(),
        ),
        // A value that only kube-apiserver can read.
        ("/registry/configmaps/shop/sealed".to_owned(), "k8s:enc:aescbc:v1:key1:0123456789abcdef".into()),
        // A kind that this server does not have.
        ("/registry/deployments/shop/web".to_owned(), protobuf::seal("apps/v1", "Deployment", b"\n\x03\n\x01a").into()),
    ];
    stored.extend(
        ["default", "kube-system", "shop"].map(|name| (format!("/registry/namespaces/{name}"), namespace(name))),
    );
    for name in ["a", "b", "c"] {
        let spec = json!({"size": 5, "turns": {"left": true}});
        stored.push((format!("/registry/example.com/bolts/shop/{name}"), custom("Bolt", "example.com", name, &spec)));
        let spec = json!({"size": 5, "color": "Blue"});
        stored.push((format!("{WIDGETS}{name}"), custom("Widget", "conformance.example.com", name, &spec)));
    }
    let store = Etcd::open(options.clone()).expect("etcd is open");
    for (key, value) in stored {
        let op = Op { key: key.into(), value: Some(value), expect: Expect::Absent, lifetime: None };
        let commit = store.commit(Commit::from(vec![op]));
        tokio::task::block_in_place(|| tokio::runtime::Handle::current().block_on(commit)).expect("a write");
    }
    options
}

fn builder() -> Builder {
    Server::builder().http().definitions().kind::<Widget>()
}

/// Reads and changes what is there.
async fn use_all(app: &App) {
    let path = BOLTS.replace("/default/", "/shop/");
    let (code, list) = call(app, "GET", &path, &Value::Null).await;
    assert_eq!((code, list["items"].as_array().map(Vec::len)), (200, Some(3)), "{list}");
    let first = &list["items"][0];
    assert_eq!((&first["metadata"]["uid"], &first["metadata"]["generation"]), (&json!("uid-of-a"), &json!(3)));
    assert_eq!(first["spec"], json!({"size": 5, "turns": {"left": true}}));
    assert_eq!(first["metadata"]["managedFields"][0]["manager"], "kubectl");
    let mut changed = call(app, "GET", &format!("{path}/a"), &Value::Null).await.1;
    assert_eq!((&changed["kind"], &changed["apiVersion"]), (&json!("Bolt"), &json!("example.com/v1")));
    let outdated = changed.clone();
    changed["spec"]["size"] = 6.into();
    let (code, updated) = call(app, "PUT", &format!("{path}/a"), &changed).await;
    assert_eq!((code, &updated["metadata"]["generation"]), (200, &json!(4)), "{updated}");
    assert_eq!(updated["spec"]["turns"], json!({"left": true}));
    assert_eq!(call(app, "PUT", &format!("{path}/a"), &outdated).await.0, 409, "the version before is refused");
    assert_eq!(call(app, "DELETE", &format!("{path}/b"), &Value::Null).await.0, 200);
    let (code, definition) = call(app, "GET", &format!("{DEFINITIONS}/bolts.example.com"), &Value::Null).await;
    assert_eq!((code, &definition["metadata"]["uid"]), (200, &json!("uid-of-bolts")));

    let widgets = app.client().of::<Widget>("shop");
    let list = widgets.list(&ListOptions::default()).await.expect("a list");
    assert_eq!(list.items.len(), 3);
    let blue = ListOptions { fields: Fields::parse("spec.color=Blue").expect("a selector"), ..ListOptions::default() };
    assert_eq!(widgets.list(&blue).await.expect("a list").items.len(), 3, "selectable fields are found");
    let from = ListOptions { resource_version: list.metadata.resource_version.parse().ok(), ..ListOptions::default() };
    let mut watch = widgets.watch(&from).await.expect("a watch");
    let patch = Patch::Merge(json!({"spec": {"size": 7}}));
    let patched = widgets.patch("b", &patch).await.expect("a patch");
    assert_eq!((patched.spec.size, patched.metadata.uid.as_str()), (7, "uid-of-b"));
    let Some(Ok(WatchEvent::Modified(seen))) = watch.next().await else { panic!("an event") };
    assert_eq!(seen.metadata.resource_version, patched.metadata.resource_version);
    let apply = Patch::Apply(json!({"spec": {"size": 5, "tags": ["new"]}}));
    let applied = widgets.clone().field_manager("ann").patch("c", &apply).await.expect("an apply of the same size");
    let owners = applied.metadata.managed_fields.iter().map(|entry| entry.manager.as_str());
    assert_eq!(owners.collect::<Vec<_>>(), ["ann", "kubectl"]);

    let (code, refused) = call(app, "GET", "/api/v1/namespaces/shop/configmaps/sealed", &Value::Null).await;
    assert!(
        code == 500 && refused.to_string().contains("this object is encrypted, read only by a server with the keys"),
        "{code} {refused}"
    );

    let namespaces = app.client().of::<Namespace>("");
    let shop = namespaces.get("shop").await.expect("a namespace that is stored as Protobuf");
    assert_eq!(shop.metadata.uid.as_str(), "uid-of-shop");
    let bolt = json!({"apiVersion": "example.com/v1", "kind": "Bolt", "metadata": {"name": "new"}});
    assert_eq!(call(app, "POST", &path, &bolt).await.0, 201, "in a namespace of kube-apiserver");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn custom_resources_of_kube_apiserver_are_served_in_place() {
    let Some(member) = Member::start() else { return };
    let options = kubernetes(&member);
    let app = builder().etcd(options.clone()).build().await.expect("a server over etcd");
    use_all(&app).await;
    app.stop().await;
    // Another server reads the rest that is still as it was, beside what is written since.
    let app = builder().etcd(options).build().await.expect("a server over etcd");
    let list = app.client().of::<Widget>("shop").list(&ListOptions::default()).await.expect("a list");
    assert_eq!(list.items.iter().map(|widget| widget.spec.size).collect::<Vec<_>>(), [5, 7, 5]);
    app.stop().await;
    assert!(
        member.control(&["get", &format!("/kube/{}a", &WIDGETS["/registry/".len()..])]).contains("\"kind\":\"Widget\"")
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn custom_resources_of_kube_apiserver_are_served_from_a_copy() {
    let Some(member) = Member::start() else { return };
    let options = kubernetes(&member);
    let dir = std::env::temp_dir().join(format!("kindsmith-taken-over-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&dir);
    let (from, to) = (Place::Etcd(Box::new(options)), Place::Directory(dir.clone()));
    let copied = tokio::task::block_in_place(|| tools::copy(&from, &to, &CopyOptions::default(), &mut |_| {}));
    let copied = copied.expect("a copy");
    assert_eq!((copied.digest.objects, copied.renumbered, copied.foreign), (12, 0, 5));
    let encrypted = copied.foreigners.iter().filter(|(_, foreign)| *foreign == Foreign::Encrypted);
    assert_eq!(encrypted.map(|(key, _)| key.as_str()).collect::<Vec<_>>(), ["/registry/configmaps/shop/sealed"]);
    let app = builder().data_dir(&dir).build().await.expect("a server over a directory");
    use_all(&app).await;
    app.stop().await;
    std::fs::remove_dir_all(&dir).expect("the directory is removed");
}
