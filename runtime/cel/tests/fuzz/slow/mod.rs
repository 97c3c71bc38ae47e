//! A slow, obvious evaluator: it walks over the syntax tree, and says what each node is and costs. Variables are in maps, nothing is
//! planned, and what the fast evaluator does ahead of time is here a rule about costs. Functions are the library's.
use std::{
    cell::{Cell, RefCell},
    collections::HashMap,
    rc::Rc,
};

use kindsmith_cel::{
    Checked, Error, Reference, Settings, Unmetered, Value,
    syntax::ast::{Comprehension, Element, Entry, Expr, ExprKind, Literal, operators},
    value::{Octets, Text},
};

mod attribute;
mod call;
mod constant;
mod names;

pub(crate) use names::Names;

pub(crate) type Evaluated<'a> = Result<Value<'a>, Error>;

/// The variables of an expression, by their names.
pub(crate) type Variables<'a> = HashMap<&'static str, Value<'a>>;

/// An evaluation.
pub(crate) struct Slow<'a, 's> {
    pub(crate) names: &'s Names,
    pub(crate) settings: Settings,
    /// The types of the expression, if it was checked.
    pub(crate) checked: Option<&'a Checked>,
    pub(crate) variables: &'s Variables<'a>,
    pub(crate) cost: Cell<u64>,
}

/// The variables of the loops around.
#[derive(Clone, Default)]
pub(crate) struct Scope<'a>(HashMap<String, Rc<RefCell<Binding<'a>>>>);

/// The value of a loop's variable. That of a result is evaluated when it is first read.
enum Binding<'a> {
    Later(&'a Expr, Scope<'a>),
    Now(Evaluated<'a>),
}

impl<'a> Scope<'a> {
    fn with(&self, name: &str, binding: Rc<RefCell<Binding<'a>>>) -> Self {
        let mut scope = self.clone();
        scope.0.insert(name.to_owned(), binding);
        scope
    }

    fn with_value(&self, name: &str, value: Evaluated<'a>) -> Self {
        self.with(name, Rc::new(RefCell::new(Binding::Now(value))))
    }

    fn has(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }
}

