//! One schema made structural, with all that is below it.
use serde_json::Map;

use super::scalars;
use crate::{
    meta::percent,
    openapi::{
        components::SCHEMAS,
        findings::{Findings, Location, shown},
    },
    schema::Document,
};

/// A schema as an object of keywords.
pub(super) type Node = Map<String, Document>;

/// Where references of JSON Schemas lead.
const DEFINITIONS: &str = "#/$defs/";

/// Keywords without a meaning for structural schemas. Keywords about content or changes are only annotations.
const IGNORED: [&str; 13] = [
    "$anchor",
    "$comment",
    "$defs",
    "$dynamicAnchor",
    "$id",
    "$schema",
    "contentEncoding",
    "contentMediaType",
    "contentSchema",
    "deprecated",
    "readOnly",
    "uniqueItems",
    "writeOnly",
];

/// Keywords that are read by themselves.
const READ: [&str; 17] = [
    "$ref",
    "additionalProperties",
    "allOf",
    "anyOf",
    "const",
    "default",
    "enum",
    "format",
    "items",
    "nullable",
    "oneOf",
    "prefixItems",
    "properties",
    "type",
    "unevaluatedProperties",
    "maximum",
    "minimum",
];

/// Keywords that are the same in structural schemas, besides keywords that begin with `x-`.
const COPIED: [&str; 17] = [
    "description",
    "example",
    "examples",
    "exclusiveMaximum",
    "exclusiveMinimum",
    "externalDocs",
    "maxItems",
    "maxLength",
    "maxProperties",
    "minItems",
    "minLength",
    "minProperties",
    "multipleOf",
    "not",
    "pattern",
    "required",
    "title",
];

/// Keywords that describe the use of a type, and stay beside a reference to it.
pub(super) const OF_USE: [&str; 7] =
    ["default", "description", "example", "examples", "externalDocs", "nullable", "title"];

/// Keywords that structural schemas lack, and the way out.
const REFUSED: [(&str, &str); 3] = [
    ("patternProperties", "supported: maps whose keys are any text"),
    ("propertyNames", "supported: maps whose keys are any text"),
    ("unevaluatedItems", "supported: lists whose items have one schema"),
];

/// Makes schemas structural.
pub(super) struct Rewrite<'d> {
    raw: &'d Map<String, Document>,
    /// The definitions that structural schemas refer to; null until they are made.
    made: Node,
    /// The definitions that are being read in place of references.
    open: Vec<String>,
    pub findings: Findings,
}

impl<'d> Rewrite<'d> {
    pub(super) fn new(raw: &'d Map<String, Document>) -> Self {
        Self { raw, made: Node::new(), open: Vec::new(), findings: Findings::default() }
    }

    /// The definitions that the structural schemas refer to, directly or through other definitions.
    pub(super) fn definitions(&mut self) -> Node {
        loop {
            let next = self.made.iter().find(|(_, made)| made.is_null()).map(|(name, _)| name.clone());
            let Some(name) = next else { return std::mem::take(&mut self.made) };
            let made = self.definition(&name);
            self.made.insert(name, made.into());
        }
    }

    fn definition(&mut self, name: &str) -> Node {
        let raw = self.raw;
        let location = Location::of_schemas(0);
        raw.get(name).map(|raw| self.node(raw, &location.key(name))).unwrap_or_default()
    }

    /// The structural schema of a schema. References stay, so that types keep their names, and may be recursive.
    pub(super) fn node(&mut self, raw: &Document, location: &Location<'_>) -> Node {
        let raw = match raw {
            Document::Object(raw) => raw,
            Document::Bool(true) => return Node::new(),
            other => {
                self.findings
                    .error(location, format!("found {}, which no value matches; supported: a schema", shown(other)));
                return Node::new();
            }
        };
        let mut node = self.keywords(raw, location);
        scalars::read(raw, &mut node, location, &mut self.findings);
        self.below(raw, &mut node, location);
        self.refer(raw, &mut node, location);
        for (index, branch) in list(raw, "allOf").iter().enumerate() {
            let branch = self.resolved(branch, &location.key("allOf").index(index));
            self.merge(&mut node, branch, location);
        }
        for keyword in ["anyOf", "oneOf"] {
            self.alternatives(keyword, list(raw, keyword), &mut node, location);
        }
        self.entries(raw, &mut node, location);
        node
    }

    /// The keywords that stay as they are. Unknown ones that may validate are errors.
    fn keywords(&mut self, raw: &Node, location: &Location<'_>) -> Node {
        let mut node = Node::new();
        for (name, value) in raw {
            if COPIED.contains(&name.as_str()) || name.starts_with("x-") {
                node.insert(name.clone(), value.clone());
            } else if !READ.contains(&name.as_str()) && !IGNORED.contains(&name.as_str()) {
                let way_out = REFUSED.iter().find(|(refused, _)| refused == name).map_or_else(
                    || format!("supported: {}, {}", READ.join(", "), COPIED.join(", ")),
                    |(_, way_out)| (*way_out).to_owned(),
                );
                self.findings.error(&location.key(name), format!("structural schemas have no {name}; {way_out}"));
            }
        }
        node
    }

