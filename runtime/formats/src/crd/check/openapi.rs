//! Supported keywords and extensions, as kube-apiserver checks them (`ValidateCustomResourceDefinitionOpenAPISchema`): unsupported
//! keywords, and extensions that do not fit the type or each other.
use serde_json::json;

use super::{
    super::{Additional, Fields, Findings, Location},
    rules::{Judge, Place, unmodelled},
    structural::at_branch,
};
use crate::schema::At;

const TYPES: [&str; 6] = ["array", "boolean", "integer", "number", "object", "string"];

/// The context of a node.
#[derive(Clone, Copy)]
struct Within<'r> {
    /// Why defaults may not be set here.
    no_defaults: Option<&'r str>,
    /// It describes type meta or metadata.
    metadata: bool,
    /// The node for its rules, if they are compiled.
    place: Option<Place<'r>>,
    /// The outermost list around it whose items have no old value, because they have no keys.
    unkeyed: Option<&'r Location<'r>>,
}

/// What is found in a schema.
struct Found<'f> {
    findings: &'f mut Findings,
    judge: Judge,
}

/// Finds unsupported and contradictory keywords in the schema of a kind, and then what is wrong with its rules. These are compiled only
/// if there is a place for them; `is_exempt` says that they may cost what they cost.
pub(super) fn check(
    root: Fields<'_>,
    place: Option<Place<'_>>,
    is_exempt: bool,
    location: &Location<'_>,
    findings: &mut Findings,
) {
    let mut found = Found { findings, judge: Judge::new(is_exempt) };
    node(root, true, Within { no_defaults: None, metadata: false, place, unkeyed: None }, location, &mut found);
    found.judge.report(location, found.findings);
}

fn node(schema: Fields<'_>, is_root: bool, within: Within<'_>, location: &Location<'_>, found: &mut Found<'_>) {
    let before = found.findings.errors.len();
    keywords(schema, within, location, found.findings);
    additional(schema, within, location, found);
    properties(schema, is_root, within, location, found);
    let branch_within = Within { place: None, ..within };
    for (keyword, index, branch) in schema.branches() {
        at_branch(location, keyword, index, |at| node(branch, false, branch_within, at, found));
    }
    let definitions = location.field("definitions");
    for (name, definition) in schema.entries("definitions") {
        node(definition, false, branch_within, &definitions.key(name), found);
    }
    items(schema, within, location, found);
    extensions(schema, location, found.findings);
    list(schema, location, found.findings);
    rules(schema, location, found.findings);
    let has_rules = !schema.items("x-kubernetes-validations").is_empty();
    if let Some(place) = within.place.filter(|_| has_rules && found.findings.errors.len() == before) {
        found.judge.node(schema, place, within.unkeyed, location);
    }
}

fn properties(schema: Fields<'_>, is_root: bool, within: Within<'_>, location: &Location<'_>, found: &mut Found<'_>) {
    let whole = is_root || schema.flag("x-kubernetes-embedded-resource");
    let all = location.field("properties");
    for (name, property) in schema.entries("properties") {
        let at = all.key(name);
        let reason = format!("in top-level {name}");
        let mut inside = Within { place: within.place.and_then(|place| place.property(name)), ..within };
        if whole && matches!(name, "metadata" | "kind" | "apiVersion") {
            inside.metadata = true;
            inside.no_defaults = is_root.then_some(reason.as_str()).or(within.no_defaults);
        }
        if let Some(around) = within.place.filter(|_| is_root && inside.metadata) {
            let schema = unmodelled(property, &at);
            let inside = Within { place: Some(around.below(At::of(&schema))), ..inside };
            node(property, false, inside, &at, found);
        } else {
            node(property, false, inside, &at, found);
        }
    }
}

fn items(schema: Fields<'_>, within: Within<'_>, location: &Location<'_>, found: &mut Found<'_>) {
    let unkeyed = within.unkeyed.or((schema.text("x-kubernetes-list-type") != "map").then_some(location));
    let within = Within { place: within.place.and_then(Place::items), unkeyed, ..within };
    let items = location.field("items");
    if let Some(schema) = schema.object("items") {
        node(schema, false, within, &items, found);
    }
    for (index, item) in schema.objects("items").enumerate() {
        node(item, false, within, &items.index(index), found);
    }
}

