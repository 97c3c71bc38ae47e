//! The kit's kinds, which its manifests define and the conformance server declares in Rust: both give the same model.
use kindsmith::{
    Resource,
    kind::{
        Custom, Kind, crd,
        model::{Cell, ScalePaths},
    },
    schema::Schema,
};
use serde_json::{Value, json};

use super::shared_text;

#[path = "../conformance-server/src/gadget.rs"]
mod gadget;
#[path = "../conformance-server/src/sprocket.rs"]
mod sprocket;
#[path = "../../runtime/model/src/widget.rs"]
mod widget;

fn defined(file: &str) -> Option<Vec<Kind>> {
    let text = shared_text(&format!("conformance/{file}"))?;
    let manifest = crd::read(file, text.as_bytes()).unwrap_or_else(|report| panic!("{report}"));
    Some(manifest.definitions.iter().flat_map(|defined| defined.definition.kinds(&Custom)).collect())
}

/// A schema without descriptions and names of types, which only Rust gives.
fn of_schema(schema: &Schema) -> Value {
    let mut required = schema.required.clone();
    required.sort_unstable();
    let properties = schema.properties.iter().map(|(name, property)| (name.clone(), of_schema(property)));
    json!({
        "type": format!("{:?}", schema.kind),
        "format": schema.format,
        "properties": properties.collect::<serde_json::Map<_, _>>(),
        "required": required,
        "additionalProperties": schema.additional.as_deref().map(of_schema),
        "items": schema.items.as_deref().map(of_schema),
        "default": schema.default,
        "enum": schema.enumeration,
        "numbers": [schema.minimum, schema.maximum, schema.multiple_of],
        "exclusive": [schema.exclusive_minimum, schema.exclusive_maximum],
        "lengths": [schema.min_length, schema.max_length],
        "items of": [schema.min_items, schema.max_items],
        "properties of": [schema.min_properties, schema.max_properties],
        "pattern": schema.pattern.as_ref().map(kindsmith::schema::Pattern::text),
        "list": format!("{:?}", schema.list),
        "flags": [schema.map_atomic, schema.nullable, schema.preserve_unknown, schema.embedded],
        "merging": format!("{:?}", schema.patch),
        "junctors": format!("{:?}", schema.junctors),
        "of built-in kinds": [schema.omit_empty, schema.zero_is_absent, schema.immutable, schema.union],
        "number": schema.protobuf,
    })
}

fn of_kind(kind: &Kind) -> Value {
    let (names, version) = (&kind.shared.names, &kind.version);
    let columns = version.columns.iter().map(|column| {
        let Cell::Path(path) = &column.cell else { panic!("a path") };
        json!([column.name, column.kind, column.format, column.description, column.priority, path.to_string()])
    });
    let paths = |scale: &ScalePaths| {
        json!([scale.replicas.0, scale.status_replicas.0, scale.selector.as_ref().map(|path| &path.0)])
    };
    json!({
        "version": kind.group_version.to_string(),
        "names": [names.kind, names.list_kind, names.plural, names.singular],
        "more names": [names.short_names, names.categories],
        "scope": format!("{:?} {:?} {:?}", kind.shared.scope, kind.shared.name_rule, kind.binding.policy),
        "flags": [version.served, version.status, version.generation, kind.shared.stored, kind.takes_strategic_patches()],
        "writes": [version.update_without_version, version.create_on_update, version.returns_deleted],
        "deprecated": version.deprecated,
        "converted": kind.binding.conversion.is_some(),
        "scale": version.scale.as_ref().map(paths),
        "columns": columns.collect::<Vec<_>>(),
        "selectable": version.selectable.iter().map(ToString::to_string).collect::<Vec<_>>(),
        "schema": of_schema(&version.schema),
    })
}

/// Asserts that kinds are the same.
#[track_caller]
fn check(file: &str, declared: &[Kind]) {
    let Some(defined) = defined(file) else { return };
    assert_eq!(defined.len(), declared.len(), "{file}");
    for (defined, declared) in defined.iter().zip(declared) {
        let (defined, mut declared) = (of_kind(defined), of_kind(declared));
        // A manifest that has columns has no others; in Rust, an age comes with them.
        let ages = |kind: &Value| kind["columns"].as_array().expect("a list").iter().any(|column| column[0] == "Age");
        if !ages(&defined) {
            declared["columns"].as_array_mut().expect("a list").retain(|column| column[0] != "Age");
        }
        assert_eq!(differences(&defined, &declared), Vec::<String>::new(), "{file}");
    }
}

/// Where two documents differ: the place, what the manifest says, what Rust says.
fn differences(defined: &Value, declared: &Value) -> Vec<String> {
    match (defined, declared) {
        (Value::Object(one), Value::Object(other)) => {
            let names = one.keys().chain(other.keys().filter(|name| !one.contains_key(*name)));
            names
                .flat_map(|name| {
                    let of = |fields: &serde_json::Map<String, Value>| fields.get(name).cloned().unwrap_or_default();
                    differences(&of(one), &of(other)).into_iter().map(move |found| format!("{name}.{found}"))
                })
                .collect()
        }
        _ if defined == declared => Vec::new(),
        _ => vec![format!(": {defined} is declared as {declared}")],
    }
}

#[test]
fn the_manifest_of_widgets_says_what_rust_says() {
    check("widget.yaml", &[widget::Widget::kind()]);
}

#[test]
fn the_manifest_of_gadgets_says_what_rust_says() {
    check("gadget.yaml", &[gadget::Gadget::kind()]);
}

#[test]
fn the_manifest_of_sprockets_says_what_rust_says() {
    let kinds =
        [sprocket::v1::Sprocket::kind(), sprocket::v1beta1::Sprocket::kind(), sprocket::v1alpha1::Sprocket::kind()];
    check("sprocket.yaml", &kinds);
}
