//! Tests of programs: values, errors and costs; `random` has results of random expressions.
mod random;

use super::{NoVariables, Program, Variables};
use crate::{
    Env, Settings, Type, Value,
    library::standard::{OPTIONALS, STANDARD},
    syntax::Limits,
    value::{Dynamic, Json, Shape},
};
use crate::{Error, Unmetered};

fn settings() -> Settings {
    Settings {
        optional_syntax: true,
        escaped_identifiers: false,
        cross_type_comparisons: true,
        presence_tests_cost: false,
        bad_presence_tests_fail: false,
        fold_constants: false,
        limits: Limits::default(),
    }
}

struct Document<'a>(&'a Json);

impl<'a> Variables<'a> for Document<'a> {
    fn variable(&self, name: &str) -> Option<Result<Value<'a>, Error>> {
        self.0.get(name).map(|json| Dynamic.read(json))
    }
}

fn run(settings: Settings, text: &str, document: &Json) -> (String, u64) {
    let mut env = Env::new(settings, &[&STANDARD, &OPTIONALS]);
    for (name, json) in document.as_object().unwrap() {
        env = env.variable(name, if json.is_string() { Type::String } else { Type::Dyn });
    }
    let program = match Program::compile(&env, text) {
        Ok(program) => program,
        Err(issues) => return (format!("{issues}"), 0),
    };
    let evaluation = program.evaluate(&Document(document), Some(1_000_000), &Unmetered);
    let value = evaluation.value.map_or_else(|error| error.to_string(), |value| value.to_string());
    (value, evaluation.cost)
}

#[test]
fn costs_are_those_of_the_reference() {
    let document = serde_json::json!({"input": {"a": 1}, "l": [1, 2, 3], "str1": "val1111111", "str2": "val2222222"});
    let plain = Settings { presence_tests_cost: true, ..settings() };
    for (text, value, cost) in [
        ("[1, 2, 3].all(x, true)", "true", 20),
        ("[1, 2, 3, 4, 5].map(x, x)", "[1, 2, 3, 4, 5]", 86),
        ("[1, 2, 3, 4, 5].filter(x, x % 2 == 0)", "[2, 4]", 62),
        ("[1, 2, 3, 4, 5].map(x, x).filter(x, x % 2 == 0)", "[2, 4]", 138),
        ("[1, 2, 3, 4, 5].map(x, [x, x]).filter(z, z.size() == 2)", "[[1, 1], [2, 2], [3, 3], [4, 4], [5, 5]]", 232),
        ("[{'k1': 1}, {'k2': 2}].all(x, true)", "true", 77),
        ("'abcdefg'.contains(str1 + str2)", "false", 6),
        ("[1, 2, 3].all(i, i in [1, 2, 3].map(j, j + j))", "false", 86),
        ("has(input.a)", "true", 2),
        ("input.a == 1 ? str1 : str2", "val1111111", 3),
        ("l[input.a]", "2", 3),
        ("input.b", "no such key: b", 2),
        ("l[3] == 1 || true", "true", 3),
        ("input.?b.orValue(3)", "3", 1),
        ("[?input.?a, ?input.?b]", "[1]", 13),
    ] {
        assert_eq!(run(plain, text, &document), (value.to_owned(), cost), "{text}");
    }
}

#[test]
fn constant_parts_are_free() {
    let document = serde_json::json!({"x": "a", "n": 2});
    let folding = Settings { fold_constants: true, ..settings() };
    for (text, value, cost) in [
        ("x in ['a', 'b', 'c']", "true", 1),
        ("n in [1, 2]", "true", 1),
        ("x in []", "false", 0),
        ("duration('1m') < duration('2m')", "true", 1),
        ("[1, 2].map(i, i * n)", "[2, 4]", 31),
        ("x.matches('^a$')", "true", 2),
        ("{'a': 1}[x]", "1", 2),
    ] {
        assert_eq!(run(folding, text, &document), (value.to_owned(), cost), "{text}");
    }
    assert!(run(folding, "x.matches('(')", &document).0.contains("error parsing regexp"));
    assert_eq!(
        run(folding, "int('x') == 1", &document).0.lines().next().unwrap(),
        "ERROR: <input>:-1:0: type conversion error from 'string' to 'int'"
    );
}

