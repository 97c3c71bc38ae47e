//! Clients that request a large document about all kinds and do not read it, while definitions change: each change makes a new
//! document.

use serde_json::{Value, json};

use super::{Bounds, Observation, Setup, Target, wire};

const DEFINITION: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/things.things.example.com";

/// 500 fields with descriptions of 2 KB.
fn schema() -> Value {
    let field = |number: usize| (format!("f{number}"), json!({"type": "string", "description": "d".repeat(2_000)}));
    let properties: serde_json::Map<String, Value> = (0..500).map(field).collect();
    json!({"openAPIV3Schema": {"type": "object", "properties": {"spec": {"type": "object", "properties": properties}}}})
}

/// 60 changes of a definition beside six of 1 MB. After each, two clients request the document of version 2, and two one of version 3,
/// and read nothing of it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn clients_that_read_no_document_keep_few_of_them() {
    let target = Target::start(Setup { gives_back: true, ..Setup::default() });
    let mut client = target.client();
    // The one that changes is small: past definitions take memory, too.
    let small = json!({"openAPIV3Schema": {"type": "object"}});
    target.define(json!({"schema": small})).await;
    for number in 0..6 {
        let name = format!("large{number}");
        let mut definition = json!({
            "metadata": {"name": format!("{name}s.{name}.example.com")},
            "spec": {
                "group": format!("{name}.example.com"), "scope": "Namespaced",
                "names": {"plural": format!("{name}s"), "singular": name, "kind": "Large", "listKind": "LargeList"},
                "versions": [{"name": "v1", "served": true, "storage": true}],
            },
        });
        definition["spec"]["versions"][0]["schema"] = schema();
        let definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
        assert_eq!(client.json("POST", definitions, &definition).await.unwrap().status, 201);
    }
    let observation = Observation::begin("documents, stalled", &target).await;
    let mut open = Vec::new();
    for number in 0..60 {
        let patch = json!({"spec": {"names": {"categories": [format!("c{number}")]}}});
        let answer = client.typed("PATCH", DEFINITION, "application/merge-patch+json", &patch).await.unwrap();
        assert_eq!(answer.status, 200, "{:?}", answer.body);
        let v3 = "/openapi/v3/apis/large0.example.com/v1";
        for path in ["/openapi/v2", "/openapi/v2", v3, v3] {
            open.push(wire::send(&target, wire::head("GET", path, "").as_bytes()).await.unwrap());
        }
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
    let whole = client.get("/openapi/v2").await.unwrap();
    assert_eq!(whole.status, 200);
    assert!(whole.body.len() > 5 << 20, "{}", whole.body.len());
    observation.end(&target, Bounds::STRANGER).await;
    drop(open);
}
