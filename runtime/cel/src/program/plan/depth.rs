//! How deep the values of an expression may be. What drops or visits values goes down into all of their parts, so that deep ones would
//! take more than a thread's stack.
use std::sync::Arc;

use crate::syntax::ast::{Comprehension, Expr, ExprKind, operators};

/// The deepest values that an expression may make, beside those of documents. Each level is written in the expression.
pub(in crate::program) const DEEPEST: usize = 1_000;

/// How deep the values of an expression are at most.
pub(in crate::program) fn depth(expr: &Expr) -> usize {
    Depths::default().of(expr)
}

/// The variables of the loops around, with the depths of their values.
#[derive(Default)]
struct Depths(Vec<(Arc<str>, usize)>);

impl Depths {
    fn of(&mut self, expr: &Expr) -> usize {
        match &expr.kind {
            ExprKind::Unspecified | ExprKind::Literal(_) => 0,
            ExprKind::Ident(name) => self.0.iter().rev().find(|(own, _)| own == name).map_or(0, |(_, depth)| *depth),
            ExprKind::Select { operand, .. } => self.of(operand),
            ExprKind::Call { target, function, args } => {
                let inside = self.most(target.as_deref().into_iter().chain(args));
                inside + usize::from(wraps(function))
            }
            ExprKind::List(elements) => 1 + self.most(elements.iter().map(|element| &element.value)),
            ExprKind::Map(entries) => 1 + self.most(entries.iter().flat_map(|entry| [&entry.key, &entry.value])),
            ExprKind::Struct { fields, .. } => 1 + self.most(fields.iter().map(|field| &field.value)),
            ExprKind::Comprehension(comprehension) => self.of_loop(comprehension),
        }
    }

    fn most<'e>(&mut self, parts: impl Iterator<Item = &'e Expr>) -> usize {
        parts.map(|part| self.of(part)).max().unwrap_or(0)
    }

    /// Steps of loops add to the result so far, which no expression puts into another list.
    fn of_loop(&mut self, own: &Comprehension) -> usize {
        let (range, init) = (self.of(&own.range), self.of(&own.init));
        let around = self.0.len();
        let variables = own.second.iter().chain([&own.variable]).map(|name| (Arc::clone(name), range));
        self.0.extend(variables);
        self.0.push((Arc::clone(&own.accumulator), init));
        let step = self.of(&own.step);
        self.0.truncate(around);
        self.0.push((Arc::clone(&own.accumulator), init.max(step)));
        let result = self.of(&own.result);
        self.0.truncate(around);
        result
    }
}

/// True for functions whose result may be deeper than their arguments. Of operators those for optional values are.
fn wraps(function: &str) -> bool {
    match function {
        operators::OPTIONAL_INDEX | operators::OPTIONAL_SELECT => true,
        name => !name.starts_with('_') && !name.ends_with('_') && !name.starts_with('@'),
    }
}
