//! Kinds served as the OpenAPI documents of Kubernetes describe them, over the wire; and what the server publishes of them
//! read again.
use std::collections::{BTreeMap, BTreeSet};

use kindsmith::{
    Server,
    kind::{
        Definition, Kind,
        model::{Scope, Version},
        openapi::{self, Described, Descriptions, Source},
    },
    schema::Schema,
    server::TestServer,
    testing,
};
use kindsmith_model::codec::{Limits, protobuf};
use kindsmith_tests::Client;
use serde_json::{Value, json};

use super::{openapi::documents, shared_text};

const OVERLAY: &str = include_str!("../../schemas/kubernetes/overlay.yaml");

/// All documents of Kubernetes, its discovery, and our overlay.
pub(super) fn sources() -> Option<BTreeMap<String, Vec<u8>>> {
    let mut sources = documents()?;
    for name in ["api", "apis"] {
        let text = shared_text(&format!("corpus/kubernetes/discovery/{name}.json"))?;
        sources.insert(format!("discovery {name}"), text.into_bytes());
    }
    sources.insert("overlay".to_owned(), OVERLAY.as_bytes().to_vec());
    Some(sources)
}

pub(super) fn read(sources: &BTreeMap<String, Vec<u8>>) -> Described {
    let sources: Vec<_> = sources.iter().map(|(name, text)| Source::new(name, text)).collect();
    openapi::read(&sources).unwrap_or_else(|report| panic!("{report}"))
}

pub(super) async fn serve(sources: &BTreeMap<String, Vec<u8>>, builtins: bool) -> (TestServer, Client) {
    let texts: Vec<String> = sources.values().map(|text| String::from_utf8(text.clone()).expect("UTF-8")).collect();
    let server = Server::test().configure(move |server| {
        let server = if builtins { server } else { server.without_builtins() };
        texts.into_iter().fold(server, kindsmith::server::Builder::openapi)
    });
    let server = server.start().await;
    let client = Client::new(server.url(), server.token());
    (server, client)
}

/// Our Protobuf definitions of Kubernetes.
fn messages() -> BTreeMap<String, Vec<u8>> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../schemas/kubernetes/protobuf");
    let files = std::fs::read_dir(folder).expect("a folder that can be read");
    let files = files.map(|entry| entry.expect("an entry").path());
    files.map(|path| (path.display().to_string(), std::fs::read(&path).expect("a file that can be read"))).collect()
}

#[test]
fn every_kind_of_kubernetes_has_a_message_that_keeps_its_objects() {
    let Some(mut sources) = sources() else { return };
    sources.extend(messages());
    let described = read(&sources);
    let is_known = |message: &str| message.starts_with("x-kubernetes-unions is published");
    let warnings: Vec<_> = described.warnings.0.iter().filter(|entry| !is_known(&entry.message)).collect();
    assert!(warnings.is_empty(), "{warnings:?}");
    let mut count = 0;
    for kind in described.resources.iter().flat_map(openapi::Resource::kinds) {
        // Our own are served in place of these, which have no definitions here.
        if kind.group_version.group == "apiextensions.k8s.io" {
            continue;
        }
        let message = kind.message().unwrap_or_else(|| panic!("{kind:?} has a field without a number"));
        for mut object in testing::documents(&kind, 11).take(5) {
            let kept = |object: &Value| {
                let sealed = protobuf::encode(message, object).unwrap_or_else(|error| panic!("{kind:?}: {error}"));
                let envelope = protobuf::open(&sealed).expect("an envelope");
                protobuf::object(message, &envelope, &Limits::default())
                    .unwrap_or_else(|error| panic!("{kind:?}: {error}"))
            };
            // Once as it is, which may lack zeros that messages always have; then all is kept.
            object = kept(&object);
            assert_eq!(kept(&object), object, "{kind:?}");
        }
        count += 1;
    }
    assert_eq!(count, 94);
}

/// The facts of Kubernetes that the feature `kubernetes` has.
const FACTS: &str = include_str!("../../schemas/kubernetes/api.json");

