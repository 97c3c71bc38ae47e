//! Documents that are made to take more time, memory or stack than a document may take.
use std::{thread, time::Instant};

use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::{errors, gears};
use crate::openapi::{Source, read};

fn reference(number: usize) -> Value {
    json!({"$ref": format!("#/components/schemas/com.example.v1.T{number}")})
}

/// Types that each have what `of` makes of the next one.
fn chain(length: usize, of: impl Fn(Value) -> Value) -> Value {
    let types = (0..length).map(|number| (format!("com.example.v1.T{number}"), of(reference(number + 1))));
    let end = (format!("com.example.v1.T{length}"), json!({"type": "object"}));
    types.chain([end]).collect::<Map<_, _>>().into()
}

#[test]
fn chains_of_references_end() {
    let spec = json!({"type": "object", "properties": {"a": reference(0)}});
    let started = Instant::now();
    let of = |next: Value| json!({"type": "object", "properties": {"a": next}});
    for length in [200, 20_000] {
        let found = errors(&[gears("v1", &spec, &chain(length, of))]);
        assert_eq!(found.len(), 1, "{found:?}");
        let expected =
            "the schema is too large with those that it refers to; supported: 256 levels, and 500000 objects";
        assert!(found[0].contains("0.json /components/schemas/com.example.v1.T") && found[0].ends_with(expected));
    }
    assert!(errors(&[gears("v1", &spec, &chain(20_000, |next| next))])[0].contains("too large"));
    assert!(started.elapsed().as_secs() < 30);
}

#[test]
fn types_that_double_end() {
    let spec = json!({"type": "object", "properties": {"a": reference(0)}});
    let started = Instant::now();
    let of = |next: Value| {
        let used = json!({"allOf": [next], "default": {}, "description": "Of a use."});
        json!({"type": "object", "properties": {"a": used, "b": used}})
    };
    let found = errors(&[gears("v1", &spec, &chain(60, of))]);
    assert!(found.len() == 1 && found[0].contains("too large"), "{found:?}");
    assert!(started.elapsed().as_secs() < 30);
}

#[test]
fn a_type_that_refers_to_a_large_one_twice_in_a_circle_ends() {
    let mut more = chain(40, |next| json!({"type": "object", "properties": {"a": next, "b": next}}));
    more["com.example.v1.T40"] = json!({"type": "object", "properties": {"again": reference(0)}});
    let spec = json!({"type": "object", "properties": {"a": reference(0)}});
    let started = Instant::now();
    let text = gears("v1", &spec, &more).to_string();
    let described =
        read(&[Source { name: "circle", text: text.as_bytes() }]).unwrap_or_else(|report| panic!("{report}"));
    assert_eq!(described.resources.len(), 1);
    assert!(started.elapsed().as_secs() < 30);
}

/// Schemas of random shapes that refer to each other at random.
fn tangles() -> impl Strategy<Value = Value> {
    let node = prop_oneof![
        (0usize..8).prop_map(reference),
        (0usize..8, any::<bool>()).prop_map(|(number, default)| {
            let mut used = json!({"allOf": [reference(number)], "description": "Used."});
            if default {
                used["default"] = json!({});
            }
            used
        }),
        Just(json!({"type": "string", "default": ""})),
        Just(json!({"type": "integer", "minimum": 1, "default": 0})),
        Just(json!({"type": "object", "required": ["a"], "properties": {"a": {"type": "string"}}})),
        Just(json!({})),
    ];
    let node = node.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            prop::collection::btree_map("[a-c]", inner.clone(), 0..4)
                .prop_map(|properties| json!({"type": "object", "properties": properties})),
            inner.clone().prop_map(|items| json!({"type": "array", "items": items, "default": []})),
            inner.clone().prop_map(|values| json!({"type": "object", "additionalProperties": values})),
            prop::collection::vec(inner.clone(), 0..3)
                .prop_map(|branches| json!({"type": "object", "anyOf": branches})),
            inner.prop_map(|branch| json!({"allOf": [branch]})),
        ]
    });
    prop::collection::vec(node, 8).prop_map(|nodes| {
        let named = nodes.into_iter().enumerate();
        named.map(|(number, node)| (format!("com.example.v1.T{number}"), node)).collect::<Map<_, _>>().into()
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, ..ProptestConfig::default() })]

    /// Neither a panic nor an endless walk; a resource that is read can be used.
    #[test]
    fn types_that_refer_to_each_other_at_random_are_read_or_refused(more in tangles()) {
        let spec = json!({"type": "object", "properties": {"a": reference(0), "b": reference(1)}});
        let text = gears("v1", &spec, &more).to_string();
        let Ok(described) = read(&[Source { name: "tangle", text: text.as_bytes() }]) else { return Ok(()) };
        for resource in &described.resources {
            let schema = &resource.definition.versions[0].schema;
            let mut document = json!({"spec": {"a": {"a": [{"b": 1}], "b": null}, "b": {}}});
            crate::schema::prune(schema, &mut document);
            crate::schema::default(schema, &mut document, &crate::schema::Meter::default()).unwrap();
            crate::schema::validate(schema, &document, &crate::schema::Meter::default()).unwrap();
        }
    }
}

/// Schemas as deep as documents may be are read in threads with the usual stack.
#[test]
fn schemas_as_deep_as_documents_fit_the_stack() {
    let nested =
        |of: &dyn Fn(Value) -> Value, levels: usize| (0..levels).fold(json!({"type": "string"}), |at, _| of(at));
    let kinds: [&dyn Fn(Value) -> Value; 4] = [
        &|items| json!({"type": "array", "items": items}),
        &|values| json!({"type": "object", "additionalProperties": values}),
        &|not| json!({"type": "string", "not": {"not": not}}),
        &|of| json!({"type": "string", "allOf": [of]}),
    ];
    let texts: Vec<String> = kinds
        .iter()
        .flat_map(|of| [60, 110, 240].map(|levels| gears("v1", &nested(of, levels), &json!({})).to_string()))
        .collect();
    let judge = move || {
        for text in texts {
            let _ = read(&[Source { name: "deep", text: text.as_bytes() }]);
        }
    };
    thread::Builder::new().stack_size(2 << 20).spawn(judge).unwrap().join().unwrap();
}
