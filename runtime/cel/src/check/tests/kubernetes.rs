//! Errors that kube-apiserver's own tests expect of rules and policies.
use super::{errors, kind_of};
use crate::Env;

/// Variables, expression, errors.
const CASES: &[(&str, &str, &[&str])] = &[
    ("", "1 < 'asdf'", &["1:3 found no matching overload for '_<_' applied to '(int, string)'"]),
    (
        "",
        "object.foo < params.x",
        &[
            "1:1 undeclared reference to 'object' (in container '')",
            "1:14 undeclared reference to 'params' (in container '')",
        ],
    ),
    ("", "test() == true", &["1:5 undeclared reference to 'test' (in container '')"]),
    ("x: list(int)", "x['a']", &["1:2 found no matching overload for '_[_]' applied to '(list(int), string)'"]),
    (
        "x: map(string, any)",
        "x + 1",
        &["1:3 found no matching overload for '_+_' applied to '(map(string, any), int)'"],
    ),
    ("", "['a', 'b'].sum() == 'c'", &["1:15 found no matching overload for 'sum' applied to 'list(string).()'"]),
    ("", "[[1], [2]].min() == [1]", &["1:15 found no matching overload for 'min' applied to 'list(list(int)).()'"]),
    (
        "",
        "[{'a': 1}, {'b': 2}].max() == {'b': 2}",
        &["1:25 found no matching overload for 'max' applied to 'list(map(string, int)).()'"],
    ),
    ("", "isIP(cidr('192.168.0.0/24'))", &["1:5 found no matching overload for 'isIP' applied to '(net.CIDR)'"]),
    ("", "isQuantity([1, 2, 3])", &["1:11 found no matching overload for 'isQuantity' applied to '(list(int))'"]),
    ("", "[1, 'a', false].filter(x, string(x) == 'a')", &["1:5 expected type 'int' but found 'string'"]),
    ("", r#"["d", 3, 2, "c"].sort() == ["a", "b", "c", "d"]"#, &["1:7 expected type 'string' but found 'int'"]),
    (
        "",
        "{'k1': 'a', 'k2': 1, 'k2': false}",
        &["1:19 expected type 'string' but found 'int'", "1:28 expected type 'string' but found 'bool'"],
    ),
    ("s: string", "s.matches('x++')", &["1:11 invalid matches argument"]),
    ("", "duration('1us') < duration('1nns')", &["1:28 invalid duration argument"]),
    (
        "x: list(int)",
        "string(type(x[0])).endsWith('a')",
        &["1:7 found no matching overload for 'string' applied to '(type(int))'"],
    ),
    (
        "o: optional_type(list(string))",
        "o.all(x, x == 'a')",
        &["1:1 expression of type 'optional_type(list(string))' cannot be range of a comprehension \
           (must be list, map, or dynamic)"],
    ),
    (
        "o: optional_type(string)",
        "o == 'a'",
        &["1:3 found no matching overload for '_==_' applied to '(optional_type(string), string)'"],
    ),
    ("o: optional_type(string)", "o.a", &["1:2 type 'string' does not support field selection"]),
    (
        "",
        "authorizer.path('/healthz').check('get').allowed()",
        &["1:1 undeclared reference to 'authorizer' (in container '')"],
    ),
    (
        "",
        "math.greatest(1, 2)",
        &[
            "1:1 undeclared reference to 'math' (in container '')",
            "1:14 undeclared reference to 'greatest' (in container '')",
        ],
    ),
    (
        "",
        "[1].existsOne(x, x > 0)",
        &[
            "1:14 undeclared reference to 'existsOne' (in container '')",
            "1:15 undeclared reference to 'x' (in container '')",
            "1:18 undeclared reference to 'x' (in container '')",
        ],
    ),
];

#[test]
fn errors_are_those_of_kubernetes() {
    for (variables, expression, expected) in CASES {
        let variables = variables.split("; ").filter_map(|variable| variable.split_once(": "));
        let env = variables.fold(Env::kubernetes(36), |env, (name, kind)| env.variable(name, kind_of(kind)));
        assert_eq!(errors(&env, expression), *expected, "{expression}");
    }
}
