//! Defaults that are Go's zero values, as releases of Kubernetes before 1.36 publish them: of structs, list items and map
//! entries, whatever these have to have.
use serde_json::{Value, json};

use super::{described, gears};
use crate::{openapi::Resource, schema::Schema};

/// A document in which every type has this prefix.
fn resource(prefix: &str, spec: &Value, more: &Value) -> (Resource, String) {
    let text = gears("v1", spec, more).to_string().replace("com.example.", prefix);
    let described = described(&[serde_json::from_str(&text).unwrap()]);
    (described.resources[0].clone(), described.warnings.to_string())
}

fn spec_of(resource: &Resource) -> Schema {
    resource.definition.versions[0].schema.properties["spec"].clone()
}

/// A use of a type with the default of a struct that is no pointer.
fn used(name: &str) -> Value {
    json!({"allOf": [{"$ref": format!("#/components/schemas/com.example.{name}")}], "default": {}})
}

fn older() -> (Value, Value) {
    let more = json!({
        "com.example.Port": {"type": "object", "required": ["target"], "properties": {
            "target": {"allOf": [{"$ref": "#/components/schemas/com.example.Either"}], "default": {}},
            "protocol": {"type": "string", "default": "", "enum": ["TCP", "UDP"]}}},
        "com.example.Either": {"type": "string", "format": "int-or-string"},
        "com.example.Time": {"type": "string", "format": "date-time"},
        "com.example.Tree": {"type": "object", "properties": {
            "trees": {"type": "array", "items": used("Tree")},
            "named": {"type": "object", "additionalProperties": used("Tree")}}},
        "com.example.Size": {"type": "object", "properties": {"width": {"type": "integer", "default": 0}}},
    });
    let spec = json!({"type": "object", "properties": {
        "ports": {"type": "array", "items": used("Port")},
        "byName": {"type": "object", "additionalProperties": used("Port")},
        "port": used("Port"),
        "since": used("Time"),
        "target": used("Either"),
        "tree": used("Tree"),
        "size": used("Size"),
        "count": {"type": "integer", "default": 0, "minimum": 1},
    }});
    (spec, more)
}

#[test]
fn defaults_of_go_that_are_not_valid_are_dropped() {
    let (spec, more) = older();
    let (resource, warnings) = resource("io.k8s.api.example.", &spec, &more);
    assert_eq!(warnings, "", "documents of Kubernetes are as they are");
    let spec = spec_of(&resource);
    let at = |name: &str| &spec.properties[name];
    let (item, entry) = (at("ports").items.as_deref().unwrap(), at("byName").additional.as_deref().unwrap());
    for schema in [item, entry, at("port"), at("since"), at("target"), at("count"), &item.properties["protocol"]] {
        assert_eq!(schema.default, None, "{schema:?}");
    }
    let tree = at("tree").properties["trees"].items.as_deref().unwrap();
    assert!(tree.definition.is_some() && tree.default.is_none());
    // A struct that has to have content is required; nothing else is.
    assert_eq!((&*spec.required, &*item.required), (&["port".to_owned()][..], &["target".to_owned()][..]));
    for (name, default) in [("size", json!({})), ("tree", json!({}))] {
        assert_eq!(at(name).default, Some(default), "{name}");
    }
}

#[test]
fn in_documents_of_others_such_a_default_is_dropped_with_a_warning() {
    let (spec, more) = older();
    let (_, warnings) = resource("com.example.", &spec, &more);
    for location in ["ports/items", "port", "byName/additionalProperties", "since", "target", "count"] {
        let expected = format!("spec/properties/{location}/default: the default is dropped, as it is not valid: ");
        assert!(warnings.contains(&expected), "{location} is not in\n{warnings}");
    }
}
