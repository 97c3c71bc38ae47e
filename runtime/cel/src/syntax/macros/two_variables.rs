//! Loops with two variables: index and element of a list, key and value of a map.
use super::{
    Expanded, Expander, Fold, check_variable, ident,
    standard::{Quantifier, all, exists, exists_one},
};
use crate::{
    Issue,
    syntax::{
        Macro,
        ast::{Expr, ExprKind},
    },
};

/// `all`, `exists`, `existsOne`, `transformList`, `transformMap` and `transformMapEntry`.
pub static TWO_VARIABLES: [Macro; 10] = [
    Macro::member("all", 3, |expander, target, args| quantifier(expander, target, args, all)),
    Macro::member("exists", 3, |expander, target, args| quantifier(expander, target, args, exists)),
    Macro::member("existsOne", 3, |expander, target, args| quantifier(expander, target, args, exists_one)),
    Macro::member("exists_one", 3, |expander, target, args| quantifier(expander, target, args, exists_one)),
    Macro::member("transformList", 3, transform_list),
    Macro::member("transformList", 4, transform_list),
    Macro::member("transformMap", 3, transform_map),
    Macro::member("transformMap", 4, transform_map),
    Macro::member("transformMapEntry", 3, transform_map_entry),
    Macro::member("transformMapEntry", 4, transform_map_entry),
];

/// Adds an entry to a map.
const MAP_INSERT: &str = "cel.@mapInsert";

/// A loop: what it goes over, its variables, its condition if it has one, and its body.
struct Loop {
    range: Expr,
    variables: [String; 2],
    condition: Option<Expr>,
    body: Expr,
}

impl Loop {
    fn new(target: Option<Expr>, mut args: Vec<Expr>) -> Result<Self, Issue> {
        let variables = variables(&args[0], &args[1])?;
        let condition = if args.len() == 4 { Some(args.remove(2)) } else { None };
        let (range, [_, _, body]) = super::parts(target, args);
        Ok(Self { range, variables, condition, body })
    }
}

fn variables(first: &Expr, second: &Expr) -> Result<[String; 2], Issue> {
    let name = |argument: &Expr| {
        ident(argument).map(str::to_owned).ok_or_else(|| Issue::new(argument.offset, "argument must be a simple name"))
    };
    let names = [name(first)?, name(second)?];
    if names[0] == names[1] {
        return Err(Issue::new(second.offset, format!("duplicate variable name: {}", names[0])));
    }
    check_variable(first, &names[0])?;
    check_variable(second, &names[1])?;
    Ok(names)
}

impl Expander<'_, '_> {
    fn two_variables(&mut self, range: Expr, [first, second]: &[String; 2], fold: Fold) -> Expr {
        self.comprehension(range, (first, Some(second)), fold)
    }

    /// A loop that collects what its body makes, into a list or a map.
    fn collected(
        &mut self,
        target: Option<Expr>,
        args: Vec<Expr>,
        empty: ExprKind,
        step: impl FnOnce(&mut Self, &str, Expr) -> Expr,
    ) -> Expanded {
        let Loop { range, variables, condition, body } = Loop::new(target, args)?;
        let step = step(self, &variables[0], body);
        let step = self.only_if(condition, step);
        let init = self.node(empty);
        let condition = self.bool(true);
        let result = self.accumulator();
        Ok(self.two_variables(range, &variables, Fold { init, condition, step, result }))
    }
}

fn quantifier(
    expander: &mut Expander<'_, '_>,
    target: Option<Expr>,
    args: Vec<Expr>,
    quantifier: Quantifier,
) -> Expanded {
    let Loop { range, variables, body, .. } = Loop::new(target, args)?;
    let fold = quantifier(expander, body);
    Ok(expander.two_variables(range, &variables, fold))
}

fn transform_list(expander: &mut Expander<'_, '_>, target: Option<Expr>, args: Vec<Expr>) -> Expanded {
    expander.collected(target, args, ExprKind::List(Vec::new()), |expander, _, element| expander.append(element))
}

fn transform_map(expander: &mut Expander<'_, '_>, target: Option<Expr>, args: Vec<Expr>) -> Expanded {
    expander.collected(target, args, ExprKind::Map(Vec::new()), |expander, key, value| {
        let (so_far, key) = (expander.accumulator(), expander.ident(key));
        expander.call(MAP_INSERT, vec![so_far, key, value])
    })
}

fn transform_map_entry(expander: &mut Expander<'_, '_>, target: Option<Expr>, args: Vec<Expr>) -> Expanded {
    expander.collected(target, args, ExprKind::Map(Vec::new()), |expander, _, entry| {
        let so_far = expander.accumulator();
        expander.call(MAP_INSERT, vec![so_far, entry])
    })
}
