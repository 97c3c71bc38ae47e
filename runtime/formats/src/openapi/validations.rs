//! The keywords that validate, and the junctors, whose branches have nothing else.
use std::sync::Arc;

use serde_json::Map;

use super::{
    findings::Location,
    members::Members,
    schema::{SchemaReader, settled},
};
use crate::schema::{
    Document, Schema, format,
    keywords::pattern,
    model::{Junctors, Type},
};

/// The keywords that validate: all that the branches of junctors may have.
pub(super) const VALIDATING: [&str; 22] = [
    "allOf",
    "anyOf",
    "const",
    "enum",
    "exclusiveMaximum",
    "exclusiveMinimum",
    "format",
    "items",
    "maxItems",
    "maxLength",
    "maxProperties",
    "maximum",
    "minItems",
    "minLength",
    "minProperties",
    "minimum",
    "multipleOf",
    "not",
    "oneOf",
    "pattern",
    "properties",
    "required",
];

/// The keywords that describe, without effect in the branches of junctors.
const ANNOTATING: [&str; 9] =
    ["default", "deprecated", "description", "example", "examples", "externalDocs", "readOnly", "title", "writeOnly"];

impl<'d> SchemaReader<'_, 'd> {
    /// The keywords that nodes and branches share: they validate.
    pub(super) fn validations(&mut self, members: Members<'d, '_>) -> Schema {
        let [(minimum, exclusive_minimum), (maximum, exclusive_maximum)] =
            [("minimum", "exclusiveMinimum"), ("maximum", "exclusiveMaximum")].map(|names| self.bound(members, names));
        let findings = &mut *self.findings;
        let format = members.text("format", findings).map(str::to_owned);
        let location = members.location.key("format");
        if let Some(format) = format.as_deref().filter(|format| !is_known(format)) {
            findings.warning(&location, format!("the format {format:?} is published and not checked"));
        }
        let pattern = members.text("pattern", findings).and_then(|text| {
            let wrong = |error: String| findings.error(&members.location.key("pattern"), error);
            pattern::read(text).map_err(wrong).ok()
        });
        Schema {
            format,
            enumeration: members
                .list("enum", findings)
                .iter()
                .chain(members.get("const"))
                .cloned()
                .map(settled)
                .collect(),
            minimum,
            exclusive_minimum,
            maximum,
            exclusive_maximum,
            multiple_of: members.number("multipleOf", findings),
            min_length: members.count("minLength", findings),
            max_length: members.count("maxLength", findings),
            pattern,
            min_items: members.count("minItems", findings),
            max_items: members.count("maxItems", findings),
            min_properties: members.count("minProperties", findings),
            max_properties: members.count("maxProperties", findings),
            required: members.texts("required", findings),
            ..Schema::default()
        }
    }

    /// A bound, and whether the value must differ from it, which OpenAPI 3.1 says by the bound itself.
    fn bound(&mut self, members: Members<'d, '_>, (bound, exclusive): (&str, &str)) -> (Option<f64>, bool) {
        let inclusive = members.number(bound, self.findings);
        let Some(alone) = members.get(exclusive).and_then(Document::as_f64) else {
            return (inclusive, members.flag(exclusive, self.findings));
        };
        let is_stricter = |other: f64| if bound == "minimum" { other > alone } else { other < alone };
        match inclusive {
            Some(other) if is_stricter(other) => (inclusive, false),
            _ => (Some(alone), true),
        }
    }

    /// The junctors. That a value is one or another type is its type already, as is a union.
    pub(super) fn junctors(&mut self, members: Members<'d, '_>, kind: Type, is_union: bool) -> Option<Arc<Junctors>> {
        let said_by_type =
            |list: &str| list == "oneOf" && is_union || kind != Type::Any && (either(members.get(list)).is_some());
        let mut branches = |name: &str| {
            let location = members.location.key(name);
            let list = members.list(name, self.findings);
            let list = if said_by_type(name) { &[] } else { list };
            let within = |(index, of): (usize, &'d Document)| self.branch(of, &location.index(index));
            list.iter().enumerate().filter(|(_, of)| !is_type_alone(of, kind)).map(within).collect::<Vec<_>>()
        };
        let (all_of, any_of, one_of) = (branches("allOf"), branches("anyOf"), branches("oneOf"));
        let location = members.location.key("not");
        let not = members.get("not").map(|of| self.branch(of, &location));
        let said = !all_of.is_empty() || !any_of.is_empty() || !one_of.is_empty() || not.is_some();
        said.then(|| Junctors { all_of, any_of, one_of, not }.into())
    }

    /// A branch of a junctor, which only validates.
    fn branch(&mut self, raw: &'d Document, location: &Location<'_>) -> Schema {
        let Some(members) = Members::of(raw, location, self.findings) else { return Schema::default() };
        for name in members.all.keys().filter(|name| !VALIDATING.contains(&name.as_str())) {
            if ANNOTATING.contains(&name.as_str()) {
                self.findings
                    .warning(&location.key(name), format!("{name} has no effect inside allOf, anyOf, oneOf or not"));
                continue;
            }
            let message = format!(
                "found {name} inside allOf, anyOf, oneOf or not; supported there: {}. A reference stands alone in allOf",
                VALIDATING.join(", ")
            );
            self.findings.error(&location.key(name), message);
        }
        let mut schema = self.validations(members);
        let fields = location.key("properties");
        let properties = members.object("properties", self.findings).into_iter().flatten();
        schema.properties = properties.map(|(name, raw)| (name.clone(), self.branch(raw, &fields.key(name)))).collect();
        let items = location.key("items");
        schema.items = members.get("items").map(|raw| self.branch(raw, &items).into());
        schema.junctors = self.junctors(members, Type::Any, false);
        schema
    }
}

