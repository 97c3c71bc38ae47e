//! The API of Kubernetes from the library alone: the defaults, checks and immutable fields that its overlays declare.
use kindsmith::{Server, server::TestServer};
use kindsmith_model::codec::{Limits, yaml};
use kindsmith_tests::{Client, Folder};
use serde_json::{Map, Value, json};

const CASES: &str = include_str!("kubernetes.yaml");

async fn server() -> TestServer {
    Server::test().configure(kindsmith::server::Builder::kubernetes).start().await
}

fn cases() -> Value {
    yaml::decode(CASES.as_bytes(), &Limits::default()).expect("YAML").document
}

fn list<'c>(cases: &'c Value, name: &str) -> &'c Vec<Value> {
    cases[name].as_array().expect(name)
}

/// The path of the collection of an object.
async fn collection(server: &TestServer, resource: &Value, object: &Value) -> String {
    let plural = resource.as_str().and_then(|name| name.split('.').next()).expect("a plural");
    let version = object["apiVersion"].as_str().expect("an apiVersion");
    let root = if version.contains('/') { "/apis" } else { "/api" };
    let (_, discovery) = server.call("GET", &format!("{root}/{version}"), Value::Null).await;
    let mut resources = discovery["resources"].as_array().expect("resources").iter();
    let found = resources.find(|found| found["name"] == plural).unwrap_or_else(|| panic!("no {plural} in {version}"));
    let namespace = if found["namespaced"] == true { "/namespaces/default" } else { "" };
    format!("{root}/{version}{namespace}/{plural}")
}

/// Creates an object. Returns the path of the collection, and the answer.
async fn create(server: &TestServer, case: &Value) -> (String, u16, Value) {
    let path = collection(server, &case["resource"], &case["input"]).await;
    let (status, answer) = server.call("POST", &path, case["input"].clone()).await;
    (path, status, answer)
}

async fn delete(server: &TestServer, path: &str, object: &Value) {
    let name = object["metadata"]["name"].as_str().expect("a name");
    let (status, answer) = server.call("DELETE", &format!("{path}/{name}?gracePeriodSeconds=0"), Value::Null).await;
    assert!(status < 300, "{answer}");
}

/// What differs between what is expected and what is there.
fn differences(expected: &Value, found: &Value, at: &str, differing: &mut Vec<String>) {
    match (expected, found) {
        (Value::String(text), found) if text.starts_with('$') && !found.is_null() => {}
        (Value::Object(expected), Value::Object(found)) => {
            let names: std::collections::BTreeSet<_> = expected.keys().chain(found.keys()).collect();
            for name in names {
                let [expected, found] = [expected, found].map(|members| members.get(name).unwrap_or(&Value::Null));
                differences(expected, found, &format!("{at}.{name}"), differing);
            }
        }
        (Value::Array(expected), Value::Array(found)) if expected.len() == found.len() => {
            for (index, (expected, found)) in expected.iter().zip(found).enumerate() {
                differences(expected, found, &format!("{at}[{index}]"), differing);
            }
        }
        (expected, found) if expected == found => {}
        (expected, found) => differing.push(format!("{at}: expected {expected}, found {found}")),
    }
}

/// The causes of a refusal: field, reason and message.
fn causes(answer: &Value) -> Vec<[&str; 3]> {
    let causes = answer["details"]["causes"].as_array().into_iter().flatten();
    causes.map(|cause| ["field", "reason", "message"].map(|name| cause[name].as_str().unwrap_or_default())).collect()
}

fn errors(case: &Value) -> Vec<[&str; 3]> {
    let errors = case["errors"].as_array().expect("errors").iter();
    errors.map(|error| ["field", "reason", "message"].map(|name| error[name].as_str().expect(name))).collect()
}

#[tokio::test]
async fn objects_of_kubernetes_get_their_defaults() {
    let (server, cases) = (server().await, cases());
    for case in list(&cases, "cases") {
        let (path, status, mut created) = create(&server, case).await;
        assert_eq!(status, 201, "{}: {created}", case["name"]);
        delete(&server, &path, &created).await;
        let metadata: &mut Map<_, _> = created["metadata"].as_object_mut().expect("metadata");
        metadata.retain(|name, _| {
            !["uid", "resourceVersion", "creationTimestamp", "managedFields", "namespace"].contains(&name.as_str())
        });
        let mut expected = case["expected"].clone();
        for member in ["apiVersion", "kind", "metadata"] {
            if expected[member].is_null() {
                expected[member] = case["input"][member].clone();
            }
        }
        if let Some(metadata) = expected["metadata"].as_object_mut() {
            metadata.retain(|name, _| name != "namespace");
        }
        let mut differing = Vec::new();
        differences(&expected, &created, "", &mut differing);
        assert!(differing.is_empty(), "{}: {differing:#?}", case["name"]);
    }
    assert!(list(&cases, "cases").len() > 30);
}

