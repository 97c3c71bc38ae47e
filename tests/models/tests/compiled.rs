//! Kinds as compiled Rust: they are what they were generated from, and what they are written as becomes the same Rust again.

use std::{fs, sync::Arc};

use kindsmith::{
    Server,
    kind::{
        Custom, Definition, Kind, crd,
        model::{Cell, Column, Path},
    },
    schema::{Scalar, Schema},
};
use kindsmith_codegen::Builder;
use kindsmith_tests::{Client, Folder};
use serde_json::{Value, json};

/// The definitions that the compiled kinds were generated from.
fn given() -> Vec<Definition> {
    let read = |file: &&str| crd::read(file, &fs::read(file).unwrap()).unwrap().definitions;
    models::FILES.iter().flat_map(read).map(|defined| defined.definition).collect()
}

/// A schema without the names and the descriptions of types, which definitions do not have, and without the bounds that numbers of
/// int-or-string have in Rust.
fn bare(schema: &Schema) -> Schema {
    let mut bare = schema.clone();
    bare.scalar = bare.scalar.filter(|scalar| *scalar != Scalar::IntOrString);
    (bare.name, bare.type_description) = (None, String::new());
    bare.properties = bare.properties.iter().map(|(name, property)| (name.clone(), self::bare(property))).collect();
    bare.items = bare.items.map(|items| self::bare(&items).into());
    bare.additional = bare.additional.map(|values| self::bare(&values).into());
    bare
}

fn of_kind(kind: &Kind) -> String {
    let mut version = kind.version.as_ref().clone();
    version.schema = Arc::new(bare(&version.schema));
    format!("{:#?}\n{version:#?}", kind.shared)
}

/// Fails with the first difference of two texts.
fn same(expected: &str, found: &str) {
    let differs = expected.lines().zip(found.lines()).find(|(expected, found)| expected != found);
    assert!(expected == found, "{differs:#?}\nexpected:\n{expected}\nfound:\n{found}");
}

/// The compiled kinds as definitions, in the order in which they were given.
fn compiled() -> Vec<Definition> {
    let kinds = models::kinds();
    let of_group = |given: &Definition| {
        let mut compiled = given.clone();
        let of_group = kinds.iter().filter(|kind| kind.shared.group == given.shared.group);
        compiled.shared = of_group.clone().next().unwrap().shared.clone();
        let version = |name: &str| of_group.clone().find(|kind| kind.version.name == name).unwrap().version.clone();
        compiled.versions = given.versions.iter().map(|given| version(&given.name)).collect();
        compiled
    };
    given().iter().map(of_group).collect()
}

/// The Rust that is generated from these files.
fn generated(files: &[(String, Value)]) -> String {
    let folder = Folder::new("models");
    let mut builder = Builder::new();
    for (name, document) in files {
        let path = folder.path().join(name);
        fs::write(&path, document.to_string()).unwrap();
        builder = builder.file(path);
    }
    text(&builder)
}

/// The Rust that a builder generates, without the headers of files.
fn text(builder: &Builder) -> String {
    let generated = builder.generate().unwrap();
    assert_eq!(generated.warnings.iter().map(ToString::to_string).collect::<Vec<_>>(), Vec::<String>::new());
    generated.files.into_iter().map(|file| file.text).collect()
}

/// The Rust that is compiled here, or the part of it that is generated from some of the definitions.
fn expected(is_chosen: impl Fn(&Definition) -> bool) -> String {
    let given = given();
    let files = models::FILES.iter().zip(&given).filter(|(_, definition)| is_chosen(definition));
    text(&files.fold(Builder::new(), |builder, (file, _)| builder.file(*file)))
}

#[test]
fn compiled_kinds_are_the_definitions_that_they_were_generated_from() {
    let given = given();
    let expected: Vec<Kind> = given.iter().flat_map(|definition| definition.kinds(&Custom)).collect();
    let compiled = models::kinds();
    assert_eq!(compiled.len(), expected.len());
    for expected in &expected {
        let found = compiled.iter().find(|kind| kind.group_version == expected.group_version).unwrap();
        same(&of_kind(expected), &of_kind(found));
    }
}

#[test]
fn compiled_kinds_that_are_written_as_definitions_become_the_same_rust() {
    let mut files = Vec::new();
    for definition in compiled() {
        let written = crd::write(&definition).unwrap();
        files.push((format!("{}.json", definition.shared.group), written.document));
    }
    same(&expected(|_| true), &generated(&files));
}

/// True for a definition of which OpenAPI documents, discovery and an overlay say everything.
fn is_published(definition: &Definition) -> bool {
    definition.versions.len() == 1 && definition.versions.iter().all(|version| version.names.is_none())
}

#[tokio::test]
async fn compiled_kinds_that_are_published_as_openapi_become_the_same_rust() {
    let server = Server::test().configure(|server| {
        models::kinds().into_iter().fold(server.without_builtins(), kindsmith::server::Builder::model)
    });
    let server = server.start().await;
    let mut client = Client::new(server.url(), server.token());
    let index = client.get("/openapi/v3").await.unwrap().json();
    let compiled: Vec<_> = compiled().into_iter().filter(is_published).collect();
    assert!(compiled.len() > 5, "{}", compiled.len());
    let mut files = Vec::new();
    for (path, entry) in index["paths"].as_object().unwrap() {
        if compiled.iter().any(|definition| path.contains(&format!("/{}/", definition.shared.group))) {
            let document = client.get(entry["serverRelativeURL"].as_str().unwrap()).await.unwrap().json();
            files.push((format!("{}.json", path.replace('/', "_")), document));
        }
    }
    let discovery = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
    files.push(("discovery.json".to_owned(), client.accepting("/apis", discovery).await.unwrap().json()));
    files.push(("overlay.json".to_owned(), overlay(&compiled)));
    // No document says that a version is deprecated.
    let expected = without_deprecation(&expected(is_published));
    same(&expected, &generated(&files));
}

/// Generated Rust without the attribute that says that a version is deprecated.
fn without_deprecation(text: &str) -> String {
    let lines = text
        .lines()
        .filter(|line| !line.starts_with("    #[resource(deprecated") && !line.starts_with("#[resource(deprecated"));
    lines.flat_map(|line| [line, "\n"]).collect()
}

/// What OpenAPI and discovery do not say, as an overlay.
fn overlay(definitions: &[Definition]) -> Value {
    let column = |column: &Column| {
        let Cell::Path(path) = &column.cell else { panic!("{column:?}") };
        json!({"name": column.name, "type": column.kind, "format": column.format, "description": column.description,
            "priority": column.priority, "cell": format!(".{path}")})
    };
    let resources: Vec<Value> = definitions
        .iter()
        .map(|definition| {
            let version = &definition.versions[0];
            let columns: Vec<_> = version.columns.iter().map(column).collect();
            let path = |path: &Path| format!(".{path}");
            let selectable: Vec<_> = version.selectable.iter().map(path).collect();
            let mut entry = json!({"resource": definition.shared.group_resource().to_string(), "columns": columns, "selectableFields": selectable});
            if let Some(scale) = &version.scale {
                entry["scale"] = json!({"replicas": path(&scale.replicas), "statusReplicas": path(&scale.status_replicas)});
                if let Some(selector) = &scale.selector {
                    entry["scale"]["selector"] = path(selector).into();
                }
            }
            entry
        })
        .collect();
    json!({"apiVersion": "kindsmith/v1", "kind": "Overlay", "resources": resources})
}
