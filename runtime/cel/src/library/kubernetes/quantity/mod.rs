//! Quantities: `quantity("1.5Gi")`, with their arithmetic and order.
use std::cmp::Ordering;

pub use self::amount::Amount;
use super::arguments::{accessor, int, opaque, text};
use crate::{Error, Function, Library, Meter, Type, Value, cost::shared::READ, value::Opaque};

mod amount;
mod decimal;
#[cfg(test)]
mod tests;

/// The library of quantities.
pub static QUANTITY: Library =
    Library { name: "kubernetes.quantity", functions, macros: &[], types: Vec::new, validators: &[] };

impl Opaque for Amount {
    fn type_name(&self) -> &str {
        "kubernetes.Quantity"
    }

    fn equals(&self, other: &dyn Opaque) -> bool {
        other.downcast::<Self>().is_some_and(|other| self.order(other) == Ordering::Equal)
    }
}

fn order(args: &[Value<'_>]) -> Result<Ordering, Error> {
    Ok(opaque::<Amount>(args, 0)?.order(opaque(args, 1)?))
}

fn as_integer<'a>(args: &[Value<'a>], _meter: &dyn Meter) -> Result<Value<'a>, Error> {
    let integer = opaque::<Amount>(args, 0)?.integer();
    integer.map(Value::Int).ok_or(Error::new("cannot convert value to integer"))
}

/// `add` and `sub`, of a quantity or an integer.
fn sum(name: &str, ids: [&str; 2], of: fn(&Amount, &Amount) -> Result<Amount, Error>) -> Function {
    let quantity = || Type::Struct("kubernetes.Quantity".into());
    Function::new(name)
        .member(ids[0], &[quantity(), quantity()], quantity())
        .does(move |args, _| of(opaque(args, 0)?, opaque(args, 1)?).map(Value::opaque))
        .member(ids[1], &[quantity(), Type::Int], quantity())
        .does(move |args, _| of(opaque(args, 0)?, &Amount::of(int(args, 1)?)).map(Value::opaque))
}

fn functions() -> Vec<Function> {
    let quantity = || Type::Struct("kubernetes.Quantity".into());
    vec![
        Function::new("quantity")
            .global("string_to_quantity", &[Type::String], quantity())
            .does(|args, _| Amount::parse(text(args, 0)?).map(Value::opaque))
            .costs(READ),
        Function::new("isQuantity")
            .global("is_quantity_string", &[Type::String], Type::Bool)
            .does(|args, _| Ok(Value::Bool(Amount::parse(text(args, 0)?).is_ok())))
            .costs(READ),
        // Not a member, as in kube-apiserver.
        Function::new("sign")
            .global("quantity_sign", &[quantity()], Type::Int)
            .does(|args, _| Ok(Value::Int(opaque::<Amount>(args, 0)?.sign()))),
        Function::new("isGreaterThan")
            .member("quantity_is_greater_than", &[quantity(), quantity()], Type::Bool)
            .does(|args, _| Ok(Value::Bool(order(args)? == Ordering::Greater))),
        Function::new("isLessThan")
            .member("quantity_is_less_than", &[quantity(), quantity()], Type::Bool)
            .does(|args, _| Ok(Value::Bool(order(args)? == Ordering::Less))),
        Function::new("compareTo")
            .member("quantity_compare_to", &[quantity(), quantity()], Type::Int)
            .does(|args, _| Ok(Value::Int(order(args)? as i64))),
        accessor("asApproximateFloat", "quantity_get_float", quantity(), Type::Double, |amount: &Amount| {
            Value::Double(amount.approximate())
        }),
        Function::new("asInteger").member("quantity_get_int", &[quantity()], Type::Int).does(as_integer),
        accessor("isInteger", "quantity_is_integer", quantity(), Type::Bool, |amount: &Amount| {
            Value::Bool(amount.integer().is_some())
        }),
        sum("add", ["quantity_add", "quantity_add_int"], Amount::plus),
        sum("sub", ["quantity_sub", "quantity_sub_int"], Amount::minus),
    ]
}
