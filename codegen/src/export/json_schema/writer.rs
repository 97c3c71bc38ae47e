//! From structural schemas to JSON Schema.

use std::{collections::BTreeMap, ptr};

use kindsmith::schema::{ListType, METADATA, Scalar, Schema, Type};
use serde_json::{Map, Value, json};

use super::{
    super::node::Node,
    keywords::{bounds, published, text},
    pattern,
};

/// The position of a value, which decides whether `null` counts as absent there.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Position {
    /// A field that may be absent.
    Optional,
    /// A field that must be there.
    Required,
    /// An item of a list.
    Item,
}

/// Writes the schemas of one document.
#[derive(Default)]
pub(super) struct Writer {
    definitions: BTreeMap<String, Value>,
    /// The names of types that contain themselves.
    recursive: Vec<(*const Schema, String)>,
    /// The path of the current value.
    path: Vec<String>,
    lost: Vec<String>,
}

impl Writer {
    /// The schema of whole objects, which always have fields.
    pub(super) fn root(&mut self, schema: &Schema) -> Map<String, Value> {
        let mut out = self.whole(Node::root(schema), Position::Item);
        out.insert("type".to_owned(), json!("object"));
        out
    }

    /// A schema for a field of this name, without references.
    pub(super) fn alone(&mut self, schema: &Schema, name: &str) -> Map<String, Value> {
        self.path.push(name.to_owned());
        let out = self.whole(Node::root(schema), Position::Required);
        self.path.pop();
        out
    }

    /// The shared and recursive types.
    pub(super) fn take_definitions(&mut self) -> Map<String, Value> {
        std::mem::take(&mut self.definitions).into_iter().collect()
    }

    /// What the document does not say.
    pub(super) fn lost(mut self) -> Vec<String> {
        self.lost.sort();
        self.lost.dedup();
        self.lost
    }

    /// A schema at its use: for a named type a reference to its definition.
    fn used(&mut self, node: Node<'_>, position: Position) -> Value {
        let schema = node.schema;
        // A null that is not dropped is one of the allowed values, or not allowed.
        let allows_null = if schema.nullable {
            schema.enumeration.is_empty() || schema.enumeration.iter().any(Value::is_null)
        } else {
            position == Position::Optional || schema.default.is_some()
        };
        let is_struct = schema.kind == Type::Object && !schema.properties.is_empty();
        let name = schema.name.as_deref().filter(|_| is_struct && schema.definition.is_none());
        let mut out = match name {
            Some(name) => self.named(node, name),
            None => self.whole(node, position),
        };
        if allows_null {
            out = with_null(out);
        } else if schema.kind == Type::Any && position == Position::Required && !out.contains_key("type") {
            out.insert("type".to_owned(), json!(["object", "array", "string", "number", "boolean"]));
        }
        out.into()
    }

    /// A reference to the definition of a named type, with what belongs to this use.
    fn named(&mut self, node: Node<'_>, name: &str) -> Map<String, Value> {
        let of_type = node.schema.clone().with(|schema| {
            schema.description = std::mem::take(&mut schema.type_description);
            (schema.default, schema.nullable) = (None, false);
        });
        let content = Value::from(self.whole(node.below(&of_type), Position::Required));
        let free = |name: &String| self.definitions.get(name).is_none_or(|taken| *taken == content);
        let name = numbered(name).find(free).unwrap_or_default();
        let mut out = published(&node.schema.clone().with(|schema| schema.unenforced = None));
        out.insert("allOf".to_owned(), json!([reference(&name)]));
        self.definitions.insert(name, content);
        out
    }

    /// A reference to the structure of the type around this value, which contains itself.
    fn recursive(&mut self, definition: Node<'_>, name: &str) -> Value {
        let key = ptr::from_ref(definition.schema);
        if let Some((_, known)) = self.recursive.iter().find(|(other, _)| ptr::eq(*other, key)) {
            return reference(known);
        }
        let name = numbered(name).find(|name| !self.definitions.contains_key(name)).unwrap_or_default();
        self.recursive.push((key, name.clone()));
        // The name is taken while the structure, which refers to it, is written.
        self.definitions.insert(name.clone(), Value::Null);
        let mut structure = Map::new();
        self.structure(definition, &mut structure);
        self.definitions.insert(name.clone(), structure.into());
        reference(&name)
    }

