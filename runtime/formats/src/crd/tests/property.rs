//! Random schemas, written as a definition's and read again, are the same.
use std::sync::Arc;

use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::{Definition, define_stored, gears, write};
use crate::{
    kind::model::Version,
    schema::{
        Pattern, Rule, Schema,
        model::{Junctors, ListType, PatchStrategy, Type, Unenforced},
    },
};

fn leaf() -> impl Strategy<Value = Schema> {
    let of = |kind| Schema { kind, ..Schema::default() };
    let text = (prop::option::of(0u64..5), prop::option::of(5u64..9), any::<[bool; 3]>()).prop_map(
        move |(least, most, has)| {
            let pattern = has[0].then(|| Pattern::new("^[a-z]*$").unwrap());
            Schema {
                min_length: least,
                max_length: most,
                pattern,
                format: has[1].then(|| "date-time".to_owned()),
                enumeration: if has[2] { vec![json!("a"), json!("b")] } else { Vec::new() }.into(),
                ..of(Type::String)
            }
        },
    );
    let number = (any::<bool>(), any::<[bool; 4]>(), -3i32..3).prop_map(move |(whole, has, least)| Schema {
        format: has[0].then(|| if whole { "int32" } else { "double" }.to_owned()),
        minimum: has[1].then_some(least.into()),
        exclusive_minimum: has[1] && has[2],
        maximum: has[2].then_some(7.5),
        exclusive_maximum: has[2] && has[3],
        multiple_of: has[3].then_some(0.5),
        default: (!has[1] && !has[2] && !has[3]).then(|| json!(4)),
        ..of(if whole { Type::Integer } else { Type::Number })
    });
    let flag = any::<bool>().prop_map(move |default| Schema { default: Some(json!(default)), ..of(Type::Boolean) });
    let anything = Just(Schema { preserve_unknown: true, ..Schema::default() });
    let kinds = prop_oneof![text, number, flag, Just(of(Type::IntOrString)), anything];
    (kinds, any::<bool>(), "[a-z ]{0,9}", any::<[bool; 4]>()).prop_map(|(schema, nullable, description, has)| Schema {
        description,
        nullable,
        unenforced: unenforced(has),
        rules: if has[3] { vec![Rule::of(&json!({"rule": "true", "message": "Never."}))] } else { Vec::new() },
        ..schema
    })
}

/// Keywords that are published and have no other effect.
fn unenforced(has: [bool; 4]) -> Option<Arc<Unenforced>> {
    let docs = json!({"description": "Elsewhere.", "url": "https://example.com"});
    let all = Unenforced {
        title: if has[0] { "A title".to_owned() } else { String::new() },
        example: has[1].then(|| json!({"any": [1]})),
        external_docs: has[2].then_some(docs),
        unions: Vec::new(),
    };
    (all != Unenforced::default()).then(|| all.into())
}

/// A branch with keywords for a property.
fn branch(of: &str) -> Schema {
    let property = Schema { min_length: Some(2), enumeration: vec![json!("c")].into(), ..Schema::default() };
    Schema {
        required: vec![of.to_owned()],
        properties: [(of.to_owned(), property)].into(),
        junctors: Some(
            Junctors { not: Some(Schema { max_properties: Some(0), ..Schema::default() }), ..Junctors::default() }
                .into(),
        ),
        ..Schema::default()
    }
}

fn structure(properties: Vec<(String, Schema)>, has: [bool; 7]) -> Schema {
    let first = properties.first().map(|(name, _)| name.clone());
    let junctors = first.as_deref().filter(|_| has[0]).map(|first| {
        let of = |says: bool| if says { vec![branch(first), branch(first)] } else { Vec::new() };
        Junctors { all_of: of(has[1]), any_of: of(has[2]), one_of: of(true), not: has[3].then(|| branch(first)) }.into()
    });
    Schema {
        kind: Type::Object,
        required: first.into_iter().filter(|_| has[4]).collect(),
        properties: properties.into_iter().collect(),
        junctors,
        map_atomic: has[5],
        preserve_unknown: has[6],
        patch: PatchStrategy { retain_keys: has[1], ..PatchStrategy::default() },
        min_properties: has[2].then_some(0),
        ..Schema::default()
    }
}

