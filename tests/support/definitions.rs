//! Random definitions of kinds, for properties that hold for all of them. A build script includes this file, too.
use serde_json::{Map, Value, json};

use crate::random::Random;

/// Makes random definitions.
#[derive(Clone, Debug)]
pub struct Definitions(pub Random);

/// True if values have a type in expressions, so that there may be rules about them.
fn has_type(schema: &Value) -> bool {
    match schema["type"].as_str() {
        None => schema["x-kubernetes-int-or-string"] == true,
        Some("array") => has_type(&schema["items"]),
        Some("object") => !schema["additionalProperties"].is_object() || has_type(&schema["additionalProperties"]),
        Some(_) => true,
    }
}

impl Definitions {
    fn one_in(&mut self, times: usize) -> bool {
        self.0.one_in(times)
    }

    /// Adds some of these members.
    fn some(&mut self, times: usize, to: &mut Value, members: Value) {
        let Value::Object(members) = members else { panic!("members of an object") };
        for (name, value) in members {
            if self.one_in(times) {
                to[name] = value;
            }
        }
    }

    fn schema(&mut self, depth: usize) -> Value {
        let mut schema = match self.0.below(if depth == 0 { 6 } else { 11 }) {
            0 | 1 => self.text(),
            2 => self.number("integer", ["int32", "int64"]),
            3 => self.number("number", ["float", "double"]),
            4 => json!({"type": "boolean", "default": true}),
            5 => json!({"x-kubernetes-int-or-string": true}),
            6 => json!({"x-kubernetes-preserve-unknown-fields": true}),
            7 => self.map(depth),
            8 | 9 => self.structure(depth),
            _ => self.list(depth),
        };
        let docs = json!({"description": "Elsewhere.", "url": "https://example.com"});
        let any = json!({"description": "What it is.", "nullable": true, "title": "A title", "example": {"any": [1]},
            "externalDocs": docs});
        self.some(5, &mut schema, any);
        if has_type(&schema) {
            let rules = self.rules();
            self.some(5, &mut schema, json!({"x-kubernetes-validations": rules}));
        }
        schema
    }

    /// Rules that all values of all types meet, at no cost: there may be any number of values.
    fn rules(&mut self) -> Value {
        let all = [
            json!({"rule": "true", "message": "Never."}),
            json!({"rule": "(true)", "message": "say \"b\" in C:\\", "reason": "FieldValueForbidden"}),
            json!({"rule": "\n  true\n", "messageExpression": "'a'"}),
        ];
        json!([self.0.pick(&all)])
    }

    /// Rules of a spec, which all values meet.
    fn rules_of_spec(&mut self) -> Value {
        let all = [
            json!({"rule": "has(self.chosen) || 'a\\\\b'.matches(\"b\")", "reason": "FieldValueRequired", "fieldPath": ".chosen"}),
            json!({"rule": "!has(self.chosen)\n  || [1, 2].all(x, x > 0)", "message": "No number is 0."}),
            json!({"rule": "has(self.chosen) == has(self.chosen)", "messageExpression": "'ü' + \"b\"", "message": "a"}),
            json!({"rule": "oldSelf.hasValue() || 1 < 2", "optionalOldSelf": true}),
            json!({"rule": "has(oldSelf.chosen) ? 1u != 2u : true"}),
        ];
        let count = 1 + self.0.below(3);
        (0..count).map(|_| self.0.pick(&all).clone()).collect()
    }

    fn text(&mut self) -> Value {
        let mut schema = json!({"type": "string"});
        match self.0.below(4) {
            0 => self.some(2, &mut schema, json!({"enum": ["a", "b"], "default": "b"})),
            1 => schema["format"] = json!(*self.0.pick(&["date-time", "byte", "uuid", "date"])),
            _ => self.some(
                2,
                &mut schema,
                json!({"minLength": 1, "maxLength": 7, "pattern": "^[a-z]*$", "default": "aaa"}),
            ),
        }
        schema
    }

    fn number(&mut self, kind: &str, formats: [&str; 2]) -> Value {
        let (mut schema, format) = (json!({"type": kind}), *self.0.pick(&formats));
        self.some(
            2,
            &mut schema,
            json!({"minimum": -2, "maximum": 8, "multipleOf": 2, "default": 4, "format": format}),
        );
        for (bound, exclusive) in [("minimum", "exclusiveMinimum"), ("maximum", "exclusiveMaximum")] {
            if schema.get(bound).is_some() && self.one_in(2) {
                schema[exclusive] = json!(true);
            }
        }
        self.some(6, &mut schema, json!({"enum": [4]}));
        schema
    }

    fn map(&mut self, depth: usize) -> Value {
        let mut schema = json!({"type": "object", "additionalProperties": self.schema(depth - 1)});
        self.some(3, &mut schema, json!({"minProperties": 1, "maxProperties": 3, "x-kubernetes-map-type": "atomic"}));
        schema
    }

