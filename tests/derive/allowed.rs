//! What a declaration says beyond its fields: the verbs that are served, and rules of the API conventions that it breaks on
//! purpose.
use kindsmith::{ApiType, ObjectMeta, Resource, Server};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// A sheep: the language has one word for both, and the weight is what the scales say.
#[derive(Resource, Clone, Debug)]
#[resource(group = "farm.example.com", version = "v1", cluster, plural = "sheep", verbs(get, list, watch, create))]
#[resource(allow(plural = "English has one word", status = "The shearer writes both", items = "An old name"))]
struct Sheep {
    metadata: ObjectMeta,
    spec: SheepSpec,
    status: Option<SheepSpec>,
    items: Option<Vec<String>>,
}

/// The desired state of a sheep.
#[derive(ApiType, Clone, Debug, Serialize, Deserialize)]
#[api(allow(float = "Nobody computes with it", field_name = "The scales say it so"))]
struct SheepSpec {
    weight_kg: f64,
}

#[test]
fn broken_rules_are_served_as_declared() {
    let kind = Sheep::kind();
    assert_eq!((&*kind.names().plural, &*kind.names().singular), ("sheep", "sheep"));
    let schema = &kind.version.schema;
    assert!(schema.properties["spec"].properties.contains_key("weight_kg"));
    assert!(!kind.version.status && schema.properties.contains_key("items"));
}

#[tokio::test]
async fn only_the_declared_verbs_are_served() {
    let server = Server::test().configure(kindsmith::server::Builder::kind::<Sheep>).start().await;
    let path = "/apis/farm.example.com/v1/sheep";
    let sheep = json!({"metadata": {"name": "dolly"}, "spec": {"weight_kg": 81.5}, "status": {"weight_kg": 80.5}});
    let (status, created) = server.call("POST", path, sheep.clone()).await;
    assert_eq!((status, &created["status"]["weight_kg"]), (201, &json!(80.5)), "{created}");
    for method in ["PUT", "DELETE"] {
        let (status, refused) = server.call(method, &format!("{path}/dolly"), sheep.clone()).await;
        assert_eq!((status, &refused["reason"]), (405, &json!("MethodNotAllowed")), "{refused}");
    }
    let (_, discovered) = server.call("GET", "/apis/farm.example.com/v1", Value::Null).await;
    let mut verbs: Vec<_> = discovered["resources"][0]["verbs"].as_array().into_iter().flatten().collect();
    verbs.sort_by_key(|verb| verb.as_str());
    assert_eq!(verbs, ["create", "get", "list", "watch"]);
}