    /// Fields and items.
    fn below(&mut self, raw: &Node, node: &mut Node, location: &Location<'_>) {
        if let Some(Document::Object(properties)) = raw.get("properties") {
            let location = location.key("properties");
            let made = properties.iter().map(|(name, of)| (name.clone(), self.node(of, &location.key(name)).into()));
            let made: Node = made.collect();
            node.insert("properties".to_owned(), made.into());
        }
        // A tuple has a schema for each item.
        let (keyword, tuple) = match (raw.get("prefixItems"), raw.get("items")) {
            (Some(tuple), _) => ("prefixItems", Some(tuple)),
            (None, Some(tuple @ Document::Array(_))) => ("items", Some(tuple)),
            _ => ("items", None),
        };
        let location = location.key(keyword);
        let items = if let Some(Document::Array(tuple)) = tuple {
            let mut items: Vec<_> =
                tuple.iter().enumerate().map(|(index, of)| self.node(of, &location.index(index))).collect();
            items.dedup();
            if items.len() != 1 {
                let message =
                    format!("found a tuple of {} types; supported: a list whose items have one type", items.len());
                self.findings.error(&location, message);
            }
            items.pop()
        } else {
            raw.get("items").map(|items| self.node(items, &location))
        };
        if let Some(items) = items {
            let kind = items.get("type").and_then(Document::as_str);
            let is_set =
                raw.get("uniqueItems") == Some(&true.into()) && !matches!(kind, None | Some("object" | "array"));
            if is_set && !node.contains_key("x-kubernetes-list-type") {
                node.insert("x-kubernetes-list-type".to_owned(), "set".into());
            }
            node.insert("items".to_owned(), items.into());
        }
    }

    /// The entries of a map. Fields and entries exclude each other in structural schemas.
    fn entries(&mut self, raw: &Node, node: &mut Node, location: &Location<'_>) {
        let mut keywords = ["additionalProperties", "unevaluatedProperties"].into_iter();
        let Some((keyword, values)) = keywords.find_map(|name| Some((name, raw.get(name)?))) else { return };
        let has_fields = node.get("properties").and_then(Document::as_object).is_some_and(|fields| !fields.is_empty());
        let location = location.key(keyword);
        match (values, has_fields) {
            // Unknown fields are dropped by any structural schema.
            (Document::Bool(false), _) => {}
            (values, false) => {
                let values = self.node(values, &location);
                node.insert("additionalProperties".to_owned(), values.into());
            }
            (values, true) if self.node(values, &location).is_empty() => {
                node.insert("x-kubernetes-preserve-unknown-fields".to_owned(), true.into());
            }
            (_, true) => self.findings.error(
                &location,
                "found fields beside entries of one type; supported: a map in a field of its own, and beside fields \
                 a flattened map of any values (`serde_json::Value`)",
            ),
        }
    }

    /// A reference. Beside keywords that validate or have fields it is read in its place.
    fn refer(&mut self, raw: &Node, node: &mut Node, location: &Location<'_>) {
        let Some(target) = raw.get("$ref") else { return };
        let location = location.key("$ref");
        let name = target.as_str().and_then(|target| target.strip_prefix(DEFINITIONS)).map(decoded);
        let Some(name) = name.filter(|name| self.raw.contains_key(name)) else {
            self.findings.error(&location, format!("found {}; supported: {DEFINITIONS}<name>", shown(target)));
            return;
        };
        let is_alone = raw.keys().all(|name| {
            name == "$ref"
                || OF_USE.contains(&name.as_str())
                || IGNORED.contains(&name.as_str())
                || name.starts_with("x-")
        });
        if is_alone {
            self.made.entry(name.clone()).or_insert(Document::Null);
            node.insert("$ref".to_owned(), format!("{SCHEMAS}{name}").into());
        } else if let Some(target) = self.open(&name, &location) {
            self.merge(node, target, &location);
        }
    }

    /// The structural schema of a schema, with the content of what it refers to.
    pub(super) fn resolved(&mut self, raw: &Document, location: &Location<'_>) -> Node {
        let node = self.node(raw, location);
        self.content(node, location)
    }

    /// A structural schema with the content of what it refers to.
    pub(super) fn content(&mut self, mut node: Node, location: &Location<'_>) -> Node {
        let Some(target) = node.remove("$ref") else { return node };
        let name = target.as_str().and_then(|target| target.strip_prefix(SCHEMAS)).unwrap_or_default().to_owned();
        if let Some(target) = self.open(&name, location) {
            self.merge(&mut node, target, location);
        }
        node
    }

    /// The content of a definition, unless it is being read.
    fn open(&mut self, name: &str, location: &Location<'_>) -> Option<Node> {
        if self.open.iter().any(|open| open == name) {
            self.findings
                .error(location, format!("{name} contains itself without a field in between; supported: a field"));
            return None;
        }
        self.open.push(name.to_owned());
        let node = self.definition(name);
        let node = self.content(node, location);
        self.open.pop();
        Some(node)
    }
}

/// The schemas of a junctor.
fn list<'r>(raw: &'r Node, keyword: &str) -> &'r [Document] {
    raw.get(keyword).and_then(Document::as_array).map_or(&[], Vec::as_slice)
}

/// A name as it is in a JSON pointer in the fragment of a URI.
fn decoded(name: &str) -> String {
    let name = percent::decode(name).unwrap_or_else(|_| name.to_owned());
    name.replace("~1", "/").replace("~0", "~")
}
