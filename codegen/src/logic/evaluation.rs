//! The walk over an expression.
use std::cell::Cell;

use kindsmith_cel::syntax::ast::{Comprehension, Expr, ExprKind, Literal, operators};

use super::{
    Outcomes,
    facts::Facts,
    key,
    operand::{Operand, element, is_ordered, is_path, reach},
    place::Node,
    scope::Scope,
    values::{Comparison, Values},
};

/// The most nodes that are visited; what is beyond is not understood.
const MOST_STEPS: u32 = 5_000;
/// The maximum number of distinguished cases.
const MOST_CASES: usize = 16;

/// A walk.
pub(super) struct Evaluation {
    left: Cell<u32>,
}

/// What loops ask of the elements.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Quantifier {
    All,
    Exists,
}

impl<'e> Evaluation {
    pub(super) fn new() -> Self {
        Self { left: Cell::new(MOST_STEPS) }
    }

    /// What an expression may come to in any of several cases.
    pub(super) fn outcomes(&self, expr: &'e Expr, scope: &Scope<'e>, cases: &[Facts<'e>]) -> Outcomes {
        cases.iter().fold(Outcomes::default(), |all, facts| all.or(self.outcome(expr, scope, facts)))
    }

    /// What an expression may come to.
    pub(super) fn outcome(&self, expr: &'e Expr, scope: &Scope<'e>, facts: &Facts<'e>) -> Outcomes {
        let Some(left) = self.left.get().checked_sub(1) else { return Outcomes::ANY };
        self.left.set(left);
        let ExprKind::Call { target: None, function, args } = &expr.kind else {
            return self.condition(expr, scope, facts);
        };
        match (&**function, args.as_slice()) {
            (operators::NOT, [operand]) => self.outcome(operand, scope, facts).not(),
            (operators::AND | operators::OR, _) => {
                let mut operands = key::operands(expr, function);
                let is_and = &**function == operators::AND;
                let forwards = self.chain(&operands, scope, facts, is_and);
                operands.reverse();
                forwards.and(self.chain(&operands, scope, facts, is_and))
            }
            (operators::CONDITIONAL, [condition, one, other]) => {
                let of = self.outcome(condition, scope, facts);
                let branch = |expr, value| {
                    let cases = self.cases(vec![facts.clone()], condition, scope, value);
                    self.outcomes(expr, scope, &cases)
                };
                let all = branch(one, true).or(branch(other, false));
                if of.fails { all.or(Outcomes::FAILS) } else { all }
            }
            _ => self.condition(expr, scope, facts),
        }
    }

    /// What a chain of `&&` or `||` may come to. Its operands are evaluated until one decides; one that fails decides nothing.
    fn chain(&self, operands: &[&'e Expr], scope: &Scope<'e>, facts: &Facts<'e>, is_and: bool) -> Outcomes {
        let (mut decides, mut fails) = (false, false);
        let mut undecided = vec![facts.clone()];
        for operand in operands {
            let here = self.outcomes(operand, scope, &undecided);
            let after_failure = if fails { self.outcome(operand, scope, facts) } else { Outcomes::default() };
            decides |= here.may_be(!is_and) || after_failure.may_be(!is_and);
            fails = here.fails || after_failure.fails || after_failure.may_be(is_and);
            undecided = self.cases(undecided, operand, scope, is_and);
        }
        let goes_on = !undecided.is_empty();
        let (holds, is_false) = if is_and { (goes_on, decides) } else { (decides, goes_on) };
        Outcomes { holds, is_false, fails }
    }

    /// The cases in which an expression has a value, if it does not fail.
    pub(super) fn cases(
        &self,
        cases: Vec<Facts<'e>>,
        expr: &'e Expr,
        scope: &Scope<'e>,
        value: bool,
    ) -> Vec<Facts<'e>> {
        let decided = match &expr.kind {
            ExprKind::Call { target: None, function, args } => match (&**function, args.as_slice()) {
                (operators::NOT, [operand]) => return self.cases(cases, operand, scope, !value),
                (operators::AND | operators::OR, _) => {
                    let operands = key::operands(expr, function);
                    if (&**function == operators::AND) == value {
                        operands
                            .into_iter()
                            .fold(cases.clone(), |cases, operand| self.cases(cases, operand, scope, value))
                    } else {
                        let each = |operand| self.cases(cases.clone(), operand, scope, value);
                        operands.into_iter().flat_map(each).collect()
                    }
                }
                (operators::CONDITIONAL, [condition, one, other]) => {
                    let branch = |expr, holds| {
                        self.cases(self.cases(cases.clone(), condition, scope, holds), expr, scope, value)
                    };
                    branch(one, true).into_iter().chain(branch(other, false)).collect()
                }
                _ => cases.iter().filter_map(|facts| self.assume(facts, expr, scope, value)).collect(),
            },
            _ => cases.iter().filter_map(|facts| self.assume(facts, expr, scope, value)).collect::<Vec<_>>(),
        };
        if decided.len() > MOST_CASES { cases } else { decided }
    }

    /// The possible results of a condition that has no parts.
    fn condition(&self, expr: &'e Expr, scope: &Scope<'e>, facts: &Facts<'e>) -> Outcomes {
        if let Some((comparison, one, other, is_negated)) = key::comparison(expr) {
            let outcomes = self.comparison((comparison, one, other), scope, facts);
            return if is_negated { outcomes.not() } else { outcomes };
        }
        if let Some(holds) = facts.conditions.get(&scope.key(expr)) {
            return Outcomes::of(*holds);
        }
        match &expr.kind {
            ExprKind::Literal(Literal::Bool(value)) => Outcomes::of(*value),
            ExprKind::Select { test_only: true, .. } => presence(expr, scope, facts),
            ExprKind::Call { target: None, function, args } if &**function == operators::IN => {
                self.membership(&args[0], &args[1], scope, facts)
            }
            ExprKind::Comprehension(parts) => self.quantified(parts, scope, facts),
            _ if is_path(expr) => {
                let Operand { values, fails } = self.operand(expr, scope, facts);
                let (holds, is_false) = Comparison::Equals.outcomes(&values, &Values::one(true));
                Outcomes { holds, is_false, fails }
            }
            _ => Outcomes::ANY,
        }
    }

    fn comparison(
        &self,
        (comparison, one, other): (Comparison, &'e Expr, &'e Expr),
        scope: &Scope<'e>,
        facts: &Facts<'e>,
    ) -> Outcomes {
        let known = facts.conditions.get(&key::of_comparison(comparison, one, other, &scope.names));
        if let Some(holds) = known {
            return Outcomes::of(*holds);
        }
        let [first, second] = [one, other].map(|operand| self.operand(operand, scope, facts));
        let fails = first.fails || second.fails;
        let (holds, is_false) = if is_ordered(one) && scope.key(one) == scope.key(other) {
            let is_some = !first.values.is_none();
            (is_some && comparison != Comparison::Less, is_some && comparison == Comparison::Less)
        } else {
            comparison.outcomes(&first.values, &second.values)
        };
        Outcomes { holds, is_false, fails }
    }

    /// `a in [b, c]`
    fn membership(&self, element: &'e Expr, list: &'e Expr, scope: &Scope<'e>, facts: &Facts<'e>) -> Outcomes {
        let ExprKind::List(elements) = &list.kind else { return Outcomes::ANY };
        let operand = self.operand(element, scope, facts);
        let mut all = Outcomes { holds: false, is_false: true, fails: operand.fails };
        let mut others = operand.values.clone();
        for element in elements {
            let other = self.operand(&element.value, scope, facts);
            let (holds, is_false) = Comparison::Equals.outcomes(&operand.values, &other.values);
            all.holds |= holds;
            all.is_false &= is_false || element.optional;
            all.fails |= other.fails;
            if let (Values::Only(values), false) = (other.values, element.optional)
                && let [value] = values.as_slice()
            {
                others = others.without(value);
            }
        }
        all.is_false &= !others.is_none();
        all
    }

    /// `a.all(b, …)` and `a.exists(b, …)`
    fn quantified(&self, parts: &'e Comprehension, scope: &Scope<'e>, facts: &Facts<'e>) -> Outcomes {
        let Some((quantifier, predicate)) = quantifier(parts) else { return Outcomes::ANY };
        let reach = reach(&parts.range, scope, facts);
        let inside = inside(parts, scope, facts);
        let range = scope.key(&parts.range);
        let mut cases = vec![facts.clone()];
        for each in facts.each.iter().filter(|each| each.range == range && each.variables == variables(parts)) {
            cases = self.cases(cases, each.predicate, &each.scope, true);
        }
        let of_each = self.outcomes(predicate, &inside, &cases);
        let sizes = match reach.node {
            Node::Place(place) => place.sizes().range(),
            Node::Nothing => return Outcomes::FAILS,
            _ => None,
        };
        let may_be_empty = sizes.is_none_or(|(least, _)| least <= 0.0);
        let is_empty = Outcomes::of(quantifier == Quantifier::All);
        let all = if may_be_empty { of_each.or(is_empty) } else { of_each };
        if reach.fails { all.or(Outcomes::FAILS) } else { all }
    }
}

