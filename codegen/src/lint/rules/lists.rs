//! Rules about lists and maps.
use kindsmith::schema::{ListType, Type};

use crate::lint::{
    Check, Rule,
    field::{Field, is_struct},
    words,
};

pub(super) const RULES: &[Rule] = &[
    Check::Field(map_of_objects)
        .warning("map-of-objects", "Lists of named subobjects preferred over maps")
        .reason("There are no maps of subobjects: all keys in an object are names of fields, and a list of objects with a name says the \
             same.")
        .bad("spec: {properties: {chapters: {type: object, additionalProperties: {properties: {title: {type: string}}}}}}")
        .good("spec: {properties: {chapters: {type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [name], items: {required: [name], properties: {name: {type: string}, title: {type: string}}}}}}"),
    Check::Field(list_without_type)
        .warning("list-without-type", "Lists of named subobjects preferred over maps (current text: merge strategy)")
        .reason("A list that does not say how it merges is replaced as a whole by everyone who applies it, also by one who knows only one \
             item.")
        .bad("spec: {properties: {chapters: {type: array, items: {required: [name], properties: {name: {type: string}}}}}}")
        .good("spec: {properties: {chapters: {type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [name], items: {required: [name], properties: {name: {type: string}}}}}}"),
    Check::Field(label_values)
        .warning("label-values", "Metadata")
        .reason("Labels, annotations and selectors are maps of strings to strings; other values match no object.")
        .bad("spec: {properties: {shelfLabels: {type: object, additionalProperties: {type: integer, format: int32}}}}")
        .good("spec: {properties: {shelfLabels: {type: object, additionalProperties: {type: string}}}}"),
];

fn map_of_objects(field: &Field<'_>) -> Option<String> {
    let values = field.schema.additional.as_deref()?;
    let innermost = values.items.as_deref().or(values.additional.as_deref()).unwrap_or(values);
    is_struct(innermost).then(|| {
        let what = if values.items.is_some() { "lists of objects" } else { "objects" };
        format!("a map of {what}: take a list of objects with a name, which merges by that name")
    })
}

/// Fields that identify items.
const KEYS: [&str; 6] = ["name", "type", "key", "id", "containerPort", "mountPath"];

fn list_without_type(field: &Field<'_>) -> Option<String> {
    let schema = field.schema;
    let items = schema.items.as_deref().filter(|items| is_struct(items))?;
    let is_said = field.raw.as_ref().is_some_and(|raw| raw.get("x-kubernetes-list-type").is_some());
    if is_said || schema.list != ListType::Atomic || schema.patch.merge || field.is_builtin() {
        return None;
    }
    // A selector may have several requirements of one key, and none of them is changed alone.
    if ["key", "operator"].iter().all(|name| items.properties.contains_key(name)) {
        return None;
    }
    // Conditions have a rule of their own.
    if field.is_in_status() && field.name() == Some("conditions") {
        return None;
    }
    let is_scalar = |name: &str| {
        items.properties.get(name).is_some_and(|of| !matches!(of.kind, Type::Object | Type::Array | Type::Any))
    };
    let key = KEYS.into_iter().find(|key| items.required.iter().any(|name| name == key) && is_scalar(key))?;
    Some(format!(
        "the list does not say how it merges: declare x-kubernetes-list-type, map if {key} is unique in it, and else atomic"
    ))
}

fn label_values(field: &Field<'_>) -> Option<String> {
    let name = field.name()?;
    let values = field.schema.additional.as_deref()?;
    let is_labels = matches!(words::last(name).as_str(), "labels" | "annotations" | "selector");
    (is_labels && values.kind != Type::String && !is_struct(values)).then(|| format!("values of {name} are no strings"))
}
