//! Calls: which function is meant, and which of its overloads fit.
use std::{mem, sync::Arc};

use super::{
    checker::{Checker, push_name},
    substitution::may_fit,
};
use crate::{
    Function, Overload, Reference, Type,
    syntax::ast::{Expr, ExprKind, Literal, operators},
    types::Parameters,
};

/// The type parameters of an overload, with their substitutes in one call.
type Instances = Vec<(Arc<str>, Type)>;

impl<'e> Checker<'e> {
    pub(super) fn call(&mut self, expr: &mut Expr) -> Type {
        let ExprKind::Call { target, function: name, args } = &mut expr.kind else { return Type::Error };
        if **name == *operators::OPTIONAL_SELECT {
            return self.optional_select(expr);
        }
        let mut arguments = Vec::with_capacity(args.len() + 1);
        for arg in &mut *args {
            arguments.push(self.check(arg));
        }
        let namespaced = target.as_ref().and_then(|receiver| self.namespaced(receiver, name));
        if namespaced.is_some() {
            *target = None;
        } else if let Some(receiver) = target {
            arguments.insert(0, self.check(receiver));
        }
        let is_member = target.is_some();
        let Some(function) = namespaced.or_else(|| self.env.find_function(name)) else {
            return self.undeclared(expr.offset, name);
        };
        if !is_member {
            name.clone_from(&function.name);
        }
        if *function.name == *operators::AND || *function.name == *operators::OR {
            return self.logical(expr, function, &arguments);
        }
        let (ids, kind) = self.fitting_overloads(function, &arguments, is_member);
        let Some(kind) = kind else {
            return self.no_overload(expr.offset, &function.name, arguments, is_member);
        };
        self.refer(expr.id, Reference::Overloads(ids));
        kind
    }

