//! Kinds served as their manifest defines them, over the wire.
use kindsmith::{Server, server::TestServer};
use kindsmith_tests::Client;
use serde_json::{Value, json};

/// A manifest of lamps in two versions, without Rust.
const LAMPS: &str = r#"
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: lamps.defined.example.com}
spec:
  group: defined.example.com
  scope: Namespaced
  names: {plural: lamps, kind: Lamp, shortNames: [lp], categories: [all]}
  versions:
  - name: v1
    served: true
    storage: true
    subresources:
      status: {}
      scale: {specReplicasPath: .spec.bulbs, statusReplicasPath: .status.lit}
    selectableFields: [{jsonPath: .spec.color}]
    additionalPrinterColumns:
    - {name: Watts, type: integer, jsonPath: .spec.watts}
    - {name: Ready, type: string, jsonPath: '.status.conditions[?(@.type=="Ready")].status'}
    schema: &schema
      openAPIV3Schema:
        type: object
        required: [spec]
        properties:
          spec:
            type: object
            required: [watts]
            properties:
              watts: {type: integer, minimum: 1, maximum: 100}
              bulbs: {type: integer, default: 1}
              color: {type: string, pattern: '^[\w{}]+$', default: white}
              socket: {x-kubernetes-int-or-string: true}
          status:
            type: object
            properties:
              lit: {type: integer}
              conditions:
                type: array
                x-kubernetes-list-type: map
                x-kubernetes-list-map-keys: [type]
                items:
                  type: object
                  required: [type]
                  properties: {type: {type: string}, status: {type: string}}
  - {name: v1beta1, served: true, storage: false, deprecated: true, schema: *schema}
"#;

const PATH: &str = "/apis/defined.example.com/v1/namespaces/default/lamps";

async fn serve() -> (TestServer, Client) {
    let server = Server::test().configure(|server| server.crd(LAMPS)).start().await;
    let client = Client::new(server.url(), server.token());
    (server, client)
}

async fn call(client: &mut Client, method: &str, path: &str, body: Value) -> (u16, Value) {
    let answer = client.json(method, path, &body).await.expect("an answer");
    (answer.status, answer.json())
}

fn lamp(name: &str, spec: &Value) -> Value {
    json!({"apiVersion": "defined.example.com/v1", "kind": "Lamp", "metadata": {"name": name}, "spec": spec})
}

#[tokio::test]
async fn a_defined_kind_is_served_as_a_declared_one() {
    let (_server, mut client) = serve().await;
    let (status, created) =
        call(&mut client, "POST", PATH, lamp("a", &json!({"watts": 40, "socket": "e27", "odd": 1}))).await;
    assert_eq!(status, 201, "{created}");
    assert_eq!(created["spec"], json!({"watts": 40, "socket": "e27", "bulbs": 1, "color": "white"}));
    let (status, refused) = call(&mut client, "POST", PATH, lamp("b", &json!({"watts": 400, "color": "é"}))).await;
    assert_eq!((status, refused["details"]["causes"].as_array().map(Vec::len)), (422, Some(2)), "{refused}");

    let ready = json!({"status": {"lit": 1, "conditions": [{"type": "Ready", "status": "True"}]}});
    let merge = "application/merge-patch+json";
    let patched = client.typed("PATCH", &format!("{PATH}/a/status"), merge, &ready).await.expect("an answer");
    assert_eq!((patched.status, &patched.json()["status"]["lit"]), (200, &json!(1)));
    let (status, scale) = call(&mut client, "GET", &format!("{PATH}/a/scale"), Value::Null).await;
    assert_eq!((status, &scale["spec"]["replicas"], &scale["status"]["replicas"]), (200, &json!(1), &json!(1)));

    let other = client.get(&PATH.replace("v1", "v1beta1")).await.expect("an answer");
    assert_eq!(other.json()["items"][0]["apiVersion"], "defined.example.com/v1beta1");
    let warning = other.headers.get("warning").and_then(|value| value.to_str().ok()).unwrap_or_default();
    assert!(warning.contains("defined.example.com/v1beta1 Lamp is deprecated"), "{warning}");
    let selected = client.get(&format!("{PATH}?fieldSelector=spec.color%3Dwhite")).await.expect("an answer");
    assert_eq!(selected.json()["items"].as_array().map(Vec::len), Some(1));
    for (path, definitions) in
        [("/openapi/v3/apis/defined.example.com/v1", "/components/schemas"), ("/openapi/v2", "/definitions")]
    {
        let document = client.get(path).await.expect("an answer").json();
        for kind in ["Lamp", "LampList"] {
            let published =
                &document.pointer(definitions).expect("definitions")[format!("com.example.defined.v1.{kind}")];
            assert_eq!(
                published["x-kubernetes-selectable-fields"],
                json!([{"fieldPath": "spec.color"}]),
                "{path} {kind}"
            );
        }
    }
}

