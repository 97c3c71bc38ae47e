//! Random definitions: what the server publishes of them, and what a server of that publishes in turn, describes the same
//! kinds; and what OpenAPI documents do not say, such as columns, is served as the manifest says it.
use std::collections::BTreeMap;

use kindsmith::{
    Server,
    kind::{Definition, crd, model::Version},
};
use kindsmith_tests::{Client, Definitions, Random};
use serde_json::{Value, json};

use super::described;

const DEFINITIONS: usize = 150;
const AGGREGATED: &str = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
const TABLE: &str = "application/json;as=Table;v=v1;g=meta.k8s.io";

fn texts(of: &Value) -> Vec<&str> {
    of.as_array().into_iter().flatten().filter_map(Value::as_str).collect()
}

/// Checks that everything outside of schemas is in the model as the manifest says it.
fn says(manifest: &Value, model: &Definition) {
    let (spec, names) = (&manifest["spec"], &model.shared.names);
    assert_eq!((json!(model.shared.group), json!(names.kind)), (spec["group"].clone(), json!("Thing")));
    assert_eq!(json!(format!("{:?}", model.shared.scope)), spec["scope"]);
    assert_eq!(names.singular, spec["names"]["singular"].as_str().unwrap_or("thing"));
    assert_eq!(names.list_kind, spec["names"]["listKind"].as_str().unwrap_or("ThingList"));
    assert_eq!(
        (json!(names.short_names), json!(names.categories)),
        (json!(texts(&spec["names"]["shortNames"])), json!(texts(&spec["names"]["categories"])))
    );
    let versions = spec["versions"].as_array().expect("versions");
    assert_eq!((versions.len(), &*model.storage_version), (model.versions.len(), "v1"));
    for (said, version) in versions.iter().zip(&model.versions) {
        let parts = &said["subresources"];
        assert_eq!((json!(version.name), json!(version.served)), (said["name"].clone(), said["served"].clone()));
        assert_eq!(
            (version.status, version.scale.is_some()),
            (parts["status"].is_object(), parts["scale"].is_object())
        );
        let of_metadata = &said["schema"]["openAPIV3Schema"]["properties"]["metadata"];
        assert_eq!((version.names.is_some(), version.generation), (of_metadata.is_object(), true));
        if let Some(scale) = &version.scale {
            let paths = [Some(&scale.replicas), Some(&scale.status_replicas), scale.selector.as_ref()];
            let names = ["specReplicasPath", "statusReplicasPath", "labelSelectorPath"];
            let said =
                names.map(|name| parts["scale"][name].as_str().map(|path| path.trim_start_matches('.').to_owned()));
            assert_eq!(paths.map(|path| path.map(ToString::to_string)), said);
        }
    }
}

/// The newest version that is newer than a deprecated one, is served and not deprecated, if there is one.
fn way_out(spec: &Value, group: &str, deprecated: &str) -> String {
    let versions = spec["versions"].as_array().expect("versions");
    let is_fitting = |version: &Value| version["served"] == true && version["deprecated"] != true;
    let newer = ["v2", "v1", "v1beta1"].into_iter().take_while(|name| *name != deprecated);
    let newest =
        newer.into_iter().find(|name| versions.iter().any(|version| version["name"] == *name && is_fitting(version)));
    newest.map_or_else(String::new, |name| format!("; use {group}/{name} Thing"))
}

