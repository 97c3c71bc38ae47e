//! Random definitions: what the server publishes of them, and what a server of that publishes in turn, describes the same
//! kinds; and what OpenAPI documents do not say, such as columns, is served as the manifest says it.
use std::collections::BTreeMap;

use kindsmith::{
    Server,
    kind::{Definition, crd, model::Version},
};
use kindsmith_tests::{Client, Random};
use serde_json::{Map, Value, json};

use super::described;

const DEFINITIONS: usize = 150;
const AGGREGATED: &str = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
const TABLE: &str = "application/json;as=Table;v=v1;g=meta.k8s.io";

/// Makes random definitions.
struct Maker(Random);

impl Maker {
    fn one_in(&mut self, times: usize) -> bool {
        self.0.one_in(times)
    }

    /// Adds some of these members.
    fn some(&mut self, times: usize, to: &mut Value, members: Value) {
        let Value::Object(members) = members else { panic!("members of an object") };
        for (name, value) in members {
            if self.one_in(times) {
                to[name] = value;
            }
        }
    }

    fn schema(&mut self, depth: usize) -> Value {
        let mut schema = match self.0.below(if depth == 0 { 6 } else { 11 }) {
            0 | 1 => self.text(),
            2 => self.number("integer", ["int32", "int64"]),
            3 => self.number("number", ["float", "double"]),
            4 => json!({"type": "boolean", "default": true}),
            5 => json!({"x-kubernetes-int-or-string": true}),
            6 => json!({"x-kubernetes-preserve-unknown-fields": true}),
            7 => self.map(depth),
            8 | 9 => self.structure(depth),
            _ => self.list(depth),
        };
        let docs = json!({"description": "Elsewhere.", "url": "https://example.com"});
        let any = json!({"description": "What it is.", "nullable": true, "title": "A title", "example": {"any": [1]},
            "externalDocs": docs, "x-kubernetes-validations": [{"rule": "true", "message": "Never."}]});
        self.some(5, &mut schema, any);
        schema
    }

    fn text(&mut self) -> Value {
        let mut schema = json!({"type": "string"});
        match self.0.below(4) {
            0 => self.some(2, &mut schema, json!({"enum": ["a", "b"], "default": "b"})),
            1 => schema["format"] = json!(*self.0.pick(&["date-time", "byte", "uuid", "date"])),
            _ => self.some(
                2,
                &mut schema,
                json!({"minLength": 1, "maxLength": 7, "pattern": "^[a-z]*$", "default": "aaa"}),
            ),
        }
        schema
    }

    fn number(&mut self, kind: &str, formats: [&str; 2]) -> Value {
        let (mut schema, format) = (json!({"type": kind}), *self.0.pick(&formats));
        self.some(
            2,
            &mut schema,
            json!({"minimum": -2, "maximum": 8, "multipleOf": 2, "default": 4, "format": format}),
        );
        for (bound, exclusive) in [("minimum", "exclusiveMinimum"), ("maximum", "exclusiveMaximum")] {
            if schema.get(bound).is_some() && self.one_in(2) {
                schema[exclusive] = json!(true);
            }
        }
        self.some(6, &mut schema, json!({"enum": [4]}));
        schema
    }

    fn map(&mut self, depth: usize) -> Value {
        let mut schema = json!({"type": "object", "additionalProperties": self.schema(depth - 1)});
        self.some(3, &mut schema, json!({"minProperties": 1, "maxProperties": 3, "x-kubernetes-map-type": "atomic"}));
        schema
    }

    fn structure(&mut self, depth: usize) -> Value {
        if self.one_in(8) {
            return json!({"type": "object", "x-kubernetes-embedded-resource": true, "x-kubernetes-preserve-unknown-fields": true});
        }
        let names = ["a", "b", "c", "a/b", "a.b", "x~y", "items"];
        let chosen = names.into_iter().filter(|_| self.0.one_in(3)).collect::<Vec<_>>();
        let properties: Map<_, _> = chosen.iter().map(|name| ((*name).to_owned(), self.schema(depth - 1))).collect();
        let mut schema = json!({"type": "object", "properties": properties});
        if let Some(first) = chosen.first() {
            let branch = json!({"required": [first]});
            let none = json!({"not": {"required": [first]}});
            self.some(3, &mut schema, json!({"required": [first]}));
            self.some(
                8,
                &mut schema,
                json!({"allOf": [branch, branch], "anyOf": [branch, none], "oneOf": [branch, none], "not": none}),
            );
        }
        self.some(4, &mut schema, json!({"x-kubernetes-map-type": "atomic", "x-kubernetes-preserve-unknown-fields": true, "minProperties": 0}));
        schema
    }

