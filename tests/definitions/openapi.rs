//! The OpenAPI documents of Kubernetes, which together describe its whole API.
use std::{collections::BTreeMap, time::Instant};

use kindsmith::{
    kind::{
        Definition,
        model::Scope,
        openapi::{self, Described, Source},
    },
    schema::{ListType, Schema},
};
use kindsmith_model::kind::endpoint::{Answer, Body, Verb};

use super::shared;

/// The documents by name.
pub(super) fn documents() -> Option<BTreeMap<String, Vec<u8>>> {
    let files = std::fs::read_dir(shared("corpus/kubernetes")?).expect("a folder that can be read");
    let files = files.map(|entry| entry.expect("an entry").path()).filter(|path| path.is_file());
    let read = |path: std::path::PathBuf| {
        let name = path.file_name().expect("a file has a name").to_string_lossy().into_owned();
        (name, std::fs::read(path).expect("a file that can be read"))
    };
    Some(files.map(read).collect())
}

fn described(documents: &BTreeMap<String, Vec<u8>>) -> Described {
    let sources: Vec<_> = documents.iter().map(|(name, text)| Source::new(name, text)).collect();
    openapi::read(&sources).unwrap_or_else(|report| panic!("{report}"))
}

fn find<'d>(described: &'d Described, group: &str, plural: &str) -> &'d Definition {
    let resources = described.resources.iter().map(|resource| &resource.definition);
    let mut found = resources.filter(|of| of.shared.group == group && of.shared.names.plural == plural);
    found.next().unwrap_or_else(|| panic!("no {plural} in {group:?}"))
}

fn field<'s>(schema: &'s Schema, path: &[&str]) -> &'s Schema {
    path.iter().fold(schema, |at, name| match *name {
        "[]" => at.items.as_deref().expect("a list"),
        name => at.properties.get(name).unwrap_or_else(|| panic!("no field {name}")),
    })
}

#[test]
fn the_documents_of_kubernetes_are_read_together() {
    let Some(documents) = documents() else { return };
    let started = Instant::now();
    let described = described(&documents);
    println!("{:?}", started.elapsed());
    assert!(started.elapsed().as_secs() < 60);
    assert_eq!((documents.len(), described.resources.len()), (36, 76));
    // They say nothing that is not read; unions are published and not enforced.
    assert!(described.warnings.0.iter().all(|warning| warning.message.starts_with("x-kubernetes-unions is published")));
    let claims = find(&described, "resource.k8s.io", "resourceclaims");
    let versions: Vec<_> = claims.versions.iter().map(|version| &*version.name).collect();
    assert_eq!((&*claims.storage_version, &versions[..]), ("v1", &["v1", "v1beta2", "v1beta1"][..]));
    let statuses = find(&described, "", "componentstatuses");
    assert_eq!(statuses.versions[0].verbs, Some(vec![Verb::Get, Verb::List]));
    let unstored = described.resources.iter().filter(|resource| !resource.definition.shared.stored);
    assert_eq!(unstored.count(), 7, "bindings and reviews");
}

#[test]
fn pods_are_as_kubernetes_has_them() {
    let Some(documents) = documents() else { return };
    let described = described(&documents);
    let pods = find(&described, "", "pods");
    assert_eq!((pods.shared.scope, &*pods.shared.names.list_kind), (Scope::Namespaced, "PodList"));
    let version = &pods.versions[0];
    let subresources: Vec<_> = version.subresources.iter().map(|of| (&*of.subresource, &*of.kind)).collect();
    assert_eq!(
        subresources,
        [
            ("attach", "PodAttachOptions"),
            ("binding", "Binding"),
            ("ephemeralcontainers", "Pod"),
            ("eviction", "Eviction"),
            ("exec", "PodExecOptions"),
            ("log", "Pod"),
            ("portforward", "PodPortForwardOptions"),
            ("proxy", "PodProxyOptions"),
            ("resize", "Pod"),
        ]
    );
    let subresource =
        |name: &str| version.subresources.iter().find(|of| &*of.subresource == name).expect("it is there");
    let Body::Document(eviction) = &subresource("eviction").operations[0].body else { panic!("a document") };
    assert_eq!((eviction.group_version.to_string(), &*eviction.kind), ("policy/v1".to_owned(), "Eviction"));
    assert_eq!(subresource("log").operations[0].answer, Answer::Text);
    let options = subresource("exec").options.as_ref().expect("options");
    let names: Vec<_> = options.properties.keys().map(String::as_str).collect();
    assert_eq!(names, ["command", "container", "stderr", "stdin", "stdout", "tty"]);
    let ports = field(&version.schema, &["spec", "containers", "[]", "ports"]);
    assert_eq!(ports.list, ListType::Map(vec!["containerPort".to_owned(), "protocol".to_owned()]));
    assert_eq!((ports.patch.merge, ports.patch.merge_key.as_deref()), (true, Some("containerPort")));
    assert_eq!(field(ports, &["[]", "protocol"]).default, Some("TCP".into()));
}

#[test]
fn types_of_several_documents_are_in_memory_once() {
    let Some(documents) = documents() else { return };
    let described = described(&documents);
    let template = |group: &str, plural: &str, path: &[&str]| -> *const Schema {
        let spec = field(&find(&described, group, plural).versions[0].schema, path);
        field(spec, &["containers"])
    };
    let of_pods = template("", "pods", &["spec"]);
    assert_eq!(of_pods, template("apps", "deployments", &["spec", "template", "spec"]));
    assert_eq!(of_pods, template("batch", "cronjobs", &["spec", "jobTemplate", "spec", "template", "spec"]));
}

#[test]
fn the_schema_of_schemas_is_recursive() {
    let Some(documents) = documents() else { return };
    let described = described(&documents);
    let definitions = find(&described, "apiextensions.k8s.io", "customresourcedefinitions");
    let props = ["spec", "versions", "[]", "schema", "openAPIV3Schema"];
    let props = field(&definitions.versions[0].schema, &props);
    assert_eq!(props.definitions.as_ref().map(|all| all.len()), Some(1));
    let inner = field(props, &["properties"]).additional.as_deref().expect("a map");
    assert_eq!((inner.definition, inner.properties.len()), (Some(0), 0));
}
