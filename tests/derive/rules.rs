//! Rules in CEL of derived kinds: the test that comes with every kind reports the wrong ones.
#![allow(unnameable_test_items, reason = "these kinds are wrong, and so is the test that comes with each")]

use kindsmith::{ApiType, ObjectMeta, Resource, testing::schema_and_type_agree};
use serde::{Deserialize, Serialize};

/// Declares a kind whose spec has these arguments and fields, and runs its test.
macro_rules! agrees {
    ($(#[$arguments:meta])* { $($fields:tt)* }) => {{
        #[derive(Resource, Clone, Debug)]
        #[resource(group = "derive.example.com", version = "v1")]
        struct Range {
            metadata: ObjectMeta,
            spec: RangeSpec,
        }

        #[derive(ApiType, Clone, Debug, Serialize, Deserialize)]
        $(#[$arguments])*
        struct RangeSpec {
            $($fields)*
        }

        schema_and_type_agree::<Range>();
    }};
}

#[test]
fn sound_rules_agree() {
    agrees!(#[api(rule = "self.low <= self.high", message = "low must not be above high", field = low)] { low: i32, high: i32, });
}

#[test]
#[should_panic(
    expected = "spec: the rule \"self.low <= self.hihg\": compilation failed: ERROR: <input>:1:17: undefined field 'hihg'"
)]
fn a_wrong_name_is_reported() {
    agrees!(#[api(rule = "self.low <= self.hihg")] { low: i32, high: i32, });
}

#[test]
#[should_panic(expected = "found no matching overload for '_<=_' applied to '(int, string)'")]
fn a_wrong_type_is_reported() {
    agrees!(#[api(rule = "self.low <= self.high")] { low: i32, high: String, });
}

#[test]
#[should_panic(expected = "add `max_items` on spec.names, `max_length` on spec.names.[]")]
fn missing_bounds_are_reported() {
    agrees!({
        #[api(rule = "self.all(a, self.exists_one(b, a == b))")]
        names: Vec<String>,
    });
}