impl<'a> Slow<'a, '_> {
    /// The value of an expression.
    pub(crate) fn evaluate(&self, expr: &'a Expr) -> Evaluated<'a> {
        self.value(expr, &Scope::default())
    }

    fn charge(&self, cost: u64) {
        self.cost.set(self.cost.get().saturating_add(cost));
    }

    /// What is evaluated within costs nothing.
    fn free<T>(&self, evaluate: impl FnOnce() -> T) -> T {
        let before = self.cost.get();
        let result = evaluate();
        self.cost.set(before);
        result
    }

    fn value(&self, expr: &'a Expr, scope: &Scope<'a>) -> Evaluated<'a> {
        match &expr.kind {
            ExprKind::Literal(literal) => Ok(value_of(literal)),
            ExprKind::Ident(_) | ExprKind::Select { test_only: false, .. } => self.attribute(expr, scope),
            ExprKind::Select { .. } => self.presence(expr, scope),
            ExprKind::Call { target, function, args } => self.call(expr, target.as_deref(), function, args, scope),
            ExprKind::List(_) | ExprKind::Map(_) if self.is_constant(expr) => {
                self.free(|| self.constructed(expr, scope))
            }
            ExprKind::List(_) | ExprKind::Map(_) => self.constructed(expr, scope),
            ExprKind::Comprehension(own) => self.comprehension(own, scope),
            ExprKind::Struct { .. } | ExprKind::Unspecified => Err(Error::new("no such expression")),
        }
    }

    /// A list costs 10, a map 30, even if one of its parts fails.
    fn constructed(&self, expr: &'a Expr, scope: &Scope<'a>) -> Evaluated<'a> {
        let (value, cost) = match &expr.kind {
            ExprKind::Map(entries) => (self.map(entries, scope), 30),
            ExprKind::List(elements) => (self.list(elements, scope), 10),
            _ => unreachable!("lists and maps are constructed"),
        };
        self.charge(cost);
        value
    }

    fn list(&self, elements: &'a [Element], scope: &Scope<'a>) -> Evaluated<'a> {
        let mut values = Vec::new();
        for element in elements {
            match self.value(&element.value, scope)? {
                value if !element.optional => values.push(value),
                Value::Optional(value) => values.extend(value.map(|value| (*value).clone())),
                value => {
                    let message = format!("cannot initialize optional list element from non-optional value {value}");
                    return Err(Error::new(message));
                }
            }
        }
        Ok(Value::list(values))
    }

    fn map(&self, own: &'a [Entry], scope: &Scope<'a>) -> Evaluated<'a> {
        let mut entries: Vec<(Value<'a>, Value<'a>)> = Vec::new();
        for entry in own {
            let key = self.value(&entry.key, scope)?;
            let value = self.value(&entry.value, scope)?;
            let value = match value {
                value if !entry.optional => Some(value),
                Value::Optional(value) => value.map(|value| (*value).clone()),
                value if !matches!(key, Value::Bytes(_)) => {
                    let message = format!("cannot initialize optional entry '{key}' from non-optional value {value}");
                    return Err(Error::new(message));
                }
                value => Some(value),
            };
            if matches!(key, Value::Bytes(_)) {
                return Err(Error::new("internal error: runtime error: hash of unhashable type types.Bytes"));
            }
            let position = entries.iter().position(|(other, _)| same_key(other, &key));
            match (position, value) {
                (Some(position), Some(value)) => entries[position].1 = value,
                (Some(position), None) => drop(entries.remove(position)),
                (None, Some(value)) => entries.push((key, value)),
                (None, None) => {}
            }
        }
        Ok(Value::map(entries))
    }

    /// A loop. It costs what its parts cost.
    fn comprehension(&self, own: &'a Comprehension, scope: &Scope<'a>) -> Evaluated<'a> {
        let range = self.value(&own.range, scope)?;
        let mut accumulator = Rc::new(RefCell::new(Binding::Later(&own.init, scope.clone())));
        for (first, second) in names::items(&range, own.second.is_some())? {
            let mut inner = scope.clone();
            if let (Some(name), Some(second)) = (&own.second, second) {
                inner = inner.with_value(name, second);
            }
            let inner = inner.with_value(&own.variable, first).with(&own.accumulator, Rc::clone(&accumulator));
            if matches!(self.value(&own.condition, &inner), Ok(Value::Bool(false))) {
                break;
            }
            let value = self.value(&own.step, &inner);
            accumulator = Rc::new(RefCell::new(Binding::Now(value)));
        }
        self.value(&own.result, &scope.with(&own.accumulator, accumulator))
    }

    /// What the checker found out about a name.
    fn reference(&self, expr: &Expr) -> Option<&'a Reference> {
        self.checked?.reference(expr.id)
    }

    /// The value of a loop's variable.
    fn bound(&self, name: &str, scope: &Scope<'a>) -> Option<Evaluated<'a>> {
        let binding = scope.0.get(name)?;
        let later = match &*binding.borrow() {
            Binding::Now(value) => return Some(value.clone()),
            Binding::Later(expr, scope) => (*expr, scope.clone()),
        };
        let value = self.value(later.0, &later.1);
        *binding.borrow_mut() = Binding::Now(value.clone());
        Some(value)
    }
}

/// True if two keys of a map are one: they have one type and are equal.
fn same_key(left: &Value<'_>, right: &Value<'_>) -> bool {
    let scalar = !matches!(left, Value::List(_) | Value::Map(_) | Value::Optional(_) | Value::Opaque(_));
    scalar && left.type_name() == right.type_name() && left.equals(right, &Unmetered) == Ok(true)
}

fn value_of<'a>(literal: &Literal) -> Value<'a> {
    match literal {
        Literal::Null => Value::Null,
        Literal::Bool(value) => Value::Bool(*value),
        Literal::Int(value) => Value::Int(*value),
        Literal::Uint(value) => Value::Uint(*value),
        Literal::Double(value) => Value::Double(*value),
        Literal::String(text) => Value::String(Text::Shared(text.clone())),
        Literal::Bytes(bytes) => Value::Bytes(Octets::Shared(bytes.clone())),
    }
}

const INDEXES: [&str; 3] = [operators::INDEX, operators::OPTIONAL_INDEX, operators::OPTIONAL_SELECT];
