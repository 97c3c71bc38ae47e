//! Tests of strings.
use std::sync::Arc;

use super::not_supported;
use crate::{Error, Function, Implementation, Meter, Type, Value, cost::shared, re2};

pub(super) fn functions() -> Vec<Function> {
    let (bool, two) = (Type::Bool, [Type::String, Type::String]);
    let test = |name: &str, id: &str, test: fn(&str, &str) -> bool| {
        Function::new(name).member(id, &two, Type::Bool).singleton(move |arguments, meter: &dyn Meter| {
            let [Value::String(text), Value::String(part)] = arguments else { return Err(Error::no_such_overload()) };
            meter.spend(1 + text.len() / 16)?;
            Ok(Value::Bool(test(text, part)))
        })
    };
    vec![
        test("contains", "contains_string", |text, part| text.contains(part)).costs(shared::SEARCH),
        test("endsWith", "ends_with_string", |text, part| text.ends_with(part)).costs(shared::AFFIX),
        test("startsWith", "starts_with_string", |text, part| text.starts_with(part)).costs(shared::AFFIX),
        // Its cost is known by the name of the other overload only.
        Function::new("matches")
            .global("matches", &two, bool.clone())
            .member("matches_string", &two, bool)
            .costs(shared::MATCH)
            .singleton(matches)
            .specialized(matches_constant),
    ]
}

/// `matches` with a pattern that is read once.
fn matches_constant(pattern: &Value<'static>) -> Result<Implementation, Error> {
    let Value::String(pattern) = pattern else { return Err(Error::no_such_overload()) };
    let pattern = re2::read(pattern).map_err(Error::new)?;
    Ok(Arc::new(move |arguments, meter| match arguments {
        [Value::String(text), _] => pattern.search(text, meter).map(Value::Bool),
        _ => Err(Error::no_such_overload()),
    }))
}

fn matches<'a>(arguments: &[Value<'a>], meter: &dyn Meter) -> Result<Value<'a>, Error> {
    match arguments {
        [Value::String(text), Value::String(pattern)] => {
            meter.spend(re2::steps_to_read(pattern))?;
            re2::read(pattern).map_err(Error::new)?.search(text, meter).map(Value::Bool)
        }
        [Value::String(_), _] => Err(Error::no_such_overload()),
        [other, _] => Err(not_supported("matches", other)),
        _ => Err(Error::no_such_overload()),
    }
}
