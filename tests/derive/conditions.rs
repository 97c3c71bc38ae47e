//! The shared `Condition` has the rules of metav1.Condition.
use kindsmith::{
    Condition, Resource,
    meta::set_condition,
    schema::{Document, validate},
};
use serde_json::json;

use crate::declared::Shelf;

/// What the schema of a shelf's conditions finds wrong with one.
fn faults(condition: &Document) -> Vec<String> {
    let kind = Shelf::kind();
    let schema = kind.version.schema.properties["status"].properties["conditions"].items.as_deref().expect("a list");
    validate(schema, condition, &kindsmith::schema::Meter::default())
        .expect("within the limits")
        .iter()
        .map(ToString::to_string)
        .collect()
}

fn changed(name: &str, value: Document) -> Document {
    let mut condition = json!({
        "type": "example.com/Ready", "status": "True", "observedGeneration": 3,
        "lastTransitionTime": "2026-01-02T03:04:05Z", "reason": "AllUp", "message": "",
    });
    condition[name] = value;
    condition
}

#[test]
fn a_condition_is_validated_like_metav1_condition() {
    assert_eq!(faults(&changed("message", json!("all parts work"))), [""; 0]);
    for (name, value) in [
        ("type", json!("not ready")),
        ("type", json!("r".repeat(317))),
        ("status", json!("Yes")),
        ("observedGeneration", json!(-1)),
        ("reason", json!("")),
        ("reason", json!("two words")),
        ("reason", json!("R".repeat(1025))),
        ("message", json!("m".repeat(32_769))),
    ] {
        let found = faults(&changed(name, value));
        assert!(found.len() == 1 && found[0].starts_with(name), "{name}: {found:?}");
    }
}

#[test]
fn only_the_observed_generation_is_optional() {
    for name in ["type", "status", "observedGeneration", "lastTransitionTime", "reason", "message"] {
        let mut condition = changed("status", json!("Unknown"));
        condition.as_object_mut().expect("an object").remove(name);
        assert_eq!(faults(&condition).len(), usize::from(name != "observedGeneration"), "{name}");
    }
}

#[test]
fn set_condition_fills_in_all_fields() {
    let mut conditions = Vec::new();
    let [kind, status, reason] = ["Ready", "False", "Starting"].map(str::to_owned);
    set_condition(&mut conditions, Condition { kind, status, reason, ..Condition::default() });
    assert_eq!(faults(&serde_json::to_value(&conditions[0]).expect("it encodes")), [""; 0]);
}
