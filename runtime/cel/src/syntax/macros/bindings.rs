//! `cel.bind`.
use super::{arguments, ident};
use crate::{Issue, syntax::Macro};

/// `cel.bind(variable, value, result)`
pub static BIND: [Macro; 1] = [Macro::namespace("cel", "bind", Some(3), |expander, _, args| {
    let [variable, value, result] = arguments(args);
    let name = ident(&variable)
        .ok_or_else(|| Issue::new(variable.offset, "cel.bind() variable names must be simple identifiers"))?;
    Ok(expander.binding(name, |_| value, result))
})];
