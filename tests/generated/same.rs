//! The generated kinds against what the front end read.

mod read;

use std::{env, sync::Arc};

use kindsmith::{
    kind::{Kind, model::Version},
    schema::{Scalar, Schema, Type, Unenforced},
};

/// True for a type of kindsmith, of which the descriptions differ.
fn stands_for_equal(found: &Schema) -> bool {
    found
        .name
        .as_deref()
        .is_some_and(|name| ["Condition", "LabelSelector", "ObjectMeta", "ObjectReference"].contains(&name))
}

/// A schema without what the generated one says differently: the names of types, the descriptions of types whose use has one,
/// `x-kubernetes-unions`, items that may repeat, and the descriptions and empty defaults in kindsmith's own types, which stand for equal structs.
fn bare(schema: &Schema, is_shared: bool) -> Schema {
    let mut bare = schema.clone();
    bare.name = None;
    bare.definitions = None;
    bare.may_repeat = false;
    let about_type = std::mem::take(&mut bare.type_description);
    if bare.description.is_empty() {
        bare.description = about_type;
    }
    if let Some(unenforced) = &mut bare.unenforced {
        Arc::make_mut(unenforced).unions.clear();
    }
    bare.unenforced = bare.unenforced.filter(|unenforced| **unenforced != Unenforced::default());
    if is_shared {
        bare.default = bare.default.filter(|default| *default != "");
        bare.description.clear();
        bare.omit_empty = false;
        bare.required.sort();
        bare.protobuf = None;
        bare.zero_is_absent = false;
    }
    bare.properties =
        bare.properties.iter().map(|(name, property)| (name.clone(), self::bare(property, is_shared))).collect();
    bare.items = bare.items.map(|items| self::bare(&items, is_shared).into());
    bare.additional = bare.additional.map(|values| self::bare(&values, is_shared).into());
    bare
}

/// The differences of two schemas, with their places.
fn differences(expected: &Schema, found: &Schema, at: &str, all: &mut Vec<String>) {
    let without = |schema: &Schema| {
        let mut own = schema.clone();
        (own.properties, own.items, own.additional) = (<_>::default(), None, None);
        own
    };
    if expected.definition.is_some() {
        // A type that contains itself is raw JSON below its first turn.
        if (found.kind, found.preserve_unknown) != (Type::Any, true) {
            all.push(format!("{at}: expected raw JSON, found {found:?}"));
        }
        return;
    }
    let is_shared = stands_for_equal(found);
    let (mut left, right) = (bare(&without(expected), is_shared), bare(&without(found), is_shared));
    // In Rust it has 32 bits, also where a definition says nothing of them.
    if left.kind == Type::IntOrString && right.scalar == Some(Scalar::IntOrString) {
        left.scalar = right.scalar;
    }
    if left != right {
        all.push(format!("{at}:\n  expected {left:?}\n  found    {right:?}"));
    }
    let expected_names: Vec<_> = expected.properties.keys().collect();
    if expected_names != found.properties.keys().collect::<Vec<_>>() {
        all.push(format!("{at}: other fields"));
    }
    let (expected, found) =
        if is_shared { (bare(expected, true), bare(found, true)) } else { (expected.clone(), found.clone()) };
    for (name, property) in &expected.properties {
        if let Some(other) = found.properties.get(name) {
            differences(property, other, &format!("{at}.{name}"), all);
        }
    }
    for (keyword, left, right) in
        [("[]", &expected.items, &found.items), ("{}", &expected.additional, &found.additional)]
    {
        match (left, right) {
            (Some(left), Some(right)) => differences(left, right, &format!("{at}{keyword}"), all),
            (None, None) => {}
            _ => all.push(format!("{at}{keyword}: only one has it")),
        }
    }
}

/// Kinds whose schema refuses most of what is made at random, which takes minutes.
const SLOW: [&str; 2] = ["::GRPCRoute", "::HTTPRoute"];

#[test]
fn generated_types_decode_what_their_schemas_accept_and_encode_it_again() {
    read::say_what_is_missing();
    // There are hundreds of kinds, and many have the same parts.
    let all = env::var_os("KINDSMITH_AGREE").is_some();
    let documents = if all { 500 } else { 100 };
    for (name, agree) in
        generated::AGREE.iter().filter(|(name, _)| all || !SLOW.iter().any(|slow| name.ends_with(slow)))
    {
        println!("{name}");
        agree(documents);
    }
}

/// A version without its schema, and without what a derive does not say: its subresources, which are handlers.
fn without_schema(version: &Version) -> Version {
    let mut version = version.clone();
    (version.schema, version.subresources) = (<_>::default(), Vec::new());
    version
}

#[test]
fn generated_kinds_are_the_resources_that_were_read() {
    read::say_what_is_missing();
    let expected = read::kinds();
    let generated: Vec<Kind> = generated::kinds();
    let mut all = Vec::new();
    for expected in &expected {
        let name = format!("{} {}", expected.shared.group_kind(), expected.version.name);
        let found = generated.iter().find(|kind| {
            kind.shared.group_kind() == expected.shared.group_kind() && kind.version.name == expected.version.name
        });
        let Some(found) = found else {
            all.push(format!("{name} is not generated"));
            continue;
        };
        if *found.shared != *expected.shared {
            all.push(format!("{name}:\n  expected {:?}\n  found    {:?}", expected.shared, found.shared));
        }
        let policies = [expected, found].map(|kind| format!("{:?}", kind.binding.policy));
        if policies[0] != policies[1] {
            all.push(format!("{name}: expected {}, found {}", policies[0], policies[1]));
        }
        let (left, right) = (without_schema(&expected.version), without_schema(&found.version));
        if left != right {
            all.push(format!("{name}:\n  expected {left:?}\n  found    {right:?}"));
        }
        differences(&expected.version.schema, &found.version.schema, &name, &mut all);
    }
    assert_eq!(generated.len(), expected.len());
    assert!(all.is_empty(), "{} differences:\n{}", all.len(), all.join("\n"));
}
