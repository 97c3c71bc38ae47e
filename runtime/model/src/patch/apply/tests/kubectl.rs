//! Migration from client-side to server-side apply.
use serde_json::{Value, json};

use super::{World, conflict, object};

const ANNOTATION: &str = "kubectl.kubernetes.io/last-applied-configuration";

/// An object with a client-side apply.
fn applied_before(spec: &Value) -> World {
    let mut world = World::default();
    let mut made = object(spec);
    made["metadata"]["annotations"] = json!({ANNOTATION: object(spec).to_string()});
    world.put_object("kubectl-client-side-apply", made);
    world
}

#[test]
fn fields_of_client_side_apply_may_be_taken() {
    let mut world = applied_before(&json!({"a": "1", "b": 1, "list": [{"name": "p", "port": 1}]}));
    let spec = json!({"a": "2", "b": 1, "list": [{"name": "p", "port": 2}]});
    assert!(conflict(world.apply("other", &spec)).starts_with("Apply failed with 2 conflicts"));
    world.apply("kubectl", &spec).expect("it is the same client's");
    assert_eq!((&world.spec()["a"], &world.spec()["list"][0]["port"]), (&json!("2"), &json!(2)));
    let text = world.live.as_ref().expect("an object")["metadata"]["annotations"][ANNOTATION].as_str().expect("text");
    assert!(text.ends_with('\n'));
    assert_eq!(serde_json::from_str::<Value>(text).expect("JSON"), object(&spec), "the annotation keeps up");
}

#[test]
fn fields_that_were_changed_since_may_not_be_taken() {
    let mut world = applied_before(&json!({"a": "1", "b": 1}));
    world.put("someone", &json!({"a": "x", "b": 1}));
    assert_eq!(
        conflict(world.apply("kubectl", &json!({"a": "2", "b": 2}))),
        "Apply failed with 1 conflict: conflict with \"someone\" using example.com/v1: .spec.a"
    );
}

#[test]
fn an_invalid_annotation_allows_nothing() {
    for text in [
        "",
        "{",
        "[]",
        r#"{"apiVersion":"example.com/v2","spec":{"a":"1"}}"#,
        r#"{"apiVersion":"example.com/v1","spec":{"nope":1}}"#,
    ] {
        let mut world = World::default();
        let mut made = object(&json!({"a": "1"}));
        made["metadata"]["annotations"] = json!({ANNOTATION: text});
        world.put_object("kubectl-client-side-apply", made);
        conflict(world.apply("kubectl", &json!({"a": "2"})));
    }
}

#[test]
fn the_annotation_has_go_s_format_and_is_omitted_if_it_is_too_large() {
    let mut world = applied_before(&json!({"a": "1"}));
    world.apply("kubectl", &json!({"a": "<&>"})).expect("applied");
    let annotation =
        |world: &World| world.live.as_ref().expect("an object")["metadata"]["annotations"].get(ANNOTATION).cloned();
    let text = annotation(&world).expect("the annotation");
    assert!(text.as_str().expect("text").contains(r#""a":"\u003c\u0026\u003e""#), "{text}");
    world.force("kubectl", &json!({"a": "x".repeat(300_000)}));
    assert_eq!(annotation(&world), None);
}