    /// `a.b.f()` may be a call of the function `a.b.f`.
    fn namespaced(&mut self, receiver: &Expr, function: &str) -> Option<&'e Function> {
        let mut name = mem::take(&mut self.name);
        name.clear();
        let found = push_name(receiver, &mut name).and_then(|_| {
            name.push('.');
            name.push_str(function);
            self.env.find_function(&name)
        });
        self.name = name;
        found
    }

    /// `&&` and `||` name the operand that is no `bool`.
    fn logical(&mut self, expr: &Expr, function: &Function, arguments: &[Type]) -> Type {
        let ExprKind::Call { args, .. } = &expr.kind else { return Type::Error };
        let mut kind = Type::Bool;
        for (arg, argument) in args.iter().zip(arguments) {
            if !self.substitutions.assign(argument, &Type::Bool) {
                kind = self.mismatch(arg.offset, &Type::Bool, argument);
            }
        }
        if kind == Type::Bool {
            let ids = function.overloads.first().map(|overload| Arc::clone(&overload.id));
            self.refer(expr.id, Reference::Overloads(ids.into_iter().collect()));
        }
        kind
    }

    /// The ids of the overloads that fit, and the type of the call. Where several fit with different results, it is `dyn`.
    fn fitting_overloads(
        &mut self,
        function: &Function,
        arguments: &[Type],
        is_member: bool,
    ) -> (Vec<Arc<str>>, Option<Type>) {
        let mut ids = Vec::new();
        let mut result = None;
        for overload in function.overloads.iter().filter(|overload| overload.member == is_member) {
            if self.is_disabled(overload) {
                continue;
            }
            let Some(instances) = self.accepts(overload, arguments) else { continue };
            ids.push(Arc::clone(&overload.id));
            let kind = self.substitutions.substitute(instantiate(&overload.result, &instances));
            match &result {
                None => result = Some(kind),
                Some(Type::Dyn | Type::Any) => {}
                Some(first) if *first == kind => {}
                Some(_) => result = Some(Type::Dyn),
            }
        }
        (ids, result)
    }

    /// Comparisons between types of numbers are left out unless they are switched on.
    fn is_disabled(&self, overload: &Overload) -> bool {
        !self.looped && !self.env.base.settings.cross_type_comparisons && is_cross_type(&overload.id)
    }

    /// Accepts arguments if they fit, and returns what the overload's type parameters are in this call.
    fn accepts(&mut self, overload: &Overload, arguments: &[Type]) -> Option<Instances> {
        let parameters = &overload.parameters;
        let mut instances = Vec::new();
        for kind in std::iter::once(&overload.result).chain(parameters) {
            collect_parameters(kind, &mut instances);
        }
        let first = self.fresh;
        self.fresh += instances.len();
        let substitutions = &mut self.substitutions;
        let mut pairs = arguments.iter().zip(parameters);
        if parameters.len() != arguments.len()
            || !pairs.clone().all(|(argument, parameter)| may_fit(substitutions.resolve(argument), parameter))
        {
            return None;
        }
        for (index, (_, instance)) in instances.iter_mut().enumerate() {
            *instance = fresh_parameter(first + index);
        }
        let accepts = substitutions.attempt(|substitutions| {
            pairs.all(|(argument, parameter)| substitutions.fits(argument, &instantiate(parameter, &instances)))
        });
        accepts.then_some(instances)
    }

    /// A type parameter that is used nowhere else.
    pub(super) fn fresh_parameter(&mut self) -> Type {
        self.fresh += 1;
        fresh_parameter(self.fresh - 1)
    }

    fn no_overload(&mut self, offset: u32, name: &str, arguments: Vec<Type>, is_member: bool) -> Type {
        let arguments: Vec<_> = arguments.into_iter().map(|kind| self.substitutions.close(kind)).collect();
        let (receiver, others) = match &arguments[..] {
            [receiver, others @ ..] if is_member => (format!("{receiver}."), others),
            all => (String::new(), all),
        };
        let others = Parameters(others.iter());
        self.error(offset, format_args!("found no matching overload for '{name}' applied to '{receiver}({others})'"))
    }

    /// `a.?b`, a call that the parser makes.
    fn optional_select(&mut self, expr: &mut Expr) -> Type {
        let ExprKind::Call { target, args, .. } = &mut expr.kind else { return Type::Error };
        let (None, [operand, field]) = (target.as_ref(), &mut args[..]) else {
            let style = if target.is_some() { " member call with" } else { "" };
            let signature = format_args!(
                "unsupported optional field selection: incorrect signature.{style} argument count: {}",
                args.len()
            );
            return self.error(expr.offset, signature);
        };
        let ExprKind::Literal(Literal::String(name)) = &field.kind else {
            return self.error(field.offset, format_args!("unsupported optional field selection: {:?}", field.kind));
        };
        let kind = self.field(expr.offset, operand, name, true);
        self.refer(expr.id, Reference::Overloads(vec!["select_optional_field".into()]));
        kind
    }
}

fn fresh_parameter(number: usize) -> Type {
    Type::Parameter(format!("_var{number}").into())
}

fn is_cross_type(id: &str) -> bool {
    const PAIRS: [&str; 6] =
        ["double_int64", "double_uint64", "int64_double", "int64_uint64", "uint64_double", "uint64_int64"];
    let operands = id.strip_prefix("less_").or_else(|| id.strip_prefix("greater_"));
    operands.is_some_and(|operands| PAIRS.contains(&operands.strip_prefix("equals_").unwrap_or(operands)))
}

fn collect_parameters(kind: &Type, found: &mut Instances) {
    if let Type::Parameter(name) = kind
        && !found.iter().any(|(known, _)| known == name)
    {
        found.push((Arc::clone(name), Type::Dyn));
    }
    kind.parameters().for_each(|part| collect_parameters(part, found));
}

/// A type of an overload with its parameters replaced.
fn instantiate(kind: &Type, instances: &Instances) -> Type {
    match kind {
        Type::Parameter(name) => {
            let instance = instances.iter().find(|(known, _)| known == name);
            instance.map_or_else(|| kind.clone(), |(_, instance)| instance.clone())
        }
        Type::List(element) => Type::list(instantiate(element, instances)),
        Type::Map(key, value) => Type::map(instantiate(key, instances), instantiate(value, instances)),
        Type::Type(Some(value)) => Type::of_type(instantiate(value, instances)),
        Type::Opaque(name, parameters) if !parameters.is_empty() => {
            let parameters = parameters.iter().map(|parameter| instantiate(parameter, instances));
            Type::Opaque(Arc::clone(name), parameters.collect())
        }
        simple => simple.clone(),
    }
}
