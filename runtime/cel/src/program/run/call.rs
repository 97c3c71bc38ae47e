//! Calls of functions.
use super::{Evaluated, Run};
use crate::{
    Error, Type, Value,
    program::plan::{Call, Node, Target},
    value::Map,
};

impl<'a> Run<'a, '_> {
    pub(super) fn call(&mut self, own: &'a Call) -> Evaluated<'a> {
        match &*own.arguments {
            [] => self.invoke(own, &[]),
            [argument] => {
                let (argument, failure) = kept(self.value(argument))?;
                self.finish(own, &[argument], failure)
            }
            [left, right] if !own.stops => {
                let (left, failure) = kept(self.value(left))?;
                let (right, second) = kept(self.value(right))?;
                if let (Some(orders), Value::Int(left), Value::Int(right)) = (own.order, &left, &right) {
                    self.charge(1)?;
                    return Ok(Value::Bool(orders.contains(&left.cmp(right))));
                }
                self.finish(own, &[left, right], failure.or(second))
            }
            arguments => self.call_in_order(own, arguments),
        }
    }

    /// The first argument that fails ends the call, which then costs nothing unless all were evaluated.
    fn call_in_order(&mut self, own: &'a Call, arguments: &'a [Node]) -> Evaluated<'a> {
        let mut values = Vec::with_capacity(arguments.len());
        for argument in arguments {
            let is_last = values.len() + 1 == arguments.len();
            let (value, failure) = kept(self.value(argument))?;
            values.push(value);
            match failure {
                Some(error) if is_last => return self.finish(own, &values, Some(error)),
                Some(error) => return Err(error),
                None => {}
            }
        }
        self.invoke(own, &values)
    }

    /// A call whose arguments are evaluated. It costs even if one of them failed.
    fn finish(&mut self, own: &'a Call, arguments: &[Value<'a>], failure: Option<Error>) -> Evaluated<'a> {
        match failure {
            None => self.invoke(own, arguments),
            Some(error) => {
                self.read(arguments)?;
                self.charge((own.charge)(arguments, Err(&error)))?;
                Err(error)
            }
        }
    }

    fn invoke(&mut self, own: &'a Call, arguments: &[Value<'a>]) -> Evaluated<'a> {
        let result = match &own.target {
            Target::None if arguments.len() > 2 => {
                Err(Error::new(format!("no such overload: {} {}", own.function, own.id)))
            }
            Target::None => Err(Error::new(format!("no such overload: {}", own.function))),
            target => self.apply(target, &own.function, arguments),
        };
        if let Err(error) = &result
            && error.is_fatal()
        {
            return result;
        }
        self.read(arguments)?;
        self.charge((own.charge)(arguments, result.as_ref()))?;
        result
    }

    /// Applies a function that exists.
    pub(super) fn apply(&self, target: &Target, function: &str, arguments: &[Value<'a>]) -> Evaluated<'a> {
        match target {
            Target::One(implementation, None) => implementation(arguments, self.meter),
            Target::One(implementation, Some(types)) if accept(types, arguments) => {
                implementation(arguments, self.meter)
            }
            Target::First(overloads) => match overloads.iter().find(|(_, types)| accept(types, arguments)) {
                Some((implementation, _)) => implementation(arguments, self.meter),
                None => Err(unfit(function, arguments)),
            },
            _ => Err(unfit(function, arguments)),
        }
    }
}

/// A value, or null with the error that is there instead, unless that ends the evaluation.
fn kept(value: Evaluated<'_>) -> Result<(Value<'_>, Option<Error>), Error> {
    match value {
        Ok(value) => Ok((value, None)),
        Err(error) if error.is_fatal() => Err(error),
        Err(error) => Ok((Value::Null, Some(error))),
    }
}

fn unfit(function: &str, arguments: &[Value<'_>]) -> Error {
    let types: Vec<_> = arguments.iter().map(Value::type_name).collect();
    Error::new(format!("no such overload: {function}({})", types.join(", ")))
}

/// True if parameters accept arguments by their types at run time: of lists and maps only the first element or entry counts.
fn accept(parameters: &[Type], arguments: &[Value<'_>]) -> bool {
    parameters.len() == arguments.len()
        && parameters.iter().zip(arguments).all(|(parameter, argument)| accepts(parameter, argument))
}

fn accepts(parameter: &Type, value: &Value<'_>) -> bool {
    match (parameter, value) {
        (Type::Dyn | Type::Any | Type::Parameter(_), _)
        | (Type::Null, Value::Null)
        | (Type::Bool, Value::Bool(_))
        | (Type::Int, Value::Int(_))
        | (Type::Uint, Value::Uint(_))
        | (Type::Double, Value::Double(_))
        | (Type::String, Value::String(_))
        | (Type::Bytes, Value::Bytes(_))
        | (Type::Duration, Value::Duration(_))
        | (Type::Timestamp, Value::Timestamp(_))
        | (Type::Type(_), Value::Type(_)) => true,
        (Type::List(element), Value::List(list)) => {
            is_dynamic(element) || list.get(0).is_none_or(|first| first.is_ok_and(|first| accepts(element, &first)))
        }
        (Type::Map(key, value), Value::Map(map)) => {
            (is_dynamic(key) && is_dynamic(value)) || accepts_entries(key, value, map)
        }
        (Type::Opaque(name, _) | Type::Struct(name), value) => **name == *value.type_name(),
        _ => false,
    }
}

fn accepts_entries(key: &Type, value: &Type, map: &Map<'_>) -> bool {
    map.iter().next().is_none_or(|(first, of_first)| {
        accepts(key, &first) && of_first.map_or_else(|_| is_dynamic(value), |of_first| accepts(value, &of_first))
    })
}

const fn is_dynamic(parameter: &Type) -> bool {
    matches!(parameter, Type::Dyn | Type::Any | Type::Parameter(_))
}