/// Lamps with a further version, `v2`, which has no `color` and other defaults.
fn lamps_in_three_versions() -> String {
    let further = r"
  - name: v2
    served: true
    storage: false
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties:
              watts: {type: integer, maximum: 50}
              bulbs: {type: integer, default: 2}
";
    format!("{}{further}", LAMPS.trim_end())
}

#[tokio::test]
async fn a_kind_in_several_versions_is_read_written_and_watched_through_each() {
    let server = Server::test().configure(|server| server.crd(lamps_in_three_versions())).start().await;
    let mut client = Client::new(server.url(), server.token());
    let second = PATH.replace("v1", "v2");
    let mut events =
        Client::new(server.url(), server.token()).watch(&format!("{second}?watch=true")).await.expect("a watch");

    call(&mut client, "POST", PATH, lamp("a", &json!({"watts": 40}))).await;
    let through = |name: &str, spec: Value| {
        let mut lamp = lamp(name, &spec);
        lamp["apiVersion"] = json!("defined.example.com/v2");
        lamp
    };
    let (status, created) =
        call(&mut client, "POST", &second, through("b", json!({"watts": 30, "color": "red"}))).await;
    assert_eq!(
        (status, &created["spec"]),
        (201, &json!({"watts": 30, "bulbs": 2})),
        "checked and filled by its own schema"
    );
    let (status, refused) = call(&mut client, "POST", &second, through("c", json!({"watts": 60}))).await;
    assert_eq!(status, 422, "{refused}");

    let mut specs = async |path: &str| {
        let list = client.get(path).await.expect("an answer").json();
        list["items"].as_array().expect("items").iter().map(|item| item["spec"].clone()).collect::<Vec<_>>()
    };
    let stored =
        [json!({"watts": 40, "bulbs": 1, "color": "white"}), json!({"watts": 30, "bulbs": 2, "color": "white"})];
    assert_eq!(specs(PATH).await, stored);
    assert_eq!(specs(&second).await, [json!({"watts": 40, "bulbs": 1}), json!({"watts": 30, "bulbs": 2})]);
    for name in ["a", "b"] {
        let event = events.next().await.expect("the stream is whole").expect("an event");
        let object = &event["object"];
        assert_eq!(
            (&object["metadata"]["name"], &object["apiVersion"]),
            (&json!(name), &json!("defined.example.com/v2"))
        );
        assert_eq!(object["spec"]["color"], Value::Null);
    }
}

#[tokio::test]
async fn what_is_wrong_with_a_manifest_keeps_the_server_from_starting() {
    let wrong = LAMPS.replace("type: integer, minimum", "type: int, minimum").replace("Namespaced", "Universe");
    let Err(error) = Server::builder().memory().crd(wrong).build().await else { panic!("it starts") };
    let shown = error.to_string();
    assert!(
        shown.contains("manifest:7: document 1, /spec/scope: spec.scope: Unsupported value: \"Universe\""),
        "{shown}"
    );
    assert!(shown.contains("properties[watts].type: Unsupported value: \"int\""), "{shown}");
    let value = json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition"});
    let Err(error) = Server::builder().memory().crd(value).build().await else { panic!("it starts") };
    assert!(error.to_string().contains("spec.group: Required value"), "{error}");
}
