//! Fresh random definitions: written and read again, and as JSON Schema, which judges objects as a server does. `KINDSMITH_SEED` repeats a
//! run.

use kindsmith::{
    FieldErrorKind,
    kind::{Custom, Definition, Kind, crd},
    schema::{self, Schema},
    testing,
};
use kindsmith_codegen::export::json_schema;
use kindsmith_tests::{Definitions, Random};
use serde_json::{Value, json};

/// The number of definitions in each test.
const DEFINITIONS: usize = 200;
/// The number of valid objects of each version, and how often each is changed.
const OBJECTS: usize = 5;
const CHANGES: usize = 10;

fn definition(random: &mut Random, number: usize) -> Definition {
    let document = Definitions(random.fork()).definition(number);
    crd::define(&document).unwrap_or_else(|found| panic!("{:?}\n{document:#}", found.errors)).definition
}

#[test]
fn a_definition_that_is_written_is_accepted_and_defines_the_same() {
    let mut random = Random::from_environment();
    for number in 0..DEFINITIONS {
        let given = definition(&mut random, number);
        let written = crd::write(&given).unwrap();
        assert_eq!(written.warnings, [""; 0]);
        // It is judged by kube-apiserver's rules for definitions.
        let read =
            crd::define(&written.document).unwrap_or_else(|found| panic!("{:?}\n{:#}", found.errors, written.document));
        assert!(
            read.warnings.iter().all(|warning| !warning.is_unknown_field),
            "{:?}\n{:#}",
            read.warnings,
            written.document
        );
        assert_eq!(format!("{:#?}", read.definition), format!("{given:#?}"), "{:#}", written.document);
    }
}

#[test]
fn json_schema_accepts_exactly_what_a_server_accepts() {
    let mut random = Random::from_environment();
    let mut counts = [0, 0];
    for number in 0..DEFINITIONS {
        let definition = definition(&mut random, number);
        for (kind, version) in definition.kinds(&Custom).iter().zip(&definition.versions) {
            let written = json_schema::of_version(&definition, version);
            assert_eq!(written.warnings, Vec::<String>::new());
            let options = jsonschema::draft7::options().should_validate_formats(true);
            let validator = options.build(&written.document).unwrap();
            for mut object in testing::documents(kind, random.number()).take(OBJECTS) {
                object["metadata"]["name"] = json!("abc");
                judge(kind, &validator, &written.document, &object, &mut counts);
                for _ in 0..CHANGES {
                    let mut changed = object.clone();
                    let parts = ["spec", "status"].into_iter().filter(|part| object.get(part).is_some());
                    let parts: Vec<_> = parts.collect();
                    if !parts.is_empty() {
                        let part = *random.pick(&parts);
                        change(&mut random, &mut changed[part]);
                    }
                    judge(kind, &validator, &written.document, &changed, &mut counts);
                }
            }
        }
    }
    // Otherwise one of the two is hardly tested.
    assert!(counts.iter().all(|count| *count > DEFINITIONS * OBJECTS / 2), "{counts:?}");
}

/// Compares both verdicts on an object.
fn judge(kind: &Kind, validator: &jsonschema::Validator, document: &Value, object: &Value, counts: &mut [usize; 2]) {
    let root = &kind.version.schema;
    let mut filled = object.clone();
    schema::default(root, &mut filled, &schema::Meter::default()).expect("within the limits");
    let unknown = schema::prune(root, &mut object.clone());
    let errors = schema::validate(root, &filled, &schema::Meter::default()).expect("within the limits");
    let is_duplicate = |kind: &FieldErrorKind| matches!(kind, FieldErrorKind::Duplicate(_));
    if unknown.is_empty() && !errors.is_empty() && errors.iter().all(|error| is_duplicate(&error.kind)) {
        // JSON Schema does not compare keys.
        return;
    }
    let is_valid = unknown.is_empty() && errors.is_empty();
    // What applies after defaults and nulls can only be compared after them.
    let judged = if depends_on_filling(root) { &filled } else { object };
    let found: Vec<_> = validator.iter_errors(judged).map(|error| error.to_string()).collect();
    counts[usize::from(is_valid)] += 1;
    assert_eq!(
        found.is_empty(),
        is_valid,
        "{object:#}\nunknown {unknown:?}, errors {errors:?}\nJSON Schema: {found:?}\n{document:#}"
    );
}

/// True if a schema counts entries or combines schemas, which is done after defaults were filled in and nulls were dropped.
fn depends_on_filling(schema: &Schema) -> bool {
    let below = schema.properties.values().chain(schema.items.as_deref()).chain(schema.additional.as_deref());
    schema.junctors.is_some()
        || schema.min_properties.is_some()
        || schema.max_properties.is_some()
        || below.into_iter().any(depends_on_filling)
}

/// Changes a random part of a value.
fn change(random: &mut Random, value: &mut Value) {
    let below = match &*value {
        Value::Object(fields) => fields.len(),
        Value::Array(items) => items.len(),
        _ => 0,
    };
    if below > 0 && !random.one_in(4) {
        let chosen = random.below(below);
        match value {
            Value::Object(fields) => change(random, fields.values_mut().nth(chosen).unwrap()),
            Value::Array(items) => change(random, &mut items[chosen]),
            _ => {}
        }
        return;
    }
    match value {
        Value::Object(fields) if random.one_in(2) => {
            let name = (*random.pick(&["a", "b", "a/b", "type", "inUse", "unknown"])).to_owned();
            if random.one_in(2) {
                fields.remove(&name);
            } else {
                fields.insert(name, simple(random));
            }
        }
        Value::Array(items) if !items.is_empty() && random.one_in(2) => {
            let item = random.pick(items).clone();
            items.push(item);
        }
        other => *other = simple(random),
    }
}

fn simple(random: &mut Random) -> Value {
    let values = [
        json!(null),
        json!(true),
        json!(-3),
        json!(4),
        json!(7),
        json!(3_000_000_000_i64),
        json!(2.5),
        json!(""),
        json!("a"),
        json!("zzzzzzzzzz"),
        json!("Z9-"),
        json!("YQ=="),
        json!("2026-01-02"),
        json!("2026-01-02T03:04:05Z"),
        json!("11111111-2222-4333-8444-555555555555"),
        json!([]),
        json!(["a"]),
        json!({}),
        json!({"a": null}),
        json!({"a": "a", "b": 4}),
    ];
    random.pick(&values).clone()
}
