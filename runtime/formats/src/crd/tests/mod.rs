//! Tests of reading definitions: kinds, errors, warnings.
mod property;
mod rules;
mod versions;
mod write;

use serde_json::{Map, Value, json};

use super::*;
use crate::{
    kind::model::Cell,
    meta::field::MOST_ERRORS,
    schema::{self, Either, Meter, Type},
};

/// A definition of gears around the schema of their spec.
fn gears(spec: &Value) -> Value {
    let root = json!({"type": "object", "properties": {"spec": spec}});
    json!({
        "apiVersion": API_VERSION, "kind": "CustomResourceDefinition", "metadata": {"name": "gears.example.com"},
        "spec": {
            "group": "example.com", "scope": "Namespaced", "names": {"plural": "gears", "kind": "Gear"},
            "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": root}}],
        },
    })
}

fn errors(definition: &Value) -> Vec<String> {
    let Err(findings) = define(definition) else { panic!("nothing is wrong") };
    findings.errors.iter().map(|fault| fault.error.to_string()).collect()
}

fn warnings(definition: &Value) -> Vec<String> {
    let Ok(defined) = define(definition) else { panic!("{:?}", errors(definition)) };
    defined.warnings.into_iter().map(|warning| format!("{} {}", warning.pointer, warning.text)).collect()
}

#[test]
fn what_a_definition_leaves_out_is_what_kube_apiserver_fills_in() {
    let defined = define(&gears(&json!({"type": "object"}))).ok().unwrap();
    let Definition { shared, storage_version, versions, conversion } = &defined.definition;
    assert_eq!((conversion, versions.len(), &**storage_version), (&Conversion::None, 1, "v1"));
    assert_eq!((&*shared.names.singular, &*shared.names.list_kind), ("gear", "GearList"));
    let columns: Vec<_> = versions[0].columns.iter().map(|column| (&*column.name, &*column.kind)).collect();
    assert_eq!(columns, [("Age", "date")]);
    assert!(versions[0].served && versions[0].generation && !versions[0].status);
}

#[test]
fn a_definition_has_all_versions_and_says_how_objects_are_converted() {
    let mut manifest = gears(&json!({"type": "object"}));
    let mut other = manifest["spec"]["versions"][0].clone();
    other["name"] = json!("v1beta1");
    other["storage"] = json!(false);
    other["deprecated"] = json!(true);
    manifest["spec"]["versions"].as_array_mut().unwrap().insert(0, other);
    let definition = define(&manifest).ok().unwrap().definition;
    assert_eq!(definition.storage_version, "v1");
    assert_eq!(definition.versions.iter().map(|version| &*version.name).collect::<Vec<_>>(), ["v1beta1", "v1"]);
    assert_eq!(definition.versions[0].deprecated.as_deref(), Some("example.com/v1beta1 Gear is deprecated"));
    manifest["spec"]["conversion"] = json!({"strategy": "Webhook", "webhook": {
        "conversionReviewVersions": ["v1"],
        "clientConfig": {"caBundle": "Q0E=", "service": {"namespace": "n", "name": "s", "path": "/convert"}},
    }});
    let defined = define(&manifest).ok().unwrap();
    let Conversion::Webhook(webhook) = &defined.definition.conversion else { panic!("a webhook") };
    let service = webhook.service.as_ref().unwrap();
    assert_eq!((&*service.name, service.port, &*service.path, &*webhook.ca_bundle), ("s", 443, "/convert", "Q0E="));
}

