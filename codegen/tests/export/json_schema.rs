//! JSON Schema: what it accepts and refuses, and that editors can read it.

use std::collections::BTreeMap;

use kindsmith::testing;
use kindsmith_codegen::{ResourceDeclaration, export::json_schema};
use serde_json::{Value, json};

use crate::{corpus, own_kinds};

fn validator(document: &Value) -> jsonschema::Validator {
    jsonschema::draft7::options().should_validate_formats(true).build(document).unwrap()
}

fn order() -> Value {
    json!({
        "apiVersion": "bakery.example.com/v1",
        "kind": "Order",
        "metadata": {"name": "breakfast"},
        "spec": {"customer": "Ishmael", "items": [{"name": "rye", "count": 2}]},
    })
}

/// A valid order with one part changed; `null` removes it.
fn changed(pointer: &str, value: Value) -> Value {
    let mut order = order();
    let (parent, name) = pointer.rsplit_once('/').unwrap();
    let parent = order.pointer_mut(parent).unwrap().as_object_mut().unwrap();
    if value == json!("absent") {
        parent.remove(name);
    } else {
        parent.insert(name.to_owned(), value);
    }
    order
}

fn schema_of(kinds: &[ResourceDeclaration], kind: &str) -> Value {
    let definition = kinds.iter().map(|of| &of.definition).find(|of| of.shared.names.kind == kind).unwrap();
    json_schema::of_version(definition, &definition.versions[0]).document
}

#[test]
fn a_schema_accepts_what_the_server_accepts() {
    let validator = validator(&schema_of(&own_kinds(), "Order"));
    let rye = || json!({"name": "rye"});
    for (pointer, value, expected) in [
        ("/kind", json!("Order"), true),
        ("/kind", json!("order"), false),
        ("/apiVersion", json!("bakery.example.com/v2"), false),
        ("/apiVersion", json!("absent"), false),
        ("/metadata", json!("absent"), false),
        ("/metadata/name", json!("absent"), false),
        ("/metadata", json!({"generateName": "breakfast-"}), true),
        ("/metadata/name", json!("Break fast"), false),
        ("/metadata/labels", json!({"a": "b"}), true),
        ("/metadata/labels", json!({"a": 1}), false),
        ("/metadata/label", json!({}), false),
        ("/spec/customer", json!(""), false),
        ("/spec/customer", json!("absent"), false),
        ("/spec/customer", json!(null), false),
        ("/spec/pickup", json!("2026-01-02T03:04:05Z"), true),
        ("/spec/pickup", json!("tomorrow"), false),
        ("/spec/pickup", json!(null), true),
        ("/spec/pickUp", json!("2026-01-02T03:04:05Z"), false),
        ("/spec/items", json!([]), false),
        ("/spec/items", json!([rye()]), true),
        ("/spec/items", json!([rye(), rye()]), false),
        ("/spec/items", json!([{"name": "rye", "count": 0}]), false),
        ("/spec/items", json!([{"name": "rye", "count": 3_000_000_000_i64}]), false),
        ("/spec/items", json!([{"name": "rye", "count": 1.5}]), false),
        ("/status", json!({"conditions": [{"type": "Ready", "status": "Yes"}]}), false),
        ("/status", json!({"conditions": [{"type": "Ready", "status": "True"}]}), true),
    ] {
        let document = changed(pointer, value);
        let errors: Vec<_> = validator.iter_errors(&document).map(|error| error.to_string()).collect();
        assert_eq!(errors.is_empty(), expected, "{document:#}\n{errors:?}");
    }
}

#[test]
fn texts_and_numbers_of_all_types_are_described() {
    let marina = own_kinds();
    let berth = validator(&schema_of(&marina, "Berth"));
    let of = |power: Value| {
        json!({
            "apiVersion": "marina.example.com/v1", "kind": "Berth", "metadata": {"name": "a"},
            "spec": {"size": {"length": 1, "beam": 2}, "power": power},
        })
    };
    for (power, expected) in [(json!("500m"), true), (json!(16), true), (json!("16 A"), false), (json!(true), false)] {
        assert_eq!(berth.is_valid(&of(power.clone())), expected, "{power}");
    }
    let schema = schema_of(&marina, "Booking");
    assert_eq!(
        schema["definitions"]["com.example.marina.v1.Sailor"]["properties"]["arrivesBy"]["type"],
        json!(["integer", "string", "null"])
    );
    assert_eq!(
        schema["definitions"]["com.example.marina.v1.BookingSpec"]["properties"]["crew"]["x-kubernetes-list-map-keys"],
        json!(["name"])
    );
}

#[test]
fn one_file_chooses_the_schema_by_version_and_kind() {
    let kinds = own_kinds();
    let schemas = json_schema::files(kinds.iter().map(|declaration| &declaration.definition));
    let files: BTreeMap<_, _> = schemas.files.iter().map(|file| (&*file.path, &*file.text)).collect();
    let paths: Vec<_> = files.keys().copied().collect();
    assert_eq!(
        paths,
        [
            "all.json",
            "bakery.example.com/order_v1.json",
            "marina.example.com/berth_v1.json",
            "marina.example.com/booking_v1.json"
        ]
    );
    let base = "https://example.com/schemas/";
    let mut registry = jsonschema::Registry::new();
    for (path, text) in &files {
        let document: Value = serde_json::from_str(text).unwrap();
        registry = registry.add(format!("{base}{path}"), document).unwrap();
    }
    let registry = registry.prepare().unwrap();
    let all: Value = serde_json::from_str(files["all.json"]).unwrap();
    let validator = jsonschema::draft7::options()
        .with_registry(&registry)
        .with_base_uri(format!("{base}all.json"))
        .build(&all)
        .unwrap();
    assert!(validator.is_valid(&order()));
    assert!(!validator.is_valid(&changed("/spec/customer", json!(""))));
    assert!(!validator.is_valid(&changed("/kind", json!("Berth"))), "no such pair");
    assert!(!validator.is_valid(&changed("/kind", json!("Pastry"))));
    assert!(!validator.is_valid(&changed("/apiVersion", json!("absent"))));
}

#[test]
fn schemas_of_the_corpus_can_be_read_and_accept_the_examples() {
    for declaration in corpus() {
        let definition = &declaration.definition;
        for (kind, version) in definition.kinds(declaration.policy).iter().zip(&definition.versions) {
            let written = json_schema::of_version(definition, version);
            assert_eq!(written.warnings, Vec::<String>::new());
            let example = testing::example(kind).unwrap();
            let validator = validator(&written.document);
            let errors: Vec<_> = validator.iter_errors(&example).map(|error| error.to_string()).collect();
            assert!(errors.is_empty(), "{} {}: {errors:?}\n{example:#}", definition.shared.group_kind(), version.name);
        }
    }
}
