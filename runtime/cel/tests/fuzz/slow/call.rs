//! Calls of functions and operators.
use kindsmith_cel::{
    Error, Function, Overload, Reference, Type, Unmetered, Value,
    syntax::ast::{Expr, operators},
};

use super::{Evaluated, INDEXES, Scope, Slow, attribute::dotted, constant::is_member};

/// What a call refers to.
pub(super) struct Callee<'s> {
    /// The node.
    pub(super) id: u32,
    pub(super) name: String,
    /// All overloads of the function.
    pub(super) all: &'s [Overload],
    /// Those that the checker found.
    pub(super) fitting: Vec<&'s Overload>,
}

impl<'s> Callee<'s> {
    /// The overload, if there is no doubt.
    pub(super) fn overload(&self) -> Option<&'s Overload> {
        match self.fitting[..] {
            [only] => Some(only),
            _ => None,
        }
    }

    /// What the call costs: by its overload, or 1 where that is not known. Equality always costs the same, and some functions do.
    fn charge(&self, arguments: &[Value<'_>], result: Result<&Value<'_>, &Error>) -> u64 {
        let equality = matches!(&*self.name, operators::EQUALS | operators::NOT_EQUALS);
        let by_name = || self.fitting.first().copied().filter(|first| first.by_name);
        let overload = if equality { self.all.first() } else { self.overload().or_else(by_name) };
        overload.map_or(1, |overload| (overload.cost.charge)(arguments, result))
    }

    fn has_optionals(&self) -> bool {
        let own = |overload: &Overload| matches!(&*overload.id, "optional_or_optional" | "optional_orValue_value");
        self.all.iter().any(own)
    }

    /// The overload that the checker found, or else the first whose parameters accept the arguments.
    fn dispatch<'a>(&self, values: &[Value<'a>]) -> Evaluated<'a> {
        let known = self.overload().filter(|overload| overload.implementation.is_some());
        let all: Vec<&Overload> = match known {
            Some(overload) => vec![overload],
            None => self.all.iter().filter(|overload| overload.implementation.is_some()).collect(),
        };
        let fits = |overload: &&&Overload| !overload.guarded || accept(&overload.parameters, values);
        if let Some(overload) = all.iter().find(fits) {
            let function = overload.implementation.as_ref().expect("it has one");
            return function(values, &Unmetered);
        }
        if all.is_empty() {
            let id = if values.len() > 2 { format!(" {}", self.id) } else { String::new() };
            return Err(Error::new(format!("no such overload: {}{id}", self.name)));
        }
        let types: Vec<&str> = values.iter().map(Value::type_name).collect();
        Err(Error::new(format!("no such overload: {}({})", self.name, types.join(", "))))
    }

    /// # Errors
    /// There is no function that a call without arguments, or with so many, could call.
    pub(super) fn exists(&self, arguments: usize) -> Result<(), Error> {
        if self.overload().is_some_and(|overload| overload.implementation.is_some()) {
            return Ok(());
        }
        let all: Vec<&Overload> = self.all.iter().filter(|overload| overload.implementation.is_some()).collect();
        let shown = match &all[..] {
            [] if arguments == 0 => "",
            [only] if only.guarded && only.parameters.len() != arguments => {
                ["", "arg", "lhs, rhs"].get(arguments).unwrap_or(&"...")
            }
            _ => return Ok(()),
        };
        Err(Error::new(format!("no such overload: {}({shown})", self.name)))
    }
}

