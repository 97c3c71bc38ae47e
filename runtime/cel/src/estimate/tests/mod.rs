//! Estimates of cel-go (checker/cost_test.go).
use std::fmt::Write as _;

use std::{collections::HashMap, sync::Arc};

use super::{Range, Sizes};
use crate::{Env, Type, TypeProvider};

/// The largest sizes at paths.
struct Hints(HashMap<&'static str, u64>);

impl Sizes for Hints {
    fn size(&self, path: &[&str], kind: &Type) -> Option<Range> {
        let hint = self.0.get(path.join(".").as_str()).copied();
        hint.or((*kind == Type::Bytes).then_some(12)).map(|most| Range::new(0, most))
    }
}

/// One message with one field.
#[derive(Debug)]
struct Messages;

impl TypeProvider for Messages {
    fn has(&self, structure: &str) -> bool {
        structure == "Message"
    }

    fn field(&self, _structure: &str, _field: &str) -> Option<Type> {
        Some(Type::Int)
    }
}

/// The variables of a case: `input` is a list of numbers by default.
fn kind(name: &str) -> Type {
    let message = || Type::Struct("Message".into());
    let map = |value| Type::map(Type::String, value);
    match name {
        "bool" => Type::Bool,
        "int" => Type::Int,
        "double" => Type::Double,
        "string" => Type::String,
        "bytes" => Type::Bytes,
        "timestamp" => Type::Timestamp,
        "duration" => Type::Duration,
        "message" => message(),
        "ints" => Type::list(Type::Int),
        "strings" => Type::list(Type::String),
        "messages" => Type::list(message()),
        "lists of messages" => Type::list(Type::list(message())),
        "map of strings" => map(Type::String),
        "map of ints" => map(Type::Int),
        "map of doubles" => map(Type::Double),
        "map of bools" => map(Type::Bool),
        "map of timestamps" => map(Type::Timestamp),
        "map of messages" => map(message()),
        "map of maps" => map(map(message())),
        _ => panic!("no type {name}"),
    }
}

type Case = (&'static str, &'static [(&'static str, &'static str)], &'static [(&'static str, u64)], u64, u64);

const INPUT: &[(&str, &str)] = &[("input", "string")];
const MAPS: &[(&str, &str)] = &[("input", "map of maps")];
const TEXTS: &[(&str, &str)] = &[("input", "string"), ("arg1", "string")];
const BOOLS: &[(&str, &str)] = &[("a", "bool"), ("b", "bool"), ("c", "bool"), ("d", "bool")];
const LISTS: &[(&str, &str)] = &[("x", "int"), ("y", "int"), ("list1", "ints"), ("list2", "ints")];