/// Keywords that are not supported, and values that a keyword does not take.
fn keywords(schema: Fields<'_>, within: Within<'_>, location: &Location<'_>, findings: &mut Findings) {
    let kind = schema.text("type");
    if !kind.is_empty() && !TYPES.contains(&kind) {
        findings.unsupported(&location.field("type"), kind, &TYPES);
    }
    if let Some(reason) = within.no_defaults.filter(|_| schema.get("default").is_some()) {
        findings.forbidden(&location.field("default"), format!("must not be set {reason}"));
    }
    for keyword in ["id", "additionalItems", "patternProperties", "definitions", "dependencies", "$ref"]
        .into_iter()
        .filter(|name| {
            schema.get(name).is_some_and(|value| value != "" && value.as_object().is_none_or(|map| !map.is_empty()))
        })
    {
        findings.forbidden(&location.field(keyword), format!("{keyword} is not supported"));
    }
    if kind == "null" {
        findings.forbidden(&location.field("type"), "type cannot be set to null, use nullable as an alternative");
    }
    if !schema.items("items").is_empty() {
        findings.forbidden(&location.field("items"), "items must be a schema object and not an array");
    }
    if within.metadata && schema.flag("x-kubernetes-embedded-resource") {
        let at = location.field("x-kubernetes-embedded-resource");
        findings.forbidden(&at, "must not be used inside of resource meta");
    }
    if schema.flag("uniqueItems") {
        let detail = "uniqueItems cannot be set to true since the runtime complexity becomes quadratic";
        findings.forbidden(&location.field("uniqueItems"), detail);
    }
}

fn additional(schema: Fields<'_>, within: Within<'_>, location: &Location<'_>, found: &mut Found<'_>) {
    let at = location.field("additionalProperties");
    let Some(additional) = schema.additional() else { return };
    if schema.entries("properties").next().is_some() && !matches!(additional, Additional::Any(true)) {
        found.findings.forbidden(&at, "additionalProperties and properties are mutual exclusive");
    }
    if let Additional::Schema(values) = additional {
        let reason = "inside additionalProperties applying to object metadata";
        let within = Within { place: within.place.and_then(Place::entries), ..within };
        let within = if within.metadata { Within { no_defaults: Some(reason), ..within } } else { within };
        node(values, false, within, &at, found);
    }
}

fn extensions(schema: Fields<'_>, location: &Location<'_>, findings: &mut Findings) {
    let preserve = "x-kubernetes-preserve-unknown-fields";
    if schema.get(preserve).is_some() && !schema.flag(preserve) {
        findings.invalid(&location.field(preserve), false, "must be true or undefined");
    }
    if let Some(given) = extension(schema, "x-kubernetes-map-type") {
        must_be(schema, "object", "x-kubernetes-map-type", location, findings);
        if !["atomic", "granular"].contains(&given) {
            findings.unsupported(&location.field("x-kubernetes-map-type"), given, &["atomic", "granular"]);
        }
    }
}

/// The text of an extension that is there.
fn extension<'d>(schema: Fields<'d>, name: &str) -> Option<&'d str> {
    schema.get(name).map(|_| schema.text(name))
}

fn must_be(
    schema: Fields<'_>,
    expected: &str,
    extension: &str,
    location: &Location<'_>,
    findings: &mut Findings,
) -> bool {
    let kind = schema.text("type");
    let detail = format!("must be {expected} if {extension} is specified");
    match kind {
        "" => findings.required(&location.field("type"), detail),
        kind if kind != expected => findings.invalid(&location.field("type"), kind, detail),
        _ => return true,
    }
    false
}

fn list(schema: Fields<'_>, location: &Location<'_>, findings: &mut Findings) {
    let (list_type, keys) = ("x-kubernetes-list-type", "x-kubernetes-list-map-keys");
    let given = extension(schema, list_type);
    let items = schema.object("items");
    if given.is_some()
        && must_be(schema, "array", list_type, location, findings)
        && given == Some("set")
        && let Some(items) = items
    {
        set_items(items, &location.field("items"), findings);
    }
    if let Some(given) = given.filter(|given| !["atomic", "set", "map"].contains(given)) {
        findings.unsupported(&location.field(list_type), given, &["atomic", "set", "map"]);
    }
    if !schema.items(keys).is_empty() && given != Some("map") {
        let detail = "must be map if x-kubernetes-list-map-keys is non-empty";
        match given {
            None => findings.required(&location.field(list_type), detail),
            Some(given) => findings.invalid(&location.field(list_type), given, detail),
        }
    }
    if given == Some("map") {
        map_of_items(schema, location, findings);
    }
    if let (Some(given @ ("set" | "map")), Some(items)) = (given, items) {
        nullable_items(schema, items, given, &location.field("items"), findings);
    }
}

/// The items of a set are compared as a whole, and so must be replaced as a whole.
fn set_items(items: Fields<'_>, location: &Location<'_>, findings: &mut Findings) {
    let detail = "must be atomic as item of a list with x-kubernetes-list-type=set";
    let list_type = items.get("x-kubernetes-list-type").cloned().unwrap_or_default();
    match items.text("type") {
        "array" if !list_type.is_null() && list_type != "atomic" => {
            findings.invalid(&location.field("x-kubernetes-list-type"), list_type, detail);
        }
        "object" if items.text("x-kubernetes-map-type") != "atomic" => {
            findings.invalid(&location.field("x-kubernetes-map-type"), list_type, detail);
        }
        _ => {}
    }
}

