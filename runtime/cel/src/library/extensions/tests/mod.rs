//! Expressions with what cel-go makes of them: values, errors, costs, and what does not compile.
//!
//! Each line of a file has an expression and its outcome, and where Kubernetes charges it, its cost with the least and the most of the
//! estimate, for the documents' sizes in [`Hints`]. The exponents of `%e` have no narrow spaces, as in kube-apiserver.
use kindsmith_meta::go;
use serde_json::Value as Json;

use crate::{
    Env, Error, Program, Range, Settings, Sizes, Type, Unmetered, Value, Variables,
    library::{extensions, standard},
    syntax::Limits,
};

mod bounds;

/// The variables of the expressions.
struct Document;

impl<'a> Variables<'a> for Document {
    fn variable(&self, name: &str) -> Option<Result<Value<'a>, Error>> {
        let ints = |ints: &[i64]| Value::list(ints.iter().copied().map(Value::Int).collect());
        Some(Ok(match name {
            "s" => "hello wörld".into(),
            "t" => "o".into(),
            "l" => Value::list(["b", "a", "c"].map(Value::from).into()),
            "n" => ints(&[3, 1, 2]),
            "m" => Value::list(vec![ints(&[1, 2]), ints(&[3])]),
            "i" => Value::Int(2),
            "d" => "dyn text".into(),
            "x" => Value::list(vec![Value::Int(1), Value::list(vec![Value::Int(2), ints(&[3])])]),
            _ => return None,
        }))
    }
}

/// The sizes of the variables.
struct Hints;

impl Sizes for Hints {
    fn size(&self, path: &[&str], _kind: &Type) -> Option<Range> {
        let most = match path {
            ["s"] => 100,
            ["t"] => 5,
            ["l" | "n" | "m"] => 10,
            ["l", "@items"] => 20,
            _ => return None,
        };
        Some(Range::new(0, most))
    }
}

fn with_variables(env: Env) -> Env {
    env.variable("s", Type::String)
        .variable("t", Type::String)
        .variable("l", Type::list(Type::String))
        .variable("n", Type::list(Type::Int))
        .variable("m", Type::list(Type::list(Type::Int)))
        .variable("i", Type::Int)
        .variable("d", Type::Dyn)
        .variable("x", Type::list(Type::Dyn))
}

/// The environment of all extensions, as cel-go has it without further options.
fn all() -> Env {
    let settings = Settings {
        optional_syntax: true,
        escaped_identifiers: false,
        cross_type_comparisons: false,
        presence_tests_cost: true,
        bad_presence_tests_fail: true,
        fold_constants: true,
        limits: Limits::default(),
    };
    Env::new(
        settings,
        &[
            &standard::STANDARD,
            &standard::OPTIONALS,
            &extensions::STRINGS,
            &extensions::SETS,
            &extensions::LISTS,
            &extensions::MATH,
            &extensions::ENCODERS,
            &extensions::BINDINGS,
            &extensions::REGEX,
            &extensions::COMPREHENSIONS,
        ],
    )
}

/// The outcome of an expression, and its costs if it compiles.
fn outcome(env: &Env, expression: &str) -> (String, Option<[u64; 3]>) {
    let checked = match env.compile(expression) {
        Ok(checked) => checked,
        Err(issues) => return (format!("? {issues}"), None),
    };
    let estimate = checked.estimate(&Hints);
    let program = match Program::new(&checked) {
        Ok(program) => program,
        Err(error) => return (format!("! program: {error}"), None),
    };
    let evaluation = program.evaluate(&Document, None, &Unmetered);
    let outcome = match &evaluation.value {
        Ok(value) => format!("= {}", print(value)),
        Err(error) => format!("! {error}"),
    };
    (outcome, Some([evaluation.cost, estimate.min, estimate.max]))
}

fn print(value: &Value<'_>) -> String {
    match value {
        Value::String(text) => go::quoted(text),
        Value::Bytes(bytes) => format!("b{}", go::quoted(&String::from_utf8_lossy(bytes))),
        Value::Uint(value) => format!("{value}u"),
        Value::Double(value) => format!("{value:?}"),
        Value::List(list) => {
            let items: Vec<_> = list.iter().map(|item| print(&item.expect("it is computed"))).collect();
            format!("[{}]", items.join(", "))
        }
        Value::Map(map) => {
            let entry = |(key, value): (Value<'_>, Result<Value<'_>, Error>)| {
                format!("{}: {}", print(&key), print(&value.expect("it is computed")))
            };
            format!("{{{}}}", map.iter().map(entry).collect::<Vec<_>>().join(", "))
        }
        Value::Optional(Some(value)) => format!("optional.of({})", print(value)),
        other => other.to_string(),
    }
}

/// Compares the lines of a file.
fn compare(env: &Env, file: &str, has_costs: bool) {
    let mut wrong = Vec::new();
    for line in file.lines() {
        let case: Json = serde_json::from_str(line).expect("a line is JSON");
        let expression = case[0].as_str().expect("an expression");
        let (outcome, costs) = outcome(env, expression);
        let wanted = case[1].as_str().expect("an outcome");
        if outcome != wanted {
            wrong.push(format!("{expression}\n  is     {outcome}\n  wanted {wanted}"));
        }
        let wanted = [&case[2], &case[3], &case[4]].map(Json::as_u64);
        if let Some(costs) = costs.filter(|_| has_costs)
            && costs.map(Some) != wanted
        {
            wrong.push(format!("{expression}\n  costs  {costs:?}\n  wanted {wanted:?}"));
        }
    }
    assert!(wrong.is_empty(), "{} are wrong:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn extensions_of_kubernetes_are_those_of_cel_go() {
    compare(&with_variables(Env::kubernetes(36)), include_str!("kubernetes.jsonl"), true);
}

#[test]
fn all_extensions_are_those_of_cel_go() {
    compare(&with_variables(all()), include_str!("all.jsonl"), false);
}

/// Functions and operators of the language itself, with arguments of all types.
#[test]
fn the_language_is_that_of_cel_go() {
    compare(&with_variables(Env::kubernetes(36)), include_str!("language.jsonl"), true);
}