#[test]
fn facts_of_kubernetes_are_those_of_its_documents() {
    let Some(documents) = sources() else { return };
    let texts: Vec<_> = documents.iter().map(|(name, text)| Source::new(name, text)).collect();
    let described = openapi::describe(&texts, &BTreeSet::new(), Descriptions::Omit);
    let described = described.unwrap_or_else(|report| panic!("{report}"));
    assert!(
        described == [FACTS],
        "write them anew: kindsmith import ../shared/corpus/kubernetes --without-descriptions --output FOLDER"
    );
    // And both are read alike.
    let without = documents.into_iter().map(|(name, text)| {
        let document = if name == "overlay" { return (name, text) } else { serde_json::from_slice(&text) };
        (name, without_descriptions(document.expect("JSON"), false).to_string().into_bytes())
    });
    let overlay = ("overlay".to_owned(), OVERLAY.as_bytes().to_vec());
    let facts = BTreeMap::from([("facts".to_owned(), FACTS.as_bytes().to_vec()), overlay]);
    let definitions = |of: &Described| of.resources.iter().map(|one| one.definition.clone()).collect::<Vec<_>>();
    let (by_documents, by_facts) = (definitions(&read(&without.collect())), definitions(&read(&facts)));
    assert_eq!((by_documents.len(), by_facts.len()), (76, 76));
    for (by_documents, by_facts) in by_documents.iter().zip(&by_facts) {
        assert_eq!(by_documents, by_facts, "{:?}", by_facts.shared);
    }
}

/// A document without its sentences. Fields of objects may be called `description`.
fn without_descriptions(value: Value, of_fields: bool) -> Value {
    match value {
        Value::Object(members) => {
            let members =
                members.into_iter().filter(|(name, of)| of_fields || name != "description" || !of.is_string());
            members
                .map(|(name, of)| {
                    let fields = name == "properties" && !of_fields;
                    (name, without_descriptions(of, fields))
                })
                .collect()
        }
        Value::Array(items) => items.into_iter().map(|item| without_descriptions(item, false)).collect(),
        other => other,
    }
}

/// The path of a kind's collection.
pub(super) fn collection(kind: &Kind) -> String {
    let root = match kind.group_version.group.as_str() {
        "" => format!("/api/{}", kind.group_version.version),
        group => format!("/apis/{group}/{}", kind.group_version.version),
    };
    let scope = if kind.shared.scope == Scope::Namespaced { "/namespaces/default" } else { "" };
    format!("{root}{scope}/{}", kind.names().plural)
}

/// The columns of a Table, as the corpus has them.
fn columns(table: &Value) -> Vec<Value> {
    let columns = table["columnDefinitions"].as_array().expect("columns");
    let of = |column: &Value| json!({"name": column["name"], "type": column["type"], "format": column["format"], "priority": column["priority"]});
    columns.iter().map(of).collect()
}

#[tokio::test]
async fn tables_have_the_columns_of_kubernetes() {
    let Some(sources) = sources() else { return };
    let Some(expected) = shared_text("corpus/kubernetes-columns.json") else { return };
    let expected: BTreeMap<String, Vec<Value>> = serde_json::from_str(&expected).expect("JSON");
    let (_server, mut client) = serve(&sources, false).await;
    for (name, expected) in expected {
        let (at, plural) = name.split_once(' ').expect("a version and a resource");
        let root = if at.contains('/') { "apis" } else { "api" };
        let accept = "application/json;as=Table;v=v1;g=meta.k8s.io";
        let answer = client.accepting(&format!("/{root}/{at}/{plural}"), accept).await.expect("an answer");
        assert_eq!(answer.status, 200, "{name}");
        let found = columns(&answer.json());
        assert_eq!(found, expected, "{name}");
    }
}