#[tokio::test]
async fn wrong_objects_of_kubernetes_are_refused() {
    let (server, cases) = (server().await, cases());
    for case in list(&cases, "refused") {
        let (_, status, answer) = create(&server, case).await;
        assert_eq!(status, 422, "{}: {answer}", case["name"]);
        assert_eq!(causes(&answer), errors(case), "{}", case["name"]);
    }
}

#[tokio::test]
async fn updates_that_kubernetes_refuses_are_refused() {
    let (server, cases) = (server().await, cases());
    for case in list(&cases, "updates") {
        let input = list(&cases, "cases").iter().find(|input| input["name"] == case["case"]).expect("a case");
        let (path, _, created) = create(&server, input).await;
        let object = format!("{path}/{}", created["metadata"]["name"].as_str().expect("a name"));
        let path_of_patch = match case["subresource"].as_str() {
            Some(subresource) => format!("{object}/{subresource}"),
            None => object.clone(),
        };
        let (status, answer) = server.call("PATCH", &path_of_patch, case["patch"].clone()).await;
        let expected = if errors(case).is_empty() { 200 } else { 422 };
        let mut found = causes(&answer);
        for (found, expected) in found.iter_mut().zip(errors(case)).filter(|(_, expected)| expected[2] == "*") {
            found[2] = expected[2];
        }
        assert_eq!((status, found), (expected, errors(case)), "{} {}: {answer}", case["case"], case["patch"]);
        if expected == 200 {
            let (_, read) = server.call("GET", &object, Value::Null).await;
            let (status, written) = server.call("PUT", &object, read.clone()).await;
            let revision = |of: &Value| of["metadata"]["resourceVersion"].clone();
            assert_eq!((status, revision(&written)), (200, revision(&read)), "{}: {written}", case["case"]);
            let (status, freed) = server.call("PATCH", &object, json!({"metadata": {"finalizers": null}})).await;
            assert_eq!(status, 200, "{freed}");
        }
        delete(&server, &path, &created).await;
    }
}

/// A write of an object with one change, by its name.
async fn change(server: &TestServer, path: &str, patch: Value) -> Value {
    let (status, changed) = server.call("PATCH", path, patch.clone()).await;
    assert_eq!(status, 200, "{patch}: {changed}");
    changed
}

#[tokio::test]
async fn services_change_their_type_and_keep_what_was_drawn() {
    let server = server().await;
    let services = "/api/v1/namespaces/default/services";
    let port = |number: u16| json!({"name": format!("p{number}"), "port": number});
    let service = json!({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "s"}, "spec": {"type": "NodePort", "selector": {"a": "b"},
        "ports": (1..=20).map(port).collect::<Vec<_>>()}});
    let (status, created) = server.call("POST", services, service.clone()).await;
    assert_eq!(status, 201, "{created}");
    let drawn = |of: &Value| (of["spec"]["clusterIP"].clone(), of["spec"]["ports"][3]["nodePort"].clone());
    // A manifest without what the server drew.
    let path = format!("{services}/s");
    let (status, replaced) = server.call("PUT", &path, service).await;
    assert_eq!((status, drawn(&replaced)), (200, drawn(&created)), "{replaced}");
    let balanced = change(&server, &path, json!({"spec": {"type": "LoadBalancer"}})).await;
    assert_eq!((drawn(&balanced), &balanced["spec"]["allocateLoadBalancerNodePorts"]), (drawn(&created), &json!(true)));
    let inner = change(&server, &path, json!({"spec": {"type": "ClusterIP"}})).await;
    assert_eq!(drawn(&inner), (created["spec"]["clusterIP"].clone(), Value::Null));
    assert!(
        inner["spec"]["externalTrafficPolicy"].is_null() && inner["spec"]["allocateLoadBalancerNodePorts"].is_null()
    );
    let outer = change(&server, &path, json!({"spec": {"type": "NodePort"}})).await;
    assert!(outer["spec"]["ports"][3]["nodePort"].is_number(), "{outer}");
    let named =
        change(&server, &path, json!({"spec": {"type": "ExternalName", "externalName": "example.com", "ports": null}}))
            .await;
    assert!(named["spec"]["clusterIP"].is_null() && named["spec"]["ipFamilies"].is_null(), "{named}");
    let again =
        change(&server, &path, json!({"spec": {"type": "ClusterIP", "externalName": null, "ports": [port(1)]}})).await;
    assert!(again["spec"]["clusterIP"].is_string(), "{again}");
}