    fn list(&mut self, depth: usize) -> Value {
        let mut schema = match self.0.below(3) {
            0 => json!({"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}}),
            1 => {
                let mut items = self.structure(depth);
                let keys = [json!(["key"]), json!(["key", "port"])];
                items["properties"]["key"] = json!({"type": "string"});
                items["properties"]["port"] = json!({"type": "integer", "default": 1});
                items["required"] = json!(["key"]);
                items.as_object_mut().expect("an object").remove("x-kubernetes-embedded-resource");
                json!({"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": self.0.pick(&keys), "items": items})
            }
            _ => json!({"type": "array", "items": self.schema(depth - 1)}),
        };
        if schema["items"]["nullable"] == true {
            schema["items"]["nullable"] = json!(false);
        }
        self.some(3, &mut schema, json!({"minItems": 1, "maxItems": 9}));
        schema
    }

    fn version(&mut self, name: &str) -> Value {
        let mut spec = self.structure(3);
        for removed in ["x-kubernetes-embedded-resource", "minProperties"] {
            spec.as_object_mut().expect("an object").remove(removed);
        }
        spec["properties"]["chosen"] = json!({"type": "string"});
        let status =
            json!({"type": "object", "properties": {"replicas": {"type": "integer"}, "selector": {"type": "string"}}});
        let mut root = json!({"type": "object", "properties": {"spec": spec, "status": status}});
        let short = json!({"type": "object", "properties": {"name": {"type": "string", "maxLength": 3}}});
        self.some(3, &mut root["properties"], json!({"metadata": short}));
        self.some(3, &mut root, json!({"description": "A thing.", "required": ["spec"]}));
        let mut version = json!({"name": name, "schema": {"openAPIV3Schema": root}, "served": !self.one_in(5), "storage": name == "v1"});
        let mut parts = json!({});
        let mut scale = json!({"specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.replicas"});
        self.some(2, &mut scale, json!({"labelSelectorPath": ".status.selector"}));
        if self.one_in(2) {
            root_of(&mut version)["properties"]["spec"]["properties"]["replicas"] = json!({"type": "integer"});
            self.some(2, &mut parts, json!({"scale": scale}));
        }
        self.some(2, &mut parts, json!({"status": {}}));
        let column = |name: &str, kind: &str, path: &str| json!({"name": name, "type": kind, "jsonPath": path});
        let mut columns =
            vec![column("Chosen", "string", ".spec.chosen"), column("Count", "integer", ".status.replicas")];
        self.some(2, &mut columns[1], json!({"format": "int32", "priority": 1, "description": "How many."}));
        columns.truncate(1 + self.0.below(2));
        self.some(
            2,
            &mut version,
            json!({"subresources": parts, "additionalPrinterColumns": columns,
            "selectableFields": [{"jsonPath": ".spec.chosen"}], "deprecated": true}),
        );
        if version["deprecated"] == true {
            self.some(2, &mut version, json!({"deprecationWarning": "Use something else."}));
        }
        version
    }

    fn definition(&mut self, number: usize) -> Value {
        let group = format!("g{number}.random.example.com");
        let mut names = json!({"plural": "things", "kind": "Thing"});
        self.some(2, &mut names, json!({"singular": "thingy", "listKind": "Things", "shortNames": ["th", "ty"], "categories": ["all", "some"]}));
        let versions: Vec<_> = ["v1", "v1beta1", "v2"].into_iter().take(1 + self.0.below(3)).collect();
        let mut versions: Vec<_> = versions.into_iter().map(|name| self.version(name)).collect();
        // A definition of which no version is served is refused.
        versions[0]["served"] = json!(true);
        json!({
            "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": format!("things.{group}")},
            "spec": {"group": group, "scope": self.0.pick(&["Namespaced", "Cluster"]), "names": names, "versions": versions},
        })
    }
}

fn root_of(version: &mut Value) -> &mut Value {
    &mut version["schema"]["openAPIV3Schema"]
}

fn texts(of: &Value) -> Vec<&str> {
    of.as_array().into_iter().flatten().filter_map(Value::as_str).collect()
}

/// What is not in schemas is in the model as the manifest says it.
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

/// What OpenAPI documents do not say of a version is served as the manifest says it.
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
        "" => format!("299 - \"{group}/{name} Thing is deprecated\""),
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
    let mut maker = Maker(Random::from_environment());
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
