//! Kinds with types that only implement `schemars::JsonSchema` and serde's traits: on fields, and as a whole spec.
use std::collections::BTreeMap;

use foreign::{Action, Backend, Check, Protocol, Route};
use kindsmith::{
    ApiType, Context, FieldError, FieldErrorKind, FieldPath, ObjectMeta, Resource, Server,
    kind::{Definition, crd},
    server::TestServer,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// A gateway: some fields have types of the other crate.
#[derive(Resource, Clone, Debug)]
#[resource(group = "net.example.com", version = "v1", validate = Gateway::check)]
struct Gateway {
    metadata: ObjectMeta,
    spec: GatewaySpec,
}

#[derive(ApiType, Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct GatewaySpec {
    host: String,
    /// The backends, by name.
    #[serde(default)]
    #[api(schema = schemars, list = map(key = name), merge, max_items = 8)]
    backends: Vec<Backend>,
    #[api(schema = schemars)]
    fallback: Option<Action>,
    #[serde(default)]
    #[api(schema = schemars)]
    checks: BTreeMap<String, Check>,
    #[api(schema = schemars, default = "Grpc", immutable)]
    protocol: Protocol,
    #[api(schema = schemars)]
    routes: Option<Route>,
    retries: Option<Retries>,
}

/// Described by the other derive as a whole.
#[derive(ApiType, JsonSchema, Clone, Debug, Serialize, Deserialize)]
#[api(schema = schemars)]
struct Retries {
    #[schemars(range(max = 10))]
    most: u8,
    #[serde(flatten)]
    when: When,
}

/// When a request is repeated.
#[derive(JsonSchema, Clone, Debug, Serialize, Deserialize)]
struct When {
    statuses: Option<Vec<u16>>,
}

impl Gateway {
    fn check(&self, _: &Context<Self>) -> Vec<FieldError> {
        let to_itself = |backend: &Backend| backend.name == self.spec.host;
        let wrong = self.spec.backends.iter().any(to_itself);
        let error = || FieldError::new(&FieldPath::new("spec.backends"), FieldErrorKind::Forbidden, "a loop");
        wrong.then(error).into_iter().collect()
    }
}

/// A spec that is declared elsewhere as it stands; columns and selectors reach into it.
#[derive(Resource, Clone, Debug)]
#[resource(group = "net.example.com", version = "v1", cluster, selectable(spec.protocol))]
#[resource(column("Port", path = spec.port), column("Wait", path = spec.answer_seconds))]
struct Upstream {
    metadata: ObjectMeta,
    #[api(schema = schemars)]
    spec: Backend,
}

const GATEWAYS: &str = "/apis/net.example.com/v1/namespaces/default/gateways";
const UPSTREAMS: &str = "/apis/net.example.com/v1/upstreams";

async fn server() -> TestServer {
    Server::test().configure(|builder| builder.kind::<Gateway>().kind::<Upstream>()).start().await
}

fn fields(refused: &Value) -> Vec<&str> {
    let causes = refused["details"]["causes"].as_array().into_iter().flatten();
    causes.filter_map(|cause| cause["field"].as_str()).collect()
}

#[tokio::test]
async fn values_are_defaulted_validated_and_reach_hooks() {
    let server = server().await;
    let gateway = |name: &str, spec: Value| json!({"metadata": {"name": name}, "spec": spec});
    let backend = json!({"name": "books", "port": 80, "check": {"type": "Exec", "command": ["true"]}});
    let (status, created) =
        server.call("POST", GATEWAYS, gateway("a", json!({"host": "example", "backends": [backend]}))).await;
    assert_eq!(status, 201, "{created}");
    let expected = json!({
        "name": "books", "port": 80, "check": {"type": "Exec", "command": ["true"]}, "limit": 100,
        "protocol": "Http", "headers": {}, "zones": [],
    });
    assert_eq!(created["spec"]["backends"][0], expected);
    assert_eq!(created["spec"]["protocol"], "Grpc");

    let wrong = json!({
        "host": "example",
        "backends": [
            {"name": "BOOKS", "port": 70000, "zones": ["a", "a"]},
            {"name": "b", "port": -1, "limit": "half", "address": "nowhere"},
            {"name": "c", "port": 1, "check": {"type": "Ftp"}},
            {"name": "d", "port": 1, "check": {"type": "Http"}},
        ],
        "fallback": {"redirect": {"to": "x"}, "forward": {"name": "a", "port": 1}},
        "protocol": "Smtp",
    });
    let (status, refused) = server.call("POST", GATEWAYS, gateway("b", wrong)).await;
    assert_eq!(status, 422, "{refused}");
    let found = fields(&refused);
    for field in [
        "spec.backends[0].name",
        "spec.backends[0].port",
        "spec.backends[0].zones[1]",
        "spec.backends[1].port",
        "spec.backends[2].check.type",
        "spec.protocol",
    ] {
        assert!(found.contains(&field), "{field} is among {found:?}");
    }
    let message = refused["message"].as_str().expect("a message");
    for text in ["spec.backends[3].check.path", "spec.fallback"] {
        assert!(message.contains(text), "{text} is in {message}");
    }

    let looped = json!({"host": "books", "backends": [{"name": "books", "port": 1}]});
    let (status, refused) = server.call("POST", GATEWAYS, gateway("c", looped)).await;
    assert_eq!((status, fields(&refused)), (422, vec!["spec.backends"]), "the hook has the type: {refused}");

    let (status, refused) = server.call("PATCH", &format!("{GATEWAYS}/a"), json!({"spec": {"protocol": "Http"}})).await;
    assert_eq!((status, fields(&refused)), (422, vec!["spec.protocol"]), "{refused}");
}