/// A value that is bound to a name is evaluated within the loops where the name is first read.
#[test]
fn loops_of_bound_values_leave_other_loops_alone() {
    let env = Env::kubernetes(36);
    let text = "optional.of(1).optMap(a, [[a]].map(b, b.map(c, c))).optMap(d, [5, 6].map(e, d[0][0] + e)).value()";
    let bound = "optional.of([[1]]).optMap(a, a.map(b, b.map(c, c))).optMap(d, [[5, 6]].map(e, e.map(f, d[0][0] + f))).value()[0]";
    for text in [text, bound] {
        let program = Program::compile(&env, text).unwrap();
        let value = program.evaluate(&NoVariables, None, &Unmetered).value.unwrap();
        assert_eq!(value.to_string(), "[6, 7]", "{text}");
    }
}

struct Tired;

impl super::Meter for Tired {
    fn step(&self, _steps: usize) -> bool {
        false
    }
}

#[test]
fn evaluations_end_over_their_limits() {
    let env = Env::new(settings(), &[&STANDARD]);
    let program = Program::compile(&env, "[1, 2, 3].all(x, true) || true").unwrap();
    let evaluation = program.evaluate(&NoVariables, Some(12), &Unmetered);
    assert_eq!(evaluation.value.unwrap_err().message, "operation cancelled: actual cost limit exceeded");
    let evaluation = program.evaluate(&NoVariables, None, &Tired);
    assert_eq!(evaluation.value.unwrap_err().message, "operation interrupted");
}

/// Repeats what is around an expression as often as the parser allows.
fn deepest(env: &Env, before: &str, inner: &str, after: &str) -> String {
    let nested = |times: usize| format!("{}{inner}{}", before.repeat(times), after.repeat(times));
    let (mut least, mut most) = (1, 300);
    while most - least > 1 {
        let times = usize::midpoint(least, most);
        if env.parse(&nested(times)).is_ok() { least = times } else { most = times }
    }
    nested(least)
}

#[test]
fn the_deepest_expressions_run_on_a_small_stack() {
    let run = || {
        let env = Env::new(settings(), &[&STANDARD, &OPTIONALS]).variable("x", Type::Dyn);
        for (before, inner, after) in [
            ("(false || true && ", "true", ")"),
            ("!(false || true && ", "true", ")"),
            ("[", "1", "]"),
            ("{1: ", "1", "}"),
            ("string(", "'a'", ")"),
            ("(true ? ", "1", " : 2)"),
            ("1 + (", "1", ")"),
            ("[1].map(y, ", "1", ")"),
            ("[1].all(y, true && ", "true", ")"),
            ("[1].exists_one(y, false || !", "true", ")"),
            ("optional.of(1).optMap(y, ", "1", ")"),
            ("[0][", "0", "]"),
            ("dyn([[", "0", "]][0])"),
            ("{'a': ", "1", "}.a"),
            ("optional.of(", "1", ").orValue(1)"),
            ("", "1", " + 1"),
            ("", "x", ".a"),
        ] {
            let text = deepest(&env, before, inner, after);
            let program = Program::unchecked(&env, &env.parse(&text).unwrap()).unwrap();
            let value = program.evaluate(&NoVariables, None, &Unmetered).value;
            drop(value);
            if let Ok(program) = Program::compile(&env, &text) {
                drop(program.evaluate(&NoVariables, None, &Unmetered).value);
            }
        }
    };
    std::thread::Builder::new().stack_size(2 << 20).spawn(run).unwrap().join().unwrap();
}
