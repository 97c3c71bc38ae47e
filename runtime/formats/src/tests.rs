//! Tests of what definitions take. Every front end keeps each bound.
use std::time::{Duration, Instant};

use serde_json::{Map, Value, json};

use crate::{
    crd,
    kind::budget::{BOUNDS, Resource, Usage, length},
    openapi,
    schema::{default, fixture::schema},
};

/// A definition of things with this schema of their spec, and columns.
fn things(spec: &Value, columns: &Value) -> Value {
    let root = json!({"type": "object", "properties": {"spec": spec}});
    json!({
        "apiVersion": crd::API_VERSION, "kind": "CustomResourceDefinition", "metadata": {"name": "things.example.com"},
        "spec": {
            "group": "example.com", "scope": "Namespaced", "names": {"plural": "things", "kind": "Thing"},
            "versions": [{
                "name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": root},
                "additionalPrinterColumns": columns,
            }],
        },
    })
}

fn usage(spec: &Value, columns: &Value) -> Usage {
    match crd::define(&things(spec, columns)) {
        Ok(defined) => Usage::of(&defined.definition),
        Err(findings) => panic!("{:?}", findings.errors),
    }
}

fn errors(definition: &Value) -> Vec<String> {
    let Err(findings) = crd::define(definition) else { panic!("nothing is wrong") };
    findings.errors.iter().map(|fault| fault.error.to_string()).collect()
}

fn fields(count: usize, field: impl Fn(usize) -> Value) -> Value {
    let fields: Map<_, _> = (0..count).map(|number| (format!("f{number}"), field(number))).collect();
    json!({"type": "object", "properties": fields})
}

#[test]
fn each_part_is_counted_and_what_is_equal_once() {
    let spec = json!({"type": "object", "required": ["a"], "properties": {
        "a": {"type": "string", "pattern": "^[a-z]+$", "default": "x"},
        "b": {"type": "string", "pattern": "^[a-z]+$", "enum": ["a", "b"]},
        "c": {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"], "items": {
            "type": "object", "required": ["k"], "properties": {"k": {"type": "string", "pattern": "^x$"}},
        }},
        "d": {"type": "object", "anyOf": [{"required": ["e"]}, {"required": ["f"]}], "properties": {
            "e": {"type": "integer"}, "f": {"type": "integer"},
        }},
    }});
    let columns = json!([
        {"name": "A", "type": "string", "jsonPath": ".spec.a"}, {"name": "C", "type": "string", "jsonPath": ".spec.c[0].k"},
    ]);
    let usage = usage(&spec, &columns);
    for (resource, count) in [
        (Resource::Versions, 1),
        (Resource::Schemas, 12),
        (Resource::EnumValues, 2),
        (Resource::RequiredNames, 4),
        (Resource::ListKeys, 1),
        (Resource::Patterns, 2),
        (Resource::PatternText, 11),
        (Resource::DefaultText, 3),
        (Resource::FilledDefault, 3),
        (Resource::Columns, 2),
        (Resource::ColumnSteps, 6),
    ] {
        assert_eq!(usage[resource], count, "{resource:?}");
    }
    assert!(usage[Resource::CompiledPatterns] > 500 && usage[Resource::OpenApi] > 400);
}

#[test]
fn a_default_is_measured_as_it_is_filled() {
    let declared = json!({"type": "object", "properties": {
        "a": {"type": "object", "default": {"b": {"d": "own"}, "list": [{}, {"x": "given"}, {"y": 1}], "map": {"k": {}}}, "properties": {
            "b": {"type": "object", "default": {"c": "not used"}, "properties": {
                "c": {"type": "string", "default": "xxxxxxxxxx"}, "d": {"type": "string", "default": "not used"},
            }},
            "list": {"type": "array", "items": {"type": "object", "properties": {
                "x": {"type": "string", "default": "0123456789"}, "y": {"type": "integer"},
            }}},
            "map": {"type": "object", "additionalProperties": {"type": "object", "properties": {
                "z": {"type": "object", "default": {}, "properties": {"q": {"type": "string", "default": "qqq"}}},
            }}},
        }},
    }});
    let schema = schema(&declared);
    let mut object = json!({});
    default(&schema, &mut object, &crate::schema::Meter::default()).unwrap();
    let filled = crate::kind::budget::DefaultSizes::default().of(schema.properties.get("a").unwrap());
    let is = length(&object["a"]);
    assert!(filled.abs_diff(is) <= 16, "{filled} {is}");
}

