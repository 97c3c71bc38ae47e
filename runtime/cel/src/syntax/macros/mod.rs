//! Macros: calls that the parser replaces with other nodes. They are tables, one a file; an expander makes the nodes.
use super::{
    Macro, Receiver,
    ast::{Comprehension, Element, Expr, ExprKind, Literal, operators},
    builder::Builder,
};
use crate::Issue;

mod bindings;
mod blocks;
mod math;
mod optional;
mod sort_by;
mod standard;
mod two_variables;

pub use self::{
    bindings::BIND, blocks::BLOCK, math::MATH, optional::OPTIONAL, sort_by::SORT_BY, standard::STANDARD,
    two_variables::TWO_VARIABLES,
};

/// What makes the nodes of a macro of the receiver and the arguments.
pub(super) type Expand = fn(&mut Expander<'_, '_>, Option<Expr>, Vec<Expr>) -> Expanded;

/// The nodes, or an error, which is at the parenthesis of the macro if it has no position.
type Expanded = Result<Expr, Issue>;

/// The macro for a call, if there is one: the last with its number of arguments, or else the last with any number.
pub(super) fn find<'a>(
    tables: &'a [&'a [Macro]],
    name: &str,
    target: Option<&Expr>,
    arguments: usize,
) -> Option<&'a Macro> {
    let named = || {
        let member = |found: &&Macro| found.name == name && (found.receiver == Receiver::None) == target.is_none();
        tables.iter().rev().flat_map(|table| table.iter().rev()).filter(member)
    };
    let found = named()
        .find(|found| found.arguments == Some(arguments))
        .or_else(|| named().find(|found| found.arguments.is_none()))?;
    match found.receiver {
        Receiver::Namespace(namespace) => target.and_then(ident).is_some_and(|name| name == namespace).then_some(found),
        _ => Some(found),
    }
}

/// Makes nodes that stand at the parenthesis of a macro.
pub(super) struct Expander<'e, 'b> {
    builder: &'e mut Builder<'b>,
    offset: u32,
}

/// The parts of a comprehension that depend on its macro.
struct Fold {
    init: Expr,
    condition: Expr,
    step: Expr,
    result: Expr,
}

impl<'e, 'b> Expander<'e, 'b> {
    pub(super) fn new(builder: &'e mut Builder<'b>, offset: u32) -> Self {
        Self { builder, offset }
    }

    fn node(&mut self, kind: ExprKind) -> Expr {
        Expr { id: self.builder.id(), offset: self.offset, kind }
    }

    fn literal(&mut self, value: Literal) -> Expr {
        self.node(ExprKind::Literal(value))
    }

    fn bool(&mut self, value: bool) -> Expr {
        self.literal(Literal::Bool(value))
    }

    fn ident(&mut self, name: &str) -> Expr {
        self.node(ExprKind::Ident(name.into()))
    }

    fn accumulator(&mut self) -> Expr {
        self.ident(operators::ACCUMULATOR)
    }

    fn call(&mut self, function: &str, args: Vec<Expr>) -> Expr {
        self.node(ExprKind::Call { target: None, function: function.into(), args })
    }

    fn member_call(&mut self, function: &str, target: Expr, args: Vec<Expr>) -> Expr {
        self.node(ExprKind::Call { target: Some(Box::new(target)), function: function.into(), args })
    }

    fn list(&mut self, values: Vec<Expr>) -> Expr {
        let elements = values.into_iter().map(|value| Element { value, optional: false }).collect();
        self.node(ExprKind::List(elements))
    }

    /// A loop over a range with one or two variables.
    fn comprehension(&mut self, range: Expr, variables: (&str, Option<&str>), fold: Fold) -> Expr {
        self.node(ExprKind::Comprehension(Box::new(Comprehension {
            range,
            variable: variables.0.into(),
            second: variables.1.map(Into::into),
            accumulator: operators::ACCUMULATOR.into(),
            init: fold.init,
            condition: fold.condition,
            step: fold.step,
            result: fold.result,
        })))
    }

    /// A loop without rounds, which binds a name to a value in a result. The list that it loops over is made before the value.
    fn binding(&mut self, name: &str, value: impl FnOnce(&mut Self) -> Expr, result: Expr) -> Expr {
        let range = self.list(Vec::new());
        let init = value(self);
        let condition = self.bool(false);
        let step = self.ident(name);
        self.node(ExprKind::Comprehension(Box::new(Comprehension {
            range,
            variable: operators::UNUSED.into(),
            second: None,
            accumulator: name.into(),
            init,
            condition,
            step,
            result,
        })))
    }

    /// A copy with ids of its own.
    fn copy(&mut self, expr: &Expr) -> Expr {
        let mut copy = expr.clone();
        self.renumber(&mut copy);
        copy
    }

    fn renumber(&mut self, expr: &mut Expr) {
        expr.id = self.builder.id();
        match &mut expr.kind {
            ExprKind::Unspecified | ExprKind::Literal(_) | ExprKind::Ident(_) => {}
            ExprKind::Select { operand, .. } => self.renumber(operand),
            ExprKind::Call { target, args, .. } => {
                for part in args.iter_mut().chain(target.as_deref_mut()) {
                    self.renumber(part);
                }
            }
            ExprKind::List(elements) => elements.iter_mut().for_each(|element| self.renumber(&mut element.value)),
            ExprKind::Map(entries) => {
                for entry in entries {
                    (entry.id, entry.offset) = (self.builder.id(), self.offset);
                    self.renumber(&mut entry.key);
                    self.renumber(&mut entry.value);
                }
            }
            ExprKind::Struct { fields, .. } => {
                for field in fields {
                    (field.id, field.offset) = (self.builder.id(), self.offset);
                    self.renumber(&mut field.value);
                }
            }
            ExprKind::Comprehension(parts) => {
                let Comprehension { range, init, condition, step, result, .. } = &mut **parts;
                for part in [range, init, condition, step, result] {
                    self.renumber(part);
                }
            }
        }
    }
}

/// The name of a plain identifier.
fn ident(expr: &Expr) -> Option<&str> {
    match &expr.kind {
        ExprKind::Ident(name) => Some(name),
        _ => None,
    }
}

/// The name that an argument gives to the variable of a loop; or an error, `otherwise`, if it is no name.
fn variable(argument: &Expr, otherwise: &str) -> Result<String, Issue> {
    let name = ident(argument).ok_or_else(|| Issue::new(argument.offset, otherwise))?;
    check_variable(argument, name)?;
    Ok(name.to_owned())
}

fn check_variable(argument: &Expr, name: &str) -> Result<(), Issue> {
    if matches!(name, operators::ACCUMULATOR | "__result__") {
        return Err(Issue::new(argument.offset, "iteration variable overwrites accumulator variable"));
    }
    Ok(())
}

/// The receiver and the arguments of a call, of which the table of macros gives the number.
fn parts<const N: usize>(target: Option<Expr>, args: Vec<Expr>) -> (Expr, [Expr; N]) {
    let target = target.expect("member macros are found by their receiver");
    (target, arguments(args))
}

fn arguments<const N: usize>(args: Vec<Expr>) -> [Expr; N] {
    args.try_into().expect("macros are found by the number of their arguments")
}