#[tokio::test]
async fn a_type_that_contains_itself_is_validated_at_any_depth() {
    let server = server().await;
    let routes = |deepest: Value| json!({"prefix": "/", "routes": [{"prefix": "/a", "routes": [deepest]}]});
    let gateway = |deepest| json!({"metadata": {"name": "a"}, "spec": {"host": "x", "routes": routes(deepest)}});
    let (status, refused) = server.call("POST", GATEWAYS, gateway(json!({"prefix": 1}))).await;
    assert_eq!((status, fields(&refused)), (422, vec!["spec.routes.routes[0].routes[0].prefix"]), "{refused}");
    let (status, created) = server.call("POST", GATEWAYS, gateway(json!({"prefix": "/b", "other": 1}))).await;
    assert_eq!(status, 201, "{created}");
    let deepest = json!({"prefix": "/b", "routes": []});
    assert_eq!(created["spec"]["routes"]["routes"][0]["routes"][0], deepest, "unknown fields are pruned");
}

#[tokio::test]
async fn paths_reach_into_a_spec_of_another_crate() {
    let server = server().await;
    for (name, protocol) in [("a", "Http"), ("b", "Grpc")] {
        let spec = json!({"name": name, "port": 80, "protocol": protocol, "answerSeconds": 5});
        let (status, created) = server.call("POST", UPSTREAMS, json!({"metadata": {"name": name}, "spec": spec})).await;
        assert_eq!(status, 201, "{created}");
    }
    let (_, found) = server.call("GET", &format!("{UPSTREAMS}?fieldSelector=spec.protocol%3DGrpc"), Value::Null).await;
    let names: Vec<_> = found["items"].as_array().into_iter().flatten().map(|item| &item["metadata"]["name"]).collect();
    assert_eq!(names, ["b"]);
    let columns = Upstream::kind().version.columns.clone();
    let columns: Vec<_> = columns.iter().map(|column| (&*column.name, &*column.kind)).collect();
    assert_eq!(columns, [("Port", "integer"), ("Wait", "integer"), ("Age", "date")]);
}

#[test]
fn the_definition_is_structural() {
    for kind in [Gateway::kind(), Upstream::kind()] {
        let definition = Definition::of(vec![kind]).expect("a definition");
        let written = crd::write(&definition).expect("a manifest");
        let read = crd::define(&written.document).unwrap_or_else(|findings| panic!("{:?}", findings.errors));
        assert_eq!(read.definition.shared.names, definition.shared.names);
    }
}

#[test]
fn what_is_not_structural_is_an_error_with_its_place() {
    #[derive(JsonSchema)]
    #[allow(dead_code)]
    struct Pair {
        both: (String, i32),
        either: Either,
        by_number: BTreeMap<u8, String>,
        #[schemars(extend("if" = {"required": ["both"]}))]
        conditional: String,
    }
    #[derive(JsonSchema)]
    #[allow(dead_code)]
    enum Either {
        Nothing,
        Something(String),
    }
    let error = kindsmith::kind::structural_schema::<Pair>().expect_err("it is not structural");
    for text in [
        "Pair has no structural schema:",
        "#/$defs/Pair/properties/both/prefixItems: found a tuple of 2 types; supported: a list whose items have one type",
        "#/$defs/Either/oneOf: found variants of several types: an object, text; supported: variants of one type",
        "#/$defs/Pair/properties/by_number/patternProperties: structural schemas have no patternProperties; supported: maps",
        "#/$defs/Pair/properties/conditional/if: structural schemas have no if",
    ] {
        assert!(error.contains(text), "{text} is in:\n{error}");
    }
    let problems = error.lines().count() - 1;
    assert_eq!(problems, 4, "each once:\n{error}");
}
