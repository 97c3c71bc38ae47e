//! Regular expressions: `find` and `findAll`. Patterns are those of Go, as for `matches`.
use super::arguments::{int, text};
use crate::{
    Error, Function, Library, Meter, Type, Value,
    cost::shared::FIND,
    re2::{self, Pattern},
};

/// The library of regular expressions.
pub static REGEX: Library =
    Library { name: "kubernetes.regex", functions, macros: &[], types: Vec::new, validators: &[] };

/// The pattern of the second argument.
fn pattern(args: &[Value<'_>], meter: &dyn Meter) -> Result<Pattern, Error> {
    let text = text(args, 1)?;
    meter.spend(1 + text.len() / 8)?;
    re2::read(text).map_err(|message| Error::new(format!("Illegal regex: {message}")))
}

fn find<'a>(args: &[Value<'a>], meter: &dyn Meter) -> Result<Value<'a>, Error> {
    let found = pattern(args, meter)?.find(text(args, 0)?, meter)?;
    Ok(found.unwrap_or_default().to_owned().into())
}

/// At most so many matches; all if the number is negative.
fn find_all<'a>(args: &[Value<'a>], most: i64, meter: &dyn Meter) -> Result<Value<'a>, Error> {
    let most = usize::try_from(most).unwrap_or(usize::MAX);
    let found = pattern(args, meter)?.find_all(text(args, 0)?, most, meter)?;
    Ok(Value::list(found.into_iter().map(|text| text.to_owned().into()).collect()))
}

fn functions() -> Vec<Function> {
    let (text, texts) = (Type::String, Type::list(Type::String));
    vec![
        Function::new("find")
            .member("string_find_string", &[text.clone(), text.clone()], text.clone())
            .does(find)
            .costs(FIND),
        Function::new("findAll")
            .member("string_find_all_string", &[text.clone(), text.clone()], texts.clone())
            .does(|args, meter| find_all(args, -1, meter))
            .costs(FIND)
            .member("string_find_all_string_int", &[text.clone(), text, Type::Int], texts)
            .does(|args, meter| find_all(args, int(args, 2)?, meter))
            .costs(FIND),
    ]
}