    fn whole(&mut self, node: Node<'_>, position: Position) -> Map<String, Value> {
        let schema = node.schema;
        let mut out = published(schema);
        if let Some(kind) = type_of(schema, position) {
            out.insert("type".to_owned(), kind);
        }
        self.validations(schema, &mut out);
        let defaulted = |name: &String| schema.properties.get(name).is_some_and(|field| field.default.is_some());
        let mut required: Vec<&str> =
            schema.required.iter().filter(|name| !defaulted(name)).map(String::as_str).collect();
        if schema.embedded {
            required.extend(["apiVersion", "kind"].iter().filter(|name| !schema.required.iter().any(|of| of == *name)));
        }
        if !required.is_empty() {
            out.insert("required".to_owned(), json!(required));
        }
        if let Some(definition) = node.leads_to() {
            let name = schema.name.as_deref().or(definition.schema.name.as_deref()).unwrap_or("Recursive");
            let reference = self.recursive(definition, name);
            match out.get_mut("allOf").and_then(Value::as_array_mut) {
                Some(all) => all.push(reference),
                None => drop(out.insert("allOf".to_owned(), json!([reference]))),
            }
        } else {
            self.structure(node, &mut out);
        }
        out
    }

    /// Fields, entries and items.
    fn structure(&mut self, node: Node<'_>, out: &mut Map<String, Value>) {
        let schema = node.schema;
        let mut properties = Map::new();
        for (name, of) in &schema.properties {
            let is_required = schema.required.iter().any(|required| required == name);
            let position = if is_required { Position::Required } else { Position::Optional };
            properties.insert(name.clone(), self.below(name, node.below(of), position));
        }
        if schema.embedded {
            properties.insert("apiVersion".to_owned(), json!({"type": "string", "pattern": "^[^/]+(/[^/]*)?$"}));
            let kind = json!({"type": "string", "maxLength": 63, "pattern": "^[A-Za-z]([-A-Za-z0-9]*[A-Za-z0-9])?$"});
            properties.insert("kind".to_owned(), kind);
            let mut metadata = self.alone(&METADATA, "metadata");
            metadata.remove("required");
            properties.insert("metadata".to_owned(), with_null(metadata).into());
        }
        let is_structure = schema.kind == Type::Object || schema.embedded || !properties.is_empty();
        if !properties.is_empty() {
            out.insert("properties".to_owned(), properties.into());
        }
        if let Some(values) = &schema.additional {
            let written = match values.boolean {
                Some(is_allowed) => is_allowed.into(),
                None => self.below("*", node.below(values), Position::Optional),
            };
            out.insert("additionalProperties".to_owned(), written);
        } else if is_structure && !schema.preserve_unknown && schema.kind != Type::Any {
            out.insert("additionalProperties".to_owned(), json!(false));
        }
        if let Some(items) = &schema.items {
            let mut written = self.below("[]", node.below(items), Position::Item);
            // A list that keeps unknown fields keeps those of its items.
            if let Some(items) = written.as_object_mut().filter(|_| schema.preserve_unknown)
                && items.get("additionalProperties") == Some(&json!(false))
            {
                items.remove("additionalProperties");
            }
            out.insert("items".to_owned(), written);
        }
    }

    fn below(&mut self, name: &str, node: Node<'_>, position: Position) -> Value {
        self.path.push(name.to_owned());
        let out = self.used(node, position);
        self.path.pop();
        out
    }

    /// What a schema says of values, apart from their type and structure.
    fn validations(&mut self, schema: &Schema, out: &mut Map<String, Value>) {
        bounds(schema, out);
        text(schema, out);
        if let Some(declared) = &schema.pattern {
            match pattern::ecma(declared.text()) {
                // A format that is a pattern was written first.
                Some(pattern) if out.contains_key("pattern") => add_to_all(out, json!({"pattern": pattern})),
                Some(pattern) => drop(out.insert("pattern".to_owned(), json!(pattern))),
                None => self.lost.push(format!(
                    "{}: the pattern {} cannot be said in JavaScript, and is left out",
                    self.path.join("."),
                    declared.text()
                )),
            }
        }
        let list = match &schema.list {
            ListType::Atomic => None,
            ListType::Set => Some(json!("set")),
            ListType::Map(keys) => {
                out.insert("x-kubernetes-list-map-keys".to_owned(), json!(keys));
                Some(json!("map"))
            }
        };
        if let Some(list) = list {
            out.insert("x-kubernetes-list-type".to_owned(), list);
            out.insert("uniqueItems".to_owned(), json!(true));
        }
        if schema.union {
            let members: Value = schema.properties.keys().map(|name| json!({"required": [name]})).collect();
            add_to_all(out, json!({"oneOf": members}));
        }
        self.junctors(schema, out);
    }

