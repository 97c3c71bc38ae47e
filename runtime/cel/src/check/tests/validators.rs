//! Literals that functions do not accept.
use super::{SETTINGS, errors, kind_of};
use crate::{
    Env, Library,
    library::standard::{OPTIONALS, STANDARD},
    library::validators::{duration, homogeneous_literals, matches, timestamp},
};

static VALIDATORS: Library = Library {
    name: "validators",
    functions: || {
        vec![crate::Function::new("format").member(
            "format",
            &[kind_of("string"), kind_of("list(dyn)")],
            kind_of("string"),
        )]
    },
    macros: &[],
    types: Vec::new,
    validators: &[duration, timestamp, matches, homogeneous_literals],
};

/// Expression, errors.
const CASES: &[(&str, &[&str])] = &[
    ("duration('1')", &["1:10 invalid duration argument"]),
    ("duration('1d')", &["1:10 invalid duration argument"]),
    ("duration('1us')\n < duration('1nns')", &["2:13 invalid duration argument"]),
    ("duration('2h3m4s5us')", &[]),
    ("duration(x)", &[]),
    ("duration(null)", &["1:10 invalid duration argument"]),
    ("[timestamp(null)]", &["1:12 invalid timestamp argument"]),
    ("timestamp('1000-00-00T00:00:00Z')", &["1:11 invalid timestamp argument"]),
    ("timestamp('1000-01-01T00:00:00ZZ')", &["1:11 invalid timestamp argument"]),
    ("timestamp('1000-01-01T00:00:00Z')", &[]),
    ("timestamp(-6213559680)", &[]),
    ("timestamp(-62135596801)", &["1:11 invalid timestamp argument"]),
    ("timestamp(x)", &[]),
    ("'hello'.matches('el*')", &[]),
    ("'hello'.matches('x++')", &["1:17 invalid matches argument"]),
    ("'hello'.matches('(?<name%>el*)')", &["1:17 invalid matches argument"]),
    ("'hello'.matches('??el*')", &["1:17 invalid matches argument"]),
    ("'hello'.matches(x)", &[]),
    ("matches('(', 'a')", &["1:9 invalid matches argument"]),
    ("matches('a', '(')", &[]),
    ("x in ['hello', 0]", &["1:16 expected type 'string' but found 'int'"]),
    ("[1, 'a', 'b'].size()", &["1:5 expected type 'int' but found 'string'"]),
    ("[[1], ['a'], []]", &["1:7 expected type 'list(int)' but found 'list(string)'"]),
    ("{'hello':'world', 1:'!'}", &["1:19 expected type 'string' but found 'int'"]),
    (
        "{'a': 1, 'b': 'x', 2: 1u}",
        &[
            "1:15 expected type 'int' but found 'string'",
            "1:20 expected type 'string' but found 'int'",
            "1:23 expected type 'int' but found 'uint'",
        ],
    ),
    ("x in {'hello':'world', 'goodbye':true}", &["1:34 expected type 'string' but found 'bool'"]),
    ("x in ['hello', ?optional.ofNonZeroValue('')]", &[]),
    ("x in [?optional.ofNonZeroValue(''), 'hello', ?optional.of('')]", &[]),
    ("{?'hello': optional.ofNonZeroValue(false), 'world': true}", &[]),
    ("'%s %d'.format(['a', 1])", &[]),
    ("'%s'.format([[1, 'a']]) + string([1, 'a'].size())", &["1:38 expected type 'int' but found 'string'"]),
    (
        "x in ['hello', 0]\n&& duration(x) < duration('1d')\n&& timestamp(x) < timestamp('1')\n&& x.matches('x++')",
        &[
            "1:16 expected type 'string' but found 'int'",
            "2:27 invalid duration argument",
            "3:29 invalid timestamp argument",
            "4:14 invalid matches argument",
        ],
    ),
];

#[test]
fn invalid_literals_are_reported() {
    let env = Env::new(SETTINGS, &[&STANDARD, &OPTIONALS, &VALIDATORS]).variable("x", kind_of("string"));
    for (expression, expected) in CASES {
        match env.compile(expression) {
            Ok(_) => assert!(expected.is_empty(), "{expression}"),
            Err(_) => assert_eq!(errors(&env, expression), *expected, "{expression}"),
        }
    }
}