fn list(items: Schema, set: bool, has: [bool; 2]) -> Schema {
    let items = Schema { nullable: false, ..items };
    let keyed = items.kind == Type::Object && !items.properties.is_empty();
    let (list, items) = match items.kind {
        Type::Object if keyed && set => {
            let key = Schema { kind: Type::String, ..Schema::default() };
            let mut items = items;
            items.properties.insert("key".to_owned(), key);
            items.required.push("key".to_owned());
            (ListType::Map(vec!["key".to_owned()]), items)
        }
        Type::String | Type::Integer if set => (ListType::Set, items),
        _ => (ListType::Atomic, items),
    };
    Schema {
        kind: Type::Array,
        patch: PatchStrategy {
            merge: list != ListType::Atomic,
            merge_key: if let ListType::Map(keys) = &list { keys.first().cloned() } else { None },
            ..PatchStrategy::default()
        },
        list,
        items: Some(items.into()),
        min_items: has[0].then_some(1),
        max_items: has[1].then_some(9),
        ..Schema::default()
    }
}

fn schemas() -> impl Strategy<Value = Schema> {
    leaf().prop_recursive(4, 30, 4, |inner| {
        prop_oneof![
            (prop::collection::btree_map("[a-d/.]{1,2}", inner.clone(), 0..4), any::<[bool; 7]>())
                .prop_map(|(properties, has)| structure(properties.into_iter().collect(), has)),
            inner.clone().prop_map(|values| Schema {
                kind: Type::Object,
                additional: Some(values.into()),
                max_properties: Some(3),
                ..Schema::default()
            }),
            (inner, any::<bool>(), any::<[bool; 2]>()).prop_map(|(items, set, has)| list(items, set, has)),
            Just(Schema { kind: Type::Object, embedded: true, preserve_unknown: true, ..Schema::default() }),
        ]
    })
}

/// A schema as `JSONSchemaProps`.
fn written(schema: &Schema) -> Value {
    let mut out = Map::new();
    let kind = match schema.kind {
        Type::Object => "object",
        Type::Array => "array",
        Type::String => "string",
        Type::Integer => "integer",
        Type::Number => "number",
        Type::Boolean => "boolean",
        Type::IntOrString | Type::Any => "",
    };
    let (list, keys) = match &schema.list {
        ListType::Atomic => (None, None),
        ListType::Set => (Some("set"), None),
        ListType::Map(keys) => (Some("map"), Some(keys)),
    };
    let patch: Vec<_> = [("merge", schema.patch.merge), ("retainKeys", schema.patch.retain_keys)]
        .into_iter()
        .filter_map(|(name, says)| says.then_some(name))
        .collect();
    let properties = schema.properties.iter().map(|(name, of)| (name.clone(), written(of))).collect::<Map<_, _>>();
    for (keyword, value) in [
        ("type", json!(kind)),
        ("format", json!(schema.format)),
        ("description", json!(schema.description)),
        ("properties", properties.into()),
        ("required", json!(schema.required)),
        ("additionalProperties", schema.additional.as_deref().map(written).into()),
        ("items", schema.items.as_deref().map(written).into()),
        ("default", schema.default.clone().into()),
        ("enum", json!(schema.enumeration)),
        ("nullable", json!(schema.nullable)),
        ("minimum", json!(schema.minimum)),
        ("exclusiveMinimum", json!(schema.exclusive_minimum)),
        ("maximum", json!(schema.maximum)),
        ("exclusiveMaximum", json!(schema.exclusive_maximum)),
        ("multipleOf", json!(schema.multiple_of)),
        ("minLength", json!(schema.min_length)),
        ("maxLength", json!(schema.max_length)),
        ("pattern", json!(schema.pattern.as_ref().map(Pattern::text))),
        ("minItems", json!(schema.min_items)),
        ("maxItems", json!(schema.max_items)),
        ("minProperties", json!(schema.min_properties)),
        ("maxProperties", json!(schema.max_properties)),
        ("x-kubernetes-list-type", json!(list)),
        ("x-kubernetes-list-map-keys", json!(keys)),
        ("x-kubernetes-map-type", json!(schema.map_atomic.then_some("atomic"))),
        ("x-kubernetes-int-or-string", json!(schema.kind == Type::IntOrString)),
        ("x-kubernetes-preserve-unknown-fields", json!(schema.preserve_unknown.then_some(true))),
        ("x-kubernetes-embedded-resource", json!(schema.embedded)),
        ("x-kubernetes-patch-strategy", json!(patch.join(","))),
        ("x-kubernetes-patch-merge-key", json!(schema.patch.merge_key)),
    ] {
        // Much of it says nothing, as a definition of zero values does.
        out.insert(keyword.to_owned(), value);
    }
    write_unenforced_and_junctors(schema, &mut out);
    out.retain(|_, value| *value != json!(""));
    out.into()
}