#[tokio::test]
async fn cells_show_what_kubectl_shows_of_a_deployment() {
    let Some(sources) = sources() else { return };
    let (_server, mut client) = serve(&sources, true).await;
    let path = "/apis/apps/v1/namespaces/default/deployments";
    let container = |name: &str| json!({"name": name, "image": format!("{name}:1")});
    let deployment = json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"}, "spec": {
        "replicas": 3, "selector": {"matchLabels": {"app": "web"}},
        "template": {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [container("a"), container("b")]}}}});
    assert_eq!(client.json("POST", path, &deployment).await.expect("an answer").status, 201);
    let status = json!({"status": {"readyReplicas": 1, "updatedReplicas": 2}});
    let merge = "application/merge-patch+json";
    let patched = client.typed("PATCH", &format!("{path}/web/status"), merge, &status).await.expect("an answer");
    assert_eq!(patched.status, 200, "{}", patched.json());
    let accept = "application/json;as=Table;v=v1;g=meta.k8s.io";
    let table = client.accepting(&format!("{path}/web"), accept).await.expect("an answer").json();
    let cells = table["rows"][0]["cells"].as_array().expect("cells");
    assert_eq!(cells[..4], [json!("web"), json!("1/3"), json!(2), json!(0)]);
    assert_eq!(cells[5..], [json!("a,b"), json!("a:1,b:1"), json!("app=web")]);

    let scale = client.get(&format!("{path}/web/scale")).await.expect("an answer").json();
    assert_eq!((&scale["spec"]["replicas"], &scale["status"]["selector"]), (&json!(3), &json!("app=web")));

    // Two managers apply a container each.
    for (manager, name) in [("one", "c"), ("two", "d")] {
        let config = json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"},
            "spec": {"template": {"spec": {"containers": [container(name)]}}}});
        let path = format!("{path}/web?fieldManager={manager}");
        let applied = client.typed("PATCH", &path, "application/apply-patch+yaml", &config).await.expect("an answer");
        assert_eq!(applied.status, 200, "{}", applied.json());
    }
    let web = client.get(&format!("{path}/web")).await.expect("an answer").json();
    let containers = web["spec"]["template"]["spec"]["containers"].as_array().expect("a list");
    assert_eq!(containers.iter().map(|of| of["name"].clone()).collect::<Vec<_>>(), ["a", "b", "c", "d"]);
}

#[tokio::test]
async fn discovery_has_the_names_and_verbs_of_kubernetes() {
    let Some(sources) = sources() else { return };
    let (_server, mut client) = serve(&sources, false).await;
    for (name, path) in [("api", "/api"), ("apis", "/apis")] {
        let expected: Value = serde_json::from_slice(&sources[&format!("discovery {name}")]).expect("JSON");
        let accept = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
        let found = client.accepting(path, accept).await.expect("an answer").json();
        let (expected, found) = (resources(&expected), resources(&found));
        for (resource, expected) in expected {
            assert_eq!(found.get(&resource), Some(&expected), "{resource}");
        }
    }
}

/// What discovery says about each resource that clients go by.
fn resources(list: &Value) -> BTreeMap<String, Value> {
    let mut found = BTreeMap::new();
    for group in list["items"].as_array().expect("items") {
        for version in group["versions"].as_array().expect("versions") {
            for resource in version["resources"].as_array().expect("resources") {
                let at = format!("{}/{}", group["metadata"]["name"].as_str().unwrap_or_default(), version["version"]);
                let subresources = resource["subresources"].as_array().into_iter().flatten();
                let sorted = |verbs: &Value| {
                    let verbs = verbs.as_array().into_iter().flatten().map(ToString::to_string);
                    verbs.collect::<BTreeSet<_>>()
                };
                let of = |of: &Value| {
                    (of["subresource"].to_string(), json!([sorted(&of["verbs"]), of["responseKind"]["kind"]]))
                };
                let subresources: BTreeMap<_, _> = subresources.map(of).collect();
                let shown = json!({
                    "kind": resource["responseKind"]["kind"],
                    "scope": resource["scope"],
                    "singular": resource["singularResource"],
                    "short": resource["shortNames"],
                    "categories": resource["categories"],
                    "verbs": sorted(&resource["verbs"]),
                    "subresources": subresources,
                });
                found.insert(format!("{at} {}", resource["resource"]), shown);
            }
        }
    }
    found
}

/// The documents that a server publishes.
pub(super) async fn documents_of(client: &mut Client) -> BTreeMap<String, Vec<u8>> {
    let index = client.get("/openapi/v3").await.expect("an answer").json();
    let mut texts = BTreeMap::new();
    for (name, place) in index["paths"].as_object().expect("paths") {
        let answer = client.get(place["serverRelativeURL"].as_str().expect("a URL")).await.expect("an answer");
        texts.insert(name.clone(), answer.body.to_vec());
    }
    texts
}

