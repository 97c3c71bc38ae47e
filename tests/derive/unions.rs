//! Unions, kinds without spec, declared Protobuf numbers, rules of items.
use std::collections::{BTreeMap, HashMap};

use kindsmith::{
    __private::declare::{FieldDecl, Literal, Rules, Shape, TypeDecl},
    ApiType, ByteString, IntOrString, ObjectMeta, Quantity, RawJson, Resource, Time,
    kind::model::{NameRule, Scope},
    schema::Type,
};
use serde::{Deserialize, Serialize};
use serde_json::json;

/// A probe.
#[derive(Resource, Clone, Debug)]
#[resource(group = "probes.example.com", version = "v2alpha1", cluster, status, shortnames("pb", "pr"))]
#[resource(plural = "probe-checks", update_without_version, create_on_update, returns_deleted)]
pub(crate) struct Probe {
    pub metadata: ObjectMeta,
    pub spec: ProbeSpec,
    pub status: Option<ProbeStatus>,
}

#[derive(ApiType, Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ProbeSpec {
    /// What to do.
    pub action: Action,
    pub fallback: Option<Box<Action>>,
    #[api(default = "10s", min_length = 2)]
    pub period: String,
    #[serde(default)]
    #[api(list = set, max_items = 8, items(max_length = 16, pattern = "^[a-z]+$"))]
    pub names: Vec<String>,
    #[serde(default)]
    #[api(items(minimum = 0))]
    pub weights: BTreeMap<String, i64>,
    #[api(default = [1, 2])]
    pub ports: Vec<i32>,
    #[api(default = {"team": "core"})]
    pub labels: HashMap<String, String>,
    #[serde(rename = "maxAge")]
    pub max: Option<IntOrString>,
    pub memory: Option<Quantity>,
    pub since: Option<Time>,
    pub extra: Option<RawJson>,
    pub seed: Option<ByteString>,
    #[api(immutable)]
    pub owner: Option<String>,
}

/// Exactly one of them.
#[derive(ApiType, Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum Action {
    /// An HTTP request.
    HttpGet(HttpGet),
    /// A command.
    #[serde(rename_all = "camelCase")]
    Exec {
        command: Vec<String>,
        #[api(default = 1, minimum = 1)]
        max_tries: i32,
    },
}

#[derive(ApiType, Clone, Debug, Serialize, Deserialize)]
pub(crate) struct HttpGet {
    #[api(proto = 1, exclusive_minimum = 0)]
    pub port: i32,
    #[api(proto = 2)]
    pub path: Option<String>,
}

#[derive(ApiType, Clone, Debug, Serialize, Deserialize)]
pub(crate) struct ProbeStatus {
    #[api(observed)]
    pub load: Option<f64>,
    pub last: Option<Time>,
}

/// A kind without spec and status, as those compiled into kube-apiserver.
#[derive(Resource, Clone, Debug)]
#[resource(group = "", version = "v1", builtin, names = path_segment)]
pub(crate) struct Blob {
    pub metadata: ObjectMeta,
    #[serde(default)]
    pub string_data: BTreeMap<String, String>,
    #[serde(rename = "type")]
    pub kind_of: Option<String>,
}

#[test]
fn a_union_is_an_object_with_one_property_set() {
    let kind = Probe::kind();
    let action = &kind.version.schema.properties["spec"].properties["action"];
    assert!(action.union && action.required.is_empty());
    assert_eq!(action.properties.keys().collect::<Vec<_>>(), ["exec", "httpGet"]);
    assert_eq!(action.properties["exec"].required, ["command"]);
    assert_eq!(action.properties["exec"].properties["maxTries"].default, Some(json!(1)));
    assert_eq!(action.properties["httpGet"].description, "An HTTP request.");
    assert!(action.properties["httpGet"].properties["port"].exclusive_minimum);
    assert_eq!(action.properties["httpGet"].properties["path"].protobuf, Some(2));
    let written = serde_json::to_value(Action::Exec { command: Vec::new(), max_tries: 2 }).expect("it encodes");
    assert_eq!(written, json!({"exec": {"command": [], "maxTries": 2}}));
}

