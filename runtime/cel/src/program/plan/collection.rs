//! Plans lists and maps, and what loops add to them.
use std::sync::Arc;

use super::{
    Accumulation, Element, Entry, Node,
    planner::{Planned, Planner},
};
use crate::syntax::ast::{self, Expr, ExprKind, operators};

impl Planner<'_> {
    pub(super) fn list(&mut self, elements: &[ast::Element]) -> Planned {
        let element =
            |element: &ast::Element| Ok(Element { value: self.plan(&element.value)?, optional: element.optional });
        let elements: Box<[Element]> = elements.iter().map(element).collect::<Planned<_>>()?;
        let constant = elements.iter().all(|element| element.value.is_constant());
        Ok(self.folded(Node::List(elements), constant))
    }

    pub(super) fn map(&mut self, entries: &[ast::Entry]) -> Planned {
        let entry = |entry: &ast::Entry| {
            Ok(Entry { key: self.plan(&entry.key)?, value: self.plan(&entry.value)?, optional: entry.optional })
        };
        let entries: Box<[Entry]> = entries.iter().map(entry).collect::<Planned<_>>()?;
        let constant = entries.iter().all(|entry| entry.key.is_constant() && entry.value.is_constant());
        Ok(self.folded(Node::Map(entries), constant))
    }

    /// The step of a loop. What it adds to its accumulator last is added in place.
    pub(super) fn step(&mut self, step: &Expr, accumulator: &Arc<str>, slot: usize) -> Planned {
        let ExprKind::Call { target: None, function, args } = &step.kind else { return self.plan(step) };
        match (&**function, &**args) {
            (operators::CONDITIONAL, [condition, left, right]) => {
                self.nodes += 1;
                let condition = self.plan(condition)?;
                let left = self.step(left, accumulator, slot)?;
                let right = self.step(right, accumulator, slot)?;
                Ok(Self::conditional(condition, left, right))
            }
            (operators::ADD | "cel.@mapInsert", [first, ..]) if matches!(&first.kind, ExprKind::Ident(name) if name == accumulator) =>
            {
                let call = match self.plan(step)? {
                    Node::Call(call) => call,
                    node => return Ok(node),
                };
                let mut arguments = call.arguments.into_vec();
                arguments.remove(0);
                Ok(Node::Accumulation(Box::new(Accumulation {
                    slot,
                    name: Arc::clone(accumulator),
                    arguments: arguments.into(),
                    charge: call.charge,
                    target: call.target,
                    insert: **function != *operators::ADD,
                })))
            }
            _ => self.plan(step),
        }
    }
}
