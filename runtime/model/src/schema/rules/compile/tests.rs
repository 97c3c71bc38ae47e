//! Which rules compile, and what they are estimated to cost, as kube-apiserver's tests have it (`TestCelCompilation`,
//! `TestCostEstimation`).
use std::fmt::Write as _;

use serde_json::{Value, json};

use super::*;
use crate::schema::{Schema, keywords};

/// A node with a rule, where `"n"` stands for a bound; the cost of the rule without the bound; the bound; and the cost with it. A cost of 0
/// is not compared.
type Case = (&'static str, &'static str, u64, u64, u64);

const NUMBERS: &str = r#"{"type": "array", "items": {"type": "number"}, "maxItems": "n"}"#;
const STRINGS: &str = r#"{"type": "array", "items": {"type": "string"}, "maxItems": "n"}"#;
const BOOLEANS: &str = r#"{"type": "array", "items": {"type": "boolean"}, "maxItems": "n"}"#;
const DURATIONS: &str = r#"{"type": "array", "items": {"type": "string", "format": "duration"}, "maxItems": "n"}"#;
const DATES: &str = r#"{"type": "array", "items": {"type": "string", "format": "date"}, "maxItems": "n"}"#;
const TIMES: &str = r#"{"type": "array", "items": {"type": "string", "format": "date-time"}, "maxItems": "n"}"#;
const CHOICES: &str = r#"{"type": "array", "items": {"x-kubernetes-int-or-string": true}, "maxItems": "n"}"#;
const LISTS: &str = r#"{"type": "array", "items": {"type": "array", "items": {"type": "number"}}, "maxItems": "n"}"#;
const OBJECTS: &str = r#"{"type": "array", "maxItems": "n", "items": {"type": "object", "required": ["required"],
    "properties": {"required": {"type": "string"}, "optional": {"type": "string"}}}}"#;
const MAPS: &str =
    r#"{"type": "array", "maxItems": "n", "items": {"type": "object", "additionalProperties": {"type": "number"}}}"#;
const BOUNDED_STRINGS: &str = r#"{"type": "array", "items": {"type": "string", "maxLength": "n"}, "maxItems": "n"}"#;
const NUMBER_MAP: &str = r#"{"type": "object", "additionalProperties": {"type": "number"}, "maxProperties": "n"}"#;
const INTEGER_MAP: &str = r#"{"type": "object", "additionalProperties": {"type": "integer"}, "maxProperties": "n"}"#;
const STRING_MAP: &str = r#"{"type": "object", "additionalProperties": {"type": "string"}, "maxProperties": "n"}"#;
const BOOLEAN_MAP: &str = r#"{"type": "object", "additionalProperties": {"type": "boolean"}, "maxProperties": "n"}"#;
const DURATION_MAP: &str =
    r#"{"type": "object", "additionalProperties": {"type": "string", "format": "duration"}, "maxProperties": "n"}"#;
const DATE_MAP: &str =
    r#"{"type": "object", "additionalProperties": {"type": "string", "format": "date"}, "maxProperties": "n"}"#;
const TIME_MAP: &str =
    r#"{"type": "object", "additionalProperties": {"type": "string", "format": "date-time"}, "maxProperties": "n"}"#;
const CHOICE_MAP: &str =
    r#"{"type": "object", "additionalProperties": {"x-kubernetes-int-or-string": true}, "maxProperties": "n"}"#;
const OBJECT_MAP: &str = r#"{"type": "object", "maxProperties": "n", "additionalProperties": {"type": "object",
    "required": ["required"], "properties": {"required": {"type": "string"}, "optional": {"type": "string"}}}}"#;
const MAP_MAP: &str = r#"{"type": "object", "maxProperties": "n",
    "additionalProperties": {"type": "object", "additionalProperties": {"type": "number"}}}"#;
const LIST_MAP: &str = r#"{"type": "object", "maxProperties": "n",
    "additionalProperties": {"type": "array", "items": {"type": "number"}}}"#;
const BOUNDED_MAP: &str =
    r#"{"type": "object", "additionalProperties": {"type": "string", "maxLength": "n"}, "maxProperties": "n"}"#;
const NESTED: &str = r#"{"type": "array", "maxItems": "n", "items": {"type": "object", "maxProperties": "n",
    "additionalProperties": {"type": "object", "required": ["required"], "maxProperties": "n",
    "properties": {"required": {"type": "string"}, "optional": {"type": "string"}}}}}"#;
