//! Random definitions, of every keyword, format, name and nesting that definitions allow. Definitions that the server
//! refuses are left out, so that the generator has to take the others.
use serde_json::{Map, Value, json};

use super::words;

/// How deep schemas nest.
const DEEPEST: usize = 4;

/// Makes definitions.
pub(super) struct Definitions {
    state: u64,
    count: usize,
}

impl Definitions {
    pub(super) fn of_seed(seed: u64) -> Self {
        Self { state: seed.wrapping_mul(2).wrapping_add(0x9e37_79b9_7f4a_7c15), count: 0 }
    }

    /// The next definition, which may be invalid.
    pub(super) fn next(&mut self) -> Value {
        self.count += 1;
        let kind = words::KINDS[self.count % words::KINDS.len()];
        let group = format!("{}.g{}.example.com", self.pick(&words::GROUPS), self.count % 7);
        let plural = format!("{}s{}", kind.to_lowercase(), self.count);
        let short_names = self.some(&["gen", "self", "x-1"]);
        let short_names: Vec<String> = short_names.iter().map(|name| format!("{name}{}", self.count)).collect();
        let versions = ["v1", "v1beta1", "v2-gen"].iter().take(1 + self.below(8) / 6).enumerate();
        let versions: Vec<Value> = versions.map(|(index, name)| self.version(name, index == 0)).collect();
        json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
            "metadata": {"name": format!("{plural}.{group}")},
            "spec": {"group": group, "scope": self.pick(&["Namespaced", "Cluster"]), "versions": versions,
                "names": {"plural": plural, "singular": format!("{}{}", kind.to_lowercase(), self.count), "kind": kind,
                    "listKind": self.pick(&[&*format!("{kind}List"), &*format!("{kind}s")]),
                    "shortNames": short_names, "categories": self.some(&["all", "type"])}}})
    }

    fn version(&mut self, name: &str, is_stored: bool) -> Value {
        let mut schema = self.schema(0);
        while schema["type"] != "object" || schema["properties"].as_object().is_none_or(Map::is_empty) {
            schema = self.schema(0);
        }
        for keyword in ["nullable", "default", "enum", "not", "anyOf", "oneOf", "allOf"] {
            schema.as_object_mut().expect("an object").remove(keyword);
        }
        let mut columns = Vec::new();
        for path in self.some(&words::COLUMNS) {
            let header = *self.pick(&words::HEADERS);
            columns.push(json!({"name": header, "jsonPath": path, "priority": self.below(2),
                "type": self.pick(&["string", "integer", "number", "boolean", "date"]), "description": self.description()}));
        }
        let mut fields: Vec<Value> = Vec::new();
        let mut subresources = json!({});
        for (field, property) in schema["properties"].as_object().into_iter().flatten() {
            let is_plain = !field.is_empty() && field.chars().all(|letter| letter.is_ascii_alphanumeric());
            if is_plain
                && ["string", "integer", "boolean"].iter().any(|kind| property["type"] == *kind)
                && self.one_in(3)
            {
                fields.push(json!({"jsonPath": format!(".{field}")}));
            }
        }
        if self.one_in(3) {
            subresources["status"] = json!({});
            schema["properties"]["status"] =
                json!({"type": "object", "properties": {"replicas": self.replicas(), "gen": {"type": "string"}}});
            schema["properties"]["spec"] =
                json!({"type": "object", "properties": {"replicas": self.replicas(), "type": self.schema(2)}});
            subresources["scale"] = json!({"specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.replicas",
                "labelSelectorPath": ".status.gen"});
        }
        json!({"name": name, "served": is_stored || !self.one_in(4), "storage": is_stored, "schema": {"openAPIV3Schema": schema},
            "additionalPrinterColumns": columns, "selectableFields": fields, "subresources": subresources,
            "deprecated": self.one_in(4)})
    }

    fn replicas(&mut self) -> Value {
        let format = *self.pick(&["int32", "int64", ""]);
        json!({"type": self.pick(&["integer", "integer", "number"]), "format": format})
    }

    /// A schema, with a type and what goes with it, and now and then what does not.
    fn schema(&mut self, depth: usize) -> Value {
        let mut schema = match self.below(if depth >= DEEPEST { 7 } else { 13 }) {
            0 | 1 => self.text(),
            2 => self.number("integer"),
            3 => self.number("number"),
            4 => json!({"type": "boolean"}),
            5 => json!({"x-kubernetes-int-or-string": true}),
            6 => json!({"x-kubernetes-preserve-unknown-fields": true}),
            7 | 8 => self.list(depth),
            9 => json!({"type": "object", "additionalProperties": self.schema(depth + 1)}),
            _ => self.object(depth),
        };
        let text = self.description();
        if !text.is_empty() {
            schema["description"] = text.into();
        }
        self.add_keywords(&mut schema, depth);
        schema
    }

    /// Adds keywords of any type, including keywords without effect on this one.
    fn add_keywords(&mut self, schema: &mut Value, depth: usize) {
        let strange: [(&str, Value); 29] = [
            ("nullable", json!(true)),
            ("title", json!("A \"title\"\r")),
            ("example", json!({"gen": [null, 1.5e300, -1]})),
            ("externalDocs", json!({"url": "https://example.com/\u{202e}", "description": "```"})),
            ("x-kubernetes-validations", json!([{"rule": "self == oldSelf", "message": "the value cannot change"}])),
            (
                "x-kubernetes-validations",
                json!([{"rule": "true", "message": "a", "reason": "FieldValueInvalid"}, {"rule": "\"#\" != '\\n'"}]),
            ),
            ("maxLength", json!(4_000_000_000_000_i64)),
            ("minLength", json!(0)),
            ("maxItems", json!(50)),
            ("maxProperties", json!(50)),
            ("pattern", json!(self.pick(&words::PATTERNS))),
            ("maximum", json!(9_223_372_036_854_775_807_i64)),
            ("minimum", json!(-9_223_372_036_854_775_808_i64)),
            ("minimum", json!(-1e19)),
            ("maximum", json!(99.5)),
            ("exclusiveMaximum", json!(true)),
            ("multipleOf", json!(1)),
            ("multipleOf", json!(0.5)),
            ("required", json!(["nowhere"])),
            ("format", json!(self.pick(&words::FORMATS))),
            ("x-kubernetes-map-type", json!("atomic")),
            ("x-kubernetes-preserve-unknown-fields", json!(true)),
            ("anyOf", json!([{"required": ["a"]}, {"not": {"pattern": "^\\Qa.b\\E$"}}])),
            ("not", json!({"enum": ["x\u{0}", null, {"a": 1}]})),
            ("allOf", json!([{"maximum": 1e18}, {"oneOf": [{"minLength": 0, "maxItems": 100}]}])),
            ("default", json!(self.pick(&["", "a", "-"]))),
            ("properties", json!({"key": {"type": "string", "minLength": 1}})),
            ("additionalProperties", json!({"type": "integer", "maximum": 7})),
            ("items", json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true})),
        ];
        for _ in 0..self.below(3) {
            let (keyword, value) = self.pick(&strange).clone();
            // Required fields must be there, or no object is valid. The parts that make the type are kept.
            if (keyword != "required" || depth > 0) && !schema[keyword].is_object() {
                schema[keyword] = value;
            }
        }
        let is_incomplete = schema["required"].is_array() && schema["type"] != "array";
        if is_incomplete {
            schema.as_object_mut().expect("an object").remove("default");
        } else if schema.get("default").is_some() || self.one_in(5) {
            schema["default"] = self.default_of(schema, 0);
        }
    }

    /// A default that the schema accepts, if it is a simple one.
    fn default_of(&mut self, schema: &Value, depth: usize) -> Value {
        if schema["nullable"] == true && self.one_in(3) {
            return Value::Null;
        }
        if let Some(values) = schema["enum"].as_array() {
            return values[0].clone();
        }
        match schema["type"].as_str() {
            Some("string") => "a".into(),
            Some("integer") => json!(2),
            Some("number") => json!(2.0),
            Some("boolean") => json!(true),
            Some("array") if depth < 3 && schema["x-kubernetes-list-map-keys"].is_null() => {
                json!([self.default_of(&schema["items"], depth + 1)])
            }
            Some("array") => json!([]),
            Some("object") if schema["x-kubernetes-embedded-resource"] == true => {
                json!({"apiVersion": "v1", "kind": "Self", "metadata": {"name": "a"}})
            }
            Some("object") => json!({}),
            _ if schema["x-kubernetes-int-or-string"] == true => json!(7),
            _ => json!([1, "two", [null], {"r#gen": {}}]),
        }
    }

    fn text(&mut self) -> Value {
        match self.below(4) {
            0 => json!({"type": "string", "enum": self.some_of(&words::VALUES)}),
            1 => json!({"type": "string", "format": self.pick(&words::FORMATS)}),
            2 => json!({"type": "string", "pattern": self.pick(&words::PATTERNS)}),
            _ => json!({"type": "string", "maxLength": 64}),
        }
    }

    fn number(&mut self, kind: &str) -> Value {
        let mut schema = json!({"type": kind});
        if self.one_in(2) {
            schema["format"] = (*self.pick(&["int32", "int64", "float", "double", "strange"])).into();
        }
        if self.one_in(4) {
            schema["enum"] = json!([2, 3]);
        }
        if self.one_in(3) {
            schema["minimum"] = json!(*self.pick(&[-2.5, -1.0, 0.0]));
            schema["exclusiveMinimum"] = self.one_in(2).into();
        }
        schema
    }

    fn list(&mut self, depth: usize) -> Value {
        let mut schema = json!({"type": "array", "items": self.schema(depth + 1)});
        match self.below(4) {
            0 => schema["x-kubernetes-list-type"] = "set".into(),
            1 => {
                let key = *self.pick(&words::KEYS);
                schema = json!({"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": [key],
                    "items": {"type": "object", "required": [key], "properties": {key: {"type": "string"}}}});
                schema["items"]["properties"]["value"] = self.schema(depth + 2);
            }
            _ => {}
        }
        schema
    }

    fn object(&mut self, depth: usize) -> Value {
        let mut properties = Map::new();
        for _ in 0..=self.below(4) {
            properties.insert((*self.pick(&words::FIELDS)).to_owned(), self.schema(depth + 1));
        }
        let required: Vec<String> = properties.keys().filter(|_| self.one_in(6)).cloned().collect();
        let mut schema = json!({"type": "object", "properties": properties});
        if !required.is_empty() {
            schema["required"] = required.into();
        }
        if self.one_in(8) {
            schema["x-kubernetes-embedded-resource"] = true.into();
        }
        schema
    }

    fn description(&mut self) -> String {
        if self.one_in(2) { String::new() } else { (*self.pick(&words::DESCRIPTIONS)).to_owned() }
    }

    /// Any number of values, each at most once.
    fn some<'v>(&mut self, values: &[&'v str]) -> Vec<&'v str> {
        values.iter().filter(|_| self.one_in(3)).copied().collect()
    }

    /// The same, at least one.
    fn some_of<'v>(&mut self, values: &[&'v str]) -> Vec<&'v str> {
        let some = self.some(values);
        if some.is_empty() { vec![values[0]] } else { some }
    }

    fn pick<'v, T>(&mut self, values: &'v [T]) -> &'v T {
        &values[self.below(values.len())]
    }

    fn one_in(&mut self, number: usize) -> bool {
        self.below(number) == 0
    }

    /// A number below another (xorshift).
    fn below(&mut self, limit: usize) -> usize {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        usize::try_from(self.state >> 33).unwrap_or_default() % limit
    }
}