#[test]
fn all_types_of_values_have_their_schemas() {
    let kind = Probe::kind();
    let spec = &kind.version.schema.properties["spec"];
    assert_eq!(spec.required, ["action"]);
    assert_eq!(spec.properties["ports"].default, Some(json!([1, 2])));
    assert_eq!(spec.properties["labels"].default, Some(json!({"team": "core"})));
    let name = spec.properties["names"].items.as_ref().expect("a list");
    assert_eq!((name.max_length, name.pattern.is_some()), (Some(16), true));
    assert_eq!(spec.properties["weights"].additional.as_ref().expect("a map").minimum, Some(0.0));
    let kinds = ["maxAge", "memory", "since", "extra", "seed"].map(|name| spec.properties[name].kind);
    assert_eq!(kinds, [Type::IntOrString, Type::String, Type::String, Type::Any, Type::String]);
    assert!(spec.properties["extra"].preserve_unknown && spec.properties["owner"].immutable);
    assert_eq!(spec.properties["seed"].format.as_deref(), Some("byte"));
}

#[test]
fn declarations_beside_the_fields_are_kept() {
    let kind = Probe::kind();
    assert_eq!((kind.shared.scope, kind.names().plural.as_str()), (Scope::Cluster, "probe-checks"));
    assert!(kind.version.update_without_version && kind.version.create_on_update && kind.version.returns_deleted);
    assert_eq!(kind.names().short_names, ["pb", "pr"]);
    let blob = Blob::kind();
    assert_eq!(
        (blob.policy().has_routes(), blob.shared.name_rule, blob.version.generation),
        (true, NameRule::PathSegment, false)
    );
    assert_eq!(blob.group_version.to_string(), "v1");
    assert!(blob.version.schema.properties["stringData"].omit_empty && blob.version.schema.required.is_empty());
    let written = serde_json::to_value(Blob {
        metadata: ObjectMeta::named("b"),
        string_data: BTreeMap::new(),
        kind_of: Some("x".to_owned()),
    });
    let expected =
        json!({"apiVersion": "v1", "kind": "Blob", "metadata": {"name": "b"}, "stringData": {}, "type": "x"});
    assert_eq!(written.expect("it encodes"), expected);
}

/// A kind with a contradictory declaration that the derive cannot see.
#[derive(Clone, Debug)]
pub(crate) struct Contradiction;

impl ApiType for Contradiction {
    type Inner = Self;
    const DECLARATION: &'static TypeDecl = &TypeDecl {
        name: "Contradiction",
        module: "",
        doc: "",
        proto_zeros: false,
        keywords: &[],
        published: false,
        shape: Shape::Struct(&[FieldDecl {
            rust: "code",
            wire: "code",
            doc: "",
            ty: String::declaration,
            defaulted: false,
            rules: &Rules { default: Some(Literal::Text("none")), pattern: "^[A-Z]+$", ..Rules::NONE },
        }]),
    };
    const NESTING: usize = 2;
}

#[test]
fn a_contradictory_declaration_is_refused() {
    let error = Probe::RESOURCE.build(Contradiction::DECLARATION).expect_err("no object could rely on its default");
    let expected =
        "the schema of Probe.probes.example.com in v2alpha1 is wrong: code: the default \"none\" is not valid";
    assert!(error.to_string().starts_with(expected), "{error}");
}

#[derive(ApiType, Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Wanted {
    pub loads: Option<Vec<ProbeStatus>>,
}

#[test]
fn a_float_under_spec_is_found_at_any_depth() {
    let float = kindsmith::__private::declare::observed_within(Wanted::declaration());
    assert_eq!(float.as_deref(), Some("loads.load"));
}