#[tokio::test]
async fn what_the_server_publishes_describes_the_same() {
    let Some(documents) = documents() else { return };
    let (_server, mut client) = serve(&documents, false).await;
    let (given, again) = (read(&documents), read(&documents_of(&mut client).await));
    assert_eq!(given.resources.len(), again.resources.len());
    // Published documents write texts where they are used, so that their types in Go are not known, and do not list paths below
    // subresources.
    let told = |definition: &Definition| {
        let types =
            ["Time", "MicroTime", "Quantity", "Bytes", "IntOrString"].map(|name| format!("scalar: Some({name})"));
        let told = format!("{definition:?}").replace("takes_paths: true", "takes_paths: false");
        types.iter().fold(told, |told, name| told.replace(name, "scalar: None"))
    };
    for (given, again) in given.resources.iter().zip(&again.resources) {
        let (given, again) = (told(&given.definition), told(&again.definition));
        let same = given.bytes().zip(again.bytes()).take_while(|(one, other)| one == other).count();
        let differs =
            |text: &str| text.get(same.saturating_sub(300)..).unwrap_or_default().chars().take(600).collect::<String>();
        assert!(given == again, "{}\n{}", differs(&given), differs(&again));
    }
}

/// Asserts that versions are equal, and names the first field that differs.
#[track_caller]
pub(super) fn check_version(given: &Version, again: &Version, name: &str) {
    if let Some(differs) = difference(&given.schema, &again.schema, &given.name) {
        panic!("{name}: {differs}");
    }
    for (given, again) in given.subresources.iter().zip(&again.subresources) {
        assert!(given == again, "{name}/{}", given.subresource);
    }
    let without_schema = |version: &Version| {
        let mut bare = version.clone();
        bare.schema = std::sync::Arc::default();
        format!("{bare:#?}")
    };
    assert_eq!(without_schema(given), without_schema(again), "{name}");
    assert!(given == again, "{name}");
}

/// Where two schemas differ.
fn difference(given: &Schema, again: &Schema, at: &str) -> Option<String> {
    if given == again {
        return None;
    }
    for (name, property) in &given.properties {
        let Some(other) = again.properties.get(name) else { return Some(format!("{at}.{name} is missing")) };
        if let Some(found) = difference(property, other, &format!("{at}.{name}")) {
            return Some(found);
        }
    }
    for (one, other) in [(&given.items, &again.items), (&given.additional, &again.additional)] {
        if let (Some(one), Some(other)) = (one, other)
            && let Some(found) = difference(one, other, &format!("{at}[]"))
        {
            return Some(found);
        }
    }
    let bare = |schema: &Schema| {
        let bare = schema.clone().with(|bare| {
            (bare.properties, bare.items, bare.additional) = Default::default();
            bare.definitions = None;
        });
        format!("{bare:?}")
    };
    Some(format!("{at}:\n{}\n{}", bare(given), bare(again)))
}

/// A schema as a document says it: without what only declarations in Rust have, and types by their last names.
fn as_published(schema: &Schema) -> Schema {
    let nested = |node: &std::sync::Arc<Schema>| as_published(node).into();
    let is_named = schema.kind == kindsmith::schema::Type::Object;
    let last = |name: &String| name.rsplit('.').next().unwrap_or(name).to_owned();
    schema.clone().with(|published| {
        published.name = schema.name.as_ref().filter(|_| is_named).map(last);
        published.scalar = None;
        published.properties = schema.properties.iter().map(|(name, of)| (name.clone(), as_published(of))).collect();
        published.items = schema.items.as_ref().map(nested);
        published.additional = schema.additional.as_ref().map(nested);
        (published.omit_empty, published.zero_is_absent, published.immutable) = (false, false, false);
        published.may_repeat = false;
        published.rules = schema.published_rules();
        (published.protobuf, published.protobuf_parts) = (None, None);
    })
}

#[tokio::test]
async fn what_the_server_publishes_of_built_in_kinds_describes_them() {
    let (_server, mut client) = serve(&BTreeMap::new(), true).await;
    let again = read(&documents_of(&mut client).await);
    let kinds = kindsmith::builtin::kinds();
    assert_eq!(again.resources.len(), kinds.len());
    for kind in kinds.iter().filter(|kind| kind.shared.stored) {
        let mut resources = again.resources.iter().map(|resource| &resource.definition);
        let name = kind.group_resource();
        let found = resources.find(|of| of.shared.group_resource() == name).unwrap_or_else(|| panic!("no {name}"));
        let version = &found.versions[0];
        let (declared, published) = (as_published(&kind.version.schema), as_published(&version.schema));
        assert_eq!(difference(&declared, &published, &kind.names().kind), None);
        assert_eq!((found.shared.scope, version.status), (kind.shared.scope, kind.version.status), "{name}");
        assert_eq!(found.shared.names.list_kind, kind.names().list_kind, "{name}");
    }
}