    fn junctors(&mut self, schema: &Schema, out: &mut Map<String, Value>) {
        let Some(junctors) = &schema.junctors else { return };
        for branch in &junctors.all_of {
            let written = self.branch(branch);
            add_to_all(out, written);
        }
        for (keyword, branches) in [("anyOf", &junctors.any_of), ("oneOf", &junctors.one_of)] {
            if !branches.is_empty() {
                let written = branches.iter().map(|branch| self.branch(branch)).collect();
                out.insert(keyword.to_owned(), written);
            }
        }
        if let Some(not) = &junctors.not {
            let written = self.branch(not);
            out.insert("not".to_owned(), written);
        }
    }

    /// A branch of a junctor, which only validates.
    fn branch(&mut self, schema: &Schema) -> Value {
        let mut out = Map::new();
        self.validations(schema, &mut out);
        if !schema.required.is_empty() {
            out.insert("required".to_owned(), json!(schema.required));
        }
        let properties: Map<String, Value> =
            schema.properties.iter().map(|(name, of)| (name.clone(), self.branch(of))).collect();
        if !properties.is_empty() {
            out.insert("properties".to_owned(), properties.into());
        }
        if let Some(items) = &schema.items {
            out.insert("items".to_owned(), self.branch(items));
        }
        out.into()
    }
}

fn reference(name: &str) -> Value {
    json!({"$ref": format!("#/definitions/{}", name.replace('~', "~0").replace('/', "~1"))})
}

/// A name, and the same with numbers.
fn numbered(name: &str) -> impl Iterator<Item = String> {
    (1u32..).map(move |number| if number == 1 { name.to_owned() } else { format!("{name}_{number}") })
}

/// The type; none if all types are allowed.
fn type_of(schema: &Schema, position: Position) -> Option<Value> {
    // A field that is a quantity may be a number.
    let is_quantity = schema.scalar == Some(Scalar::Quantity) && position != Position::Item;
    Some(match schema.kind {
        Type::Object => json!("object"),
        Type::Array => json!("array"),
        Type::String if is_quantity => json!(["string", "number"]),
        Type::String => json!("string"),
        Type::Integer => json!("integer"),
        Type::Number => json!("number"),
        Type::Boolean => json!("boolean"),
        Type::IntOrString => json!(["integer", "string"]),
        Type::Any if schema.embedded => json!("object"),
        Type::Any => return None,
    })
}

/// A rule in addition to others with the same keyword.
fn add_to_all(out: &mut Map<String, Value>, rule: Value) {
    let all = out.entry("allOf").or_insert_with(|| json!([]));
    if let Some(all) = all.as_array_mut() {
        all.push(rule);
    }
}

/// The schema, or `null`.
fn with_null(mut out: Map<String, Value>) -> Map<String, Value> {
    let about = ["title", "description", "default", "examples"];
    if ["allOf", "anyOf", "oneOf", "not"].iter().any(|keyword| out.contains_key(*keyword)) {
        let mut wrapped: Map<String, Value> =
            about.iter().filter_map(|keyword| Some(((*keyword).to_owned(), out.remove(*keyword)?))).collect();
        wrapped.insert("anyOf".to_owned(), json!([out, {"type": "null"}]));
        return wrapped;
    }
    match out.get_mut("type") {
        Some(Value::Array(types)) => types.push(json!("null")),
        Some(one) => *one = json!([one, "null"]),
        None => {}
    }
    if let Some(Value::Array(values)) = out.get_mut("enum")
        && !values.contains(&Value::Null)
    {
        values.push(Value::Null);
    }
    out
}
