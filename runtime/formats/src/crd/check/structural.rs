//! The rules of structural schemas, as kube-apiserver checks them (`pkg/apiserver/schema`).

use super::super::{Additional, Fields, Findings, Location, pattern};
use crate::schema::Document;

/// The position of a schema.
#[derive(Clone, Copy, PartialEq)]
enum Level {
    Root,
    Item,
    Field,
}

/// Finds everything that keeps a schema from being structural, in the order of the messages.
pub(super) fn check(root: Fields<'_>, location: &Location<'_>) -> Findings {
    let mut findings = Findings::default();
    node(root, Level::Root, location, &mut findings);
    for (keyword, index, branch) in root.branches() {
        at_branch(location, keyword, index, |at| complete(branch, root, location, at, &mut findings));
    }
    findings.errors.sort_by_cached_key(|fault| fault.error.to_string());
    findings
}

/// Calls with the location of a branch.
pub(super) fn at_branch<R>(
    location: &Location<'_>,
    keyword: &str,
    index: Option<usize>,
    call: impl FnOnce(&Location<'_>) -> R,
) -> R {
    let list = location.field(keyword);
    match index {
        Some(index) => call(&list.index(index)),
        None => call(&list),
    }
}

fn node(schema: Fields<'_>, level: Level, location: &Location<'_>, findings: &mut Findings) {
    let kind = schema.text("type");
    match schema.object("items") {
        Some(items) => node(items, Level::Item, &location.field("items"), findings),
        None if kind == "array" => findings.required(&location.field("items"), "must be specified"),
        None => {}
    }
    let properties = location.field("properties");
    for (name, property) in schema.entries("properties") {
        node(property, Level::Field, &properties.key(name), findings);
    }
    let additional = location.field("additionalProperties");
    if schema.additional().is_some() && level == Level::Root {
        findings.forbidden(&additional, "must not be used at the root");
    }
    if let Some(Additional::Schema(values)) = schema.additional() {
        node(values, Level::Field, &additional, findings);
    }
    extensions(schema, location, findings);
    let all_of = schema.objects("allOf").next();
    let first_is_types = all_of.is_some_and(Fields::is_int_or_string);
    validations(schema, schema.is_int_or_string(), first_is_types, location, findings);
    types(schema, level, location, findings);
    metadata(schema, level, location, findings);
}

fn extensions(schema: Fields<'_>, location: &Location<'_>, findings: &mut Findings) {
    if schema.flag("x-kubernetes-int-or-string") {
        for keyword in ["x-kubernetes-preserve-unknown-fields", "x-kubernetes-embedded-resource"] {
            if schema.flag(keyword) {
                let detail = "must be false if x-kubernetes-int-or-string is true";
                findings.invalid(&location.field(keyword), true, detail);
            }
        }
    }
}

fn types(schema: Fields<'_>, level: Level, location: &Location<'_>, findings: &mut Findings) {
    let (kind, at) = (schema.text("type"), location.field("type"));
    let embedded = schema.flag("x-kubernetes-embedded-resource");
    let preserves = schema.flag("x-kubernetes-preserve-unknown-fields");
    if embedded && kind != "object" {
        let detail = "must be object if x-kubernetes-embedded-resource is true";
        match kind {
            "" => findings.required(&at, detail),
            kind => findings.invalid(&at, kind, detail),
        }
    } else if kind.is_empty() && !preserves && !schema.flag("x-kubernetes-int-or-string") {
        let detail = match level {
            Level::Root => "must not be empty at the root",
            Level::Item => "must not be empty for specified array items",
            Level::Field => "must not be empty for specified object fields",
        };
        findings.required(&at, detail);
    }
    if embedded && schema.additional().is_some() {
        let detail = "must not be used if x-kubernetes-embedded-resource is set";
        findings.forbidden(&location.field("additionalProperties"), detail);
    }
    if level == Level::Root && !kind.is_empty() && kind != "object" {
        findings.invalid(&at, kind, "must be object at the root");
    }
    if embedded && !preserves && schema.entries("properties").next().is_none() {
        let detail = "must not be empty if x-kubernetes-embedded-resource is true without \
                      x-kubernetes-preserve-unknown-fields";
        findings.required(&location.field("properties"), detail);
    }
}

/// Every object has type meta and metadata; of these a schema may restrict names only.
fn metadata(schema: Fields<'_>, level: Level, location: &Location<'_>, findings: &mut Findings) {
    let whole = level == Level::Root || schema.flag("x-kubernetes-embedded-resource");
    if !whole {
        return;
    }
    let (properties, at) = (schema.part("properties"), location.field("properties"));
    for (name, expected, detail) in [
        ("kind", "string", "must be string"),
        ("apiVersion", "string", "must be string"),
        ("metadata", "object", "must be object"),
    ] {
        if let Some(property) = properties.object(name).filter(|property| property.text("type") != expected) {
            findings.invalid(&at.key(name).field("type"), property.text("type"), detail);
        }
    }
    if level == Level::Root
        && let Some(Document::Object(metadata)) = properties.get("metadata")
        && metadata.iter().any(|(keyword, value)| restricts_more_than_names(keyword, value))
    {
        let detail = "must not specify anything other than name and generateName, but metadata is implicitly specified";
        findings.forbidden(&at.key("metadata"), detail);
    }
}

fn restricts_more_than_names(keyword: &str, value: &Document) -> bool {
    match (keyword, value) {
        ("type" | "default", _) | (_, Document::Null | Document::Bool(false)) => false,
        ("properties", Document::Object(properties)) => {
            properties.keys().any(|name| !matches!(name.as_str(), "name" | "generateName"))
        }
        (_, Document::String(text)) => !text.is_empty(),
        (_, Document::Array(items)) => !items.is_empty(),
        _ => true,
    }
}

/// Checks what a schema says of values: its branches, which may say nothing else, and its pattern.
fn validations(
    schema: Fields<'_>,
    skip_any_of: bool,
    first_is_types: bool,
    location: &Location<'_>,
    findings: &mut Findings,
) {
    for (keyword, index, inner) in schema.branches() {
        if keyword == "anyOf" && skip_any_of {
            continue;
        }
        let types = keyword == "allOf" && index == Some(0) && first_is_types;
        at_branch(location, keyword, index, |at| branch(inner, types, at, findings));
    }
    let text = schema.text("pattern");
    if !text.is_empty()
        && let Err(error) = pattern::read(text)
    {
        let detail = format!("must be a valid regular expression, but isn't: {error}");
        findings.invalid(&location.field("pattern"), text, detail);
    }
}

fn branch(schema: Fields<'_>, skip_any_of: bool, location: &Location<'_>, findings: &mut Findings) {
    validations(schema, skip_any_of, false, location, findings);
    if let Some(items) = schema.object("items") {
        branch(items, false, &location.field("items"), findings);
    }
    let properties = location.field("properties");
    for (name, property) in schema.entries("properties") {
        branch(property, false, &properties.key(name), findings);
        if name == "metadata" {
            findings.forbidden(&properties.key(name), "must not be specified in a nested context");
        }
    }
    let said = [
        ("type", "must be empty to be structural", !schema.text("type").is_empty()),
        (
            "additionalProperties",
            "must be undefined to be structural",
            schema.additional().is_some_and(|additional| !matches!(additional, Additional::Any(false))),
        ),
        ("default", "must be undefined to be structural", schema.get("default").is_some()),
        ("title", "must be empty to be structural", !schema.text("title").is_empty()),
        ("description", "must be empty to be structural", !schema.text("description").is_empty()),
        ("nullable", "must be false to be structural", schema.flag("nullable")),
        (
            "x-kubernetes-preserve-unknown-fields",
            "must be false to be structural",
            schema.flag("x-kubernetes-preserve-unknown-fields"),
        ),
        (
            "x-kubernetes-embedded-resource",
            "must be false to be structural",
            schema.flag("x-kubernetes-embedded-resource"),
        ),
        ("x-kubernetes-int-or-string", "must be false to be structural", schema.flag("x-kubernetes-int-or-string")),
        (
            "x-kubernetes-list-map-keys",
            "must be empty to be structural",
            !schema.items("x-kubernetes-list-map-keys").is_empty(),
        ),
        (
            "x-kubernetes-list-type",
            "must be undefined to be structural",
            schema.get("x-kubernetes-list-type").is_some(),
        ),
        ("x-kubernetes-map-type", "must be undefined to be structural", schema.get("x-kubernetes-map-type").is_some()),
        (
            "x-kubernetes-validations",
            "must be empty to be structural",
            !schema.items("x-kubernetes-validations").is_empty(),
        ),
    ];
    for (keyword, detail, _) in said.into_iter().filter(|(_, _, said)| *said) {
        findings.forbidden(&location.field(keyword), detail);
    }
}

/// Fields and items in a branch must also be declared outside of it.
fn complete(
    branch: Fields<'_>,
    outside: Fields<'_>,
    location: &Location<'_>,
    at: &Location<'_>,
    findings: &mut Findings,
) {
    for (keyword, index, inner) in branch.branches() {
        at_branch(at, keyword, index, |at| complete(inner, outside, location, at, findings));
    }
    if let Some(items) = branch.object("items") {
        nested(items, outside.object("items"), &location.field("items"), &at.field("items"), findings);
    }
    let (declared, properties, at) = (outside.part("properties"), location.field("properties"), at.field("properties"));
    for (name, property) in branch.entries("properties") {
        nested(property, declared.object(name), &properties.key(name), &at.key(name), findings);
    }
}

fn nested(
    branch: Fields<'_>,
    outside: Option<Fields<'_>>,
    location: &Location<'_>,
    at: &Location<'_>,
    findings: &mut Findings,
) {
    match outside {
        Some(outside) => complete(branch, outside, location, at, findings),
        None => findings.required(location, format!("because it is defined in {}", at.path())),
    }
}
