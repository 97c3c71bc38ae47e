//! The Protobuf form of the OpenAPI 2 document, which kubectl requests: messages of gnostic's `openapi.v2.Document`, written
//! from the JSON document. Contains gnostic's field numbers for the members in our documents; members that the messages do
//! not have are omitted, as in gnostic.

use serde_json::Value;

use super::render::{Parts, TITLE};

/// A Protobuf message being written.
#[derive(Default)]
struct Message(Vec<u8>);

const VARINT: u32 = 0;
const FIXED64: u32 = 1;
const LENGTH: u32 = 2;

impl Message {
    fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.0.push(value.to_le_bytes()[0] | 0x80);
            value >>= 7;
        }
        self.0.push(value.to_le_bytes()[0]);
    }

    fn tag(&mut self, number: u32, wire_type: u32) {
        self.varint(u64::from(number << 3 | wire_type));
    }

    fn bytes(&mut self, number: u32, bytes: &[u8]) {
        self.tag(number, LENGTH);
        self.varint(bytes.len() as u64);
        self.0.extend_from_slice(bytes);
    }

    fn message(&mut self, number: u32, message: &Self) {
        self.bytes(number, &message.0);
    }

    fn text(&mut self, number: u32, value: &Value, name: &str) {
        if let Some(text) = value[name].as_str().filter(|text| !text.is_empty()) {
            self.bytes(number, text.as_bytes());
        }
    }

    fn texts(&mut self, number: u32, value: &Value, name: &str) {
        for text in list(&value[name]).filter_map(Value::as_str) {
            self.bytes(number, text.as_bytes());
        }
    }

    fn flag(&mut self, number: u32, value: &Value, name: &str) {
        if value[name] == true {
            self.tag(number, VARINT);
            self.varint(1);
        }
    }

    fn integer(&mut self, number: u32, value: &Value, name: &str) {
        if let Some(integer) = value[name].as_i64().filter(|integer| *integer != 0) {
            self.tag(number, VARINT);
            self.varint(integer.cast_unsigned());
        }
    }

    fn double(&mut self, number: u32, value: &Value, name: &str) {
        if let Some(double) = value[name].as_f64().filter(|double| *double != 0.0) {
            self.tag(number, FIXED64);
            self.0.extend_from_slice(&double.to_le_bytes());
        }
    }

    /// `Any`: the value as YAML, of which JSON is a part.
    fn any(&mut self, number: u32, value: &Value, name: &str) {
        if let Some(value) = value.get(name) {
            self.message(number, &any(value));
        }
    }

    /// Members whose name begins with `x-`, as `NamedAny`.
    fn extensions(&mut self, number: u32, value: &Value) {
        for (name, extension) in members(value).filter(|(name, _)| name.starts_with("x-")) {
            self.message(number, &named(name, &any(extension)));
        }
    }
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

fn members(value: &Value) -> impl Iterator<Item = (&String, &Value)> {
    value.as_object().into_iter().flatten()
}

fn any(value: &Value) -> Message {
    let mut out = Message::default();
    out.bytes(2, format!("{value}\n").as_bytes());
    out
}

/// The messages `Named…`: a key and a value.
fn named(name: &str, value: &Message) -> Message {
    let mut out = Message::default();
    out.bytes(1, name.as_bytes());
    out.message(2, value);
    out
}

/// A message with the members of an object, each as a `Named…` message.
fn all(number: u32, value: &Value, write: impl Fn(&Value) -> Message) -> Message {
    let mut out = Message::default();
    for (name, member) in members(value) {
        out.message(number, &named(name, &write(member)));
    }
    out
}

fn wrapped(number: u32, value: &Message) -> Message {
    let mut out = Message::default();
    out.message(number, value);
    out
}

/// Writes the document. Each part is dropped when it is written.
pub(super) fn document(parts: Parts, server_version: &str) -> Vec<u8> {
    let mut out = Message::default();
    out.bytes(1, b"2.0");
    let mut info = Message::default();
    info.bytes(1, TITLE.as_bytes());
    info.bytes(2, server_version.as_bytes());
    out.message(2, &info);
    let mut paths = Message::default();
    for (path, item) in parts.paths {
        paths.message(2, &named(&path, &path_item(&parsed(&item))));
    }
    out.message(8, &paths);
    drop(paths);
    let mut definitions = Message::default();
    for (name, definition) in parts.definitions {
        definitions.message(1, &named(&name, &schema(&parsed(&definition))));
    }
    out.message(9, &definitions);
    out.0
}

