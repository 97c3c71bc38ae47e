//! The generated kinds against what the front end read.
use std::{
    env, fs,
    io::{Write, stderr},
};

use kindsmith::{
    kind::{Kind, crd},
    schema::Schema,
};

/// True for a type of kindsmith, of which the descriptions differ.
fn stands_for_equal(found: &Schema) -> bool {
    found.name.as_deref().is_some_and(|name| ["Condition", "LabelSelector", "ObjectReference"].contains(&name))
}

/// A schema without what the generated one says differently: the names of types, and the descriptions in kindsmith's own
/// types, which stand for equal structs.
fn bare(schema: &Schema, is_shared: bool) -> Schema {
    let is_shared = is_shared || stands_for_equal(schema);
    let mut bare = schema.clone();
    bare.name = None;
    if is_shared {
        bare.description.clear();
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
    let is_shared = stands_for_equal(found);
    let (left, right) = (bare(&without(expected), is_shared), bare(&without(found), is_shared));
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

/// False, and said on standard error, if the build found no corpus to generate from.
fn is_generated() -> bool {
    if generated::FILES.is_empty() {
        assert_ne!(env::var("CI").as_deref(), Ok("true"), "in CI the corpus must be there");
        writeln!(stderr(), "NOT RUN: the corpus of definitions is missing").expect("standard error");
    }
    !generated::FILES.is_empty()
}

#[test]
fn generated_types_decode_what_their_schemas_accept_and_encode_it_again() {
    if !is_generated() {
        return;
    }
    let all = env::var_os("KINDSMITH_AGREE").is_some();
    for (name, agree) in
        generated::AGREE.iter().filter(|(name, _)| all || !SLOW.iter().any(|slow| name.ends_with(slow)))
    {
        println!("{name}");
        agree();
    }
}

#[test]
fn generated_kinds_are_the_resources_that_were_read() {
    if !is_generated() {
        return;
    }
    let mut expected = Vec::new();
    for file in generated::FILES {
        let manifest = crd::read(file, &fs::read(file).expect("a file")).expect("a manifest");
        expected.extend(manifest.definitions.into_iter().map(|defined| defined.definition));
    }
    let generated: Vec<Kind> = generated::kinds();
    let mut all = Vec::new();
    let mut count = 0;
    for definition in &expected {
        for version in &definition.versions {
            count += 1;
            let name = format!("{} {}", definition.shared.group_kind(), version.name);
            let found = generated.iter().find(|kind| {
                kind.shared.group_kind() == definition.shared.group_kind() && kind.version.name == version.name
            });
            let Some(found) = found else {
                all.push(format!("{name} is not generated"));
                continue;
            };
            if *found.shared != *definition.shared {
                all.push(format!("{name}:\n  expected {:?}\n  found    {:?}", definition.shared, found.shared));
            }
            let without = |version: &kindsmith::kind::model::Version| {
                let mut version = version.clone();
                version.schema = <_>::default();
                version
            };
            let (left, right) = (without(version), without(&found.version));
            if left != right {
                all.push(format!("{name}:\n  expected {left:?}\n  found    {right:?}"));
            }
            differences(&version.schema, &found.version.schema, &name, &mut all);
        }
    }
    assert_eq!(generated.len(), count);
    assert!(all.is_empty(), "{} differences:\n{}", all.len(), all.join("\n"));
}
