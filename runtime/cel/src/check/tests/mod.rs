//! Results of the checker for expressions, as cel-go's own tests have it.
use std::collections::HashSet;

use crate::library::validators::each_node;
use crate::{Checked, Reference};
use crate::{
    Env, Function, Library, Settings, Type, TypeProvider,
    library::standard::{OPTIONALS, STANDARD},
    syntax::Limits,
};

mod errors;
mod kubernetes;
mod limits;
mod loops;
mod names;
mod random;
mod types;
mod validators;

/// The settings of the tests.
const SETTINGS: Settings = Settings {
    optional_syntax: true,
    escaped_identifiers: true,
    cross_type_comparisons: true,
    presence_tests_cost: true,
    bad_presence_tests_fail: false,
    fold_constants: false,
    limits: Limits { code_points: 100_000, recursion: 250 },
};

static FUNCTIONS: Library = Library { name: "tests", functions, macros: &[], types: Vec::new, validators: &[] };

fn functions() -> Vec<Function> {
    let triple = [Type::Int, Type::Bool, Type::Uint];
    let set = Type::Opaque("set".into(), [Type::parameter("T")].into());
    vec![
        Function::new("fg_s").global("fg_s_0", &[], Type::String),
        Function::new("fi_s_s").member("fi_s_s_0", &[Type::String], Type::String),
        Function::new("myfun").member("myfun_instance", &triple, Type::Int).global("myfun_static", &triple, Type::Int),
        Function::new("base64.encode").global("base64_encode_string", &[Type::String], Type::String),
        Function::new("set").global("set_list", &[Type::list(Type::parameter("T"))], set),
        Function::new("tuple").global("tuple_T_U_V", &tuple("T", "U", "V").1, tuple("T", "U", "V").0),
        Function::new("sort").global("sort_tuple", &[tuple("T", "T", "T").0], tuple("T", "T", "T").0),
        Function::new("size").global("size_message", &[kind_of("test.All")], Type::Int),
    ]
}

/// A type with three parameters, and these.
fn tuple(first: &str, second: &str, third: &str) -> (Type, [Type; 3]) {
    let parameters = [first, second, third].map(Type::parameter);
    (Type::Opaque("tuple".into(), parameters.clone().into()), parameters)
}

/// The structs `test.All` and `test.Nested`.
#[derive(Debug)]
struct Structs;

impl TypeProvider for Structs {
    fn has(&self, structure: &str) -> bool {
        ["test.All", "test.Nested"].contains(&structure)
    }

    fn field(&self, structure: &str, field: &str) -> Option<Type> {
        let kind = match (structure, field) {
            ("test.All", "int" | "int64") | ("test.Nested", "bb") => "int",
            ("test.All", "ints") => "list(int)",
            ("test.All", "value") => "dyn",
            ("test.All", "struct") => "map(string, dyn)",
            ("test.All", "nested") => "test.Nested",
            ("test.All", "nested_by_int") => "map(int, test.Nested)",
            _ => return None,
        };
        Some(kind_of(kind))
    }
}

/// An environment with variables: `a: int; b: list(T)`.
fn env(variables: &str) -> Env {
    with_settings(SETTINGS, variables)
}

fn with_settings(settings: Settings, variables: &str) -> Env {
    let env = Env::new(settings, &[&STANDARD, &OPTIONALS, &FUNCTIONS]).types(std::sync::Arc::new(Structs));
    variables
        .split("; ")
        .filter_map(|variable| variable.split_once(": "))
        .fold(env, |env, (name, kind)| env.variable(name, kind_of(kind)))
}

/// The type that is written as types are printed.
fn kind_of(text: &str) -> Type {
    let Some((name, parameters)) = text.split_once('(') else {
        return match text {
            "dyn" => Type::Dyn,
            "any" => Type::Any,
            "null" => Type::Null,
            "bool" => Type::Bool,
            "int" => Type::Int,
            "uint" => Type::Uint,
            "double" => Type::Double,
            "string" => Type::String,
            "bytes" => Type::Bytes,
            "duration" => Type::Duration,
            "timestamp" => Type::Timestamp,
            _ if text.len() == 1 => Type::parameter(text),
            _ => Type::Struct(text.into()),
        };
    };
    let mut depth = 0;
    let parameters = parameters.strip_suffix(')').expect("a closing parenthesis");
    let parts: Vec<_> = parameters
        .split(|letter| {
            depth += i32::from(letter == '(') - i32::from(letter == ')');
            letter == ',' && depth == 0
        })
        .map(|part| kind_of(part.trim()))
        .collect();
    match (name, &parts[..]) {
        ("list", [element]) => Type::list(element.clone()),
        ("map", [key, value]) => Type::map(key.clone(), value.clone()),
        ("type", [value]) => Type::of_type(value.clone()),
        _ => Type::Opaque(name.into(), parts.into()),
    }
}

/// What names and calls refer to, in the order of evaluation: `x size_list`. Ids of several overloads are sorted.
fn references(checked: &Checked) -> String {
    let mut all = Vec::new();
    each_node(&checked.ast.root, false, &mut |expr, _| match checked.reference(expr.id) {
        None => {}
        Some(Reference::Name(name)) => all.push(name.to_string()),
        Some(Reference::Overloads(ids)) => {
            let mut ids: Vec<_> = ids.iter().map(|id| &**id).collect();
            ids.sort_unstable();
            all.push(ids.join("|"));
        }
    });
    all.join(" ")
}

/// The errors of an expression: `1:5 message`.
fn errors(env: &Env, expression: &str) -> Vec<String> {
    match env.compile(expression) {
        Ok(checked) => vec![format!("no errors, but {}", checked.result_type())],
        Err(issues) => issues
            .iter()
            .map(|issue| match issue.offset.map(|offset| issues.source.location(offset)) {
                Some(location) => format!("{}:{} {}", location.line, location.column + 1, issue.message),
                None => issue.message.clone(),
            })
            .collect(),
    }
}

#[test]
fn libraries_have_no_overload_twice() {
    let env = env("");
    for function in env.base.functions.values() {
        let ids: HashSet<_> = function.overloads.iter().map(|overload| &overload.id).collect();
        assert_eq!(ids.len(), function.overloads.len(), "{}", function.name);
    }
}