fn parsed(text: &[u8]) -> Value {
    serde_json::from_slice(text).expect("the parts of a document are JSON")
}

fn path_item(value: &Value) -> Message {
    let mut out = Message::default();
    let methods = [(2, "get"), (3, "put"), (4, "post"), (5, "delete"), (6, "options"), (7, "head"), (8, "patch")];
    for (number, method) in methods {
        if let Some(operation_value) = value.get(method) {
            out.message(number, &operation(operation_value));
        }
    }
    for item in list(&value["parameters"]) {
        out.message(9, &wrapped(1, &parameter(item)));
    }
    out.extensions(10, value);
    out
}

fn operation(value: &Value) -> Message {
    let mut out = Message::default();
    out.texts(1, value, "tags");
    out.text(2, value, "summary");
    out.text(3, value, "description");
    out.text(5, value, "operationId");
    out.texts(6, value, "produces");
    out.texts(7, value, "consumes");
    for item in list(&value["parameters"]) {
        out.message(8, &wrapped(1, &parameter(item)));
    }
    out.message(9, &all(1, &value["responses"], |answer| wrapped(1, &response(answer))));
    out.texts(10, value, "schemes");
    out.flag(11, value, "deprecated");
    out.extensions(13, value);
    out
}

fn response(value: &Value) -> Message {
    let mut out = Message::default();
    out.text(1, value, "description");
    if let Some(answer) = value.get("schema") {
        out.message(2, &wrapped(1, &schema(answer)));
    }
    out.extensions(5, value);
    out
}

/// A `Parameter`: a one-of, by the location of the parameter.
fn parameter(value: &Value) -> Message {
    let mut out = Message::default();
    match value["in"].as_str() {
        Some("body") => {
            out.text(1, value, "description");
            out.text(2, value, "name");
            out.text(3, value, "in");
            out.flag(4, value, "required");
            out.message(5, &schema(&value["schema"]));
            out.extensions(6, value);
            wrapped(1, &out)
        }
        location => {
            out.flag(1, value, "required");
            out.text(2, value, "in");
            out.text(3, value, "description");
            out.text(4, value, "name");
            // Query parameters have one more member before the type, so the numbers of the next members differ.
            let (shift, variant) = if location == Some("query") { (1, 3) } else { (0, 4) };
            out.text(5 + shift, value, "type");
            out.text(6 + shift, value, "format");
            out.flag(19 + shift, value, "uniqueItems");
            wrapped(2, &wrapped(variant, &out))
        }
    }
}

fn schema(value: &Value) -> Message {
    let mut out = Message::default();
    out.text(1, value, "$ref");
    out.text(2, value, "format");
    out.text(3, value, "title");
    out.text(4, value, "description");
    out.any(5, value, "default");
    out.double(6, value, "multipleOf");
    out.double(7, value, "maximum");
    out.flag(8, value, "exclusiveMaximum");
    out.double(9, value, "minimum");
    out.flag(10, value, "exclusiveMinimum");
    out.integer(11, value, "maxLength");
    out.integer(12, value, "minLength");
    out.text(13, value, "pattern");
    out.integer(14, value, "maxItems");
    out.integer(15, value, "minItems");
    out.flag(16, value, "uniqueItems");
    out.integer(17, value, "maxProperties");
    out.integer(18, value, "minProperties");
    out.texts(19, value, "required");
    for item in list(&value["enum"]) {
        out.message(20, &any(item));
    }
    match value.get("additionalProperties") {
        Some(Value::Bool(allowed)) => {
            let mut item = Message::default();
            item.tag(2, VARINT);
            item.varint(u64::from(*allowed));
            out.message(21, &item);
        }
        Some(values) => out.message(21, &wrapped(1, &schema(values))),
        None => {}
    }
    if let Some(name) = value["type"].as_str() {
        let mut kind = Message::default();
        kind.bytes(1, name.as_bytes());
        out.message(22, &kind);
    }
    if let Some(items) = value.get("items") {
        out.message(23, &wrapped(1, &schema(items)));
    }
    for item in list(&value["allOf"]) {
        out.message(24, &schema(item));
    }
    if value["properties"].is_object() {
        out.message(25, &all(1, &value["properties"], schema));
    }
    out.flag(27, value, "readOnly");
    out.any(30, value, "example");
    out.extensions(31, value);
    out
}