#[tokio::test]
async fn claims_are_bound_and_grow() {
    let server = server().await;
    let claims = "/api/v1/namespaces/default/persistentvolumeclaims";
    let claim = json!({"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "c"}, "spec": {
        "accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}});
    assert_eq!(server.call("POST", claims, claim).await.0, 201);
    let path = format!("{claims}/c");
    change(&server, &path, json!({"spec": {"storageClassName": "fast"}})).await;
    change(&server, &path, json!({"spec": {"volumeName": "v"}})).await;
    change(&server, &path, json!({"spec": {"resources": {"requests": {"storage": "1024Mi"}}}})).await;
    change(&server, &path, json!({"spec": {"resources": {"requests": {"storage": "2Gi"}}}})).await;
    let (status, _) = server.call("PATCH", &path, json!({"spec": {"volumeName": "w"}})).await;
    assert_eq!(status, 422);
    let (status, _) = server.call("PATCH", &path, json!({"spec": {"accessModes": ["ReadOnlyMany"]}})).await;
    assert_eq!(status, 422);
}

/// An object may be older than the rules of its kind.
#[tokio::test]
async fn objects_from_before_the_rules_can_be_changed() {
    let folder = Folder::new("before-rules");
    let before = || {
        let server = Server::test().data_dir(folder.path());
        server.configure(|server| server.openapi(include_str!("../../schemas/kubernetes/api.json")))
    };
    let objects = [
        (
            "/api/v1/namespaces/default/pods",
            json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a", "finalizers": ["example.com/a"]},
            "spec": {"containers": [{"name": "c", "image": "nginx"}]}}),
        ),
        (
            "/apis/apps/v1/namespaces/default/statefulsets",
            json!({"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": {"name": "a",
            "finalizers": ["example.com/a"]}, "spec": {"selector": {"matchLabels": {"a": "b"}}, "serviceName": "a", "template": {
            "metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "nginx"}]}},
            "volumeClaimTemplates": [{"metadata": {"name": "v"}, "spec": {"accessModes": ["ReadWriteOnce"],
            "resources": {"requests": {"storage": "1Gi"}}}}]}}),
        ),
    ];
    let server = before().start().await;
    for (path, object) in &objects {
        let (status, created) = server.call("POST", path, object.clone()).await;
        assert_eq!(status, 201, "{created}");
        assert!(created["spec"]["restartPolicy"].is_null() && created["spec"]["replicas"].is_null(), "{created}");
    }
    drop(server);
    let server = Server::test().data_dir(folder.path()).configure(kindsmith::server::Builder::kubernetes).start().await;
    for (path, _) in objects {
        let path = format!("{path}/a");
        change(&server, &path, json!({"metadata": {"labels": {"x": "z"}}})).await;
        change(&server, &format!("{path}/status"), json!({"status": {"conditions": []}})).await;
        change(&server, &path, json!({"metadata": {"finalizers": null}})).await;
    }
}

/// Kubernetes takes what is there twice where it does not check it.
#[tokio::test]
async fn equal_keys_in_lists_are_no_error_where_kubernetes_has_none() {
    let server = server().await;
    let env = json!([{"name": "A", "value": "1"}, {"name": "A", "value": "2"}]);
    let pod = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "twice"}, "spec": {"containers": [
        {"name": "c", "image": "nginx", "env": env}]}});
    let (status, created) = server.call("POST", "/api/v1/namespaces/default/pods", pod).await;
    assert_eq!((status, &created["spec"]["containers"][0]["env"]), (201, &env), "{created}");
    let mut client = Client::new(server.url(), server.token());
    let path = "/api/v1/namespaces/default/pods/twice";
    let labelled = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "twice", "labels": {"a": "b"}}});
    for kind in ["application/strategic-merge-patch+json", "application/apply-patch+yaml"] {
        let path = format!("{path}?fieldManager={}", if kind.contains("apply") { "me" } else { "other" });
        let answer = client.typed("PATCH", &path, kind, &labelled).await.expect("an answer");
        assert_eq!((answer.status, &answer.json()["spec"]["containers"][0]["env"]), (200, &env), "{kind}");
    }
}