#[test]
fn the_url_of_a_webhook_is_checked_whole() {
    let mut manifest = gears(&json!({"type": "object"}));
    let mut errors = |client: serde_json::Value| {
        manifest["spec"]["conversion"] =
            json!({"strategy": "Webhook", "webhook": {"conversionReviewVersions": ["v1"], "clientConfig": client}});
        let errors = define(&manifest).err().map(|findings| findings.errors).unwrap_or_default();
        errors.iter().map(|fault| fault.error.to_string()).collect::<Vec<_>>().join("; ")
    };
    let at = "spec.conversion.webhookClientConfig";
    let form = "desired format: https://host[/path]";
    for (url, expected) in [
        ("https://10.0.0.1:8443/convert", String::new()),
        ("https://converter.example.com/a%20b", String::new()),
        ("https://[::1]:8443", String::new()),
        ("http://h", format!("url: Invalid value: \"http\": 'https' is the only allowed URL scheme; {form}")),
        ("https:///path", format!("url: Invalid value: \"\": host must be specified; {form}")),
        ("https://u:p@h", "url: Invalid value: \"u:p\": user information is not permitted in the URL".to_owned()),
        ("https://h/#f", "url: Invalid value: \"f\": fragments are not permitted in the URL".to_owned()),
        ("https://h/?q", "url: Invalid value: \"q\": query parameters are not permitted in the URL".to_owned()),
        (
            "https://h:99999/",
            "url: Invalid value: \"99999\": port is not valid: must be between 1 and 65535, inclusive".to_owned(),
        ),
        (
            "https://h:0",
            "url: Invalid value: \"0\": port is not valid: must be between 1 and 65535, inclusive".to_owned(),
        ),
        ("https://a..b", format!("url: Invalid value: \"a..b\": host must be a DNS name or an IP address; {form}")),
        (
            "https://h:x",
            format!(
                "url: Required value: url must be a valid URL: parse \"https://h:x\": invalid port \":x\" after host; {form}"
            ),
        ),
        (
            "https://h/%zz",
            format!(
                "url: Required value: url must be a valid URL: parse \"https://h/%zz\": invalid URL escape \"%zz\"; {form}"
            ),
        ),
    ] {
        let expected = if expected.is_empty() { expected } else { format!("{at}.{expected}") };
        assert_eq!(errors(json!({"url": url})), expected, "{url}");
    }
    let service = |member: &str, value: serde_json::Value| {
        let mut service = json!({"namespace": "n", "name": "s", "path": "/convert", "port": 443});
        service[member] = value;
        json!({"service": service})
    };
    assert_eq!(errors(service("port", json!(65_535))), "");
    assert!(errors(service("port", json!(99_999))).contains("port is not valid"));
    assert!(errors(service("path", json!("convert"))).contains("must start with a '/'"));
    assert!(errors(service("path", json!("/a b"))).contains("segment[0]"));
}

#[test]
fn a_path_of_fields_is_told_from_one_that_filters() {
    let mut definition = gears(&json!({"type": "object", "properties": {"size": {"type": "integer"}}}));
    definition["spec"]["versions"][0]["additionalPrinterColumns"] = json!([
        {"name": "Size", "type": "integer", "jsonPath": ".spec.size", "format": "int32"},
        {"name": "Ready", "type": "string", "jsonPath": ".status.conditions[?(@.type==\"Ready\")].status", "priority": 1},
    ]);
    let versions = define(&definition).ok().unwrap().definition.versions;
    let [size, ready] = &versions[0].columns[..] else { panic!("two columns") };
    assert!(matches!(&size.cell, Cell::Path(path) if path.0 == ["spec", "size"]));
    assert!(matches!(&ready.cell, Cell::JsonPath(path) if path.names().is_none()));
    let described = "Custom resource definition column (in JSONPath format): .spec.size";
    assert_eq!((&*size.format, &*size.description, ready.priority), ("int32", described, 1));
}

#[test]
fn what_is_not_done_is_warned_of() {
    let rules = json!([{"rule": "self.a > 1"}]);
    let spec = json!({"type": "object", "title": "Spec", "x-kubernetes-validations": rules, "properties": {
        "a": {"type": "integer", "misspelt": 1},
        "b": {"type": "object", "additionalProperties": false, "x-kubernetes-preserve-unknown-fields": true},
        "c": {"type": "string", "format": "colour"},
    }});
    let at = "/spec/versions/0/schema/openAPIV3Schema/properties/spec";
    let shown = "spec.versions[0].schema.openAPIV3Schema.properties[spec].properties[a].misspelt";
    let mut found = warnings(&gears(&spec));
    found.sort();
    let mut expected = [
        format!("{at}/properties/a/misspelt unknown field \"{shown}\""),
        format!("{at}/properties/c/format unrecognized format \"colour\""),
    ];
    expected.sort();
    assert_eq!(found, expected);
}

#[test]
fn formats_that_are_not_of_the_type_are_warned_of_and_allow_everything() {
    let spec = json!({"type": "object", "title": "Spec", "properties": {
        "a": {"type": "string", "format": "quantity"}, "b": {"type": "string", "format": "micro-time"},
        "c": {"type": "string", "format": "int32"}, "d": {"type": "integer", "format": "float"},
        "e": {"type": "number", "format": "int32"}, "f": {"type": "boolean", "format": "date"},
        "g": {"type": "string", "format": "uu-id"}, "h": {"type": "string", "format": "datetime"},
        "i": {"x-kubernetes-int-or-string": true, "format": "ipv4"}, "j": {"type": "string", "format": "UUID"},
        "k": {"type": "integer", "format": "uint8"},
    }});
    let found = warnings(&gears(&spec));
    let warned: Vec<_> = found.iter().filter_map(|text| text.rsplit_once("/properties/")?.1.chars().next()).collect();
    assert_eq!(warned, ['a', 'b', 'c', 'd', 'e', 'f', 'j', 'k'], "{found:?}");
    let version = define(&gears(&spec)).ok().unwrap().definition.versions.remove(0);
    let errors = |spec: Value| {
        let found = schema::validate(&version.schema, &json!({"spec": spec}), &Meter::default()).unwrap();
        found.iter().map(|error| error.path.to_string()).collect::<Vec<_>>()
    };
    let any = json!({"a": "x", "b": "x", "c": "x", "d": i64::MAX, "e": 1e300, "f": true, "j": "x", "k": -1});
    assert_eq!(errors(any), Vec::<String>::new());
    assert_eq!(errors(json!({"g": "x", "h": "x", "i": "x"})), ["spec.g", "spec.h", "spec.i"]);
    let good = json!({"g": "123e4567e89b12d3a456426614174000", "h": "2026-01-02t03:04:05z", "i": 5});
    assert_eq!(errors(good), Vec::<String>::new());
}

