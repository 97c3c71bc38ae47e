//! Regular expressions: `find` and `findAll`. Patterns are those of Go, as for `matches`.
use std::sync::Arc;

use crate::{
    Error, Function, Implementation, Library, Meter, Type, Value,
    cost::shared::FIND,
    library::arguments::{int, text},
    re2::{self, Pattern},
};

/// The library of regular expressions.
pub static REGEX: Library =
    Library { name: "kubernetes.regex", functions, macros: &[], types: Vec::new, validators: &[] };

/// The pattern of the second argument.
fn pattern(args: &[Value<'_>], meter: &dyn Meter) -> Result<Pattern, Error> {
    let text = text(args, 1)?;
    meter.spend(re2::steps_to_read(text))?;
    re2::read(text).map_err(|message| Error::new(format!("Illegal regex: {message}")))
}

/// The pattern of a second argument that is constant.
fn constant(value: &Value<'static>) -> Result<Pattern, Error> {
    re2::read(text(std::slice::from_ref(value), 0)?).map_err(Error::new)
}

fn find<'a>(pattern: &Pattern, args: &[Value<'a>], meter: &dyn Meter) -> Result<Value<'a>, Error> {
    let found = pattern.find(text(args, 0)?, meter)?;
    Ok(found.unwrap_or_default().to_owned().into())
}

/// At most as many matches as the third argument says; all if it is negative or absent.
fn find_all<'a>(pattern: &Pattern, args: &[Value<'a>], meter: &dyn Meter) -> Result<Value<'a>, Error> {
    let most = if args.len() > 2 { int(args, 2)? } else { -1 };
    let most = usize::try_from(most).unwrap_or(usize::MAX);
    let found = pattern.find_all(text(args, 0)?, most, meter)?;
    meter.reserve(found.iter().map(|text| size_of::<Value<'_>>() + text.len()).sum())?;
    Ok(Value::list(found.into_iter().map(|text| text.to_owned().into()).collect()))
}

fn find_constant(value: &Value<'static>) -> Result<Implementation, Error> {
    let pattern = constant(value)?;
    Ok(Arc::new(move |args, meter| find(&pattern, args, meter)))
}

fn find_all_constant(value: &Value<'static>) -> Result<Implementation, Error> {
    let pattern = constant(value)?;
    Ok(Arc::new(move |args, meter| find_all(&pattern, args, meter)))
}

fn functions() -> Vec<Function> {
    let (text, texts) = (Type::String, Type::list(Type::String));
    vec![
        Function::new("find")
            .member("string_find_string", &[text.clone(), text.clone()], text.clone())
            .does(|args, meter| find(&pattern(args, meter)?, args, meter))
            .costs(FIND)
            .specialized(find_constant),
        Function::new("findAll")
            .member("string_find_all_string", &[text.clone(), text.clone()], texts.clone())
            .does(|args, meter| find_all(&pattern(args, meter)?, args, meter))
            .costs(FIND)
            .member("string_find_all_string_int", &[text.clone(), text, Type::Int], texts)
            .does(|args, meter| find_all(&pattern(args, meter)?, args, meter))
            .costs(FIND)
            .specialized(find_all_constant),
    ]
}