#[test]
fn defaults_that_multiply_are_refused_without_filling_them() {
    let text = "x".repeat(20_000);
    let item = json!({"type": "object", "properties": {"text": {"type": "string", "default": text}}});
    let list = json!({"type": "array", "items": item, "default": vec![json!({}); 100]});
    let found = errors(&things(&json!({"type": "object", "properties": {"list": list}}), &json!([])));
    assert_eq!(
        found,
        [
            "spec.versions: Forbidden: the definition has 2001602 bytes of a default with the defaults in it in all of its \
         versions; supported: at most 131072"
        ]
    );
    // Ten levels of ten.
    let nested = (0..10).fold(json!({"type": "string", "default": "x"}), |inner, _| {
        let item = json!({"type": "object", "properties": {"a": inner}});
        json!({"type": "array", "items": item, "default": vec![json!({}); 10]})
    });
    let start = Instant::now();
    let found = errors(&things(&json!({"type": "object", "properties": {"list": nested}}), &json!([])));
    assert!(found[0].contains("bytes of a default") && start.elapsed() < Duration::from_secs(1), "{found:?}");
}

#[test]
fn each_bound_is_kept_by_manifests() {
    let many = |count: u64, field: &dyn Fn(usize) -> Value| fields(usize::try_from(count).unwrap() + 1, field);
    let column = |path: &str| json!({"name": "N", "type": "string", "jsonPath": path});
    let of = |resource: Resource| BOUNDS[resource as usize].1;
    let texts = |count: u64| (0..=count).map(|number| format!("v{number}")).collect::<Vec<_>>();
    let over: [(Resource, Value, Value); 11] = [
        (Resource::Schemas, many(of(Resource::Schemas), &|_| json!({"type": "string"})), json!([])),
        (Resource::EnumValues, json!({"type": "string", "enum": texts(of(Resource::EnumValues))}), json!([])),
        (Resource::RequiredNames, json!({"type": "object", "required": texts(of(Resource::RequiredNames))}), json!([])),
        (
            Resource::ListKeys,
            json!({"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": texts(of(Resource::ListKeys))}),
            json!([]),
        ),
        (
            Resource::Patterns,
            many(of(Resource::Patterns), &|number| json!({"type": "string", "pattern": number.to_string()})),
            json!([]),
        ),
        (
            Resource::PatternText,
            fields(5, |number| json!({"type": "string", "pattern": format!("{number}{}", "x".repeat(15_000))})),
            json!([]),
        ),
        (
            Resource::PatternClasses,
            fields(11, |number| json!({"type": "string", "pattern": format!("{number}[{}]", r"\pL".repeat(95))})),
            json!([]),
        ),
        (
            Resource::CompiledPatterns,
            fields(45, |number| json!({"type": "string", "pattern": format!("{number}{}", "x{1000}".repeat(30))})),
            json!([]),
        ),
        (Resource::DefaultText, many(20, &|_| json!({"type": "string", "default": "x".repeat(7_000)})), json!([])),
        (Resource::Columns, json!({"type": "object"}), vec![column(".spec"); 501].into()),
        (Resource::ColumnSteps, json!({"type": "object"}), vec![column(&".a".repeat(700)); 3].into()),
    ];
    for (resource, spec, columns) in over {
        let found = errors(&things(&spec, &columns));
        let name = BOUNDS[resource as usize].2;
        assert_eq!(found.len(), 1, "{resource:?} {}", found.len());
        let error = &found[0];
        assert!(error.starts_with("spec.versions: Forbidden: the definition has ") && error.contains(name), "{error}");
        assert!(error.ends_with(&format!("supported: at most {}", of(resource))), "{error}");
    }
    let mut versions = things(&json!({"type": "object"}), &json!([]));
    let first = versions["spec"]["versions"][0].clone();
    let version = |number: usize| {
        let mut version = first.clone();
        (version["name"], version["storage"]) = (format!("v{number}").into(), (number == 1).into());
        version
    };
    versions["spec"]["versions"] = (1..=101).map(version).collect();
    assert!(errors(&versions)[0].contains("101 versions"));
    let mut versions = things(&fields(8, |_| json!({"type": "string"})), &json!([]));
    let mut first = versions["spec"]["versions"][0].clone();
    first["selectableFields"] = (0..8).map(|number| json!({"jsonPath": format!(".spec.f{number}")})).collect();
    let version = |number: usize| {
        let mut version = first.clone();
        (version["name"], version["storage"]) = (format!("v{number}").into(), (number == 1).into());
        version
    };
    versions["spec"]["versions"] = (1..=5).map(version).collect();
    assert!(crd::define(&versions).is_ok());
    versions["spec"]["versions"] = (1..=6).map(version).collect();
    assert!(errors(&versions)[0].contains("48 selectable fields"));
}

