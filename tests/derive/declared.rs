//! What the derives make of declarations: of the conformance kit's Widget, and of a kind with what Widget does without.
use kindsmith::{
    ApiType, Condition, LabelSelector, ObjectMeta, Resource,
    kind::model::{Cell, Scope},
    schema::{self, ListType, Meter, Schema, Type},
};
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::widget::{Color, Widget};

/// A shelf, with descriptions, a list that patches merge, and standard conditions.
#[derive(Resource, Clone, Debug)]
#[resource(group = "derive.example.com", version = "v1", status, column("Length", path = spec.length))]
pub(crate) struct Shelf {
    pub metadata: ObjectMeta,
    pub spec: ShelfSpec,
    pub status: Option<ShelfStatus>,
}

#[derive(ApiType, Clone, Debug, Serialize, Deserialize)]
pub(crate) struct ShelfSpec {
    /// How long
    /// it is.
    ///
    /// In no unit.
    pub length: i32,
    #[api(list = map(key = name), merge)]
    #[serde(default)]
    pub books: Vec<Book>,
}

#[derive(ApiType, Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Book {
    pub name: String,
}

#[derive(ApiType, Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct ShelfStatus {
    #[serde(default)]
    #[api(list = map(key = kind))]
    pub conditions: Vec<Condition>,
}

#[derive(ApiType, Clone, Debug, Serialize, Deserialize)]
pub(crate) struct PickSpec {
    pub of: LabelSelector,
}

#[derive(Resource, Clone, Debug)]
#[resource(group = "derive.example.com", version = "v1")]
pub(crate) struct Pick {
    pub metadata: ObjectMeta,
    pub spec: PickSpec,
}

/// The same as kinds of Kubernetes are.
#[derive(Resource, Clone, Debug)]
#[resource(group = "derive.example.com", version = "v1", builtin)]
pub(crate) struct PickOfGo {
    pub metadata: ObjectMeta,
    pub spec: PickSpec,
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
    assert_eq!((kind.names().kind.as_str(), kind.names().list_kind.as_str()), ("Widget", "WidgetList"));
    assert_eq!((kind.names().plural.as_str(), kind.names().singular.as_str()), ("widgets", "widget"));
    assert_eq!(
        (kind.names().short_names.as_slice(), kind.names().categories.as_slice()),
        (&["wd".to_owned()][..], &["all".to_owned()][..])
    );
    assert_eq!(kind.shared.scope, Scope::Namespaced);
    assert!(
        kind.version.status
            && kind.version.generation
            && !kind.version.update_without_version
            && !kind.version.create_on_update
            && !kind.version.returns_deleted
    );
    let scale = kind.version.scale.as_ref().expect("declared");
    assert_eq!(scale.replicas.to_string(), "spec.replicas");
    assert_eq!(scale.selector.as_ref().expect("declared").to_string(), "status.selector");
    assert_eq!(kind.version.selectable[0].to_string(), "spec.color");
}

#[test]
fn columns_have_the_types_of_their_fields() {
    let kind = Widget::kind();
    let columns = &kind.version.columns;
    let found: Vec<_> = columns.iter().map(|c| (c.name.as_str(), c.kind.as_str(), c.priority)).collect();
    assert_eq!(found, [("Size", "integer", 0), ("Color", "string", 0), ("Phase", "string", 1), ("Age", "date", 0)]);
    assert_eq!(columns[0].description, "How large it is");
    assert_eq!(columns[1].description, "Custom resource definition column (in JSONPath format): .spec.color");
    assert_eq!(
        columns[3].description,
        "Custom resource definition column (in JSONPath format): .metadata.creationTimestamp"
    );
    assert!(matches!(&columns[2].cell, Cell::Path(path) if path.to_string() == "status.phase"));
    let names: Vec<_> = Shelf::kind().version.columns.iter().map(|column| column.name.clone()).collect();
    assert_eq!(names, ["Length", "Age"], "age comes last where it is not declared");
}

#[test]
fn the_schema_follows_the_fields() {
    let kind = Widget::kind();
    let schema = &kind.version.schema;
    assert_eq!(schema.required, ["spec"]);
    assert!(!schema.properties.contains_key("metadata"));
    assert_eq!(at(schema, "spec").required, ["size"]);
    let size = at(schema, "spec.size");
    assert_eq!((size.kind, size.format.as_deref()), (Type::Integer, Some("int32")));
    assert_eq!((size.minimum, size.maximum), (Some(1.0), Some(100.0)));
    let color = at(schema, "spec.color");
    assert_eq!(
        (color.default.clone(), color.enumeration.clone()),
        (Some(json!("Red")), vec![json!("Red"), json!("Green"), json!("Blue")].into())
    );
    assert_eq!(at(schema, "spec.code").pattern.as_ref().expect("declared").text(), "^[A-Z]{2}-[0-9]+$");
    assert_eq!(at(schema, "spec.replicas").default, Some(json!(1)));
    let ports = at(schema, "spec.ports");
    assert_eq!(ports.list, ListType::Map(vec!["name".to_owned()]));
    assert_eq!(at(ports, "[]").required, ["name", "port"]);
    assert_eq!(at(ports, "[].protocol").default, Some(json!("TCP")));
    assert_eq!(at(schema, "spec.tags").list, ListType::Set);
    assert_eq!(at(schema, "spec.args").max_items, Some(5));
    assert_eq!(at(schema, "spec.options").max_properties, Some(3));
    assert_eq!(at(schema, "status.conditions").list, ListType::Map(vec!["type".to_owned()]));
    assert_eq!(at(schema, "status.observedGeneration").format.as_deref(), Some("int64"));
}

#[test]
fn descriptions_and_merge_keys_are_in_the_schema() {
    let shelf = Shelf::kind();
    assert_eq!(at(&shelf.version.schema, "spec.length").description, "How long it is.\n\nIn no unit.");
    assert_eq!(at(&shelf.version.schema, "spec.books").patch.merge_key.as_deref(), Some("name"));
    assert!(
        shelf.takes_strategic_patches() && !Widget::kind().takes_strategic_patches(),
        "only a shelf's list says how patches merge"
    );
}

#[test]
fn the_root_reads_and_writes_its_type_meta() {
    let document = json!({
        "apiVersion": "conformance.example.com/v1", "kind": "Widget", "metadata": {"name": "w"},
        "spec": {"size": 3, "color": "Blue", "replicas": 2},
    });
    let widget: Widget = serde_json::from_value(document.clone()).expect("it decodes");
    assert!(widget.spec.size == 3 && matches!(widget.spec.color, Color::Blue));
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

#[test]
fn the_texts_of_selectors_are_empty_where_they_are_absent_in_kinds_of_kubernetes_alone() {
    for (kind, expected) in [(Pick::kind(), json!({})), (PickOfGo::kind(), json!({"key": "", "operator": ""}))] {
        let mut pick = json!({"spec": {"of": {"matchExpressions": [{}]}}});
        schema::default(&kind.version.schema, &mut pick, &Meter::default()).expect("within the limits");
        assert_eq!(pick["spec"]["of"]["matchExpressions"], json!([expected]));
    }
}