/// `has(…)`
fn presence<'e>(expr: &'e Expr, scope: &Scope<'e>, facts: &Facts<'e>) -> Outcomes {
    let ExprKind::Select { operand, field, .. } = &expr.kind else { return Outcomes::ANY };
    let around = reach(operand, scope, facts);
    let is_present = match around.node {
        Node::Place(place) => place.field(field).1,
        Node::Nothing => return Outcomes::FAILS,
        Node::Default(_) | Node::Unknown => None,
    };
    let known = facts.present.get(scope.key(expr).trim_end_matches('?')).copied().or(is_present);
    Outcomes { fails: around.fails, ..known.map_or(Outcomes::ANY, Outcomes::of) }
}

/// The variables in a loop.
pub(super) fn inside<'e>(parts: &'e Comprehension, scope: &Scope<'e>, facts: &Facts<'e>) -> Scope<'e> {
    let mut inside = scope.clone();
    let element = element(&parts.range, scope, facts);
    let is_list = matches!(reach(&parts.range, scope, facts).node, Node::Place(place) if place.is_list());
    inside.names = key::inside(&scope.names, &parts.variable, parts.second.as_deref());
    match parts.second {
        Some(_) => inside.places.extend([None, element]),
        None => inside.places.push(element.filter(|_| is_list)),
    }
    inside
}

/// The number of variables of a loop.
pub(super) fn variables(parts: &Comprehension) -> usize {
    1 + usize::from(parts.second.is_some())
}

/// The condition on each element of a quantifier's loop.
pub(super) fn quantifier(parts: &Comprehension) -> Option<(Quantifier, &Expr)> {
    let is_result = |expr: &Expr| matches!(&expr.kind, ExprKind::Ident(name) if *name == parts.accumulator);
    let (ExprKind::Call { function, args, .. }, ExprKind::Literal(Literal::Bool(init))) =
        (&parts.step.kind, &parts.init.kind)
    else {
        return None;
    };
    let [so_far, predicate] = args.as_slice() else { return None };
    let quantifier = match (&**function, init) {
        (operators::AND, true) => Quantifier::All,
        (operators::OR, false) => Quantifier::Exists,
        _ => return None,
    };
    (is_result(so_far) && is_result(&parts.result)).then_some((quantifier, predicate))
}
