//! The environment of cel-go's runner: the language with optional values, names in backticks, and all extensions in their newest
//! versions, but for addresses those of Kubernetes, which checks literals only when it runs; and what a case expects.
use std::{collections::HashMap, sync::LazyLock};

use kindsmith_cel::{
    Env, Error, Function, Library, Program, Settings, Type, Unmetered, Value, Variables,
    library::{
        extensions::{BINDINGS, COMPREHENSIONS, ENCODERS, MATH, STRINGS},
        network::{CIDR, IP},
        standard::{OPTIONALS, STANDARD},
    },
    syntax::{self, Limits},
};

use crate::{
    case::{Case, list},
    types, values,
};

const SETTINGS: Settings = Settings {
    optional_syntax: true,
    escaped_identifiers: true,
    cross_type_comparisons: false,
    presence_tests_cost: true,
    bad_presence_tests_fail: true,
    fold_constants: false,
    limits: Limits { code_points: 100_000, recursion: 250 },
};

/// `cel.block`, which cel-go has for these cases only, and the functions that some cases declare.
static CASES: Library = Library { name: "cases", functions, macros: &syntax::BLOCK, types: Vec::new, validators: &[] };

fn functions() -> Vec<Function> {
    let [t, u, v] = ["T", "U", "V"].map(Type::parameter);
    let tuple = |parameters: [&Type; 3]| Type::Opaque("tuple".into(), parameters.map(Clone::clone).into());
    let same = tuple([&t, &t, &t]);
    vec![
        Function::new("cel.@block").global("cel_block_list", &[Type::list(Type::Dyn), t.clone()], t.clone()),
        Function::new("fn").global("fn_string_int", &[Type::String, Type::Int], Type::String),
        Function::new("tuple").global("tuple_T_U_V", &[t.clone(), u.clone(), v.clone()], tuple([&t, &u, &v])),
        Function::new("sort").global("sort_tuple_T_T_T", std::slice::from_ref(&same), same.clone()),
    ]
}

static BASE: LazyLock<Env> = LazyLock::new(|| {
    let libraries = [&STANDARD, &OPTIONALS, &BINDINGS, &ENCODERS, &MATH, &STRINGS, &COMPREHENSIONS, &IP, &CIDR, &CASES];
    let env = Env::new(SETTINGS, &libraries);
    (0..30).fold(env, |env, index| env.variable(&format!("@index{index}"), Type::Dyn))
});

/// The environment without variables of a case.
pub(crate) fn plain() -> Env {
    BASE.clone()
}

struct Bindings(HashMap<String, Value<'static>>);

impl<'a> Variables<'a> for Bindings {
    fn variable(&self, name: &str) -> Option<Result<Value<'a>, Error>> {
        self.0.get(name).cloned().map(Ok)
    }
}

/// Runs a case.
///
/// # Errors
/// What is not as expected.
pub(crate) fn run(case: &Case) -> Result<(), String> {
    let env = environment(case)?;
    let bindings = case.json["bindings"].as_object().into_iter().flatten();
    let bindings = bindings.map(|(name, json)| Ok((name.clone(), values::read(&json["value"])?)));
    let bindings = Bindings(bindings.collect::<Result<_, String>>()?);
    let program = if case.flag("disable_check") {
        let ast = env.parse(&case.expr).map_err(|issues| issues.to_string())?;
        Program::unchecked(&env, &ast)
    } else {
        let checked = env.compile(&case.expr).map_err(|issues| issues.to_string())?;
        let expected = &case.json["typed_result"]["deduced_type"];
        if !expected.is_null() && types::read(expected)? != *checked.result_type() {
            return Err(format!("is of type {}, not {expected}", checked.result_type()));
        }
        if case.flag("check_only") {
            return Ok(());
        }
        Program::new(&checked)
    };
    let program = program.map_err(|error| error.to_string())?;
    let evaluation = program.evaluate(&bindings, None, &Unmetered);
    if case.json.get("eval_error").is_some() {
        return evaluation.value.map_or(Ok(()), |value| Err(format!("is {value}, not an error")));
    }
    let value = evaluation.value.map_err(|error| error.to_string())?;
    let expected = match (&case.json["value"], &case.json["typed_result"]["result"]) {
        (serde_json::Value::Null, serde_json::Value::Null) => Value::Bool(true),
        (serde_json::Value::Null, expected) | (expected, _) => values::read(expected)?,
    };
    if values::same(&expected, &value) { Ok(()) } else { Err(format!("is {value}, not {expected}")) }
}

fn environment(case: &Case) -> Result<Env, String> {
    let mut env = plain().container(case.text("container"));
    for declaration in list(&case.json["type_env"]) {
        if let Some(ident) = declaration.get("ident") {
            let name = declaration["name"].as_str().unwrap_or_default();
            env = env.variable(name, types::read(&ident["type"])?);
        }
    }
    Ok(env)
}
