//! How functions read their arguments, and make values.
use crate::{
    Error, Function, Meter, Type, Value,
    value::{List, Opaque},
};

/// A text.
pub(super) fn text<'v>(args: &'v [Value<'_>], at: usize) -> Result<&'v str, Error> {
    match args.get(at) {
        Some(Value::String(text)) => Ok(text),
        _ => Err(Error::no_such_overload()),
    }
}

/// A text that is parsed, which is reported. Errors quote it.
pub(super) fn read_text<'v>(args: &'v [Value<'_>], at: usize, meter: &dyn Meter) -> Result<&'v str, Error> {
    let text = text(args, at)?;
    meter.spend(1 + text.len())?;
    Ok(text)
}

/// A whole number.
pub(super) fn int(args: &[Value<'_>], at: usize) -> Result<i64, Error> {
    match args.get(at) {
        Some(Value::Int(number)) => Ok(*number),
        _ => Err(Error::no_such_overload()),
    }
}

/// `true` or `false`.
pub(super) fn bool(args: &[Value<'_>], at: usize) -> Result<bool, Error> {
    match args.get(at) {
        Some(Value::Bool(value)) => Ok(*value),
        _ => Err(Error::no_such_overload()),
    }
}

/// A list.
pub(super) fn list<'v, 'a>(args: &'v [Value<'a>], at: usize) -> Result<&'v List<'a>, Error> {
    match args.get(at) {
        Some(Value::List(list)) => Ok(list),
        _ => Err(Error::no_such_overload()),
    }
}

/// A value of a type of a library.
pub(super) fn opaque<'v, T: Opaque>(args: &'v [Value<'_>], at: usize) -> Result<&'v T, Error> {
    args.get(at).and_then(Value::downcast).ok_or_else(Error::no_such_overload)
}

/// A list of texts.
pub(super) fn texts<'a>(texts: impl IntoIterator<Item = String>) -> Value<'a> {
    Value::list(texts.into_iter().map(Value::from).collect())
}

/// A function without further arguments on a value of a library, at a cost of 1.
pub(super) fn accessor<T: Opaque>(
    name: &str,
    id: &str,
    receiver: Type,
    result: Type,
    get: fn(&T) -> Value<'static>,
) -> Function {
    Function::new(name).member(id, &[receiver], result).does(move |args, meter| {
        let value: &T = opaque(args, 0)?;
        // Parts of a URL are parsed anew.
        meter.spend(1 + value.bytes() / 32)?;
        Ok(get(value))
    })
}
