//! Values as the cases give and expect them.
use base64::{Engine as _, engine::general_purpose::STANDARD};
use kindsmith_cel::{
    Env, NoVariables, Program, Unmetered, Value,
    value::{Map, Octets},
};
use serde_json::Value as Json;

use crate::{case::list, environment};

/// The value that a case gives; an error for Protobuf messages.
pub(crate) fn read(json: &Json) -> Result<Value<'static>, String> {
    let (kind, of) = json.as_object().and_then(|json| json.iter().next()).ok_or("no value")?;
    let text = || of.as_str().map(str::to_owned).ok_or_else(|| format!("no text in {json}"));
    Ok(match &**kind {
        "null_value" => Value::Null,
        "bool_value" => Value::Bool(of.as_bool().ok_or("no bool")?),
        "int64_value" => Value::Int(text()?.parse().map_err(|_| "no int")?),
        "uint64_value" => Value::Uint(text()?.parse().map_err(|_| "no uint")?),
        "double_value" => Value::Double(match of.as_f64() {
            Some(double) => double,
            None => text()?.parse().map_err(|_| "no double")?,
        }),
        "string_value" => Value::from(text()?),
        "bytes_value" => Value::Bytes(Octets::Shared(STANDARD.decode(text()?).map_err(|_| "no bytes")?.into())),
        "list_value" => Value::list(list(&of["values"]).iter().map(read).collect::<Result<_, _>>()?),
        "map_value" => {
            let entry = |entry: &Json| Ok::<_, String>((read(&entry["key"])?, read(&entry["value"])?));
            Value::map(list(&of["entries"]).iter().map(entry).collect::<Result<Vec<_>, _>>()?)
        }
        "type_value" => Value::type_named(&text()?),
        "object_value" => return time(of),
        _ => return Err(format!("no value for {json}")),
    })
}

/// A duration or timestamp.
fn time(json: &Json) -> Result<Value<'static>, String> {
    let kind = json["@type"].as_str().unwrap_or_default();
    let function = match kind {
        "type.googleapis.com/google.protobuf.Duration" => "duration",
        "type.googleapis.com/google.protobuf.Timestamp" => "timestamp",
        _ => return Err(format!("no value for {kind}")),
    };
    let text = json["value"].as_str().ok_or("no text")?;
    let env: Env = environment::plain();
    let program = Program::compile(&env, &format!("{function}('{text}')")).map_err(|issues| issues.to_string())?;
    let value = program.evaluate(&NoVariables, None, &Unmetered).value.map_err(|error| error.to_string())?;
    value.into_owned().map_err(|error| error.to_string())
}

/// True if a value is the expected one, of the same type, with its parts. `NaN` is expected as itself; the order of entries is not.
pub(crate) fn same(left: &Value<'_>, right: &Value<'_>) -> bool {
    match (left, right) {
        (Value::Double(left), Value::Double(right)) if left.is_nan() => right.is_nan(),
        (Value::List(left), Value::List(right)) => {
            let pairs = || left.iter().zip(right.iter());
            left.len() == right.len()
                && pairs().all(|pair| matches!(pair, (Ok(left), Ok(right)) if same(&left, &right)))
        }
        (Value::Map(left), Value::Map(right)) => left.len() == right.len() && same_entries(left, right),
        _ => left.type_name() == right.type_name() && left.equals(right, &Unmetered) == Ok(true),
    }
}

fn same_entries(left: &Map<'_>, right: &Map<'_>) -> bool {
    left.iter().all(|(key, value)| {
        let other = right.iter().find(|(other, _)| same(&key, other));
        matches!((value, other), (Ok(value), Some((_, Ok(other)))) if same(&value, &other))
    })
}
