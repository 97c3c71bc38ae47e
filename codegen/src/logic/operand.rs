//! What the operands of conditions may be.
use kindsmith::schema::Document;
use kindsmith_cel::syntax::ast::{Expr, ExprKind, Literal, operators};

use super::{
    evaluation::Evaluation,
    facts::Facts,
    key,
    place::{Node, Place},
    scope::Scope,
    values::Values,
};

/// What an operand may be.
pub(super) struct Operand {
    /// Its values.
    pub(super) values: Values,
    /// It may fail.
    pub(super) fails: bool,
}

/// Where an expression leads in the values of a schema.
pub(super) struct Reach<'e> {
    pub(super) node: Node<'e>,
    /// Something on the way may be absent.
    pub(super) fails: bool,
}

impl<'e> Evaluation {
    /// What an operand may be.
    pub(super) fn operand(&self, expr: &'e Expr, scope: &Scope<'e>, facts: &Facts<'e>) -> Operand {
        let mut operand = match &expr.kind {
            ExprKind::Literal(literal) => return Operand { values: of_literal(literal), fails: false },
            _ if is_path(expr) => {
                let Reach { node, fails } = reach(expr, scope, facts);
                let values = match node {
                    Node::Place(place) => place.values(),
                    Node::Default(default) if !default.is_array() && !default.is_object() => {
                        Values::one(default.clone())
                    }
                    Node::Nothing => Values::Only(Vec::new()),
                    Node::Default(_) | Node::Unknown => Values::Any,
                };
                Operand { values, fails }
            }
            _ => match sized(expr) {
                Some(of) => {
                    let Reach { node, fails } = reach(of, scope, facts);
                    let any = Values::Between(0.0, f64::INFINITY);
                    Operand { values: if let Node::Place(place) = node { place.sizes() } else { any }, fails }
                }
                None if is_condition(expr) => {
                    let outcomes = self.outcome(expr, scope, facts);
                    let values = [true, false].into_iter().filter(|value| outcomes.may_be(*value)).map(Document::Bool);
                    return Operand { values: Values::Only(values.collect()), fails: outcomes.fails };
                }
                None => Operand { values: Values::Any, fails: true },
            },
        };
        if !facts.values.is_empty()
            && let Some(known) = facts.values.get(&scope.key(expr))
        {
            operand.values = operand.values.narrowed(known.clone());
        }
        operand
    }
}

/// Where an expression leads.
pub(super) fn reach<'e>(expr: &'e Expr, scope: &Scope<'e>, facts: &Facts<'e>) -> Reach<'e> {
    let unknown = Reach { node: Node::Unknown, fails: true };
    match &expr.kind {
        ExprKind::Ident(name) => match scope.place(name) {
            Some(place) => Reach { node: Node::Place(place), fails: false },
            None => Reach { fails: !scope.declares(name), ..unknown },
        },
        ExprKind::Select { operand, field, test_only: false } => {
            let around = reach(operand, scope, facts);
            let (node, is_present) = match around.node {
                Node::Place(place) => place.field(field),
                Node::Nothing => (Node::Nothing, Some(false)),
                Node::Default(_) | Node::Unknown => (Node::Unknown, None),
            };
            match facts.present.get(&scope.key(expr)).copied().or(is_present) {
                Some(true) => Reach { node, fails: around.fails },
                Some(false) => Reach { node: Node::Nothing, fails: true },
                None => Reach { node, fails: true },
            }
        }
        ExprKind::Call { target: None, function, args } if **function == *operators::INDEX => {
            let element = match reach(&args[0], scope, facts).node {
                Node::Place(place) => place.element(),
                _ => None,
            };
            element.map_or(unknown, |place| Reach { node: Node::Place(place), fails: true })
        }
        _ => unknown,
    }
}

/// True for whole numbers.
pub(super) fn is_integer<'e>(expr: &'e Expr, scope: &Scope<'e>, facts: &Facts<'e>) -> bool {
    match &expr.kind {
        ExprKind::Literal(literal) => matches!(literal, Literal::Int(_) | Literal::Uint(_)),
        _ if sized(expr).is_some() => true,
        _ => matches!(reach(expr, scope, facts).node, Node::Place(place) if place.is_integer()),
    }
}

/// The variables of a loop, of which one is the element.
pub(super) fn element<'e>(range: &'e Expr, scope: &Scope<'e>, facts: &Facts<'e>) -> Option<Place<'e>> {
    match reach(range, scope, facts).node {
        Node::Place(place) => place.element(),
        _ => None,
    }
}

/// True for a field of a value, or an element.
pub(super) fn is_path(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Ident(_) | ExprKind::Select { test_only: false, .. } => true,
        ExprKind::Call { target: None, function, .. } => **function == *operators::INDEX,
        _ => false,
    }
}

/// The operand of an expression that is a size.
pub(super) fn sized(expr: &Expr) -> Option<&Expr> {
    let ExprKind::Call { target, function, args } = &expr.kind else { return None };
    match (target.as_deref(), &**function, args.as_slice()) {
        (Some(of), "size", []) | (None, "size", [of]) => Some(of),
        _ => None,
    }
}

/// True if operands have an order, in which each one is equal to itself.
pub(super) fn is_ordered(expr: &Expr) -> bool {
    matches!(expr.kind, ExprKind::Literal(_)) || is_path(expr) || sized(expr).is_some()
}

/// True for what is understood as a condition.
fn is_condition(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Select { test_only, .. } => *test_only,
        ExprKind::Call { function, .. } => {
            [operators::AND, operators::OR, operators::NOT, operators::IN].contains(&&**function)
                || key::comparison(expr).is_some()
        }
        _ => false,
    }
}

fn of_literal(literal: &Literal) -> Values {
    match literal {
        Literal::Null => Values::one(Document::Null),
        Literal::Bool(value) => Values::one(*value),
        Literal::Int(value) => Values::one(*value),
        Literal::Uint(value) => Values::one(*value),
        Literal::Double(value) => Values::one(*value),
        Literal::String(value) => Values::one(&**value),
        Literal::Bytes(_) => Values::Any,
    }
}
