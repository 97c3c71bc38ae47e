//! Definitions and documents with hostile names.
use kindsmith_tests::Random;
use serde_json::{Map, Value, json};

/// The separator between the files of an input.
pub(crate) const SEPARATOR: char = '\u{1e}';

/// Texts that would break out of code, of paths, of folders, of comments or of lines, and invalid names.
pub(crate) const HOSTILE: &[&str] = &[
    "v1; pub fn evil() {} mod y",
    "} pub fn evil() {} mod y {",
    "\"; fn evil() {} const X: &str = \"",
    "\"#; fn evil() {} //",
    "../../../x",
    "/etc/x",
    "..",
    ".",
    "{",
    "}",
    "{name}",
    "\n",
    "\npub fn evil() {}\n",
    "\r",
    "\r\nfn evil() {}",
    "\u{0}",
    "*/ fn evil() {} /*",
    "\"\"\"",
    "'''",
    "]] fn evil() {} [[",
    "a\ncargo::rustc-link-arg=evil",
    "a: b\n---\nkind: evil",
    "a = 1; optional string evil",
    "; } message evil {",
    "<script>evil()</script>",
    "](javascript:evil)",
    "```\nevil",
    "| evil |",
    "\\",
    "größe",
    "\u{212a}",
    "²",
    "\u{345}",
    "\u{202e}",
    "\u{2028}",
    "-",
    "_",
    "4th",
    "",
    "type",
    "self",
    "Self",
    "crate",
    "super",
    "mod",
    "fn",
    "async",
    "r#type",
    "None",
    "Option",
    "String",
    "Vec",
    "ObjectMeta",
    "metadata",
    "apiVersion",
    "kind",
    "status",
    "{{evil}}",
    "${evil}",
    "$(evil)",
    "#[evil]",
    "evil!()",
];

const USUAL: &[&str] =
    &["a", "gears", "Gear", "teeth", "v1", "v2beta1", "example.com", "spec", "size", "io.example.Gear"];

/// A name: the usual one, mostly.
fn name(usual: &str, random: &mut Random) -> String {
    match random.below(24) {
        0 => (*random.pick(HOSTILE)).to_owned(),
        1 => format!("{usual}{}", random.pick(HOSTILE)),
        _ => usual.to_owned(),
    }
}

/// A name or a text that may be anything.
fn free(random: &mut Random) -> String {
    let names = if random.one_in(2) { HOSTILE } else { USUAL };
    (*random.pick(names)).to_owned()
}

/// A schema.
fn schema(depth: usize, random: &mut Random) -> Value {
    let mut schema = match random.below(if depth == 0 { 7 } else { 11 }) {
        0 => json!({"type": "string"}),
        1 => json!({"type": "integer", "format": "int32", "minimum": 1, "default": 2}),
        2 => json!({"type": "boolean"}),
        3 => json!({"type": "number"}),
        4 => {
            let values: Vec<String> = (0..=random.below(3)).map(|_| free(random)).collect();
            json!({"type": "string", "default": values[0], "enum": values})
        }
        5 => json!({"type": "string", "pattern": free(random), "default": free(random)}),
        6 => json!({"x-kubernetes-int-or-string": true}),
        7 => json!({"type": "array", "items": schema(depth - 1, random)}),
        8 => json!({"type": "object", "additionalProperties": schema(depth - 1, random)}),
        _ => object(depth - 1, random),
    };
    if random.one_in(2) {
        schema["description"] = json!(free(random));
    }
    if random.one_in(8) {
        schema["x-kubernetes-validations"] = json!([{"rule": "self == self", "message": free(random)}]);
    }
    schema
}

fn object(depth: usize, random: &mut Random) -> Value {
    let properties = (0..random.below(4)).map(|_| (free(random), schema(depth, random)));
    let properties: Map<_, _> = properties.collect();
    let required: Vec<&String> = properties.keys().take(random.below(3)).collect();
    json!({"type": "object", "required": required, "properties": properties})
}

fn names(random: &mut Random) -> (String, String) {
    let kind = name(if random.one_in(2) { "Gear" } else { "HTTPRoute" }, random);
    (kind, name("gears", random))
}

