//! Kinds and objects for the tests of this layer: a declared Widget and a compiled-in config map.

use std::sync::Arc;

use serde_json::{Value, json};

use crate::{
    cache::{Object, Reading},
    kind::{
        Binding, Kind,
        model::{Cell, Column, Names, Path, ScalePaths, Shared, Version},
        policy::{Compiled, Custom},
    },
    meta::Revision,
    schema::{Schema, model::Type},
};

fn column(name: &str, kind: &str, priority: i32, cell: Cell) -> Column {
    Column {
        name: name.to_owned(),
        kind: kind.to_owned(),
        format: String::new(),
        description: String::new(),
        priority,
        cell,
    }
}

fn object_of(properties: &[(&str, Type)]) -> Schema {
    let properties =
        properties.iter().map(|(name, kind)| ((*name).to_owned(), Schema { kind: *kind, ..Schema::default() }));
    Schema { kind: Type::Object, properties: properties.collect(), ..Schema::default() }
}

/// A namespaced custom kind with status, scale and columns.
pub fn widget() -> Kind {
    let mut schema = Schema { kind: Type::Object, name: Some("Widget".to_owned()), ..Schema::default() };
    let mut spec = object_of(&[("size", Type::Integer), ("color", Type::String), ("replicas", Type::Integer)]);
    spec.name = Some("WidgetSpec".to_owned());
    spec.required = vec!["size".to_owned()];
    schema.properties.insert("spec".to_owned(), spec);
    schema.properties.insert("status".to_owned(), object_of(&[("phase", Type::String), ("replicas", Type::Integer)]));
    schema.required = vec!["spec".to_owned()];
    let names = Names {
        short_names: vec!["wd".to_owned()],
        categories: vec!["all".to_owned()],
        ..Names::new("Widget", "widgets")
    };
    let version = Version {
        status: true,
        generation: true,
        scale: Some(ScalePaths {
            replicas: Path::from("spec.replicas"),
            status_replicas: Path::from("status.replicas"),
            selector: None,
        }),
        columns: vec![
            column("Size", "integer", 0, Cell::Path(Path::from("spec.size"))),
            column("Color", "string", 0, Cell::Path(Path::from("spec.color"))),
            column("Phase", "string", 1, Cell::Path(Path::from("status.phase"))),
            column("Age", "date", 0, Cell::Path(Path::from("metadata.creationTimestamp"))),
        ],
        selectable: vec![Path::from("spec.color")],
        ..Version::new("v1", schema)
    };
    Kind::new(Shared::new("conformance.example.com", names), version, Binding::new(&Custom))
}

fn count_data(document: &Value) -> Value {
    document["data"].as_object().map_or(0, serde_json::Map::len).into()
}

/// A namespaced kind that behaves like those compiled into kube-apiserver.
pub fn config_map() -> Kind {
    let data = Schema {
        kind: Type::Object,
        additional: Some(Schema { kind: Type::String, ..Schema::default() }.into()),
        ..Schema::default()
    };
    let mut schema = Schema { kind: Type::Object, name: Some("ConfigMap".to_owned()), ..Schema::default() };
    schema.properties.insert("data".to_owned(), data);
    widget().with(|shared, version, binding| {
        shared.names = Names::new("ConfigMap", "configmaps");
        shared.group.clear();
        shared.names.short_names = vec!["cm".to_owned()];
        binding.policy = &Compiled;
        binding.cells.insert("Data".to_owned(), count_data);
        version.schema = Arc::new(schema);
        version.status = false;
        version.generation = false;
        version.scale = None;
        version.columns = vec![
            column("Data", "string", 0, Cell::Computed),
            column("Age", "date", 0, Cell::Path(Path::from("metadata.creationTimestamp"))),
        ];
        version.selectable = Vec::new();
        version.update_without_version = true;
    })
}

/// An object of a kind; the body has no type meta and no resourceVersion.
pub fn object(kind: &Kind, key: &str, revision: u64, mut body: Value) -> Arc<Object> {
    let (namespace, name) = key.split_once('/').unwrap_or(("", key));
    let mut metadata = json!({"name": name});
    if !namespace.is_empty() {
        metadata["namespace"] = namespace.into();
    }
    let given = body.as_object_mut().expect("a body is an object").remove("metadata").unwrap_or_default();
    for (name, value) in given.as_object().into_iter().flatten() {
        metadata[name] = value.clone();
    }
    let rest = body.to_string();
    let comma = if rest == "{}" { "" } else { "," };
    let text = format!("{{\"metadata\":{metadata}{comma}{}", &rest[1..]);
    let reading = Reading::plain(Ok(text.as_str().into()));
    Arc::new(Object::compose(key, Revision(revision), &kind.type_meta(), reading))
}