/// Returns true for formats that are checked, and formats that say no more than the type.
fn is_known(name: &str) -> bool {
    format::is_known(name) || matches!(name, "int32" | "int64" | "float" | "double" | "int-or-string" | "quantity")
}

/// The type other than text, where a list of schemas says that a value is of this type or text.
fn either(list: Option<&Document>) -> Option<&str> {
    let [one, other] = &list?.as_array()?[..] else { return None };
    let type_of = |of: &Map<String, Document>| -> Option<String> {
        Some(of.get("type")?.as_str().filter(|_| of.len() == 1)?.to_owned())
    };
    let types = [type_of(one.as_object()?)?, type_of(other.as_object()?)?];
    match [&*types[0], &*types[1]] {
        ["string", "integer"] | ["integer", "string"] => Some("integer"),
        ["string", "number"] | ["number", "string"] => Some("number"),
        _ => None,
    }
}

/// Returns true if a value is of this type or text.
pub(super) fn is_either(members: Members<'_, '_>, other: &str) -> bool {
    ["oneOf", "anyOf"].iter().any(|list| either(members.get(list)) == Some(other))
}

/// Returns true for a branch that says nothing but a type that the value has anyway.
fn is_type_alone(branch: &Document, kind: Type) -> bool {
    let Some(members) = branch.as_object().filter(|members| members.len() == 1) else { return false };
    kind == Type::IntOrString && ["anyOf", "oneOf"].iter().any(|list| either(members.get(*list)).is_some())
}

/// Returns true if exactly one of the fields is set: `oneOf` requires each of them alone.
pub(super) fn says_union(members: Members<'_, '_>, schema: &Schema) -> bool {
    let Some(branches) = members.get("oneOf").and_then(Document::as_array) else { return false };
    let required = |branch: &Document| -> Option<String> {
        let only = branch.as_object().filter(|branch| branch.len() == 1)?;
        match &only.get("required")?.as_array()?[..] {
            [one] => one.as_str().map(str::to_owned),
            _ => None,
        }
    };
    let mut named: Vec<_> = branches.iter().filter_map(required).collect();
    named.sort_unstable();
    named.len() == branches.len() && schema.required.is_empty() && named.iter().eq(schema.properties.keys())
}

/// A list or a map.
pub(super) fn is_collection(schema: &Schema) -> bool {
    match schema.kind {
        Type::Array => true,
        Type::Object => schema.additional.is_some() && schema.properties.is_empty(),
        _ => false,
    }
}
