//! Plans lists and maps, and what loops add to them.
use std::sync::Arc;

use super::{
    Accumulation, Element, Entry, Node,
    planner::{Planned, Planner},
};
use crate::syntax::ast::{self, Expr, ExprKind, operators};

impl Planner<'_> {
    pub(super) fn list(&mut self, own: &[ast::Element]) -> Planned {
        let mut elements = Vec::with_capacity(own.len());
        for element in own {
            elements.push(Element { value: self.plan(&element.value)?, optional: element.optional });
        }
        let constant = elements.iter().all(|element| element.value.is_constant());
        Ok(self.folded(Node::List(elements.into()), constant))
    }

    pub(super) fn map(&mut self, own: &[ast::Entry]) -> Planned {
        let mut entries = Vec::with_capacity(own.len());
        for entry in own {
            let (key, value) = (self.plan(&entry.key)?, self.plan(&entry.value)?);
            entries.push(Entry { key, value, optional: entry.optional });
        }
        let constant = entries.iter().all(|entry| entry.key.is_constant() && entry.value.is_constant());
        Ok(self.folded(Node::Map(entries.into()), constant))
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
