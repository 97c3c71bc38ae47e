//! Parts of a definition as kube-apiserver's messages show them: as JSON of its structs in Go, with all of their fields.
use std::fmt::Write;

use serde_json::json;

use super::{
    Additional, Fields,
    definition::{COLUMNS, Definition, Part, SCHEMA, SELECTABLE, SUBRESOURCES},
};
use crate::{meta::text::capitalized, schema::Document};

/// The fields of a schema in their order, and what stands for one that is absent.
const SCHEMA_FIELDS: [(&str, &str); 43] = [
    ("id", "\"\""),
    ("$schema", "\"\""),
    ("$ref", "null"),
    ("description", "\"\""),
    ("type", "\"\""),
    ("nullable", "false"),
    ("format", "\"\""),
    ("title", "\"\""),
    ("default", "null"),
    ("maximum", "null"),
    ("exclusiveMaximum", "false"),
    ("minimum", "null"),
    ("exclusiveMinimum", "false"),
    ("maxLength", "null"),
    ("minLength", "null"),
    ("pattern", "\"\""),
    ("maxItems", "null"),
    ("minItems", "null"),
    ("uniqueItems", "false"),
    ("multipleOf", "null"),
    ("enum", "null"),
    ("maxProperties", "null"),
    ("minProperties", "null"),
    ("required", "null"),
    ("items", "null"),
    ("allOf", "null"),
    ("oneOf", "null"),
    ("anyOf", "null"),
    ("not", "null"),
    ("properties", "null"),
    ("additionalProperties", "null"),
    ("patternProperties", "null"),
    ("dependencies", "null"),
    ("additionalItems", "null"),
    ("definitions", "null"),
    ("externalDocs", "null"),
    ("example", "null"),
    ("x-kubernetes-preserve-unknown-fields", "null"),
    ("x-kubernetes-embedded-resource", "false"),
    ("x-kubernetes-int-or-string", "false"),
    ("x-kubernetes-list-map-keys", "null"),
    ("x-kubernetes-list-type", "null"),
    ("x-kubernetes-map-type", "null"),
];

const RULE_FIELDS: [(&str, &str); 6] = [
    ("rule", "\"\""),
    ("message", "\"\""),
    ("messageExpression", "\"\""),
    ("reason", "null"),
    ("fieldPath", "\"\""),
    ("optionalOldSelf", "null"),
];

/// The name of the struct's field that holds a keyword: `MaxLength` for `maxLength`.
pub(super) fn go_name(keyword: &str) -> String {
    match keyword {
        "id" => return "ID".to_owned(),
        "jsonPath" => return "JSONPath".to_owned(),
        "url" => return "URL".to_owned(),
        "x-kubernetes-int-or-string" => return "XIntOrString".to_owned(),
        _ => {}
    }
    let (prefix, name) = match keyword.strip_prefix("x-kubernetes-") {
        Some(name) => ("X", name),
        None => ("", keyword.trim_start_matches('$')),
    };
    name.split('-').fold(prefix.to_owned(), |all, word| all + &capitalized(word))
}