#[test]
fn each_bound_is_kept_by_openapi_documents() {
    let text = json!({
        "openapi": "3.0.0", "info": {"title": "t", "version": "v"},
        "paths": {"/apis/example.com/v1/things": {"post": {
            "x-kubernetes-group-version-kind": {"group": "example.com", "version": "v1", "kind": "Thing"},
            "x-kubernetes-action": "post",
            "requestBody": {"content": {"*/*": {"schema": {"$ref": "#/components/schemas/Thing"}}}},
            "responses": {"201": {"description": "Created", "content": {"*/*": {"schema": {"$ref": "#/components/schemas/Thing"}}}}},
        }}},
        "components": {"schemas": {"Thing": {
            "type": "object",
            "x-kubernetes-group-version-kind": [{"group": "example.com", "version": "v1", "kind": "Thing"}],
            "properties": {"spec": fields(1_001, |number| json!({"type": "string", "pattern": number.to_string()}))},
        }}},
    })
    .to_string();
    let report = openapi::read(&[openapi::Source::new("things.json", text.as_bytes())]).unwrap_err().to_string();
    assert!(
        report.contains("the definition has 1001 distinct patterns in all of its versions; supported: at most 1000"),
        "{report}"
    );
}

/// Definitions of a few megabytes, each with many of one thing.
fn hostile() -> Vec<(&'static str, Value)> {
    let leaf = json!({"type": "string"});
    let deep = (0..80).fold(leaf.clone(), |inner, _| json!({"type": "object", "properties": {"a": inner}}));
    let branches = |depth: usize| {
        (0..depth).fold(json!({"minLength": 1}), |inner, _| json!({"allOf": [{"anyOf": [inner.clone(), inner]}]}))
    };
    let patterns = |count: usize, text: &str| {
        fields(count, |number| json!({"type": "string", "pattern": format!("{text}{number}")}))
    };
    let mut junctors = leaf.clone();
    junctors["anyOf"] = branches(13)["allOf"][0]["anyOf"].clone();
    let defaults = |count: usize| {
        json!({
            "type": "array", "default": vec![json!({}); count],
            "items": {"type": "object", "required": (0..10_000).map(|number| format!("r{number}")).collect::<Vec<_>>()},
        })
    };
    let chosen: Vec<_> = (0..15_000).map(|number| json!(format!("{number}"))).collect();
    let mut chosen_twice = json!({"type": "array", "items": {"type": "string", "enum": chosen}});
    chosen_twice["default"] = (0..10_000).map(|number| json!(format!("{}", 14_999 - number))).collect();
    vec![
        ("fields that differ in a bound", fields(29_000, |number| json!({"type": "integer", "maximum": number}))),
        ("fields that differ in an enum", fields(15_000, |number| json!({"type": "integer", "enum": [number]}))),
        ("equal deep fields", fields(350, |_| deep.clone())),
        ("branches", json!({"type": "object", "properties": {"a": junctors}})),
        ("patterns with classes", patterns(1_000, r"[\pL\pN]{1,9}")),
        ("patterns without regard to case", patterns(4, &"(?i:[^a])".repeat(1_700))),
        ("patterns of many classes", patterns(4, &r"\pL".repeat(5_000))),
        ("defaults of many items", json!({"type": "object", "properties": {"a": defaults(2_000)}})),
        ("defaults of many values", json!({"type": "object", "properties": {"a": chosen_twice}})),
    ]
}

#[test]
fn hostile_definitions_are_read_or_refused_in_time() {
    for (name, spec) in hostile() {
        let definition = things(&spec, &json!([]));
        let (size, start) = (definition.to_string().len(), Instant::now());
        let errors = crd::define(&definition).map_or_else(|findings| findings.errors.len(), |_| 0);
        let took = start.elapsed();
        println!("{name}: {size} bytes, {errors} errors, {took:?}");
        assert!(took < Duration::from_secs(20), "{name} took {took:?}");
    }
}
