//! Random expressions, with the values, errors and costs that cel-go 0.26 gives them.
use crate::{
    Env, NoVariables, Program, Settings, Unmetered, Value,
    library::{
        extensions::{COMPREHENSIONS, LISTS, SETS, STRINGS_2},
        standard::{OPTIONALS, STANDARD},
    },
    program::Error,
};

/// A value as cel-go formats it.
fn shown(value: &Value<'_>) -> String {
    let part = |part: Result<Value<'_>, Error>| shown(&part.unwrap());
    match value {
        Value::Null => "null".to_owned(),
        Value::Uint(value) => format!("{value}u"),
        Value::Double(value) if value.fract() == 0.0 && value.abs() < 1e6 => format!("{value:.1}"),
        Value::String(text) => format!("{:?}", &**text),
        Value::Bytes(bytes) => format!("b{:?}", String::from_utf8_lossy(bytes)),
        Value::List(list) => format!("[{}]", list.iter().map(part).collect::<Vec<_>>().join(", ")),
        Value::Map(map) => {
            let mut entries: Vec<_> =
                map.iter().map(|(key, value)| format!("{}: {}", shown(&key), part(value))).collect();
            entries.sort();
            format!("{{{}}}", entries.join(", "))
        }
        Value::Optional(None) => "optional.none()".to_owned(),
        Value::Optional(Some(value)) => format!("optional.of({})", shown(value)),
        other => other.to_string(),
    }
}

#[test]
fn random_expressions_are_worth_and_cost_as_much() {
    let settings = Settings { presence_tests_cost: true, fold_constants: true, ..super::settings() };
    let env = Env::new(settings, &[&STANDARD, &OPTIONALS, &COMPREHENSIONS, &STRINGS_2, &SETS, &LISTS]);
    for line in include_str!("random.tsv").lines() {
        let [text, result, cost] = line.split('\t').collect::<Vec<_>>().try_into().unwrap();
        let checked = env.compile(text).unwrap();
        let found = match Program::new(&checked) {
            Err(error) => (format!("program: {error}"), String::new()),
            Ok(program) => {
                let evaluation = program.evaluate(&NoVariables, None, &Unmetered);
                let value = evaluation.value.as_ref();
                (value.map_or_else(|error| format!("error: {error}"), shown), evaluation.cost.to_string())
            }
        };
        assert_eq!(found, (result.to_owned(), cost.to_owned()), "{text}");
    }
}
