//! Loops with two variables, and variables of `cel.bind`.
use super::{SETTINGS, errors, kind_of, references};
use crate::{
    Env,
    library::{
        extensions::{BINDINGS, COMPREHENSIONS},
        standard::{OPTIONALS, STANDARD},
    },
};

/// Expression, type, references.
const CASES: &[(&str, &str, &str)] = &[
    ("l.transformList(i, v, [i, v.size()])", "list(list(int))", "l @result i v string_size add_list @result"),
    (
        "m.transformMap(k, v, v > 1, k + 'a')",
        "map(string, string)",
        "m v greater_int64 @result k k add_string @mapInsert_map_key_value @result conditional @result",
    ),
    ("m.transformMapEntry(k, v, {v: k})", "map(int, string)", "m @result v k @mapInsert_map_map @result"),
    (
        "l.all(i, v, i > 0 && v == '')",
        "bool",
        "l @result not_strictly_false @result i greater_int64 v equals logical_and logical_and @result",
    ),
    (
        "d.exists(i, v, i == v)",
        "bool",
        "d @result logical_not not_strictly_false @result i v equals logical_or @result",
    ),
    ("cel.bind(x, l, cel.bind(y, x[0], y + y))", "string", "l x x index_list y y y add_string"),
    ("cel.bind(x, [], x + [1])", "list(int)", "x x add_list"),
    (
        "o.optMap(x, x + 1)",
        "optional_type(int)",
        "o optional_hasValue o optional_value x x add_int64 optional_of optional_none conditional",
    ),
    ("o.optFlatMap(x, o)", "optional_type(int)", "o optional_hasValue o optional_value x o optional_none conditional"),
];

fn env() -> Env {
    Env::new(SETTINGS, &[&STANDARD, &OPTIONALS, &COMPREHENSIONS, &BINDINGS])
        .variable("l", kind_of("list(string)"))
        .variable("m", kind_of("map(string, int)"))
        .variable("d", kind_of("dyn"))
        .variable("o", kind_of("optional_type(int)"))
}

#[test]
fn loops_with_two_variables_have_types() {
    let env = env();
    for (expression, kind, refers) in CASES {
        match env.compile(expression) {
            Ok(checked) => {
                assert_eq!(checked.result_type().to_string(), *kind, "{expression}");
                assert_eq!(references(&checked), *refers, "{expression}");
            }
            Err(issues) => panic!("{expression}: {issues}"),
        }
    }
}

#[test]
fn loops_report_ranges_and_conditions() {
    let env = env();
    assert_eq!(
        errors(&env, "1.all(i, v, 'a')"),
        [
            "1:1 expression of type 'int' cannot be range of a comprehension (must be list, map, or dynamic)",
            "1:13 expected type 'bool' but found 'string'",
        ]
    );
    assert_eq!(
        errors(&env, "o.all(x, true)"),
        [
            "1:1 expression of type 'optional_type(int)' cannot be range of a comprehension (must be list, map, or dynamic)"
        ]
    );
    assert_eq!(
        errors(&env, "l.transformMapEntry(i, v, v)"),
        ["1:20 found no matching overload for 'cel.@mapInsert' applied to '(map(dyn, dyn), string)'"]
    );
}