/// A manifest of a definition.
fn manifest(random: &mut Random) -> Value {
    let ((kind, plural), group) = (names(random), name("example.com", random));
    let version = |number: usize, random: &mut Random| {
        let columns: Vec<Value> = (0..random.below(3))
            .map(|_| json!({"name": free(random), "type": "string", "jsonPath": ".spec.size", "description": free(random)}))
            .collect();
        let schema = json!({"type": "object", "description": free(random), "properties": {"spec": object(3, random), "status": object(1, random)}});
        json!({"name": name(&format!("v{number}"), random), "served": true, "storage": number == 1,
            "deprecated": true, "deprecationWarning": "Old.",
            "additionalPrinterColumns": columns, "subresources": {"status": {}},
            "schema": {"openAPIV3Schema": schema}})
    };
    let versions: Vec<Value> = (1..=1 + random.below(2)).map(|number| version(number, random)).collect();
    json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": format!("{plural}.{group}")},
        "spec": {"group": group, "scope": "Namespaced", "versions": versions,
            "names": {"plural": plural, "kind": kind, "shortNames": [name("g", random)], "categories": [name("all", random)]}}})
}

/// An OpenAPI document.
fn document(random: &mut Random) -> Value {
    let ((kind, plural), group, version) = (names(random), name("example.com", random), name("v1", random));
    let at = json!({"group": group, "version": version, "kind": kind});
    let component = if random.one_in(2) { "com.example.v1.Gear".to_owned() } else { free(random) };
    let reference = format!("#/components/schemas/{}", component.replace('~', "~0").replace('/', "~1"));
    let body = json!({"content": {"*/*": {"schema": {"$ref": reference}}}});
    let operation = |action: &str| {
        json!({"x-kubernetes-action": action, "x-kubernetes-group-version-kind": at, "deprecated": action == "list",
            "responses": {"200": body}})
    };
    let root = format!("/apis/{group}/{version}/namespaces/{{namespace}}/{plural}");
    let subresource = name("turn", random);
    let nested = free(random);
    let nested_reference = format!("#/components/schemas/{}", nested.replace('~', "~0").replace('/', "~1"));
    json!({"openapi": "3.0.0", "info": {"title": free(random), "version": "1"},
        "paths": {
            &root: {"get": operation("list"), "post": operation("post")},
            format!("{root}/{{name}}"): {"get": operation("get"), "put": operation("put")},
            format!("{root}/{{name}}/{subresource}"): {"post": operation("post")}},
        "components": {"schemas": {
            nested: object(2, random),
            component: {"type": "object", "description": free(random), "x-kubernetes-group-version-kind": [at],
                "properties": {"metadata": {"type": "object"}, "spec": object(3, random),
                    "status": {"$ref": nested_reference}}}}}})
}

/// An overlay.
fn overlay(random: &mut Random) -> Value {
    json!({"apiVersion": "kindsmith/v1", "kind": "Overlay", "resources": [{
        "resource": name("gears.example.com", random), "singular": name("gear", random),
        "shortNames": [name("g", random)], "categories": [name("all", random)],
        "columns": [{"name": free(random), "type": "string", "cell": "join(.spec.size, 'x')", "description": free(random)}]}]})
}

/// A discovery document.
fn discovery(random: &mut Random) -> Value {
    json!({"kind": "APIResourceList", "groupVersion": "example.com/v1", "resources": [{
        "name": name("gears", random), "singularName": name("gear", random), "namespaced": true, "kind": "Gear",
        "verbs": ["get", "list", "create", "update"], "shortNames": [name("g", random)], "categories": [name("all", random)]}]})
}

/// Some files.
pub(crate) fn files(random: &mut Random) -> String {
    let mut files = vec![if random.one_in(2) { manifest(random) } else { document(random) }];
    for make in [overlay, discovery, manifest, document] {
        if random.one_in(4) {
            files.push(make(random));
        }
    }
    files.iter().map(Value::to_string).collect::<Vec<_>>().join(&SEPARATOR.to_string())
}