    fn structure(&mut self, depth: usize) -> Value {
        if self.one_in(8) {
            return json!({"type": "object", "x-kubernetes-embedded-resource": true, "x-kubernetes-preserve-unknown-fields": true});
        }
        let names = ["a", "b", "c", "a/b", "a.b", "x~y", "items", "type", "inUse"];
        let chosen = names.into_iter().filter(|_| self.0.one_in(3)).collect::<Vec<_>>();
        let properties: Map<_, _> = chosen.iter().map(|name| ((*name).to_owned(), self.schema(depth - 1))).collect();
        let mut schema = json!({"type": "object", "properties": properties});
        if let Some(first) = chosen.first() {
            let branch = json!({"required": [first]});
            let none = json!({"not": {"required": [first]}});
            self.some(3, &mut schema, json!({"required": [first]}));
            self.some(
                8,
                &mut schema,
                json!({"allOf": [branch, branch], "anyOf": [branch, none], "oneOf": [branch, none], "not": none}),
            );
        }
        self.some(4, &mut schema, json!({"x-kubernetes-map-type": "atomic", "x-kubernetes-preserve-unknown-fields": true, "minProperties": 0}));
        schema
    }

    fn list(&mut self, depth: usize) -> Value {
        let mut schema = match self.0.below(3) {
            0 => json!({"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}}),
            1 => {
                let mut items = self.structure(depth);
                let keys = [json!(["key"]), json!(["key", "port"])];
                items["properties"]["key"] = json!({"type": "string"});
                items["properties"]["port"] = json!({"type": "integer", "default": 1});
                items["required"] = json!(["key"]);
                items.as_object_mut().expect("an object").remove("x-kubernetes-embedded-resource");
                json!({"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": self.0.pick(&keys), "items": items})
            }
            _ => json!({"type": "array", "items": self.schema(depth - 1)}),
        };
        if schema["items"]["nullable"] == true {
            schema["items"]["nullable"] = json!(false);
        }
        self.some(3, &mut schema, json!({"minItems": 1, "maxItems": 9}));
        schema
    }

    fn version(&mut self, name: &str) -> Value {
        let mut spec = self.structure(3);
        for removed in ["x-kubernetes-embedded-resource", "minProperties"] {
            spec.as_object_mut().expect("an object").remove(removed);
        }
        spec["properties"]["chosen"] = json!({"type": "string"});
        let rules = self.rules_of_spec();
        self.some(3, &mut spec, json!({"x-kubernetes-validations": rules}));
        // Some are no numbers of replicas in Rust.
        let mut replicas = json!({"type": "integer"});
        if !self.one_in(4) {
            replicas["format"] = json!("int32");
        }
        let status = json!({"type": "object", "properties": {"replicas": replicas, "selector": {"type": "string"}}});
        let mut root = json!({"type": "object", "properties": {"spec": spec, "status": status}});
        let short = json!({"type": "object", "properties": {"name": {"type": "string", "maxLength": 3}}});
        self.some(3, &mut root["properties"], json!({"metadata": short}));
        self.some(3, &mut root, json!({"description": "A thing.", "required": ["spec"]}));
        let mut version = json!({"name": name, "schema": {"openAPIV3Schema": root}, "served": !self.one_in(5), "storage": name == "v1"});
        let mut parts = json!({});
        let mut scale = json!({"specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.replicas"});
        self.some(2, &mut scale, json!({"labelSelectorPath": ".status.selector"}));
        if self.one_in(2) {
            root_of(&mut version)["properties"]["spec"]["properties"]["replicas"] = replicas;
            self.some(2, &mut parts, json!({"scale": scale}));
        }
        self.some(2, &mut parts, json!({"status": {}}));
        let column = |name: &str, kind: &str, path: &str| json!({"name": name, "type": kind, "jsonPath": path});
        let mut columns =
            vec![column("Chosen", "string", ".spec.chosen"), column("Count", "integer", ".status.replicas")];
        self.some(2, &mut columns[1], json!({"format": "int32", "priority": 1, "description": "How many."}));
        columns.truncate(1 + self.0.below(2));
        self.some(
            2,
            &mut version,
            json!({"subresources": parts, "additionalPrinterColumns": columns,
            "selectableFields": [{"jsonPath": ".spec.chosen"}], "deprecated": true}),
        );
        if version["deprecated"] == true {
            self.some(2, &mut version, json!({"deprecationWarning": "Use something else."}));
        }
        version
    }

    /// A CustomResourceDefinition in the group `g<number>.random.example.com`, in one to three versions.
    pub fn definition(&mut self, number: usize) -> Value {
        let group = format!("g{number}.random.example.com");
        let mut names = json!({"plural": "things", "kind": "Thing"});
        self.some(2, &mut names, json!({"singular": "thingy", "listKind": "Things", "shortNames": ["th", "ty"], "categories": ["all", "some"]}));
        let versions: Vec<_> = ["v1", "v1beta1", "v2"].into_iter().take(1 + self.0.below(3)).collect();
        let mut versions: Vec<_> = versions.into_iter().map(|name| self.version(name)).collect();
        // A definition of which no version is served is refused.
        versions[0]["served"] = json!(true);
        json!({
            "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": format!("things.{group}")},
            "spec": {"group": group, "scope": self.0.pick(&["Namespaced", "Cluster"]), "names": names, "versions": versions},
        })
    }
}

fn root_of(version: &mut Value) -> &mut Value {
    &mut version["schema"]["openAPIV3Schema"]
}