/// The versions, without what all of them say alike.
pub(super) fn versions(definition: &Definition<'_>) -> String {
    // A missing list is not an empty one.
    if definition.spec.get("versions").is_none() {
        return "null".to_owned();
    }
    let shown = definition.versions.iter().map(|version| {
        let part = |part: Part, show: fn(Fields<'_>, Part) -> String| {
            let said = version.get(part.name).filter(|_| !definition.agrees_on(part));
            said.map_or_else(|| "null".to_owned(), |_| show(*version, part))
        };
        format!(
            "{{\"Name\":{},\"Served\":{},\"Storage\":{},\"Deprecated\":{},\"DeprecationWarning\":{},\"Schema\":{},\
             \"Subresources\":{},\"AdditionalPrinterColumns\":{},\"SelectableFields\":{}}}",
            escaped(&json!(version.text("name"))),
            version.flag("served"),
            version.flag("storage"),
            version.flag("deprecated"),
            escaped(version.get("deprecationWarning").unwrap_or(&Document::Null)),
            part(SCHEMA, |version, part| {
                let root = version.part(part.name).object("openAPIV3Schema");
                format!("{{\"OpenAPIV3Schema\":{}}}", root.map_or_else(|| "null".to_owned(), schema))
            }),
            part(SUBRESOURCES, |version, part| {
                let parts = version.part(part.name);
                let status = if parts.get("status").is_some() { "{}" } else { "null" };
                let paths =
                    [("specReplicasPath", "\"\""), ("statusReplicasPath", "\"\""), ("labelSelectorPath", "null")];
                let scale = parts.object("scale").map_or_else(|| "null".to_owned(), |scale| object(scale, &paths));
                format!("{{\"Status\":{status},\"Scale\":{scale}}}")
            }),
            part(COLUMNS, |version, part| {
                let fields = [
                    ("name", "\"\""),
                    ("type", "\"\""),
                    ("format", "\"\""),
                    ("description", "\"\""),
                    ("priority", "0"),
                    ("jsonPath", "\"\""),
                ];
                list(version.objects(part.name).map(|column| object(column, &fields)))
            }),
            part(SELECTABLE, |version, part| {
                list(version.objects(part.name).map(|field| object(field, &[("jsonPath", "\"\"")])))
            }),
        )
    });
    list(shown)
}

/// A schema.
pub(super) fn schema(root: Fields<'_>) -> String {
    let mut out = String::from("{");
    for (keyword, absent) in SCHEMA_FIELDS {
        let shown = root.get(keyword).map_or_else(|| absent.to_owned(), |value| keyword_of(root, keyword, value));
        let _ = write!(out, "\"{}\":{shown},", go_name(keyword));
    }
    let rules = root
        .get("x-kubernetes-validations")
        .map_or_else(|| "null".to_owned(), |_| list(root.objects("x-kubernetes-validations").map(rule)));
    let _ = write!(out, "\"XValidations\":{rules}}}");
    out
}

/// A rule.
pub(super) fn rule(rule: Fields<'_>) -> String {
    object(rule, &RULE_FIELDS)
}

fn keyword_of(root: Fields<'_>, keyword: &str, value: &Document) -> String {
    match keyword {
        "allOf" | "oneOf" | "anyOf" => list(root.objects(keyword).map(schema)),
        "not" => schema(Fields::of(value)),
        "properties" | "patternProperties" | "definitions" => {
            let entries = root.entries(keyword).map(|(name, property)| format!("{}:{}", json!(name), schema(property)));
            format!("{{{}}}", entries.collect::<Vec<_>>().join(","))
        }
        "items" => match root.object("items") {
            Some(items) => format!("{{\"Schema\":{},\"JSONSchemas\":null}}", schema(items)),
            None => format!("{{\"Schema\":null,\"JSONSchemas\":{}}}", list(root.objects("items").map(schema))),
        },
        "additionalProperties" => match root.additional() {
            Some(Additional::Schema(values)) => format!("{{\"Allows\":true,\"Schema\":{}}}", schema(values)),
            other => format!("{{\"Allows\":{},\"Schema\":null}}", matches!(other, Some(Additional::Any(true)))),
        },
        "externalDocs" => object(Fields::of(value), &[("description", "\"\""), ("url", "\"\"")]),
        _ => escaped(value),
    }
}

fn object(fields: Fields<'_>, all: &[(&str, &str)]) -> String {
    let shown = all.iter().map(|(name, absent)| {
        let value = fields.get(name).map_or_else(|| (*absent).to_owned(), escaped);
        format!("\"{}\":{value}", go_name(name))
    });
    format!("{{{}}}", shown.collect::<Vec<_>>().join(","))
}

fn list(items: impl Iterator<Item = String>) -> String {
    format!("[{}]", items.collect::<Vec<_>>().join(","))
}

/// JSON as Go writes it.
fn escaped(value: &Document) -> String {
    let json = value.to_string();
    let escapes =
        [('<', "\\u003c"), ('>', "\\u003e"), ('&', "\\u0026"), ('\u{2028}', "\\u2028"), ('\u{2029}', "\\u2029")];
    escapes
        .into_iter()
        .fold(json, |json, (char, escape)| if json.contains(char) { json.replace(char, escape) } else { json })
}