#[test]
fn what_only_documents_is_kept() {
    let spec = json!({"type": "object", "title": "T", "example": {"a": 1}, "externalDocs": {"url": "https://example.com"},
        "x-kubernetes-validations": [{"rule": "self.a > 1", "reason": "FieldValueInvalid"}],
        "properties": {"a": {"type": "integer"}}});
    let versions = define(&gears(&spec)).ok().unwrap().definition.versions;
    let kept = versions[0].schema.properties["spec"].unenforced.clone().unwrap();
    assert_eq!((&*kept.title, &kept.example), ("T", &Some(json!({"a": 1}))));
    assert_eq!(kept.external_docs, Some(spec["externalDocs"].clone()));
    assert_eq!(json!(versions[0].schema.properties["spec"].rules), spec["x-kubernetes-validations"]);
}

#[test]
fn columns_end_before_one_that_kube_apiserver_cannot_show() {
    let mut definition = gears(&json!({"type": "object"}));
    let column = |path: &str| json!({"name": path, "type": "string", "jsonPath": path});
    let columns = |definition: &Value| define(definition).ok().unwrap().definition.versions[0].columns.len();
    definition["spec"]["versions"][0]["additionalPrinterColumns"] =
        json!([column(".spec.a"), column(".spec.b["), column(".spec.c")]);
    assert_eq!(columns(&definition), 1);
    assert_eq!(
        warnings(&definition),
        ["/spec/versions/0/additionalPrinterColumns/1/jsonPath not a JSONPath: unterminated array: this column and \
         those after it are not shown"]
    );
    definition["spec"]["versions"][0]["additionalPrinterColumns"] = json!([column(".spec.b[")]);
    assert_eq!(columns(&definition), 0, "not even the age");
}

#[test]
fn a_schema_may_say_what_names_are() {
    let mut definition = gears(&json!({"type": "object"}));
    let names = |definition: &Value| define(definition).ok().unwrap().definition.versions[0].names.clone();
    let properties = &mut definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"];
    properties["metadata"] = json!({"type": "object", "properties": {"name": {"type": "string"}}});
    assert_eq!(names(&definition), None);
    let properties = &mut definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"];
    properties["metadata"]["properties"] = json!({"name": {"type": "string", "maxLength": 3, "pattern": "^a"}, "generateName": {"type": "string", "enum": ["a-"]}});
    let schema = names(&definition).unwrap();
    let errors = |metadata: Value| {
        crate::schema::validate(&schema, &json!({"metadata": metadata, "spec": 3}), &crate::schema::Meter::default())
            .unwrap()
            .len()
    };
    assert_eq!(errors(json!({"name": "abc", "labels": {"a": "b"}})), 0);
    assert_eq!(errors(json!({"name": "bcde", "generateName": "b-"})), 2);
    assert_eq!(warnings(&definition), Vec::<String>::new());
}

#[test]
fn a_value_of_a_wrong_type_is_refused_before_anything_else() {
    let mut definition = gears(&json!({"type": ["string", "null"], "maxLength": "1", "required": "a", "not": 3}));
    definition["spec"]["group"] = json!("");
    let at = "spec.versions[0].schema.openAPIV3Schema.properties[spec]";
    let mut found = errors(&definition);
    found.sort();
    assert_eq!(
        found,
        [
            format!("{at}.maxLength: Invalid value: \"1\": must be an integer"),
            format!("{at}.not: Invalid value: 3: must be an object"),
            format!("{at}.required: Invalid value: \"a\": must be a list"),
            format!("{at}.type: Invalid value: [\"string\",\"null\"]: must be a string"),
        ]
    );
}

