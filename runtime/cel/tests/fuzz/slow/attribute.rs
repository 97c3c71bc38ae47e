//! Variables, selections, indexes and choices.
//!
//! A variable with its selections and indexes costs 1, and 1 for each of them; what begins with another expression costs that, too. What
//! begins with a choice costs the choice instead of the 1. Variables are free as branches of choices and as indexes.
use kindsmith_cel::{
    Error, Reference, Type, Value,
    syntax::ast::{Expr, ExprKind, operators},
    value::{Dynamic, Items, List, ListKind, Map, Text},
};

use super::{Evaluated, INDEXES, Scope, Slow, names::check_key};

/// A value on the way, and if it is to become an optional one; none if something optional is absent.
type Step<'a> = Option<(Value<'a>, bool)>;

/// What is selected of a value.
enum Key<'a> {
    Field(&'a str),
    Index(&'a Expr),
}

/// A selection or an index: of what, and which.
struct Selection<'a> {
    operand: &'a Expr,
    key: Key<'a>,
    optional: bool,
    test: bool,
}

impl<'a> Slow<'a, '_> {
    /// The value of a variable, a selection, an index or a choice.
    pub(super) fn attribute(&self, expr: &'a Expr, scope: &Scope<'a>) -> Evaluated<'a> {
        if let Some(constant) = self.constant_name(expr) {
            return Ok(constant);
        }
        let value = self.resolve(expr, scope).map(finished);
        if !begins_with_choice(expr) {
            self.charge(1);
        }
        value
    }

    /// `has(a.b)`
    pub(super) fn presence(&self, expr: &'a Expr, scope: &Scope<'a>) -> Evaluated<'a> {
        let value = self.resolve_branch(expr, scope).map(finished);
        if self.settings.presence_tests_cost && !begins_with_choice(expr) {
            self.charge(1);
        }
        match value? {
            Value::Optional(value) => Ok(Value::Bool(value.is_some())),
            value => Ok(value),
        }
    }

    /// A branch of a choice: a presence test is a selection there.
    fn resolve_branch(&self, expr: &'a Expr, scope: &Scope<'a>) -> Result<Step<'a>, Error> {
        match &expr.kind {
            ExprKind::Select { operand, field, test_only: true } => {
                let own = Selection { operand, key: Key::Field(field), optional: false, test: true };
                self.select(&own, scope)
            }
            _ => self.resolve(expr, scope),
        }
    }

    fn resolve(&self, expr: &'a Expr, scope: &Scope<'a>) -> Result<Step<'a>, Error> {
        if let Some(constant) = self.constant_name(expr) {
            return Ok(begun(constant));
        }
        if let Some(name) = self.variable_name(expr, scope) {
            return self.variable(&name, scope).map(begun);
        }
        if let Some(own) = selection(expr) {
            return self.select(&own, scope);
        }
        if let Some((condition, left, right)) = choice(expr) {
            let branch = match self.value(condition, scope)? {
                Value::Bool(true) => left,
                Value::Bool(false) => right,
                _ => return Err(Error::no_such_overload()),
            };
            return self.resolve_branch(branch, scope);
        }
        self.value(expr, scope).map(begun)
    }

    fn select(&self, own: &Selection<'a>, scope: &Scope<'a>) -> Result<Step<'a>, Error> {
        if let Some(name) = self.unchecked_type(own.operand, scope) {
            return Err(missing(&name));
        }
        let Some((value, optional)) = self.resolve(own.operand, scope)? else { return Ok(None) };
        let optional = optional || own.optional;
        let presence = optional || own.test;
        let part = self.key(&own.key, scope).and_then(|key| self.part(&value, &key, presence));
        match part {
            Ok(None) if optional => return Ok(None),
            // A failed optional access is free.
            Err(error) if optional => return Err(error),
            _ => self.charge(1),
        }
        Ok(Some(match part? {
            part if own.test && !optional => (Value::Bool(part.is_some()), false),
            part => (part.expect("it would be an error"), optional),
        }))
    }

    fn key(&self, key: &Key<'a>, scope: &Scope<'a>) -> Evaluated<'a> {
        let key = match key {
            Key::Field(field) => return Ok(Value::String(Text::Borrowed(field))),
            Key::Index(index) if self.is_constant(index) => self.free(|| self.value(index, scope)),
            Key::Index(index) if is_test(index) => self.resolve_branch(index, scope).map(finished),
            Key::Index(index) if self.is_attribute(index, scope) => self.resolve(index, scope).map(finished),
            Key::Index(index) => self.value(index, scope),
        };
        key.and_then(|key| check_key(&key).map(|()| key))
    }

    /// True if it is a variable, a selection, an index or a choice.
    fn is_attribute(&self, expr: &'a Expr, scope: &Scope<'a>) -> bool {
        self.variable_name(expr, scope).is_some() || selection(expr).is_some() || choice(expr).is_some()
    }

    /// A part of a value; none if it is absent and presence matters.
    fn part(&self, value: &Value<'a>, key: &Value<'a>, presence: bool) -> Result<Option<Value<'a>>, Error> {
        let part = match value {
            Value::List(list) => element(list, key)?,
            Value::Map(map) => map.get(key).transpose()?,
            _ if presence && !self.settings.bad_presence_tests_fail => None,
            _ => return Err(Error::new(format!("no such key: {key}"))),
        };
        match (part, value) {
            (None, Value::List(_)) if !presence => Err(Error::new(format!("index out of bounds: {key}"))),
            (None, _) if !presence => Err(Error::new(format!("no such key: {key}"))),
            (part, _) => Ok(part),
        }
    }

    /// A name that is a constant or a type.
    pub(super) fn constant_name(&self, expr: &'a Expr) -> Option<Value<'a>> {
        match self.reference(expr) {
            // Variables whose values are types are taken for names, too.
            Some(Reference::Name(name)) if self.is_type(expr) => Some(Value::Type(name.clone())),
            _ => None,
        }
    }

    /// True if the value of an expression is a type.
    pub(super) fn is_type(&self, expr: &Expr) -> bool {
        self.checked.is_some_and(|checked| matches!(checked.type_of(expr.id), Type::Type(_)))
    }

    /// The name of a variable, or, if the expression was not checked, of a type.
    fn variable_name(&self, expr: &'a Expr, scope: &Scope<'a>) -> Option<String> {
        if self.checked.is_some() {
            return match &expr.kind {
                ExprKind::Ident(name) => Some((**name).to_owned()),
                _ => None,
            };
        }
        let name = dotted(expr)?;
        let name = name.strip_prefix('.').unwrap_or(&name).to_owned();
        let plain = matches!(expr.kind, ExprKind::Ident(_));
        (plain || (self.names.types.contains(&*name) && !scope.has(&name))).then_some(name)
    }

    /// The name of a type in an expression that was not checked. It has no parts.
    fn unchecked_type(&self, expr: &Expr, scope: &Scope<'a>) -> Option<String> {
        let name = if self.checked.is_none() { dotted(expr)? } else { return None };
        let name = name.strip_prefix('.').unwrap_or(&name).to_owned();
        let hidden = self.variables.contains_key(&*name) || scope.has(&name);
        (self.names.types.contains(&*name) && !hidden).then_some(name)
    }

    fn variable(&self, name: &str, scope: &Scope<'a>) -> Evaluated<'a> {
        // A dot before a name is there for names that loops hide. What was not checked does not know.
        let absolute = name.strip_prefix('.');
        let name = absolute.unwrap_or(name);
        if (absolute.is_none() || self.checked.is_none())
            && let Some(value) = self.bound(name, scope)
        {
            return value;
        }
        if self.checked.is_none() && self.names.types.contains(name) {
            return Ok(Value::type_named(name));
        }
        self.variables.get(name).cloned().ok_or_else(|| missing(name))
    }
}

fn begins_with_choice(expr: &Expr) -> bool {
    let operand = match &expr.kind {
        ExprKind::Select { operand, .. } => Some(&**operand),
        _ => selection(expr).map(|own| own.operand),
    };
    choice(expr).is_some() || operand.is_some_and(|operand| !is_test(operand) && begins_with_choice(operand))
}

fn missing(name: &str) -> Error {
    Error::new(format!("no such attribute(s): {name}"))
}

fn is_test(expr: &Expr) -> bool {
    matches!(expr.kind, ExprKind::Select { test_only: true, .. })
}

/// A value at the beginning: an optional one is read through. What is in it is read as values of Go are: without a schema; an optional value
/// in it is what is in that one, and a type its name.
fn begun(value: Value<'_>) -> Step<'_> {
    match value {
        Value::Optional(value) => value.map(|value| (native((*value).clone()), true)),
        value => Some((value, false)),
    }
}

/// A value at the end.
fn finished(step: Step<'_>) -> Value<'_> {
    match step {
        Some((value, false)) => value,
        Some((value, true)) => Value::optional(Some(value)),
        None => Value::Optional(None),
    }
}

fn native(value: Value<'_>) -> Value<'_> {
    match value {
        Value::Map(Map::Document(object, _)) => Value::Map(Map::Document(object, &Dynamic)),
        Value::List(List { items, .. }) => {
            let items = match items {
                Items::Document(items, _) => Items::Document(items, &Dynamic),
                Items::Sum(elements, _) => Items::Sum(elements, None),
                items @ Items::Values(_) => items,
            };
            Value::List(List { items, kind: ListKind::Atomic })
        }
        Value::Optional(None) => Value::Null,
        Value::Optional(Some(value)) => native((*value).clone()),
        Value::Type(name) => Value::String(Text::Shared(name)),
        value => value,
    }
}

fn selection(expr: &Expr) -> Option<Selection<'_>> {
    match &expr.kind {
        ExprKind::Select { operand, field, test_only: false } => {
            Some(Selection { operand, key: Key::Field(field), optional: false, test: false })
        }
        ExprKind::Call { target: None, function, args } if INDEXES.contains(&&**function) => match &args[..] {
            [operand, index] => {
                let optional = **function != *operators::INDEX;
                Some(Selection { operand, key: Key::Index(index), optional, test: false })
            }
            _ => None,
        },
        _ => None,
    }
}

fn choice(expr: &Expr) -> Option<(&Expr, &Expr, &Expr)> {
    match &expr.kind {
        ExprKind::Call { target: None, function, args } if **function == *operators::CONDITIONAL => match &args[..] {
            [condition, left, right] => Some((condition, left, right)),
            _ => None,
        },
        _ => None,
    }
}

/// `a.b.c` as a name.
pub(super) fn dotted(expr: &Expr) -> Option<String> {
    match &expr.kind {
        ExprKind::Ident(name) => Some((**name).to_owned()),
        ExprKind::Select { operand, field, test_only: false } => Some(format!("{}.{field}", dotted(operand)?)),
        _ => None,
    }
}

/// The doubles that may be whole numbers of type `int`.
const WHOLE: std::ops::Range<f64> = -9_223_372_036_854_775_808.0..9_223_372_036_854_775_808.0;

/// An element of a list by a whole number of any type.
fn element<'a>(list: &List<'a>, key: &Value<'a>) -> Result<Option<Value<'a>>, Error> {
    #[expect(clippy::cast_possible_truncation, reason = "only whole numbers pass")]
    let index = match key {
        Value::Int(int) => i128::from(*int),
        Value::Uint(uint) if i64::try_from(*uint).is_ok() => i128::from(*uint),
        Value::Double(double) if double.fract() == 0.0 && WHOLE.contains(double) => *double as i128,
        Value::Uint(_) | Value::Double(_) => {
            return Err(Error::new(format!("unsupported index value {key} in list")));
        }
        other => return Err(Error::new(format!("unsupported index type '{}' in list", other.type_name()))),
    };
    let item = usize::try_from(index).ok().and_then(|index| list.get(index));
    if item.is_some() && list.is_typed() && !matches!(key, Value::Int(_)) {
        return Err(Error::new(format!("unsupported index: {key}")));
    }
    item.transpose()
}
