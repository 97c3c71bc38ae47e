//! `math.greatest` and `math.least`, which take any number of arguments.
use super::{Expanded, Expander};
use crate::{
    Issue,
    syntax::{
        Macro,
        ast::{Expr, ExprKind, Literal},
    },
};

/// `math.greatest` and `math.least`
pub static MATH: [Macro; 2] = [
    Macro::namespace("math", "greatest", None, |expander, target, args| {
        extreme(expander, target, args, "math.greatest()", "math.@max")
    }),
    Macro::namespace("math", "least", None, |expander, target, args| {
        extreme(expander, target, args, "math.least()", "math.@min")
    }),
];

fn extreme(
    expander: &mut Expander<'_, '_>,
    target: Option<Expr>,
    args: Vec<Expr>,
    name: &str,
    function: &str,
) -> Expanded {
    let Some(first) = args.first() else {
        let message = format!("{name} requires at least one argument");
        return Err(
            target.map_or_else(|| Issue::without_offset(&message), |target| Issue::new(target.offset, &message))
        );
    };
    if args.len() == 1 {
        let numeric = match &first.kind {
            ExprKind::List(elements) => {
                !elements.is_empty() && elements.iter().all(|element| may_be_number(&element.value))
            }
            _ => may_be_number(first),
        };
        if !numeric {
            return Err(Issue::new(first.offset, format!("{name} invalid single argument value")));
        }
    } else if let Some(other) = args.iter().find(|argument| !may_be_number(argument)) {
        return Err(Issue::new(other.offset, format!("{name} simple literal arguments must be numeric")));
    }
    if args.len() <= 2 {
        return Ok(expander.call(function, args));
    }
    let list = expander.list(args);
    Ok(expander.call(function, vec![list]))
}

/// A literal of a number, or what is no literal.
fn may_be_number(argument: &Expr) -> bool {
    match &argument.kind {
        ExprKind::Literal(value) => matches!(value, Literal::Int(_) | Literal::Uint(_) | Literal::Double(_)),
        ExprKind::List(_) | ExprKind::Map(_) | ExprKind::Struct { .. } => false,
        _ => true,
    }
}
