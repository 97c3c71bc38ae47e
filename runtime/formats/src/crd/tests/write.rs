//! Tests of resources that are written as definitions, and read again.
use serde_json::json;

use super::*;
use crate::{
    Resource,
    kind::{Custom, Versions, fixture::gears as rust_gears, fixture::gears_v2},
    schema::{Scalar, Schema, model::Type},
    widget::Widget,
};

/// A definition with everything that a definition says.
fn full() -> Value {
    let schema = json!({"type": "object", "description": "A gear.", "properties": {
        "apiVersion": {"type": "string"}, "kind": {"type": "string"},
        "metadata": {"type": "object", "properties": {"name": {"type": "string", "maxLength": 20}}},
        "spec": {"type": "object", "required": ["colour"], "properties": {
            "colour": {"type": "string", "enum": ["red", "blue"], "default": "red"},
            "port": {"x-kubernetes-int-or-string": true},
            "teeth": {"type": "integer", "format": "int32", "minimum": 3, "exclusiveMinimum": true},
        }},
        "status": {"type": "object", "properties": {"teeth": {"type": "integer"}, "selector": {"type": "string"}}},
    }});
    json!({
        "apiVersion": API_VERSION, "kind": "CustomResourceDefinition", "metadata": {"name": "gears.example.com"},
        "spec": {
            "group": "example.com", "scope": "Cluster",
            "names": {
                "plural": "gears", "singular": "gear", "kind": "Gear", "listKind": "GearList",
                "shortNames": ["g"], "categories": ["all"],
            },
            "conversion": {"strategy": "Webhook", "webhook": {
                "clientConfig": {"service": {"namespace": "a", "name": "b", "path": "/c", "port": 443}, "caBundle": ""},
                "conversionReviewVersions": ["v1"],
            }},
            "versions": [
                {
                    "name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": schema},
                    "subresources": {"status": {}, "scale": {
                        "specReplicasPath": ".spec.teeth", "statusReplicasPath": ".status.teeth",
                        "labelSelectorPath": ".status.selector",
                    }},
                    "additionalPrinterColumns": [
                        {"name": "Colour", "type": "string", "jsonPath": ".spec.colour"},
                        {"name": "Ready", "type": "string", "priority": 1, "description": "Whether it turns.",
                         "jsonPath": ".status.conditions[?(@.type==\"Ready\")].status"},
                    ],
                    "selectableFields": [{"jsonPath": ".spec.colour"}],
                },
                {
                    "name": "v1beta1", "served": false, "storage": false, "schema": {"openAPIV3Schema": schema},
                    "deprecated": true, "deprecationWarning": "use v1",
                },
            ],
        },
    })
}

#[test]
fn a_definition_is_written_as_it_was_read() {
    let mut expected = full();
    let written = write(&define(&expected).ok().unwrap().definition).unwrap();
    // An empty text says nothing.
    expected["spec"]["conversion"]["webhook"]["clientConfig"].as_object_mut().unwrap().remove("caBundle");
    assert_eq!(written.document, expected);
    assert_eq!(written.warnings, Vec::<String>::new());
}

/// What a reader makes of what was written, which must be written as the same again.
fn settled(definition: &Definition) -> (Definition, Vec<String>) {
    let first = write(definition).unwrap();
    let read = define(&first.document).unwrap_or_else(|found| panic!("{:?}", found.errors)).definition;
    assert_eq!(write(&read).unwrap().document, first.document);
    (read, first.warnings)
}

#[test]
fn a_kind_in_rust_becomes_a_definition_that_is_accepted() {
    let declared = Versions::new([Widget::kind()]).unwrap().definition().clone();
    let (read, _) = settled(&declared);
    assert_eq!((&read.shared, &read.storage_version), (&declared.shared, &declared.storage_version));
    let (read, declared) = (&read.versions[0], &declared.versions[0]);
    let fields = |schema: &Schema| schema.properties.keys().cloned().collect::<Vec<_>>();
    assert_eq!(fields(&read.schema), fields(&declared.schema));
    assert_eq!(fields(&read.schema.properties["spec"]), fields(&declared.schema.properties["spec"]));
    assert_eq!((read.status, &read.scale, &read.selectable), (declared.status, &declared.scale, &declared.selectable));
}

#[test]
fn what_a_definition_cannot_say_is_a_warning() {
    let both = Versions::new([rust_gears(), gears_v2(&std::sync::Arc::default())]).unwrap();
    // A definition converts as one without code does.
    let warnings = write(both.definition()).unwrap().warnings.join("\n");
    assert!(!warnings.contains("convert"), "{warnings}");
    assert!(both.iter().any(|kind| kind.converts_in_code()), "which an export of the program warns of");
    let (read, _) = settled(both.definition());
    assert!(read.kinds(&Custom).iter().all(|kind| !kind.converts_in_code()));
    let ours = rust_gears().with(|shared, _, _| shared.group = "gears.k8s.io".to_owned());
    settled(Versions::new([ours]).unwrap().definition());
    let unstored = rust_gears().with(|shared, _, _| shared.stored = false);
    let unstored = write(Versions::new([unstored]).unwrap().definition()).unwrap_err();
    assert_eq!(unstored, "Gear.example.com is not stored, and only stored kinds have definitions");
}

#[test]
fn unions_immutable_values_and_quantities_become_what_kube_apiserver_has_for_them() {
    let text = || Schema::of(Type::String);
    let of = |spec: Schema| {
        let kind = rust_gears().with(|_, version, _| {
            let root = Schema::of(Type::Object).with(|root| root.properties = [("spec".to_owned(), spec)].into());
            (version.schema, version.status, version.scale) = (root.into(), false, None);
            (version.columns, version.selectable) = (Vec::new(), Vec::new());
        });
        let written = write(Versions::new([kind]).unwrap().definition()).unwrap();
        define(&written.document).unwrap_or_else(|found| panic!("{:?}", found.errors));
        written.document["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"].clone()
    };
    let union = of(Schema::of(Type::Object).with(|spec| {
        spec.union = true;
        spec.properties = [("a".to_owned(), text()), ("b".to_owned(), text())].into();
    }));
    assert_eq!(union["oneOf"], json!([{"required": ["a"]}, {"required": ["b"]}]));
    let fixed = of(text().with(|spec| spec.immutable = true));
    assert_eq!(fixed["x-kubernetes-validations"][0]["rule"], "self == oldSelf");
    let quantity = of(text().with(|spec| spec.scalar = Some(Scalar::Quantity)));
    assert_eq!(
        (&quantity["x-kubernetes-int-or-string"], &quantity["type"], &quantity["format"]),
        (&json!(true), &Value::Null, &Value::Null)
    );
}
