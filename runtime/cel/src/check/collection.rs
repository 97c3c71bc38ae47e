//! Lists, maps, structs and loops.
use std::sync::Arc;

use super::checker::Checker;
use crate::Reference;
use crate::{
    Type,
    syntax::ast::{Comprehension, Element, Entry, Expr, ExprKind},
};

impl Checker<'_> {
    pub(super) fn list(&mut self, elements: &mut [Element]) -> Type {
        let mut joined = None;
        for element in elements {
            let kind = self.value(&mut element.value, element.optional);
            joined = Some(self.joined(joined, kind));
        }
        let element = joined.unwrap_or_else(|| self.fresh_parameter());
        self.substitutions.measured(Type::list(element))
    }

    pub(super) fn map(&mut self, entries: &mut [Entry]) -> Type {
        let mut joined = None;
        for entry in entries {
            let (keys, values) = joined.unzip();
            let key = self.check(&mut entry.key);
            let key = self.joined(keys, key);
            let value = self.value(&mut entry.value, entry.optional);
            joined = Some((key, self.joined(values, value)));
        }
        let (key, value) = joined.unwrap_or_else(|| (self.fresh_parameter(), self.fresh_parameter()));
        self.substitutions.measured(Type::map(key, value))
    }

    /// The type of an element, entry or field; of an optional one, the type of the value inside.
    fn value(&mut self, value: &mut Expr, optional: bool) -> Type {
        let kind = self.check(value);
        if !optional {
            return kind;
        }
        if let Some(inner) = kind.unwrapped() {
            return inner.clone();
        }
        if !matches!(kind, Type::Dyn | Type::Any) {
            self.mismatch(value.offset, &Type::optional(kind.clone()), &kind);
        }
        kind
    }

    fn joined(&mut self, previous: Option<Type>, current: Type) -> Type {
        match previous {
            Some(previous) => self.substitutions.join(&previous, &current),
            None => current,
        }
    }

    pub(super) fn structure(&mut self, expr: &mut Expr) -> Type {
        let ExprKind::Struct { name, fields } = &mut expr.kind else { return Type::Error };
        let Some((whole, kind)) = self.env.find(name) else {
            return self.undeclared(expr.offset, name);
        };
        name.clone_from(&whole);
        self.refer(expr.id, Reference::Name(Arc::clone(&whole)));
        let (kind, name) = match &kind {
            Type::Error => (Type::Error, whole),
            Type::Type(Some(kind)) => match &**kind {
                Type::Struct(structure) => (Type::Struct(Arc::clone(structure)), Arc::clone(structure)),
                known @ (Type::Duration | Type::Timestamp | Type::Any) => (known.clone(), known.name().into()),
                Type::Null => (Type::Null, "google.protobuf.NullValue".into()),
                other => {
                    let message = format_args!("'{}' is not a message type", other.name());
                    (self.error(expr.offset, message), whole)
                }
            },
            other => (self.error(expr.offset, format_args!("'{}' is not a type", other.name())), whole),
        };
        for field in fields {
            let value = self.value(&mut field.value, field.optional);
            let expected = self.field_type(field.offset, &name, &field.name);
            if !self.substitutions.assign(&expected, &value) {
                self.error(
                    field.offset,
                    format_args!(
                        "expected type of field '{}' is '{expected}' but provided type is '{value}'",
                        field.name
                    ),
                );
            }
        }
        kind
    }

    pub(super) fn comprehension(&mut self, comprehension: &mut Comprehension) -> Type {
        let range = self.check(&mut comprehension.range);
        let accumulator = self.check(&mut comprehension.init);
        let range = self.substitutions.substitute(range);
        let (first, second) = self.loop_variables(comprehension, &range);
        self.looped = true;
        let outside = self.locals.len();
        self.locals.push((Arc::clone(&comprehension.accumulator), accumulator.clone()));
        self.locals.push((Arc::clone(&comprehension.variable), first));
        if let Some(name) = &comprehension.second {
            self.locals.push((Arc::clone(name), second));
        }
        self.expect(&mut comprehension.condition, &Type::Bool);
        self.expect(&mut comprehension.step, &accumulator);
        self.locals.truncate(outside + 1);
        let result = self.check(&mut comprehension.result);
        self.locals.truncate(outside);
        self.substitutions.substitute(result)
    }

    /// The types of the variables of a loop. With one, it is the element or key; with two, index and element, or key and value.
    fn loop_variables(&mut self, comprehension: &Comprehension, range: &Type) -> (Type, Type) {
        match range {
            Type::List(element) if comprehension.second.is_some() => (Type::Int, (**element).clone()),
            Type::List(element) => ((**element).clone(), Type::Error),
            Type::Map(key, value) => ((**key).clone(), (**value).clone()),
            Type::Dyn | Type::Error | Type::Parameter(_) => {
                self.substitutions.assign(&Type::Dyn, range);
                (Type::Dyn, Type::Dyn)
            }
            _ => {
                let message = "cannot be range of a comprehension (must be list, map, or dynamic)";
                self.error(comprehension.range.offset, format_args!("expression of type '{range}' {message}"));
                (Type::Error, Type::Error)
            }
        }
    }

    /// Checks a part of a loop that has to be of a type.
    fn expect(&mut self, expr: &mut Expr, expected: &Type) {
        let kind = self.check(expr);
        if !self.substitutions.assign(expected, &kind) {
            self.mismatch(expr.offset, expected, &kind);
        }
    }
}