fn write_unenforced_and_junctors(schema: &Schema, out: &mut Map<String, Value>) {
    if !schema.rules.is_empty() {
        out.insert("x-kubernetes-validations".to_owned(), json!(schema.rules));
    }
    if let Some(unenforced) = &schema.unenforced {
        for (keyword, value) in [
            ("title", json!(unenforced.title)),
            ("example", json!(unenforced.example)),
            ("externalDocs", json!(unenforced.external_docs)),
        ] {
            out.insert(keyword.to_owned(), value);
        }
    }
    if let Some(junctors) = &schema.junctors {
        for (keyword, branches) in
            [("allOf", &junctors.all_of), ("anyOf", &junctors.any_of), ("oneOf", &junctors.one_of)]
        {
            out.insert(keyword.to_owned(), branches.iter().map(written).collect());
        }
        out.insert("not".to_owned(), junctors.not.as_ref().map(written).into());
    }
}

/// Definitions do not say how strategic merge patches merge.
fn without_patches(definition: &mut Definition) {
    fn strip(schema: &Schema) -> Schema {
        Schema {
            patch: PatchStrategy::default(),
            properties: schema.properties.iter().map(|(name, of)| (name.clone(), strip(of))).collect(),
            items: schema.items.as_deref().map(|items| strip(items).into()),
            additional: schema.additional.as_deref().map(|values| strip(values).into()),
            ..schema.clone()
        }
    }
    for version in &mut definition.versions {
        let schema = strip(&version.schema).into();
        *version = Version { schema, ..(**version).clone() }.into();
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn a_schema_that_is_written_and_read_is_the_same(schema in schemas()) {
        let definition = gears(&written(&schema));
        // Rules stand at nodes of any type here.
        let defined = define_stored(&definition).map_err(|findings| TestCaseError::fail(format!("{:?}", findings.errors)))?;
        let read = &defined.definition.versions[0].schema.properties["spec"];
        prop_assert_eq!(format!("{read:#?}"), format!("{schema:#?}"));
    }

    #[test]
    fn a_definition_of_a_resource_defines_the_same_resource(schema in schemas()) {
        let of = |definition: &Value| define_stored(definition).map_err(|found| TestCaseError::fail(format!("{:?}", found.errors)));
        let mut first = of(&gears(&written(&schema)))?.definition;
        without_patches(&mut first);
        let again = write(&first).map_err(TestCaseError::fail)?;
        prop_assert_eq!(&again.warnings, &Vec::<String>::new());
        let again = of(&again.document)?.definition;
        prop_assert_eq!(format!("{again:#?}"), format!("{first:#?}"));
    }
}
