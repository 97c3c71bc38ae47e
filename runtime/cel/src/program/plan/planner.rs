//! From syntax trees to plans: names become variables, slots and constants.
use std::{cell::RefCell, sync::Arc};

use super::{Attribute, Block, Body, Key, Loop, Name, Node, Qualifier, Root};
use crate::{
    Checked, Env, Error, Reference, Type, Value,
    syntax::ast::{Comprehension, Expr, ExprKind, Literal, NodeId, operators},
};

/// Plans an expression.
pub(in crate::program) struct Planner<'e> {
    pub(super) env: &'e Env,
    pub(super) checked: Option<&'e Checked>,
    /// The variables of the loops around, with their slots.
    scope: Vec<(Arc<str>, usize)>,
    /// The next slot.
    next: usize,
    /// The number of slots that the program has.
    pub(in crate::program) slots: usize,
    /// The number of nodes so far.
    pub(in crate::program) nodes: usize,
}

pub(super) type Planned<T = Node> = Result<T, Error>;

impl<'e> Planner<'e> {
    /// A planner for an expression that was checked, or not.
    pub(in crate::program) fn new(env: &'e Env, checked: Option<&'e Checked>) -> Self {
        Self { env, checked, scope: Vec::new(), next: 0, slots: 0, nodes: 0 }
    }

    /// The plan of an expression.
    pub(in crate::program) fn plan(&mut self, expr: &Expr) -> Planned {
        self.nodes += 1;
        match &expr.kind {
            ExprKind::Literal(literal) => Ok(Node::constant(literal.into())),
            ExprKind::Ident(name) => self.ident(expr.id, name),
            ExprKind::Select { operand, field, test_only } => self.select(expr.id, operand, field, *test_only),
            ExprKind::Call { target, function, args } => self.call(expr.id, target.as_deref(), function, args),
            ExprKind::List(elements) => self.list(elements),
            ExprKind::Map(entries) => self.map(entries),
            ExprKind::Comprehension(comprehension) => self.comprehension(comprehension),
            ExprKind::Struct { name, .. } => Err(unknown_type(name)),
            ExprKind::Unspecified => Err(Error::new("unsupported expr")),
        }
    }

    fn ident(&self, id: NodeId, name: &Arc<str>) -> Planned {
        if let Some(node) = self.checked_name(id)? {
            return Ok(node);
        }
        let root = if self.checked.is_some() || self.slot(name).is_some() {
            Root::Variable(self.name(name))
        } else {
            Root::Candidates(vec![(self.candidates(name), 0)])
        };
        Ok(Node::Attribute(Box::new(Attribute { root, qualifiers: Vec::new() })))
    }

    /// What a name refers to, if the checker found that.
    fn checked_name(&self, id: NodeId) -> Planned<Option<Node>> {
        let Some(checked) = self.checked else { return Ok(None) };
        Ok(match checked.reference(id) {
            Some(Reference::Name(name)) => {
                if matches!(checked.type_of(id), Type::Type(_)) {
                    return self.type_named(name).map(Some);
                }
                let root = Root::Variable(self.name(name));
                Some(Node::Attribute(Box::new(Attribute { root, qualifiers: Vec::new() })))
            }
            _ => None,
        })
    }

    /// The type of a name. As in cel-go, a variable whose values are types is taken for the name of a type, and types with declared fields
    /// have no name for expressions.
    fn type_named(&self, name: &Arc<str>) -> Planned {
        if !self.env.is_type_of_values(name.strip_prefix('.').unwrap_or(name)) {
            return Err(Error::new(format!("reference to undefined type: {name}")));
        }
        Ok(Node::constant(Value::Type(Arc::clone(name))))
    }

    /// A variable by its complete name; with a dot before it, no variable of a loop.
    fn name(&self, name: &Arc<str>) -> Name {
        if let Some(absolute) = name.strip_prefix('.') {
            return Name::Global(absolute.into());
        }
        self.slot(name).map_or_else(|| Name::Global(Arc::clone(name)), |slot| Name::Slot(slot, Arc::clone(name)))
    }

    /// What a name that was not checked may mean, beginning in the container.
    fn candidates(&self, name: &str) -> Vec<Name> {
        let names = RefCell::new(Vec::new());
        self.env.candidates(name, |candidate| {
            names.borrow_mut().push(self.unchecked_name(candidate));
            None::<()>
        });
        names.into_inner()
    }

    pub(super) fn unchecked_name(&self, name: &str) -> Name {
        match self.slot(name) {
            Some(slot) => Name::Slot(slot, name.into()),
            None if self.env.is_type_of_values(name) => Name::Type(name.into()),
            None => Name::Global(name.into()),
        }
    }

