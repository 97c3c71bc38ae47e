//! Tests of what makes warnings alike.
use super::*;

#[test]
fn messages_of_a_kind_differ_in_numbers_and_quoted_names_alone() {
    assert_eq!(kind("unrecognized format \"a\": 12"), kind("unrecognized format \"b, c\": 3"));
    assert_ne!(kind("rules are not enforced: 1"), kind("unions are not enforced: 1"));
}