impl<'a, 's> Slow<'a, 's> {
    pub(super) fn call(
        &self,
        expr: &'a Expr,
        target: Option<&'a Expr>,
        function: &str,
        args: &'a [Expr],
        scope: &Scope<'a>,
    ) -> Evaluated<'a> {
        let (callee, target) = self.callee(expr, target, function);
        let arguments: Vec<&'a Expr> = target.into_iter().chain(args).collect();
        match (&*callee.name, &arguments[..]) {
            (operators::AND, _) => self.logic(&arguments, false, scope),
            (operators::OR, _) => self.logic(&arguments, true, scope),
            (operators::NOT_STRICTLY_FALSE, [operand]) => {
                let value = self.value(operand, scope);
                self.charge(1);
                Ok(Value::Bool(!matches!(value, Ok(Value::Bool(false)))))
            }
            (operators::CONDITIONAL, [_, _, _]) => self.attribute(expr, scope),
            (name, [_, _]) if INDEXES.contains(&name) && target.is_none() => self.attribute(expr, scope),
            ("or" | "orValue", [left, right]) if callee.has_optionals() => {
                self.alternative(left, right, callee.name == "orValue", scope)
            }
            _ if self.is_conversion(expr) => self.free(|| self.plain(&callee, &arguments, scope)),
            (operators::IN, [value, _]) if let Some(list) = self.constant_list(expr) => {
                if list.is_empty() {
                    return Ok(Value::Bool(false));
                }
                let simple = |item: &Value<'_>| {
                    matches!(
                        item,
                        Value::Bool(_) | Value::String(_) | Value::Double(_) | Value::Int(_) | Value::Uint(_)
                    )
                };
                if !list.iter().all(simple) {
                    return self.plain(&callee, &arguments, scope);
                }
                let value = self.value(value, scope)?;
                Ok(Value::Bool(list.iter().any(|item| is_member(&value, item))))
            }
            _ => self.plain(&callee, &arguments, scope),
        }
    }

    /// True for calls whose functions need no implementation.
    pub(super) fn is_special(name: &str, arguments: usize) -> bool {
        match name {
            operators::AND | operators::OR => true,
            operators::NOT_STRICTLY_FALSE => arguments == 1,
            operators::CONDITIONAL => arguments == 3,
            operators::EQUALS | operators::NOT_EQUALS | operators::IN | "or" | "orValue" => arguments == 2,
            _ => false,
        }
    }

    fn logic(&self, terms: &[&'a Expr], decisive: bool, scope: &Scope<'a>) -> Evaluated<'a> {
        let mut result = Ok(Value::Bool(!decisive));
        for term in terms {
            match self.value(term, scope) {
                Ok(Value::Bool(value)) if value == decisive => return Ok(Value::Bool(decisive)),
                Ok(Value::Bool(_)) => {}
                Ok(_) => result = result.and(Err(Error::no_such_overload())),
                Err(error) => result = result.and(Err(error)),
            }
        }
        result
    }

    fn alternative(&self, left: &'a Expr, right: &'a Expr, unwrap: bool, scope: &Scope<'a>) -> Evaluated<'a> {
        match self.value(left, scope)? {
            Value::Optional(None) => self.value(right, scope),
            Value::Optional(Some(value)) if unwrap => Ok((*value).clone()),
            other => Ok(other),
        }
    }

    /// A call whose arguments are all evaluated. Calls with more than two arguments, and with constant patterns, end with the first
    /// argument that fails, and are free then unless it is the last.
    fn plain(&self, callee: &Callee<'s>, arguments: &[&'a Expr], scope: &Scope<'a>) -> Evaluated<'a> {
        let operator = Self::is_special(&callee.name, arguments.len());
        let pattern = if operator { None } else { self.pattern(callee, arguments) };
        let stops = arguments.len() > 2 || pattern.is_some();
        let (mut values, mut failure) = (Vec::new(), None);
        for argument in arguments {
            match self.value(argument, scope) {
                Ok(value) => values.push(value),
                Err(error) if stops && values.len() + 1 < arguments.len() => return Err(error),
                Err(error) => {
                    failure.get_or_insert(error);
                    values.push(Value::Null);
                }
            }
        }
        let result = match (failure, pattern) {
            (Some(error), _) => Err(error),
            (None, Some(function)) => function.and_then(|function| function(&values, &Unmetered)),
            (None, None) => Self::apply(callee, &values),
        };
        self.charge(callee.charge(&values, result.as_ref()));
        result
    }

    fn apply(callee: &Callee<'s>, values: &[Value<'a>]) -> Evaluated<'a> {
        match (&*callee.name, values) {
            (operators::EQUALS, [left, right]) => left.equals(right, &Unmetered).map(Value::Bool),
            (operators::NOT_EQUALS, [left, right]) => {
                Ok(Value::Bool(left.equals(right, &Unmetered).map_or(true, |equal| !equal)))
            }
            (operators::IN, [value, Value::List(list)]) => list.contains(value, &Unmetered).map(Value::Bool),
            (operators::IN, [key, Value::Map(map)]) => {
                map.get(key).transpose().map(|value| Value::Bool(value.is_some()))
            }
            (operators::IN, [_, _]) => Err(Error::no_such_overload()),
            _ => callee.dispatch(values),
        }
    }

    /// The function of a call, and the receiver, if it is not a part of the function's name.
    pub(super) fn callee(&self, expr: &Expr, target: Option<&'a Expr>, name: &str) -> (Callee<'s>, Option<&'a Expr>) {
        let overloads = |name: &str| self.names.functions.get(name).map_or(&[][..], |own: &Function| &own.overloads);
        if self.checked.is_some() {
            let ids = match self.reference(expr) {
                Some(Reference::Overloads(ids)) => &ids[..],
                _ => &[],
            };
            let all = overloads(name);
            let fitting = ids.iter().filter_map(|id| all.iter().find(|overload| overload.id == *id)).collect();
            return (Callee { id: expr.id, name: name.to_owned(), all, fitting }, target);
        }
        let name = name.strip_prefix('.').unwrap_or(name);
        let whole = match target {
            None => Some(name.to_owned()),
            Some(target) => dotted(target).map(|target| format!("{}.{name}", target.trim_start_matches('.'))),
        };
        if let Some(whole) = whole.filter(|whole| self.names.functions.contains_key(whole)) {
            let all = overloads(&whole);
            return (Callee { id: expr.id, name: whole, all, fitting: Vec::new() }, None);
        }
        (Callee { id: expr.id, name: name.to_owned(), all: overloads(name), fitting: Vec::new() }, target)
    }
}

/// True if parameters accept arguments by their types at run time.
fn accept(parameters: &[Type], values: &[Value<'_>]) -> bool {
    parameters.len() == values.len()
        && parameters.iter().zip(values).all(|(parameter, value)| accepts(parameter, value))
}

/// The first element of a list and the first entry of a map count.
fn accepts(parameter: &Type, value: &Value<'_>) -> bool {
    let anything = |kind: &Type| matches!(kind, Type::Dyn | Type::Any | Type::Parameter(_));
    match (parameter, value) {
        (parameter, _) if anything(parameter) => true,
        (Type::List(of), Value::List(list)) => match list.get(0) {
            None => true,
            Some(Ok(first)) => accepts(of, &first),
            Some(Err(_)) => anything(of),
        },
        (Type::Map(key, of), Value::Map(map)) => match map.iter().next() {
            None => true,
            Some((first, Ok(value))) => accepts(key, &first) && accepts(of, &value),
            Some((first, Err(_))) => accepts(key, &first) && anything(of),
        },
        _ => parameter.name() == value.type_name(),
    }
}
