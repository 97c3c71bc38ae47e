//! The schema of whole objects: type meta and metadata, and what the kind declares.

use kindsmith::{
    kind::{
        Definition,
        model::{NameRule, Version},
    },
    schema::METADATA,
};
use serde_json::{Map, Value, json};

use super::writer::Writer;
use crate::export::api_version;

/// How names of each rule look, and their greatest length.
const SUBDOMAIN: (&str, Option<u64>) =
    ("^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$", Some(253));
const LABEL: (&str, Option<u64>) = ("^[a-z0-9]([-a-z0-9]*[a-z0-9])?$", Some(63));
const PATH_SEGMENT: (&str, Option<u64>) = ("^(?!\\.{1,2}$)[^/%]+$", None);

/// The schema of a kind's objects, and what is not in it.
pub(super) fn write(definition: &Definition, version: &Version) -> (Map<String, Value>, Vec<String>) {
    let shared = &definition.shared;
    let mut writer = Writer::default();
    let mut out = writer.root(&version.schema);
    let mut metadata = writer.alone(&METADATA, "metadata");
    // Servers fill much of it in, so that clients need not give it.
    metadata.remove("required");
    if shared.stored {
        named(&mut metadata, shared.name_rule);
    }
    if let Some(names) = version.names.as_ref().and_then(|names| names.properties.get("metadata")) {
        let mut rule = writer.alone(names, "metadata");
        rule.remove("additionalProperties");
        metadata.insert("allOf".to_owned(), json!([rule]));
    }
    let mut of_type = json!({"type": "string", "enum": [api_version(&shared.group, &version.name)]});
    if let Some(warning) = &version.deprecated {
        of_type["deprecationMessage"] = json!(warning);
    }
    let properties = out.entry("properties").or_insert_with(|| json!({}));
    properties["apiVersion"] = of_type;
    properties["kind"] = json!({"type": "string", "enum": [shared.names.kind]});
    properties["metadata"] = metadata.into();
    out.insert("required".to_owned(), required(&out, shared.stored));
    let definitions = writer.take_definitions();
    if !definitions.is_empty() {
        out.insert("definitions".to_owned(), definitions.into());
    }
    (out, writer.lost())
}

/// The required fields of an object: type meta, metadata if it has a name, and the required fields of the kind.
fn required(out: &Map<String, Value>, is_named: bool) -> Value {
    let mut required = vec!["apiVersion", "kind"];
    if is_named {
        required.push("metadata");
    }
    let declared = out.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
    for name in declared {
        if !required.contains(&name) {
            required.push(name);
        }
    }
    json!(required)
}

/// Objects have a name, or the beginning of one.
fn named(metadata: &mut Map<String, Value>, rule: NameRule) {
    let (pattern, longest) = match rule {
        NameRule::Label => LABEL,
        NameRule::PathSegment => PATH_SEGMENT,
        NameRule::Subdomain => SUBDOMAIN,
    };
    if let Some(name) = metadata.get_mut("properties").and_then(|properties| properties.get_mut("name")) {
        name["pattern"] = json!(pattern);
        if let Some(longest) = longest {
            name["maxLength"] = json!(longest);
        }
    }
    metadata.insert("anyOf".to_owned(), json!([{"required": ["name"]}, {"required": ["generateName"]}]));
}
