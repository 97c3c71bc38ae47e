//! Ownership within recursive types.
use std::sync::LazyLock;

use serde_json::json;

use super::{Fixture, VERSION, World, conflict};
use crate::schema::fixture;

static FORMS: LazyLock<Fixture> =
    LazyLock::new(|| Fixture { kind: "Form", versions: vec![(VERSION, fixture::form())], convert: |form, _| Ok(form) });

#[test]
fn fields_are_owned_at_any_depth() {
    let mut world = World::of(&FORMS);
    let tree = json!({"props": {"items": {"parts": [{"name": "a", "props": {"maxLength": 1, "tags": ["x"]}}]}}});
    world.apply("one", &tree).expect("nothing is owned");
    let leaf = json!({"f:maxLength": {}, "f:tags": {"v:\"x\"": {}}});
    let item = json!({".": {}, "f:name": {}, "f:props": leaf});
    let owned = json!({"f:props": {"f:items": {"f:parts": {r#"k:{"name":"a"}"#: item}}}});
    assert_eq!(world.owned("one"), &owned);
    assert_eq!(world.spec()["props"]["items"]["parts"][0]["props"]["optional"], false, "defaulted, and unowned");

    let other = json!({"props": {"items": {"parts": [{"name": "a", "props": {"maxLength": 2}}]}}});
    let expected = "Apply failed with 1 conflict: conflict with \"one\": \
                    .spec.props.items.parts[name=\"a\"].props.maxLength";
    assert_eq!(conflict(world.apply("two", &other)), expected);
    let beside = json!({"props": {"items": {"parts": [{"name": "a", "props": {"tags": ["y"]}}, {"name": "b"}]}}});
    world.apply("two", &beside).expect("other items");
    world
        .apply("one", &json!({"props": {"items": {"parts": [{"name": "a", "props": {"tags": ["x"]}}]}}}))
        .expect("less");
    let left = json!([{"name": "a", "props": {"tags": ["x", "y"], "optional": false}}, {"name": "b"}]);
    assert_eq!(world.spec()["props"]["items"]["parts"], left);
}

#[test]
fn what_the_type_does_not_have_is_refused_with_its_path() {
    let mut world = World::of(&FORMS);
    let refused = world.apply("one", &json!({"props": {"properties": {"a": {"allOf": [{"more": 1}]}}}}));
    let said = refused.expect_err("an unknown field").to_string();
    assert!(said.ends_with(".spec.props.properties.a.allOf[0].more: field not declared in schema"), "{said}");
}
