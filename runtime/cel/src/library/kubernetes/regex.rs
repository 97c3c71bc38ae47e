//! Regular expressions: `find` and `findAll`. Patterns are those of Go, as for `matches`.
use super::arguments::{int, step, text, texts};
use crate::{
    Error, Function, Library, Meter, Type, Value,
    cost::shared::FIND,
    library::standard::regex::{self, Pattern},
};

/// The library of regular expressions.
pub const REGEX: Library =
    Library { name: "kubernetes.regex", functions, macros: &[], types: Vec::new, validators: &[] };

/// The pattern of the second argument.
fn pattern(args: &[Value<'_>]) -> Result<Pattern, Error> {
    regex::compile(text(args, 1)?).map_err(|error| Error::new(format!("Illegal regex: {error}")))
}