    /// The slot of a loop's variable.
    pub(super) fn slot(&self, name: &str) -> Option<usize> {
        self.scope.iter().rev().find(|(own, _)| **own == *name).map(|(_, slot)| *slot)
    }

    fn select(&mut self, id: NodeId, operand: &Expr, field: &Arc<str>, test: bool) -> Planned {
        if let Some(node) = self.checked_name(id)? {
            return Ok(node);
        }
        let mut attribute = self.attribute(operand)?;
        let key = Key::Constant(Value::String(crate::value::Text::Shared(Arc::clone(field))));
        self.qualify(&mut attribute, Qualifier { key, optional: false, test });
        let attribute = Box::new(attribute);
        Ok(if test { Node::Has(attribute) } else { Node::Attribute(attribute) })
    }

    fn comprehension(&mut self, own: &Comprehension) -> Planned {
        let (scope, next) = (self.scope.len(), self.next);
        let init = self.plan_later(&own.init)?;
        let range = self.plan(&own.range)?;
        let quantified = quantified(own);
        let second = own.second.clone();
        let accumulator = self.reserve(1);
        let variables = [self.reserve(1), self.reserve(usize::from(second.is_some()))];
        let before = self.nodes;
        if let Some(second) = &second {
            self.scope.push((Arc::clone(second), variables[1]));
        }
        self.scope.push((Arc::clone(&own.variable), variables[0]));
        self.scope.push((Arc::clone(&own.accumulator), accumulator));
        let (body, weight) = if let Some((predicate, deciding)) = quantified {
            let predicate = self.plan(predicate)?;
            (Body::Quantifier { predicate, deciding }, self.nodes - before + 4)
        } else {
            let condition = self.plan(&own.condition)?;
            let step = self.step(&own.step, &own.accumulator, accumulator)?;
            let weight = self.nodes - before;
            self.scope.truncate(scope);
            self.scope.push((Arc::clone(&own.accumulator), accumulator));
            (Body::Parts { init, condition, step, result: self.plan(&own.result)? }, weight)
        };
        self.scope.truncate(scope);
        self.next = next;
        Ok(Node::Loop(Box::new(Loop { range, variables, two: second.is_some(), accumulator, body, weight })))
    }

    /// A list of values which a body refers to as `@index0`, `@index1` and so on.
    pub(super) fn block(&mut self, values: &Expr, body: &Expr) -> Planned {
        let ExprKind::List(elements) = &values.kind else {
            return Err(Error::new("cel.@block expects a list constructor as the first argument"));
        };
        let (scope, next) = (self.scope.len(), self.next);
        let first = self.reserve(elements.len());
        for index in 0..elements.len() {
            self.scope.push((format!("@index{index}").into(), first + index));
        }
        let values = elements.iter().map(|element| self.plan_later(&element.value)).collect::<Planned<_>>()?;
        let result = self.plan(body)?;
        self.scope.truncate(scope);
        self.next = next;
        Ok(Node::Block(Box::new(Block { first, values, result })))
    }

    /// The plan of an expression that runs when its value is first read, which may be within other loops: the slots of its own loops stay
    /// reserved.
    fn plan_later(&mut self, expr: &Expr) -> Planned {
        let slots = std::mem::replace(&mut self.slots, self.next);
        let node = self.plan(expr);
        self.next = self.slots;
        self.slots = slots.max(self.next);
        node
    }

    fn reserve(&mut self, slots: usize) -> usize {
        let first = self.next;
        self.next += slots;
        self.slots = self.slots.max(self.next);
        first
    }
}

/// The predicate of `all` or `exists`, and the value of it that ends the loop.
fn quantified(own: &Comprehension) -> Option<(&Expr, bool)> {
    let is_result = |expr: &Expr| matches!(&expr.kind, ExprKind::Ident(name) if *name == own.accumulator);
    let ExprKind::Literal(Literal::Bool(first)) = own.init.kind else { return None };
    let (operator, deciding) = if first { (operators::AND, false) } else { (operators::OR, true) };
    let tested = only_argument(&own.condition, operators::NOT_STRICTLY_FALSE)?;
    let goes_on = if first { is_result(tested) } else { only_argument(tested, operators::NOT).is_some_and(is_result) };
    match &own.step.kind {
        ExprKind::Call { target: None, function, args }
            if **function == *operator && goes_on && is_result(&own.result) =>
        {
            let [left, predicate] = args.as_slice() else { return None };
            is_result(left).then_some((predicate, deciding))
        }
        _ => None,
    }
}

/// The argument of a call that has one.
fn only_argument<'e>(expr: &'e Expr, name: &str) -> Option<&'e Expr> {
    match &expr.kind {
        ExprKind::Call { target: None, function, args } if **function == *name && args.len() == 1 => args.first(),
        _ => None,
    }
}

fn unknown_type(name: &str) -> Error {
    Error::new(format!("unknown type: {name}"))
}
