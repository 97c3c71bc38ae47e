//! Widget, as the conformance kit declares it.
use std::collections::BTreeMap;

use kindsmith::{
    ApiType, Condition, ObjectMeta, Resource,
    kind::model::{Cell, Scope},
    schema::model::{ListType, Schema, Type},
};
use serde::{Deserialize, Serialize};
use serde_json::json;

/// A widget.
#[derive(Resource, Clone, Debug)]
#[resource(group = "conformance.example.com", version = "v1", shortname = "wd", category = "all", status)]
#[resource(scale(replicas = spec.replicas, status = status.replicas, selector = status.selector))]
#[resource(selectable(spec.color))]
#[resource(column("Size", path = spec.size, description = "How large it is"))]
#[resource(column("Color", path = spec.color), column("Phase", path = status.phase, priority = 1))]
pub struct Widget {
    pub metadata: ObjectMeta,
    pub spec: WidgetSpec,
    pub status: Option<WidgetStatus>,
}

/// What is wanted.
#[derive(ApiType, Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WidgetSpec {
    /// How large
    /// it is.
    ///
    /// In no unit.
    #[api(minimum = 1, maximum = 100)]
    pub size: i32,
    #[api(default = Color::Red)]
    pub color: Color,
    #[api(max_length = 64)]
    pub description: Option<String>,
    #[api(pattern = "^[A-Z]{2}-[0-9]+$")]
    pub code: Option<String>,
    #[api(default = 1, minimum = 0)]
    pub replicas: i32,
    pub paused: Option<bool>,
    #[serde(default)]
    #[api(list = map(key = name), merge)]
    pub ports: Vec<Port>,
    #[serde(default)]
    #[api(list = set)]
    pub tags: Vec<String>,
    #[serde(default)]
    #[api(list = atomic, max_items = 5)]
    pub args: Vec<String>,
    #[serde(default)]
    #[api(max_properties = 3)]
    pub options: BTreeMap<String, String>,
    pub template: Option<Template>,
}

#[derive(ApiType, Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum Color {
    Red,
    Green,
    Blue,
}

#[derive(ApiType, Clone, Debug, Serialize, Deserialize)]
#[expect(clippy::struct_field_names, reason = "the conformance kind's own names")]
pub struct Port {
    pub name: String,
    #[api(minimum = 1, maximum = 65535)]
    pub port: i32,
    #[api(default = Protocol::Tcp)]
    pub protocol: Protocol,
}

#[derive(ApiType, Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Protocol {
    Tcp,
    Udp,
}

#[derive(ApiType, Clone, Debug, Serialize, Deserialize)]
pub struct Template {
    pub image: Option<String>,
    #[serde(default)]
    #[api(list = atomic)]
    pub env: Vec<EnvVar>,
}

#[derive(ApiType, Clone, Debug, Serialize, Deserialize)]
pub struct EnvVar {
    pub name: String,
    pub value: Option<String>,
}

#[derive(ApiType, Clone, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WidgetStatus {
    pub phase: Option<String>,
    pub replicas: Option<i32>,
    pub selector: Option<String>,
    pub observed_generation: Option<i64>,
    #[serde(default)]
    #[api(list = map(key = kind))]
    pub conditions: Vec<Condition>,
}

fn at<'s>(schema: &'s Schema, path: &str) -> &'s Schema {
    path.split('.').fold(schema, |at, name| match name {
        "[]" => at.items.as_deref().expect("a list"),
        name => &at.properties[name],
    })
}

#[test]
fn names_and_subresources_are_as_declared() {
    let kind = Widget::kind();
    assert_eq!(kind.group_version.to_string(), "conformance.example.com/v1");
    assert_eq!((kind.kind.as_str(), kind.list_kind.as_str()), ("Widget", "WidgetList"));
    assert_eq!((kind.plural.as_str(), kind.singular.as_str()), ("widgets", "widget"));
    assert_eq!((kind.short_names, kind.categories), (vec!["wd".to_owned()], vec!["all".to_owned()]));
    assert_eq!(kind.scope, Scope::Namespaced);
    assert!(kind.status && kind.generation && !kind.update_without_version && !kind.create_on_update);
    let scale = kind.scale.expect("declared");
    assert_eq!(scale.replicas.to_string(), "spec.replicas");
    assert_eq!(scale.selector.expect("declared").to_string(), "status.selector");
    assert_eq!(kind.selectable[0].to_string(), "spec.color");
}

