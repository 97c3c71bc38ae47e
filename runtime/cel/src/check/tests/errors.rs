//! Errors, with their positions.
use super::{SETTINGS, env, errors, with_settings};
use crate::Settings;

/// Variables, expression, errors.
const CASES: &[(&str, &str, &[&str])] = &[
    ("", "foo", &["1:1 undeclared reference to 'foo' (in container '')"]),
    ("", "undef()", &["1:6 undeclared reference to 'undef' (in container '')"]),
    ("", "1 + x", &["1:5 undeclared reference to 'x' (in container '')"]),
    ("", "'string'.fun()", &["1:13 undeclared reference to 'fun' (in container '')"]),
    ("x: test.All", "x.ints.exists(y, y > 10) && y < 5", &["1:29 undeclared reference to 'y' (in container '')"]),
    ("", "test.All{int: 1u}", &["1:13 expected type of field 'int' is 'int' but provided type is 'uint'"]),
    ("", "test.All{int: 1, undefined: 2}", &["1:27 undefined field 'undefined'"]),
    ("x: test.Other", "x.int != null", &["1:2 unexpected failed resolution of 'test.Other'"]),
    (
        "x: list(test.All); y: list(int)",
        "x + y",
        &["1:3 found no matching overload for '_+_' applied to '(list(test.All), list(int))'"],
    ),
    ("x: list(test.All)", "x[1u]", &["1:2 found no matching overload for '_[_]' applied to '(list(test.All), uint)'"]),
    (
        "x: map(string, test.All)",
        "x[2].int == 23",
        &["1:2 found no matching overload for '_[_]' applied to '(map(string, test.All), int)'"],
    ),
    (
        "x: bool",
        "x.all(y, y == true)",
        &["1:1 expression of type 'bool' cannot be range of a comprehension (must be list, map, or dynamic)"],
    ),
    (
        "x: test.All",
        "x.all(e, 0)",
        &[
            "1:1 expression of type 'test.All' cannot be range of a comprehension (must be list, map, or dynamic)",
            "1:10 expected type 'bool' but found 'int'",
        ],
    ),
    (
        "m: list(int)",
        "m.filter(y, 5)",
        &["1:9 found no matching overload for '_?_:_' applied to '(int, list(int), list(int))'"],
    ),
    ("m: list(int)", "m.all(y, 5)", &["1:10 expected type 'bool' but found 'int'"]),
    (
        "x: test.All",
        "x.nested.undefined == x.undefined && has(x.int) && has(x.ints)",
        &["1:9 undefined field 'undefined'", "1:24 undefined field 'undefined'"],
    ),
    ("x: test.All", "x.int64 != null", &["1:9 found no matching overload for '_!=_' applied to '(int, null)'"]),
    (
        "",
        "[].map(x, [].map(y, x in y && y in x))",
        &["1:33 found no matching overload for '@in' applied to '(list(dyn), dyn)'"],
    ),
    ("", "int{}", &["1:4 'int' is not a message type"]),
    ("", "Msg{}", &["1:4 undeclared reference to 'Msg' (in container '')"]),
    ("x: int", "x{}", &["1:2 'int' is not a type"]),
    ("", "[].length", &["1:3 type 'list(_var0)' does not support field selection"]),
    ("", "'a'.b", &["1:4 type 'string' does not support field selection"]),
    ("", "{?'key': 'hi'}", &["1:10 expected type 'optional_type(string)' but found 'string'"]),
    ("", "[?'value']", &["1:3 expected type 'optional_type(string)' but found 'string'"]),
    ("", "test.All{?int: 1}", &["1:16 expected type 'optional_type(int)' but found 'int'"]),
    ("", "1.startsWith('a')", &["1:13 found no matching overload for 'startsWith' applied to 'int.(string)'"]),
    ("", "'a' && 1", &["1:1 expected type 'bool' but found 'string'", "1:8 expected type 'bool' but found 'int'"]),
    ("", "1 == 'a'", &["1:3 found no matching overload for '_==_' applied to '(int, string)'"]),
    ("", "optional_type == 1", &["1:15 found no matching overload for '_==_' applied to '(type(optional_type), int)'"]),
    ("", "list.size()", &["1:10 found no matching overload for 'size' applied to 'type(list(dyn)).()'"]),
    ("", "list.a", &["1:5 type 'type(list(A))' does not support field selection"]),
    (
        "",
        "foo.bar(1)",
        &["1:1 undeclared reference to 'foo' (in container '')", "1:8 undeclared reference to 'bar' (in container '')"],
    ),
    ("", "-'a'", &["1:1 found no matching overload for '-_' applied to '(string)'"]),
];

#[test]
fn errors_have_positions_and_texts() {
    for (variables, expression, expected) in CASES {
        assert_eq!(errors(&env(variables), expression), *expected, "{expression}");
    }
}

const APART: Settings = Settings { cross_type_comparisons: false, ..SETTINGS };

#[test]
fn comparisons_between_types_of_numbers_can_be_off() {
    assert_eq!(
        errors(&with_settings(APART, ""), "1 <= 1.0 && 1u <= 1.0 && 1.0 <= 1 && 1.0 <= 1u && 1 <= 1u && 1u <= 1"),
        [
            "1:3 found no matching overload for '_<=_' applied to '(int, double)'",
            "1:16 found no matching overload for '_<=_' applied to '(uint, double)'",
            "1:30 found no matching overload for '_<=_' applied to '(double, int)'",
            "1:42 found no matching overload for '_<=_' applied to '(double, uint)'",
            "1:53 found no matching overload for '_<=_' applied to '(int, uint)'",
            "1:65 found no matching overload for '_<=_' applied to '(uint, int)'",
        ]
    );
}

#[test]
fn comparisons_between_types_of_numbers_are_on_after_a_loop() {
    let env = with_settings(APART, "");
    assert!(env.compile("[1].all(x, x < 1.0) && 1 < 1.0").is_ok());
    assert_eq!(
        errors(&env, "1 < 1.0 && [1].all(x, x < 1.0)"),
        ["1:3 found no matching overload for '_<_' applied to '(int, double)'"]
    );
}

#[test]
fn errors_beyond_a_hundred_are_counted() {
    let expression = format!("[{}]", vec!["x"; 150].join(", "));
    let issues = env("").compile(&expression).expect_err("150 errors");
    assert!(issues.to_string().ends_with("\n50 more errors were truncated"), "{issues}");
}