fn map_of_items(schema: Fields<'_>, location: &Location<'_>, findings: &mut Findings) {
    let at = location.field("x-kubernetes-list-map-keys");
    if schema.items("x-kubernetes-list-map-keys").is_empty() {
        findings.required(&at, "must not be empty if x-kubernetes-list-type is map");
    }
    let items_at = location.field("items");
    let Some(items) = schema.object("items") else {
        if schema.get("items").is_none() {
            findings.required(&items_at, "must have a schema if x-kubernetes-list-type is map");
        } else {
            findings.invalid(&items_at, "", "must only have a single schema if x-kubernetes-list-type is map");
        }
        return;
    };
    let kind = items.text("type");
    if kind != "object" {
        let detail = "must be object if parent array's x-kubernetes-list-type is map";
        findings.invalid(&items_at.field("type"), kind, detail);
        return;
    }
    let (properties, properties_at) = (items.part("properties"), items_at.field("properties"));
    let all = || json!(schema.items("x-kubernetes-list-map-keys"));
    let keys: Vec<&str> = schema.texts("x-kubernetes-list-map-keys").collect();
    for (index, key) in keys.iter().enumerate() {
        match properties.object(key).map(|property| property.text("type")) {
            None => findings.invalid(&at, all(), "entries must all be names of item properties"),
            // The type that the message gives is the item's.
            Some("array" | "object") => {
                let detail = "must be a scalar type if parent array's x-kubernetes-list-type is map";
                findings.invalid(&properties_at.key(key).field("type"), kind, detail);
            }
            Some(_) => {}
        }
        if keys[..index].contains(key) {
            findings.invalid(&at, all(), "must not contain duplicate entries");
        }
    }
}

/// Items of sets and maps, and the keys of maps, are not null.
fn nullable_items(
    schema: Fields<'_>,
    items: Fields<'_>,
    given: &str,
    location: &Location<'_>,
    findings: &mut Findings,
) {
    if items.flag("nullable") {
        let detail = format!("cannot be nullable when x-kubernetes-list-type is {given}");
        findings.forbidden(&location.field("nullable"), detail);
    }
    if given != "map" {
        return;
    }
    let at = location.field("properties");
    let declared = schema
        .texts("x-kubernetes-list-map-keys")
        .filter_map(|key| items.part("properties").object(key).map(|property| (key, property)));
    for (key, property) in declared {
        let (property_at, this) = (at.key(key), "this property is in x-kubernetes-list-map-keys, so it");
        if property.get("default").is_none() && !items.texts("required").any(|required| required == key) {
            findings.required(
                &property_at.field("default"),
                format!("{this} must have a default or be a required property"),
            );
        }
        if property.flag("nullable") {
            findings.forbidden(&property_at.field("nullable"), format!("{this} cannot be nullable"));
        }
    }
}

const REASONS: [&str; 4] = ["FieldValueDuplicate", "FieldValueForbidden", "FieldValueInvalid", "FieldValueRequired"];

/// Checks rules without compiling their expressions.
fn rules(schema: Fields<'_>, location: &Location<'_>, findings: &mut Findings) {
    let list = location.field("x-kubernetes-validations");
    for (index, rule) in schema.objects("x-kubernetes-validations").enumerate() {
        let at = list.index(index);
        let (text, message, path) = (rule.text("rule").trim(), rule.text("message"), rule.text("fieldPath"));
        let breaks = |text: &str| text.contains(['\n', '\r']);
        if text.is_empty() {
            findings.required(&at.field("rule"), "rule is not specified");
        } else if !message.is_empty() && message.trim().is_empty() {
            findings.invalid(&at.field("message"), message, "must be non-empty if specified");
        } else if breaks(message.trim()) {
            findings.invalid(&at.field("message"), message, "must not contain line breaks");
        } else if breaks(text) && message.is_empty() {
            findings.required(&at.field("message"), "message must be specified if rule contains line breaks");
        }
        let expression = rule.text("messageExpression");
        if !expression.is_empty() && expression.trim().is_empty() {
            let detail = "messageExpression must be non-empty if specified";
            findings.required(&at.field("messageExpression"), detail);
        }
        if let Some(reason) = extension(rule, "reason").filter(|reason| !REASONS.contains(reason)) {
            findings.unsupported(&at.field("reason"), reason, &REASONS);
        }
        if !path.is_empty() && path.trim().is_empty() {
            findings.invalid(&at.field("fieldPath"), path, "must be non-empty if specified");
        }
        if breaks(path) {
            findings.invalid(&at.field("fieldPath"), path, "must not contain line breaks");
        }
        if !path.is_empty() && super::field_path::resolve(path, schema, true).is_err() {
            findings.invalid(&at.field("fieldPath"), path, "must be a valid path");
        }
    }
}