#[test]
fn columns_have_the_fields_types_and_age_comes_last() {
    let columns = Widget::kind().columns;
    let found: Vec<_> = columns.iter().map(|c| (c.name.as_str(), c.kind, c.priority)).collect();
    assert_eq!(found, [("Size", "integer", 0), ("Color", "string", 0), ("Phase", "string", 1), ("Age", "date", 0)]);
    assert_eq!(columns[0].description, "How large it is");
    assert_eq!(columns[1].description, "Custom resource definition column (in JSONPath format): .spec.color");
    assert_eq!(
        columns[3].description,
        "Custom resource definition column (in JSONPath format): .metadata.creationTimestamp"
    );
    assert!(matches!(&columns[2].cell, Cell::Path(path) if path.to_string() == "status.phase"));
}

#[test]
fn the_schema_follows_the_fields() {
    let schema = Widget::kind().schema;
    assert_eq!(schema.required, ["spec"]);
    assert!(!schema.properties.contains_key("metadata"));
    assert_eq!(at(&schema, "spec").required, ["size"]);
    let size = at(&schema, "spec.size");
    assert_eq!((size.kind, size.format.as_deref()), (Type::Integer, Some("int32")));
    assert_eq!((size.minimum, size.maximum), (Some(1.0), Some(100.0)));
    assert_eq!(size.description, "How large it is.\n\nIn no unit.");
    let color = at(&schema, "spec.color");
    assert_eq!(
        (color.default.clone(), color.enumeration.clone()),
        (Some(json!("Red")), vec![json!("Red"), json!("Green"), json!("Blue")])
    );
    assert_eq!(at(&schema, "spec.code").pattern.as_ref().expect("declared").text, "^[A-Z]{2}-[0-9]+$");
    assert_eq!(at(&schema, "spec.replicas").default, Some(json!(1)));
    let ports = at(&schema, "spec.ports");
    assert_eq!(ports.list, ListType::Map(vec!["name".to_owned()]));
    assert_eq!(ports.patch.merge_key.as_deref(), Some("name"));
    assert!(Widget::kind().strategic, "one of its lists says how patches merge");
    assert_eq!(at(ports, "[]").required, ["name", "port"]);
    assert_eq!(at(ports, "[].protocol").default, Some(json!("TCP")));
    assert_eq!(at(&schema, "spec.tags").list, ListType::Set);
    assert_eq!(at(&schema, "spec.args").max_items, Some(5));
    assert_eq!(at(&schema, "spec.options").max_properties, Some(3));
    assert_eq!(at(&schema, "status.conditions").list, ListType::Map(vec!["type".to_owned()]));
    assert_eq!(at(&schema, "status.observedGeneration").format.as_deref(), Some("int64"));
}

#[test]
fn the_root_reads_and_writes_its_type_meta() {
    let document = json!({
        "apiVersion": "conformance.example.com/v1", "kind": "Widget", "metadata": {"name": "w"},
        "spec": {"size": 3, "color": "Blue", "replicas": 2},
    });
    let widget: Widget = serde_json::from_value(document.clone()).expect("it decodes");
    assert_eq!((widget.spec.size, widget.spec.color), (3, Color::Blue));
    let written = serde_json::to_value(&widget).expect("it encodes");
    assert_eq!(written["apiVersion"], document["apiVersion"]);
    assert_eq!(written["kind"], document["kind"]);
    assert_eq!(written.get("status"), None);

    let mut item = document.clone();
    item.as_object_mut().expect("an object").retain(|key, _| key != "apiVersion" && key != "kind");
    assert!(serde_json::from_value::<Widget>(item).is_ok(), "items of lists carry no type meta");

    let mut other = document;
    other["kind"] = json!("Gadget");
    let error = serde_json::from_value::<Widget>(other).expect_err("another kind").to_string();
    assert!(error.contains("expected apiVersion conformance.example.com/v1 and kind Widget"), "{error}");
}