const HALF_NESTED: &str = r#"{"type": "array", "items": {"type": "object", "maxProperties": "n",
    "additionalProperties": {"type": "object", "required": ["required"],
    "properties": {"required": {"type": "string"}, "optional": {"type": "string"}}}}}"#;
const STRING: &str = r#"{"type": "string", "maxLength": "n"}"#;
const BYTES: &str = r#"{"type": "string", "format": "byte", "maxLength": "n"}"#;
const ENUM: &str = r#"{"type": "string", "maxLength": "n", "enum": ["A", "B", "C", "LongValue"]}"#;
const CHOICE: &str = r#"{"x-kubernetes-int-or-string": true, "maxLength": "n"}"#;
const REPLACED: &str = r#"{"type": "object", "properties": {"str": {"type": "string", "maxLength": "n"},
    "before": {"type": "string", "maxLength": 2}, "after": {"type": "string", "maxLength": 4}}}"#;
const SPLIT: &str = r#"{"type": "object", "properties": {"str": {"type": "string", "maxLength": "n"},
    "separator": {"type": "string", "maxLength": "n"}}}"#;

const CASES: &[Case] = &[
    (NUMBERS, "self.all(x, true)", 4_718_591, 10, 32),
    (STRINGS, "self.all(x, true)", 3_145_727, 20, 62),
    (BOOLEANS, "self.all(x, true)", 1_887_437, 5, 17),
    (LISTS, "self.all(x, true)", 3_145_727, 100, 302),
    (OBJECTS, "self.all(x, true)", 555_128, 50, 152),
    (NUMBER_MAP, "self.all(x, true)", 1_348_169, 10, 32),
    (STRING_MAP, "self.all(x, true)", 1_179_647, 3, 11),
    (BOOLEAN_MAP, "self.all(x, true)", 943_718, 100, 302),
    (NUMBER_MAP, "has(self.x)", 0, 100, 0),
    (STRING, "self.contains('test')", 314_574, 10, 5),
    (STRING, "self.startsWith('test')", 2, 15, 2),
    (STRING, "self.endsWith('test')", 2, 30, 2),
    (STRING, r#"size(self + "hello") > size("hello")"#, 314_578, 4, 7),
    (NUMBERS, "self[1] == 0.0", 2, 5000, 2),
    (STRINGS, "self[1] == self[1]", 314_577, 8, 314_577),
    (NUMBERS, "self.all(x, self.all(y, true))", u64::MAX, 10, 352),
    (NUMBERS, "self.all(x, self.all(y, self.all(z, true)))", u64::MAX, 10, 3552),
    (STRING, r#"self.matches("x")"#, 314_574, 50, 22),
    (STRING, r#""".matches("(((((((((())))))))))[0-9]")"#, 7, 10, 7),
    (STRING, r#"self.matches("")"#, 1, 100, 1),
    (BOUNDED_MAP, "self.all(x, x.contains(self[x]))", 2_752_507, 10, 72),
    (NUMBERS, "self[3] == 0.0", 2, 0, 2),
    (NUMBER_MAP, r#"self["x"] == 0.0"#, 2, 0, 2),
    (STRING, r#"self == "x""#, 2, 0, 1),
    (BYTES, r#"self == b"x""#, 2, 0, 1),
    (NUMBERS, "self.all(x, x == 0.0)", 6_291_454, 6_291_456, 25_165_826),
    (NESTED, r#"self.all(x, x["y"].required == "z")"#, 7_340_027, 10, 72),
    (HALF_NESTED, r#"self.all(x, x["y"].required == "z")"#, 7_340_027, 10, 7_340_027),
    (CHOICES, "self.all(x, true)", 4_718_591, 10, 32),
    (CHOICES, "self[0] == 5", 3, 10, 3),
    (BOOLEANS, "self[0] == false", 2, 25, 2),
    (OBJECTS, "self[0] == null", 2, 422, 2),
    (LISTS, "self[0][0] == -1.0", 3, 51, 3),
    (MAPS, "self.all(x, x.y == 25.2)", 6_291_452, 12, 74),
    (MAPS, "self[0].x > 2.0", 4, 3000, 4),
    (DURATIONS, "self.all(x, true)", 2_359_295, 5, 17),
    (DURATIONS, "self[0].getHours() == 2", 4, 525, 4),
    (DATES, "self.all(x, true)", 725_936, 15, 47),
    (DATES, "self[2].getDayOfMonth() == 13", 4, 42, 4),
    (TIMES, "self.all(x, true)", 428_963, 25, 77),
    (TIMES, "self[2].getMinutes() == 45", 4, 99, 4),
    (CHOICE_MAP, "self.all(x, true)", 1_348_169, 15, 47),
    (OBJECT_MAP, "self.all(x, true)", 428_963, 20, 62),
    (MAP_MAP, "self.all(x, true)", 1_179_647, 10, 32),
    (LIST_MAP, "self.all(x, true)", 1_179_647, 25, 77),
    (DURATION_MAP, "self.all(x, true)", 1_048_577, 5, 17),
    (DATE_MAP, "self.all(x, true)", 524_288, 10, 32),
    (TIME_MAP, "self.all(x, true)", 349_526, 25, 77),
    (STRING, "self.find('[0-9]+') == ''", 629_147, 10, 11),
    (BOUNDED_STRINGS, "self.join(' ') == 'aa bb'", 329_853_068_905, 10, 43),
    (BOUNDED_STRINGS, "self.isSorted() == true", 329_854_432_052, 10, 52),
    (REPLACED, "self.str.replace(self.before, self.after) == 'does not matter'", 629_154, 4, 12),
    (SPLIT, "self.str.split(self.separator) == []", 629_160, 10, 22),
    (STRING, "self.lowerAscii() == 'lower!'", 314_575, 10, 6),
    (INTEGER_MAP, "oldSelf.size() == self.size()", 5, 10, 5),
    (TIME_MAP, r#"self["a"] == self["b"]"#, 8, 7, 8),
    (DURATION_MAP, r#"self["c"] == self["d"]"#, 8, 42, 8),
    (ENUM, "self.contains('A')", 2, 1000, 401),
    (CHOICE, "isQuantity(self)", 314_574, 20, 9),
    // Keys of what is computed have the size of the node itself.
    (STRING, "{'a': 1}.all(k, k.contains('x'))", 314_608, 10, 39),
];

/// The schema of a case, with or without its bounds.
fn schema(text: &str, rule: &str, bound: Option<u64>) -> Schema {
    fn set(value: &mut Value, bound: Option<u64>) {
        let Value::Object(fields) = value else { return };
        fields.retain(|_, value| *value != "n" || bound.is_some());
        for value in fields.values_mut() {
            if *value == "n" {
                *value = json!(bound);
            }
            set(value, bound);
        }
    }
    let mut document: Value = serde_json::from_str(text).unwrap();
    set(&mut document, bound);
    document["x-kubernetes-validations"] = json!([{"rule": rule}]);
    keywords::read(&document).unwrap()
}

#[test]
fn costs_are_estimated_as_kubernetes_does() {
    let mut wrong = String::new();
    for (text, rule, unbounded, bound, bounded) in CASES {
        for (bound, expected) in [(None, *unbounded), (Some(*bound), *bounded)] {
            let schema = schema(text, rule, bound);
            let compiled = programs(At::of(&schema), false).unwrap_or_else(|| panic!("{text}"));
            if let Some(Err(error)) = &compiled[0].program {
                writeln!(wrong, "{rule}: {error}").expect("text");
                continue;
            }
            let found = compiled[0].cost;
            let is_right = match expected {
                0 => true,
                u64::MAX => found > 10_000_000,
                expected => found == expected,
            };
            if !is_right {
                writeln!(wrong, "{rule} in {text} with {bound:?}: {found}, not {expected}").expect("text");
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

const NESTED_OBJECT: &str = r#"{"type": "object", "properties": {
    "i": {"type": "integer"}, "b": {"type": "boolean"}, "s": {"type": "string"},
    "a": {"type": "array", "items": {"type": "integer"}},
    "o": {"type": "object", "properties": {
        "i": {"type": "integer"}, "b": {"type": "boolean"}, "s": {"type": "string"}, "o": {"type": "object"}}}}}"#;
const RESERVED: &str = r#"{"type": "object", "properties": {
    "namespace": {"type": "array", "items": {"type": "array", "items": {"type": "string"}}},
    "if": {"type": "integer"}, "self": {"type": "integer"}}}"#;
const DEEP: &str = r#"{"type": "array", "items": {"type": "object", "properties": {"nestedObj": {"type": "object",
    "properties": {"val": {"type": "integer", "format": "int64"}}}}}}"#;

/// A node, `optionalOldSelf`, a rule, and what its error contains; none if it compiles.
const COMPILED: &[(&str, bool, &str, &str)] = &[
    (r#"{"type": "integer"}"#, true, "self >= oldSelf.value()", ""),
    (r#"{"type": "integer"}"#, true, "self >= oldSelf.orValue(1)", ""),
    (r#"{"type": "integer"}"#, true, "oldSelf.hasValue() ? self >= oldSelf.value() : true", ""),
    (r#"{"type": "integer"}"#, true, "self >= oldSelf", "optional"),
    (r#"{"type": "integer"}"#, true, "self >= oldSelf.orValue('')", "orValue"),
    (r#"{"type": "integer"}"#, false, "self >= oldSelf", ""),
    (NESTED_OBJECT, true, "self.i >= oldSelf.i.value()", ""),
    (NESTED_OBJECT, true, "self.s == oldSelf.s.value()", ""),
    (NESTED_OBJECT, true, "self.b == oldSelf.b.value()", ""),
    (NESTED_OBJECT, true, "self.o == oldSelf.o.value()", ""),
    (NESTED_OBJECT, true, "self.o.i >= oldSelf.o.i.value()", ""),
    (NESTED_OBJECT, true, "self.o.o == oldSelf.o.o.value()", ""),
    (NESTED_OBJECT, true, "self.o.i >= oldSelf.o.i.orValue(1)", ""),
    (NESTED_OBJECT, true, "oldSelf.hasValue() ? self.o.i >= oldSelf.o.i.value() : true", ""),
    (NESTED_OBJECT, true, "self.o.i >= oldSelf.o.i", "optional"),
    (NESTED_OBJECT, true, "self.o.i >= oldSelf.o.s.orValue(0)", "orValue"),
    (r#"{"type": "string"}"#, false, "self.startsWith('s')", ""),
    (r#"{"type": "string", "format": "byte"}"#, false, "string(self).endsWith('s')", ""),
    (r#"{"type": "boolean"}"#, false, "self == true", ""),
    (r#"{"type": "integer"}"#, false, "self > 0", ""),
    (r#"{"type": "number"}"#, false, "self > 1.0", ""),
    (DEEP, false, "self[0].nestedObj.val == 10", ""),
    (r#"{"type": "object", "additionalProperties": {"type": "boolean"}}"#, false, "size(self) > 0", ""),
    (r#"{"type": "object", "additionalProperties": true}"#, false, "size(self) > 0", "compilation failed"),
    (r#"{"type": "number"}"#, false, "size(self) == 10", "compilation failed"),
    (r#"{"type": "integer"}"#, false, "size(self) == 10", "compilation failed"),
    (RESERVED, false, "size(self.__namespace__[0]) == 10", ""),
    (RESERVED, false, "size(self.namespace[0]) == 10", ""),
    (RESERVED, false, "self.__if__ == 10", ""),
    (RESERVED, false, "self.if == 10", ""),
    (RESERVED, false, "self.self == 10", ""),
    (RESERVED, false, "self == 10", "found no matching overload"),
    (r#"{"type": "object"}"#, false, "42", "must evaluate to a bool"),
    (r#"{"type": "object"}"#, false, "fakeFunction('abc') == 'ABC'", "undeclared reference to 'fakeFunction'"),
    (r#"{"x-kubernetes-int-or-string": true}"#, false, "self", "must evaluate to a bool"),
    (r#"{"type": "string"}"#, false, "self.matches('(')", "invalid matches argument"),
    (r#"{"type": "string"}"#, false, "self.find('(') == ''", "program instantiation failed: error parsing regexp: "),
];

#[test]
fn rules_compile_as_in_kubernetes() {
    for (text, is_optional, rule, error) in COMPILED {
        let mut schema = schema(text, rule, None);
        schema.rules[0].optional_old_self = is_optional.then_some(true);
        let compiled = &programs(At::of(&schema), false).unwrap()[0];
        match compiled.program.as_ref().unwrap() {
            Ok(_) => assert_eq!((*error, compiled.uses_old_self), ("", rule.contains("oldSelf")), "{rule}"),
            Err(found) => assert!(!error.is_empty() && found.contains(error), "{rule}: {found}"),
        }
    }
    let schema = schema(r#"{"type": "object"}"#, " \t", None);
    assert!(programs(At::of(&schema), false).unwrap()[0].program.is_none());
}