#[test]
fn versions_that_differ_are_named_each() {
    let mut definition = gears(&json!({"type": "object"}));
    let mut other = definition["spec"]["versions"][0].clone();
    other["name"] = json!("v2");
    other["storage"] = json!(false);
    other["schema"]["openAPIV3Schema"]["properties"]["spec"] = json!({"properties": {"a": {"type": "int"}}});
    definition["spec"]["versions"].as_array_mut().unwrap().push(other);
    let at = "spec.versions[1].schema.openAPIV3Schema.properties[spec]";
    assert_eq!(
        errors(&definition),
        [
            format!("{at}.type: Required value: must not be empty for specified object fields"),
            format!(
                "{at}.properties[a].type: Unsupported value: \"int\": supported values: \"array\", \"boolean\", \
                 \"integer\", \"number\", \"object\", \"string\""
            ),
        ]
    );
}

#[test]
fn an_integer_or_text_may_say_so_in_any_of() {
    let types = json!([{"type": "integer"}, {"type": "string"}]);
    let port = |rest: Value| {
        let mut port = json!({"x-kubernetes-int-or-string": true});
        port.as_object_mut().unwrap().extend(rest.as_object().unwrap().clone());
        let spec = json!({"type": "object", "properties": {"port": port}});
        let defined = define(&gears(&spec)).unwrap_or_else(|findings| panic!("{findings:?}"));
        defined.definition.versions[0].schema.properties["spec"].properties["port"].clone()
    };
    let plain = port(json!({}));
    assert_eq!(plain.kind, Type::IntOrString);
    assert!(matches!(plain.either, Either::Unsaid));
    let any = port(json!({"anyOf": types}));
    assert!(any == plain && matches!(any.either, Either::AnyOf));
    let all = port(json!({"allOf": [{"anyOf": types}]}));
    assert!(all == plain && matches!(all.either, Either::AllOf));
    let matches = port(json!({"allOf": [{"anyOf": types}, {"pattern": "^a"}]}));
    assert!(matches == port(json!({"allOf": [{"pattern": "^a"}]})) && matches!(matches.either, Either::AllOf));
}

#[test]
fn everything_wrong_in_a_file_is_reported_with_its_line() {
    let text = "\
kind: Namespace
apiVersion: v1
---
apiVersion: apiextensions.k8s.io/v1beta1
kind: CustomResourceDefinition
---
# A list, as kubectl prints it.
apiVersion: v1
kind: List
items:
- apiVersion: apiextensions.k8s.io/v1
  kind: CustomResourceDefinition
  metadata: {name: gears.example.com}
  spec:
    group: example.com
    scope: Universe
    names: {plural: gears, kind: Gear}
    versions:
    - name: v1
      served: true
      storage: true
      schema:
        openAPIV3Schema:
          type: object
          properties:
            spec:
              type: objekt
---
# A syntax error.
a:
  b: 1
 c: 2
";
    let Err(report) = read("gears.yaml", text.as_bytes()) else { panic!("nothing is wrong") };
    let shown: Vec<String> = report.to_string().lines().map(str::to_owned).collect();
    let spec = "/items/0/spec/versions/0/schema/openAPIV3Schema/properties/spec";
    assert_eq!(
        shown[..3],
        [
            "gears.yaml:4: document 2, /apiVersion: apiVersion \"apiextensions.k8s.io/v1beta1\" is not supported; \
             supported: \"apiextensions.k8s.io/v1\""
                .to_owned(),
            "gears.yaml:16: document 3, /items/0/spec/scope: spec.scope: Unsupported value: \"Universe\": supported \
             values: \"Cluster\", \"Namespaced\""
                .to_owned(),
            format!(
                "gears.yaml:27: document 3, {spec}/type: \
                 spec.validation.openAPIV3Schema.properties[spec].type: Unsupported value: \"objekt\": supported values: \
                 \"array\", \"boolean\", \"integer\", \"number\", \"object\", \"string\""
            ),
        ]
    );
    assert_eq!(shown[3], "gears.yaml:32: document 4: yaml: did not find expected key");
    assert_eq!(shown.len(), 4);
}

#[test]
fn errors_and_warnings_are_bounded() {
    let properties: Map<_, _> =
        (0..800).map(|number| (format!("p{number}"), json!({"type": "objekt", "unknown": 1}))).collect();
    let patterns: Map<_, _> =
        (0..800).map(|number| (format!("q{number}"), json!({"type": "string", "pattern": "("}))).collect();
    let both: Map<_, _> = properties.into_iter().chain(patterns).collect();
    let definition = gears(&json!({"type": "object", "properties": both}));
    let findings = define(&definition).expect_err("a wrong definition");
    assert_eq!((findings.errors.len(), findings.warnings.len()), (MOST_ERRORS, 800));
}

#[test]
fn a_file_of_too_many_documents_is_refused_at_once() {
    let started = std::time::Instant::now();
    let report = super::read("many.yaml", "---\na\n".repeat(2 << 20).as_bytes()).map(drop).unwrap_err();
    assert_eq!(report.to_string(), "many.yaml:1: document 1: found 2097152 documents in the file; supported: 10000");
    assert!(started.elapsed().as_secs() < 20);
}
