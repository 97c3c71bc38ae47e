//! The macros of the language: `has`, and loops with one variable.
use super::{Expanded, Expander, Fold, arguments, parts, variable};
use crate::{
    Issue,
    syntax::{
        Macro,
        ast::{Expr, ExprKind, Literal, operators},
    },
};

/// `has`, `all`, `exists`, `exists_one`, `map` and `filter`.
pub static STANDARD: [Macro; 7] = [
    Macro::function("has", 1, has),
    Macro::member("all", 2, |expander, target, args| quantifier(expander, target, args, all)),
    Macro::member("exists", 2, |expander, target, args| quantifier(expander, target, args, exists)),
    Macro::member("exists_one", 2, |expander, target, args| quantifier(expander, target, args, exists_one)),
    Macro::member("map", 2, map),
    Macro::member("map", 3, map),
    Macro::member("filter", 2, filter),
];

/// What a quantifier makes of its predicate.
pub(super) type Quantifier = fn(&mut Expander<'_, '_>, Expr) -> Fold;

impl Expander<'_, '_> {
    /// A step that is taken only if a condition holds.
    pub(super) fn only_if(&mut self, condition: Option<Expr>, step: Expr) -> Expr {
        let Some(condition) = condition else { return step };
        let so_far = self.accumulator();
        self.call(operators::CONDITIONAL, vec![condition, step, so_far])
    }

    /// The step that adds an element to a list.
    pub(super) fn append(&mut self, element: Expr) -> Expr {
        let so_far = self.accumulator();
        let list = self.list(vec![element]);
        self.call(operators::ADD, vec![so_far, list])
    }

    /// The list of the transformed elements of a range for which a condition holds.
    fn transformed(&mut self, range: Expr, variable: &str, condition: Option<Expr>, element: Expr) -> Expr {
        let init = self.list(Vec::new());
        let always = self.bool(true);
        let step = self.append(element);
        let step = self.only_if(condition, step);
        let result = self.accumulator();
        self.comprehension(range, (variable, None), Fold { init, condition: always, step, result })
    }
}

fn has(expander: &mut Expander<'_, '_>, _: Option<Expr>, args: Vec<Expr>) -> Expanded {
    let [argument] = arguments(args);
    match argument.kind {
        ExprKind::Select { operand, field, .. } => {
            Ok(expander.node(ExprKind::Select { operand, field, test_only: true }))
        }
        _ => Err(Issue::new(argument.offset, "invalid argument to has() macro")),
    }
}

pub(super) fn all(expander: &mut Expander<'_, '_>, predicate: Expr) -> Fold {
    let init = expander.bool(true);
    let so_far = expander.accumulator();
    let condition = expander.call(operators::NOT_STRICTLY_FALSE, vec![so_far]);
    let so_far = expander.accumulator();
    let step = expander.call(operators::AND, vec![so_far, predicate]);
    Fold { init, condition, step, result: expander.accumulator() }
}

pub(super) fn exists(expander: &mut Expander<'_, '_>, predicate: Expr) -> Fold {
    let init = expander.bool(false);
    let so_far = expander.accumulator();
    let not = expander.call(operators::NOT, vec![so_far]);
    let condition = expander.call(operators::NOT_STRICTLY_FALSE, vec![not]);
    let so_far = expander.accumulator();
    let step = expander.call(operators::OR, vec![so_far, predicate]);
    Fold { init, condition, step, result: expander.accumulator() }
}

pub(super) fn exists_one(expander: &mut Expander<'_, '_>, predicate: Expr) -> Fold {
    let init = expander.literal(Literal::Int(0));
    let condition = expander.bool(true);
    let (so_far, one) = (expander.accumulator(), expander.literal(Literal::Int(1)));
    let more = expander.call(operators::ADD, vec![so_far, one]);
    let step = expander.only_if(Some(predicate), more);
    let (so_far, one) = (expander.accumulator(), expander.literal(Literal::Int(1)));
    Fold { init, condition, step, result: expander.call(operators::EQUALS, vec![so_far, one]) }
}

fn quantifier(
    expander: &mut Expander<'_, '_>,
    target: Option<Expr>,
    args: Vec<Expr>,
    quantifier: Quantifier,
) -> Expanded {
    let (range, [name, predicate]) = parts(target, args);
    let variable = variable(&name, "argument must be a simple name")?;
    let fold = quantifier(expander, predicate);
    Ok(expander.comprehension(range, (&variable, None), fold))
}

pub(super) fn map(expander: &mut Expander<'_, '_>, target: Option<Expr>, mut args: Vec<Expr>) -> Expanded {
    let condition = if args.len() == 3 { Some(args.remove(1)) } else { None };
    let (range, [name, element]) = parts(target, args);
    let variable = variable(&name, "argument is not an identifier")?;
    Ok(expander.transformed(range, &variable, condition, element))
}

fn filter(expander: &mut Expander<'_, '_>, target: Option<Expr>, args: Vec<Expr>) -> Expanded {
    let (range, [name, condition]) = parts(target, args);
    let variable = variable(&name, "argument is not an identifier")?;
    Ok(expander.transformed(range, &variable, Some(condition), name))
}
