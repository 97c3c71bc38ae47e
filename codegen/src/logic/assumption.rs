//! Facts about values that follow from the value of a condition.
use kindsmith_cel::syntax::ast::{Expr, ExprKind, operators};

use super::{
    evaluation::{Evaluation, Quantifier, inside, quantifier, variables},
    facts::{Each, Facts},
    key,
    operand::{is_integer, is_ordered},
    scope::Scope,
    values::{Comparison, Values},
};

/// The functions that do not evaluate all of their operands.
const LAZY: [&str; 5] = [operators::AND, operators::OR, operators::CONDITIONAL, "or", "orValue"];

impl<'e> Evaluation {
    /// The facts together with the value of a condition. `None` if it cannot have it.
    pub(super) fn assume(
        &self,
        facts: &Facts<'e>,
        expr: &'e Expr,
        scope: &Scope<'e>,
        value: bool,
    ) -> Option<Facts<'e>> {
        if !self.outcome(expr, scope, facts).may_be(value) {
            return None;
        }
        let mut known = facts.clone();
        if let Some((comparison, one, other, is_negated)) = key::comparison(expr) {
            self.compare(&mut known, (comparison, one, other), scope, value != is_negated);
            return Some(known);
        }
        match &expr.kind {
            ExprKind::Select { operand, test_only: true, .. } => {
                known.present.insert(scope.key(expr).trim_end_matches('?').to_owned(), value);
                reached(&mut known, operand, scope);
                return Some(known);
            }
            ExprKind::Call { target: None, function, args } if &**function == operators::IN => {
                self.find(&mut known, &args[0], &args[1], scope, value);
            }
            ExprKind::Comprehension(parts) => {
                if let (Some((Quantifier::All, predicate)), true) = (quantifier(parts), value) {
                    let (range, variables) = (scope.key(&parts.range), variables(parts));
                    let scope = inside(parts, scope, facts);
                    known.each.push(Each { range, variables, predicate, scope });
                }
            }
            _ => reached(&mut known, expr, scope),
        }
        known.conditions.insert(scope.key(expr), value);
        Some(known)
    }

    /// Adds what a comparison says.
    fn compare(
        &self,
        known: &mut Facts<'e>,
        (comparison, one, other): (Comparison, &'e Expr, &'e Expr),
        scope: &Scope<'e>,
        holds: bool,
    ) {
        let [first, second] = [one, other].map(|operand| self.operand(operand, scope, known).values);
        let [key, other_key] = [one, other].map(|operand| scope.key(operand));
        let is_integer = [one, other].iter().all(|operand| is_integer(operand, scope, known));
        let step = if is_integer { 1.0 } else { 0.0 };
        known.conditions.insert(key::of_comparison(comparison, one, other, &scope.names), holds);
        if is_ordered(one) && is_ordered(other) {
            known.order(comparison, holds, &key, &other_key);
        }
        for operand in [one, other] {
            reached(known, operand, scope);
        }
        // Which of both is less, and by how much at least.
        let below = match (comparison, holds) {
            (Comparison::Equals, true) => {
                known.narrow(key, second);
                return known.narrow(other_key, first);
            }
            (Comparison::Equals, false) => {
                for (key, own, other) in [(key, &first, &second), (other_key, &second, &first)] {
                    if let Values::Only(values) = other
                        && let [value] = values.as_slice()
                    {
                        known.narrow(key, own.clone().without(value));
                    }
                }
                return;
            }
            (Comparison::Less, true) => (key, first, other_key, second, step),
            (Comparison::LessEquals, true) => (key, first, other_key, second, 0.0),
            (Comparison::Less, false) => (other_key, second, key, first, 0.0),
            (Comparison::LessEquals, false) => (other_key, second, key, first, step),
        };
        let (less, of_less, more, of_more, step) = below;
        if let Some((_, most)) = of_more.range() {
            known.narrow(less, Values::Between(f64::NEG_INFINITY, most - step));
        }
        if let Some((least, _)) = of_less.range() {
            known.narrow(more, Values::Between(least + step, f64::INFINITY));
        }
    }

    /// Adds what `a in [b, c]` says.
    fn find(&self, known: &mut Facts<'e>, element: &'e Expr, list: &'e Expr, scope: &Scope<'e>, holds: bool) {
        reached(known, element, scope);
        let ExprKind::List(elements) = &list.kind else { return };
        let all = elements.iter().map(|element| self.operand(&element.value, scope, known).values);
        let all: Option<Vec<_>> =
            all.map(|values| if let Values::Only(all) = values { Some(all) } else { None }).collect();
        let Some(all) = all else { return };
        let key = scope.key(element);
        if holds {
            known.narrow(key, Values::Only(all.into_iter().flatten().collect()));
        } else {
            let own = self.operand(element, scope, known).values;
            let ones = all.iter().filter(|values| values.len() == 1).flatten();
            known.narrow(key, ones.fold(own, Values::without));
        }
    }
}

/// Adds that the fields on the way to an operand are there, since it did not fail.
fn reached(known: &mut Facts<'_>, expr: &Expr, scope: &Scope<'_>) {
    match &expr.kind {
        ExprKind::Select { operand, test_only, .. } => {
            if !test_only {
                known.present.insert(scope.key(expr), true);
            }
            reached(known, operand, scope);
        }
        ExprKind::Call { target, function, args } if !LAZY.contains(&&**function) => {
            for operand in target.as_deref().into_iter().chain(args) {
                reached(known, operand, scope);
            }
        }
        _ => {}
    }
}