/// Checks that properties of a version that OpenAPI documents lack are served as the manifest says.
async fn serves(client: &mut Client, spec: &Value, said: &Value) {
    let (group, name) = (spec["group"].as_str().expect("a group"), said["name"].as_str().expect("a name"));
    let path = format!("/apis/{group}/{name}/things");
    let table = client.accepting(&path, TABLE).await.expect("an answer");
    assert_eq!(table.status, if said["served"] == true { 200 } else { 404 }, "{path}");
    if table.status == 404 {
        return;
    }
    let text = |of: &Value| of.as_str().unwrap_or_default().to_owned();
    let warning = table.headers.get("warning").map(|warning| warning.to_str().expect("ASCII").to_owned());
    let expected = (said["deprecated"] == true).then(|| match text(&said["deprecationWarning"]).as_str() {
        "" => format!("299 - \"{group}/{name} Thing is deprecated{}\"", way_out(spec, group, name)),
        own => format!("299 - \"{own}\""),
    });
    assert_eq!(warning, expected, "{path}");
    let table = table.json();
    let columns = table["columnDefinitions"].as_array().expect("columns").iter().skip(1);
    let of = |column: &Value| {
        (
            text(&column["name"]),
            text(&column["type"]),
            text(&column["format"]),
            column["priority"].as_i64().unwrap_or(0),
        )
    };
    let declared = said["additionalPrinterColumns"]
        .as_array()
        .map_or_else(|| vec![of(&json!({"name": "Age", "type": "date"}))], |columns| columns.iter().map(of).collect());
    assert_eq!(columns.clone().map(of).collect::<Vec<_>>(), declared, "{path}");
    for (shown, said) in columns.zip(said["additionalPrinterColumns"].as_array().into_iter().flatten()) {
        assert!(said["description"].is_null() || said["description"] == shown["description"], "{path} {shown}");
    }
    let selected = client.get(&format!("{path}?fieldSelector=spec.chosen%3Da")).await.expect("an answer").status;
    assert_eq!(selected, if said["selectableFields"].is_array() { 200 } else { 400 }, "{path}");
}

/// A version as OpenAPI documents say it.
fn as_published(version: &Version) -> Version {
    let mut published = version.clone();
    published.columns = Vec::new();
    (published.scale, published.deprecated, published.names) = (None, None, None);
    published
}

#[tokio::test]
async fn random_definitions_are_published_and_served_again_as_they_are() {
    let mut maker = Definitions(Random::from_environment());
    let manifests: Vec<Value> = (0..DEFINITIONS).map(|number| maker.definition(number)).collect();
    let mut given: BTreeMap<String, Definition> = BTreeMap::new();
    for manifest in &manifests {
        let read = crd::read("random", manifest.to_string().as_bytes())
            .unwrap_or_else(|report| panic!("{report}\n{manifest:#}"));
        for defined in read.definitions {
            says(manifest, &defined.definition);
            given.insert(defined.definition.shared.group.clone(), defined.definition);
        }
    }
    assert_eq!(given.len(), DEFINITIONS);
    let crds: Vec<String> = manifests.iter().map(Value::to_string).collect();
    let server = Server::test()
        .configure(|server| crds.into_iter().fold(server.without_builtins(), kindsmith::server::Builder::crd));
    let server = server.start().await;
    let mut client = Client::new(server.url(), server.token());
    for manifest in &manifests {
        for version in manifest["spec"]["versions"].as_array().expect("versions") {
            serves(&mut client, &manifest["spec"], version).await;
        }
    }
    let mut documents = described::documents_of(&mut client).await;
    let discovery = client.accepting("/apis", AGGREGATED).await.expect("an answer");
    documents.insert("discovery".to_owned(), discovery.body.to_vec());
    let published = described::read(&documents);
    assert_eq!(published.resources.len(), DEFINITIONS);
    for resource in &published.resources {
        let (again, given) = (&resource.definition, &given[&resource.definition.shared.group]);
        assert_eq!(again.shared, given.shared);
        let versions = given.versions.iter().filter(|version| version.served);
        let mut versions: Vec<_> = versions.map(|version| as_published(version)).collect();
        versions.sort_by_key(|version| again.versions.iter().position(|other| other.name == version.name));
        assert_eq!(versions.len(), again.versions.len(), "{}", given.shared.group);
        for (given, again) in versions.iter().zip(&again.versions) {
            described::check_version(given, &as_published(again), &resource.definition.shared.group);
        }
    }

    let (_server, mut client) = described::serve(&documents, false).await;
    let again = described::documents_of(&mut client).await;
    documents.remove("discovery");
    assert_eq!(documents.keys().collect::<Vec<_>>(), again.keys().collect::<Vec<_>>());
    for (name, document) in &documents {
        let [one, other] = [document, &again[name]].map(|text| serde_json::from_slice::<Value>(text).expect("JSON"));
        for part in ["paths", "components"] {
            assert_eq!(one[part], other[part], "{name}");
        }
    }
}
