//! Names in containers, and names that loops hide.
use super::{env, references};

/// Container, variables, expression, type, references.
const CASES: &[(&str, &str, &str, &str, &str)] = &[
    ("container", "container.x: test.All", "x", "test.All", "container.x"),
    ("test", "", "All{}", "test.All", "test.All"),
    ("test.inner", "", "All", "type(test.All)", "test.All"),
    ("base64", "", "encode('hello')", "string", "base64_encode_string"),
    ("", "x.y: bool", "x.y", "bool", "x.y"),
    ("", "x.y: map(string, int); x: map(string, dyn)", "x.y.z + x.z", "int", "x.y x add_int64"),
    ("x", "x.y: bool; y: string", "y", "bool", "x.y"),
    ("com.example", "com.example.y: bool; y: string", "y", "bool", "com.example.y"),
    ("com.example", "com.example.y: bool; y: string", ".y", "string", "y"),
    ("com.example", "com.example.y: string", "[0].map(y, y)", "list(int)", "@result y add_list @result"),
    ("com.example", "y: string", "[0].map(y, .y)", "list(string)", "@result .y add_list @result"),
    ("", "y.z: string", "[{'z': 0}].map(y, y.z)", "list(int)", "@result y add_list @result"),
    ("", "y.z: string", "[{'z': 0}].map(y, .y.z)", "list(string)", "@result .y.z add_list @result"),
    (
        "com.example",
        "com.example.y.z: string; y.z: bool",
        "[{'z': 'a'}].map(y, .y.z)",
        "list(bool)",
        "@result .y.z add_list @result",
    ),
    (
        "",
        "x: int",
        "['a'].map(x, [x].map(x, [x]))",
        "list(list(list(string)))",
        "@result x @result x add_list @result add_list @result",
    ),
];

#[test]
fn names_are_looked_up_from_the_container_outwards() {
    for (container, variables, expression, kind, refers) in CASES {
        match env(variables).container(container).compile(expression) {
            Ok(checked) => {
                assert_eq!(checked.result_type().to_string(), *kind, "{expression}");
                assert_eq!(references(&checked), *refers, "{expression}");
            }
            Err(issues) => panic!("{expression}: {issues}"),
        }
    }
}

#[test]
fn a_checked_expression_knows_the_variables_it_refers_to() {
    let env = env("self: map(string, int); oldSelf: map(string, int)");
    let refers = |expression: &str| env.compile(expression).expect("no errors").refers_to("oldSelf");
    assert!(refers("self.a == oldSelf.a"));
    assert!(refers("[1].all(oldSelf, .oldSelf.a > 0)"));
    assert!(!refers("self.oldSelf > 0 && self.a == 1"));
}