const CASES: &[Case] = &[
    (r#""Hello World!""#, &[], &[], 0, 0),
    ("input", &[("input", "ints")], &[], 1, 1),
    ("input['key']", &[("input", "map of strings")], &[], 2, 2),
    ("input.single_int32", &[("input", "message")], &[], 2, 2),
    ("has(input.single_int32)", &[("input", "message")], &[], 1, 1),
    ("has(input.testAttr.nestedAttr)", MAPS, &[], 2, 2),
    ("[1, 2, 3]", &[], &[], 10, 10),
    ("Message{a: 1, b: 2}", &[], &[], 40, 40),
    (r#"{"a": 1, "b": 2, "c": 3}"#, &[], &[], 30, 30),
    ("input.all(x, true)", &[("input", "messages")], &[("input", 100)], 2, 302),
    (
        "input.all(x, x.all(y, true))",
        &[("input", "lists of messages")],
        &[("input", 50), ("input.@items", 10)],
        2,
        1752,
    ),
    ("[1, 2, 3].all(x, true)", &[], &[], 20, 20),
    ("input.matches('[0-9]')", INPUT, &[("input", 500)], 3, 103),
    ("'123'.matches('[0-9]')", &[], &[], 2, 2),
    ("true || false", &[], &[], 0, 0),
    ("a || b || c || d", BOOLS, &[], 1, 4),
    ("true && false", &[], &[], 0, 0),
    ("a && b && c && d", BOOLS, &[], 1, 4),
    ("1 < 2", &[], &[], 1, 1),
    ("1 == 2", &[], &[], 1, 1),
    ("2 >= 1", &[], &[], 1, 1),
    ("2 in [1, 2, 3]", &[], &[], 13, 13),
    ("1 + 1", &[], &[], 1, 1),
    ("1 % 1", &[], &[], 1, 1),
    ("true ? 1 : 2", &[], &[], 0, 0),
    ("size(\"123\")", &[], &[], 1, 1),
    ("size(b\"123\")", &[], &[], 1, 1),
    ("string(input)", &[("input", "bytes")], &[("input", 500)], 1, 51),
    ("string(input) == string(input)", &[("input", "bytes")], &[("input", 500)], 3, 152),
    ("bytes(input)", INPUT, &[("input", 500)], 1, 51),
    ("bytes(input) == bytes(input)", INPUT, &[("input", 500)], 3, 302),
    ("string(1)", &[], &[], 1, 1),
    ("input.contains(arg1)", TEXTS, &[("input", 500), ("arg1", 500)], 2, 2502),
    (r"input.matches('\\d+a\\d+b')", INPUT, &[("input", 500)], 3, 103),
    ("input.startsWith(arg1)", TEXTS, &[("arg1", 500)], 2, 52),
    ("input.endsWith(arg1)", TEXTS, &[("arg1", 500)], 2, 52),
    ("input.size()", INPUT, &[], 2, 2),
    ("size(input)", INPUT, &[], 2, 2),
    (
        "(x > 2 ? input1 : input2).all(y, true)",
        &[("x", "int"), ("input1", "messages"), ("input2", "messages")],
        &[("input1", 1), ("input2", 1)],
        4,
        7,
    ),
    ("input.all(k, input[k].single_int32 > 3)", &[("input", "map of messages")], &[("input", 10)], 2, 82),
    ("input.all(k, input[k].all(x, true))", MAPS, &[("input", 5), ("input.@values", 10)], 2, 187),
    ("input.all(k, k.contains(k))", MAPS, &[("input", 5), ("input.@keys", 10)], 2, 32),
    (
        "input.all(k, input[k].all(k, true) && k.contains(k))",
        MAPS,
        &[("input", 2), ("input.@values", 2), ("input.@keys", 5)],
        2,
        34,
    ),
    ("(list1 + list2).all(x, true)", LISTS, &[("list1", 10), ("list2", 10)], 4, 64),
    (
        r#""abcdefg".contains(str1 + str2)"#,
        &[("str1", "string"), ("str2", "string")],
        &[("str1", 10), ("str2", 10)],
        2,
        6,
    ),
    ("list1.size() == list2.size()", LISTS, &[], 5, 5),
    ("x > y ? list1.size() : list2.size()", LISTS, &[], 5, 5),
    ("([x, y] + list1 + list2).size()", LISTS, &[("list1", 10), ("list2", 20)], 17, 17),
    (
        "[list1, list2].exists(l, l.exists(v, v.startsWith('hi')))",
        &[("list1", "strings"), ("list2", "strings")],
        &[("list1", 10), ("list1.@items", 64), ("list2", 20), ("list2.@items", 128)],
        21,
        265,
    ),
    (
        r#"input.endsWith("abcdefghijklmnopqrstuvwxyz") == arg1.endsWith("abcdefghijklmnopqrstuvwxyz")"#,
        TEXTS,
        &[],
        9,
        9,
    ),
    ("((5 != 6) == (1 == 2)) == ((3 <= 4) == (9 != 9))", &[], &[], 7, 7),
    ("string(a) == string(b)", &[("a", "timestamp"), ("b", "timestamp")], &[], 5, 1_844_674_407_370_955_268),
    ("a == b", &[("a", "timestamp"), ("b", "timestamp")], &[], 3, 3),
    ("a != b", &[("a", "duration"), ("b", "duration")], &[], 3, 3),
    ("[1,2,3,4,5].filter(x, x % 2 == 0)", &[], &[], 41, 101),
    ("[1,2,3,4,5].map(x, x)", &[], &[], 86, 86),
    ("[1,2,3,4,5].map(x, x).filter(x, x % 2 == 0)", &[], &[], 117, 177),
    ("[1,2,3,4,5].map(x, x).exists(x, x == 5) == true", &[], &[], 108, 118),
    ("[1,2,3,4,5].map(x, x).map(x, x)", &[], &[], 162, 162),
    ("[1,2,3,4,5].map(x, x)[4]", &[], &[], 87, 87),
    ("[[1,2],[1,2],[1,2],[1,2],[1,2]][4]", &[], &[], 61, 61),
    ("{'a': [1,2], 'b': [1,2], 'c': [1,2], 'd': [1,2], 'e': [1,2]}.b", &[], &[], 81, 81),
    ("[[1, 1], [2, 2], [3, 3], [4, 4], [5, 5]].all(y, y.all(y, y == 1))", &[], &[], 76, 136),
    ("[1,2,3,4,5].map(x, [x, x]).all(y, y.all(y, y == 1))", &[], &[], 157, 217),
    (r#"["a", "ab", "abc", "abcd", "abcde"].map(x, [x, x]).all(y, y.all(y, y.startsWith('a')))"#, &[], &[], 157, 217),
    (
        "input.map(x, [x, x]).all(y, y.all(y, y.startsWith('a')))",
        &[("input", "strings")],
        &[("input", 5), ("input.@items", 10)],
        13,
        208,
    ),
    ("[1,2,3,4,5].map(x, x).map(x, x) + [1]", &[], &[], 173, 173),
    ("[1,2,3].all(i, i in [1,2,3].map(j, j + j))", &[], &[], 20, 230),
    ("dyn([1,2,3]).all(i, i in dyn([1,2,3]).map(j, j + j))", &[], &[], 21, 234),
    ("{'hello': 'hi'}['hello'] != {'hello': 'bye'}['hello']", &[], &[], 63, 63),
    ("['hello', 'hi'][0] != ['hello', 'bye'][1]", &[], &[], 23, 23),
    ("type(1)", &[], &[], 1, 1),
    ("type(self.val1)", &[("self", "map of ints")], &[], 3, 3),
    ("type(self.val1) == int", &[("self", "map of ints")], &[], 5, 1_844_674_407_370_955_268),
    ("type(1) == int", &[], &[], 3, 1_844_674_407_370_955_266),
    ("self.val1 == 1.0", &[("self.val1", "double")], &[], 2, 2),
    ("self.val1 == 1.0", &[("self", "map of doubles")], &[], 3, 3),
    (
        "self.val1 == timestamp('2011-08-18T00:00:00.000+01:00') + duration('19h3m37s10ms')",
        &[("self", "map of timestamps")],
        &[],
        6,
        6,
    ),
    (
        "timestamp(self.val1) == timestamp('2011-08-18T00:00:00.000+01:00') + duration('19h3m37s10ms')",
        &[("self", "map of timestamps")],
        &[],
        7,
        7,
    ),
    ("self.val1 != self.val2", &[("self", "map of bools")], &[], 5, 5),
    ("self.val1 != true", &[("self", "map of bools")], &[], 3, 3),
    (
        "[bytes('012345678901'), bytes('012345678901'), bytes('012345678901'), bytes('012345678901'), \
         bytes('012345678901')].max()",
        &[],
        &[],
        25,
        35,
    ),
];

#[test]
fn estimates_are_those_of_the_reference() {
    let mut wrong = String::new();
    for (text, variables, hints, min, max) in CASES {
        let mut env = Env::kubernetes(36).types(Arc::new(Messages));
        for (name, of) in *variables {
            env = env.variable(name, kind(of));
        }
        let checked = env.compile(text).unwrap_or_else(|issues| panic!("{text}: {issues:?}"));
        let found = checked.estimate(&Hints(hints.iter().copied().collect()));
        if found != Range::new(*min, *max) {
            writeln!(wrong, "{text}: {} to {}, not {min} to {max}", found.min, found.max).expect("text");
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

/// A later path may change an earlier one, as it does in cel-go.
#[test]
fn paths_share_their_rows() {
    let mut paths = crate::cost::path::Paths::default();
    let none = crate::cost::path::Path::default();
    let one = paths.append(none, "self");
    let two = paths.append(one, "list");
    let three = paths.append(two, "@items");
    let first = paths.append(three, "a");
    let second = paths.append(three, "b");
    assert_eq!(paths.names(first), ["self", "list", "@items", "b"]);
    assert_eq!(paths.names(second), ["self", "list", "@items", "b"]);
    let third = paths.append(two, "c");
    assert_eq!(paths.names(three), ["self", "list", "@items"]);
    assert_eq!(paths.names(third), ["self", "list", "c"]);
}

#[test]
fn arithmetic_saturates() {
    assert_eq!(Range::UNKNOWN.scaled(0.1), Range::new(0, 1_844_674_407_370_955_264));
    assert_eq!(Range::UNKNOWN.plus(Range::ONE), Range::new(1, u64::MAX));
    assert_eq!(Range::UNKNOWN.times(Range::exactly(3)), Range::new(0, u64::MAX));
    assert_eq!(Range::UNKNOWN.scaled(2.0).max, u64::MAX);
    assert_eq!(Range::new(3, 11).scaled(0.1), Range::new(1, 2));
}
