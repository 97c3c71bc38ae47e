//! The macros of optional values.
use super::{Expanded, Expander, ident, parts};
use crate::{
    Issue,
    syntax::{
        Macro,
        ast::{Expr, operators},
    },
};

/// `optMap` and, since the second version of the library, `optFlatMap`.
pub static OPTIONAL: [Macro; 2] = [
    Macro::member("optMap", 2, |expander, target, args| {
        mapped(expander, target, args, "optMap", |expander, value| expander.call("optional.of", vec![value]))
    }),
    Macro::member("optFlatMap", 2, |expander, target, args| {
        mapped(expander, target, args, "optFlatMap", |_, value| value)
    }),
];

/// How many nodes an expression may have before one of these macros repeats its receiver: a chain of them doubles with each.
const MOST_NODES: u32 = 100_000;

fn mapped(
    expander: &mut Expander<'_, '_>,
    target: Option<Expr>,
    args: Vec<Expr>,
    name: &str,
    wrap: fn(&mut Expander<'_, '_>, Expr) -> Expr,
) -> Expanded {
    let (target, [variable, body]) = parts(target, args);
    let variable = ident(&variable)
        .ok_or_else(|| Issue::new(variable.offset, format!("{name}() variable name must be a simple identifier")))?;
    if expander.builder.nodes() >= MOST_NODES {
        return Err(Issue::new(expander.offset, format!("{name}() repeats more than {MOST_NODES} nodes")));
    }
    let copy = target.clone();
    let has_value = expander.member_call("hasValue", target, Vec::new());
    let value = |expander: &mut Expander<'_, '_>| {
        let target = expander.copy(&copy);
        expander.member_call("value", target, Vec::new())
    };
    let bound = expander.binding(variable, value, body);
    let some = wrap(expander, bound);
    let none = expander.call("optional.none", Vec::new());
    Ok(expander.call(operators::CONDITIONAL, vec![has_value, some, none]))
}
