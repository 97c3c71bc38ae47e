//! Makes definitions whose schemas multiply, and objects that they multiply.
use kindsmith_tests::Random;
use serde_json::{Value, json};

/// Words that mutations insert.
pub(crate) const WORDS: [&str; 24] = [
    "\"default\":",
    "\"enum\":[1,2,3]",
    "\"required\":[\"a\"]",
    "\"anyOf\":[{\"minimum\":1}]",
    "\"allOf\":[{\"not\":{}}]",
    "\"oneOf\":[{},{}]",
    "\"not\":{}",
    "\"items\":{\"type\":\"object\"}",
    "\"additionalProperties\":",
    "\"nullable\":true",
    "\"pattern\":\"^(a{1,100}){1,100}$\"",
    "\"maxLength\":1",
    "\"minItems\":1000",
    "\"x-kubernetes-list-type\":\"set\"",
    "\"x-kubernetes-list-type\":\"map\"",
    "\"x-kubernetes-list-map-keys\":[\"a\"]",
    "\"x-kubernetes-preserve-unknown-fields\":true",
    "\"x-kubernetes-embedded-resource\":true",
    "\"x-kubernetes-int-or-string\":true",
    "{}",
    "[]",
    "null",
    ",",
    "{},{},{},{},{},{},{},{}",
];

const NAMES: [&str; 5] = ["a", "b", "c", "spec", "status"];
const PATTERNS: [&str; 6] =
    ["^a*$", "^(a|b|c)*d$", "^(a{1,30}){1,30}$", "(.*)(.*)(.*)x", "^\\p{L}{0,100}$", "^[a-z]([-a-z0-9]*[a-z0-9])?$"];

/// A definition, an object of it, and another one.
pub(crate) fn pair(random: &mut Random) -> Value {
    let schema = structure(random, 4);
    let objects = [object(&schema, random), object(&schema, random)];
    let definition = json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "things.example.com"},
        "spec": {
            "group": "example.com", "scope": "Namespaced",
            "names": {"plural": "things", "singular": "thing", "kind": "Thing", "listKind": "ThingList"},
            "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": schema}}],
        },
    });
    let [old, new] = objects;
    json!([definition, old, new])
}

fn object(schema: &Value, random: &mut Random) -> Value {
    let mut room = 16 << 10;
    let mut object = value(schema, random, &mut room);
    if !object.is_object() {
        object = json!({});
    }
    object["metadata"] = json!({"name": "a"});
    object
}

fn structure(random: &mut Random, depth: usize) -> Value {
    let fields: Value = (0..=random.below(4)).map(|at| (NAMES[at].to_owned(), node(random, depth - 1))).collect();
    json!({"type": "object", "properties": fields})
}

/// A schema of any type, with keywords that multiply.
fn node(random: &mut Random, depth: usize) -> Value {
    let mut node = match random.below(if depth == 0 { 2 } else { 6 }) {
        0 => json!({"type": "string"}),
        1 => json!({"type": "integer"}),
        2 | 3 => json!({"type": "array", "items": node(random, depth - 1)}),
        4 => json!({"type": "object", "additionalProperties": node(random, depth - 1)}),
        _ => structure(random, depth),
    };
    let kind = node["type"].as_str().unwrap_or_default().to_owned();
    if random.one_in(3) {
        let mut room = 200;
        let default = value(&node, random, &mut room);
        node["default"] = default;
    }
    if random.one_in(6) {
        node["enum"] = (0..random.below(300)).map(|number| json!(number)).collect();
    }
    if random.one_in(4) {
        let keyword = *random.pick(&["anyOf", "oneOf", "allOf"]);
        let count = 1 + random.below(100);
        node[keyword] = (0..count).map(|_| branch(&kind, random)).collect();
    }
    match kind.as_str() {
        "string" if random.one_in(3) => node["pattern"] = (*random.pick(&PATTERNS)).into(),
        "object" if random.one_in(4) => {
            node["required"] = (0..random.below(200)).map(|number| format!("r{number}")).collect();
        }
        "array" if random.one_in(4) => node["x-kubernetes-list-type"] = "set".into(),
        _ => {}
    }
    node["nullable"] = random.one_in(8).into();
    node
}

fn branch(kind: &str, random: &mut Random) -> Value {
    match (kind, random.below(3)) {
        ("string", 0) => json!({"pattern": *random.pick(&PATTERNS)}),
        ("string", _) => json!({"minLength": random.below(10)}),
        ("integer", _) => json!({"minimum": random.below(10)}),
        ("array", _) => json!({"maxItems": random.below(10)}),
        (_, 0) => json!({"not": {"maxProperties": random.below(10)}}),
        _ => json!({"maxProperties": random.below(10)}),
    }
}

/// A value that fits a schema more or less, with long lists, in about as many bytes as there is room for.
fn value(schema: &Value, random: &mut Random, room: &mut usize) -> Value {
    if *room == 0 || random.one_in(12) {
        return json!(null);
    }
    *room = room.saturating_sub(8);
    match schema["type"].as_str() {
        Some("string") => "a".repeat(random.below(64)).into(),
        Some("integer") => random.below(100).into(),
        Some("array") => {
            let item = value(&schema["items"], random, room);
            let most = (*room / (item.to_string().len() + 1)).clamp(1, 2_000);
            let count = random.below(most);
            *room = room.saturating_sub(count * item.to_string().len());
            vec![item; count].into()
        }
        Some("object") => {
            let mut fields = serde_json::Map::new();
            if let Some(declared) = schema["properties"].as_object() {
                for (name, field) in declared.iter().filter(|_| !random.one_in(3)).collect::<Vec<_>>() {
                    fields.insert(name.clone(), value(field, random, room));
                }
            }
            if schema["additionalProperties"].is_object() {
                for number in 0..random.below(50) {
                    fields.insert(format!("k{number}"), value(&schema["additionalProperties"], random, room));
                }
            }
            fields.into()
        }
        _ => json!({}),
    }
}
