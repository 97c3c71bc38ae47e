//! Blocks of shared expressions, as the published cases of the language write them: what optimizers make has no syntax of its own.
use super::arguments;
use crate::{
    Issue,
    syntax::{
        Macro,
        ast::{Expr, ExprKind, Literal},
    },
};

/// `cel.block`, `cel.index`, `cel.iterVar` and `cel.accuVar`
pub static BLOCK: [Macro; 4] = [
    Macro::namespace("cel", "block", Some(2), |expander, _, args| match &args[0].kind {
        ExprKind::List(_) => Ok(expander.call("cel.@block", args)),
        _ => Err(Issue::new(args[0].offset, "cel.block requires the first arg to be a list literal")),
    }),
    Macro::namespace("cel", "index", Some(1), |expander, _, args| {
        let [index] = numbers(args, "cel.index requires a single non-negative int constant arg")?;
        Ok(expander.ident(&format!("@index{index}")))
    }),
    Macro::namespace("cel", "iterVar", Some(2), |expander, _, args| {
        let [depth, unique] = numbers(args, "cel.iterVar requires two non-negative int constant args")?;
        Ok(expander.ident(&format!("@it:{depth}:{unique}")))
    }),
    Macro::namespace("cel", "accuVar", Some(2), |expander, _, args| {
        let [depth, unique] = numbers(args, "cel.accuVar requires two non-negative int constant args")?;
        Ok(expander.ident(&format!("@ac:{depth}:{unique}")))
    }),
];

/// Arguments that are literals of numbers that are not negative.
fn numbers<const N: usize>(args: Vec<Expr>, otherwise: &str) -> Result<[i64; N], Issue> {
    let mut numbers = [0; N];
    for (number, argument) in numbers.iter_mut().zip(arguments::<N>(args)) {
        match argument.kind {
            ExprKind::Literal(Literal::Int(value)) if value >= 0 => *number = value,
            _ => return Err(Issue::new(argument.offset, otherwise)),
        }
    }
    Ok(numbers)
}
