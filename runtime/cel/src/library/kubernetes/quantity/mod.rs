//! Quantities: `quantity("1.5Gi")`, with their arithmetic and order.
use std::cmp::Ordering;

pub use self::amount::Amount;
use crate::{
    Error, Function, Library, Meter, Type, Value,
    cost::shared::READ,
    library::arguments::{accessor, int, opaque, read_text},
    value::Opaque,
};

mod amount;
mod decimal;
#[cfg(test)]
mod tests;

/// The library of quantities.
pub static QUANTITY: Library =
    Library { name: "kubernetes.quantity", functions, macros: &[], types: Vec::new, validators: &[] };

/// A quantity as a value.
#[derive(Debug)]
struct Quantity {
    amount: Amount,
    /// It is a sum or a difference. kube-apiserver compares these with others, and refuses to compare others with them.
    is_computed: bool,
}

impl Opaque for Quantity {
    fn type_name(&self) -> &'static str {
        "kubernetes.Quantity"
    }

    fn equals(&self, other: &dyn Opaque) -> bool {
        other.downcast::<Self>().is_some_and(|other| self.amount.order(&other.amount) == Ordering::Equal)
    }

    fn is_right_operand(&self) -> bool {
        !self.is_computed
    }

    fn bytes(&self) -> usize {
        self.amount.digits() * 8
    }
}

fn order(args: &[Value<'_>], meter: &dyn Meter) -> Result<Ordering, Error> {
    let left = amount(args, 0, meter)?;
    Ok(left.order(amount(args, 1, meter)?))
}

/// A quantity, whose digits are reported.
fn amount<'v>(args: &'v [Value<'_>], at: usize, meter: &dyn Meter) -> Result<&'v Amount, Error> {
    let Quantity { amount, .. } = opaque(args, at)?;
    meter.spend(amount.digits() / 8)?;
    Ok(amount)
}

fn as_integer<'a>(args: &[Value<'a>], _meter: &dyn Meter) -> Result<Value<'a>, Error> {
    let integer = opaque::<Quantity>(args, 0)?.amount.integer();
    integer.map(Value::Int).ok_or(Error::new("cannot convert value to integer"))
}

/// `add` and `sub`, of a quantity or an integer.
fn sum(name: &str, ids: [&str; 2], of: fn(&Amount, &Amount) -> Result<Amount, Error>) -> Function {
    let quantity = || Type::Struct("kubernetes.Quantity".into());
    let computed = |amount| Value::opaque(Quantity { amount, is_computed: true });
    Function::new(name)
        .member(ids[0], &[quantity(), quantity()], quantity())
        .does(move |args, meter| of(amount(args, 0, meter)?, amount(args, 1, meter)?).map(computed))
        .member(ids[1], &[quantity(), Type::Int], quantity())
        .does(move |args, meter| of(amount(args, 0, meter)?, &Amount::of(int(args, 1)?)).map(computed))
}

fn functions() -> Vec<Function> {
    let quantity = || Type::Struct("kubernetes.Quantity".into());
    vec![
        Function::new("quantity")
            .global("string_to_quantity", &[Type::String], quantity())
            .does(|args, meter| {
                let amount = Amount::parse(read_text(args, 0, meter)?)?;
                Ok(Value::opaque(Quantity { amount, is_computed: false }))
            })
            .costs(READ),
        Function::new("isQuantity")
            .global("is_quantity_string", &[Type::String], Type::Bool)
            .does(|args, meter| Ok(Value::Bool(Amount::parse(read_text(args, 0, meter)?).is_ok())))
            .costs(READ),
        // Not a member, as in kube-apiserver.
        Function::new("sign")
            .global("quantity_sign", &[quantity()], Type::Int)
            .does(|args, _| Ok(Value::Int(opaque::<Quantity>(args, 0)?.amount.sign()))),
        Function::new("isGreaterThan")
            .member("quantity_is_greater_than", &[quantity(), quantity()], Type::Bool)
            .does(|args, meter| Ok(Value::Bool(order(args, meter)? == Ordering::Greater))),
        Function::new("isLessThan")
            .member("quantity_is_less_than", &[quantity(), quantity()], Type::Bool)
            .does(|args, meter| Ok(Value::Bool(order(args, meter)? == Ordering::Less))),
        Function::new("compareTo")
            .member("quantity_compare_to", &[quantity(), quantity()], Type::Int)
            .does(|args, meter| Ok(Value::Int(order(args, meter)? as i64))),
        accessor("asApproximateFloat", "quantity_get_float", quantity(), Type::Double, |quantity: &Quantity| {
            Value::Double(quantity.amount.approximate())
        }),
        Function::new("asInteger").member("quantity_get_int", &[quantity()], Type::Int).does(as_integer),
        accessor("isInteger", "quantity_is_integer", quantity(), Type::Bool, |quantity: &Quantity| {
            Value::Bool(quantity.amount.integer().is_some())
        }),
        sum("add", ["quantity_add", "quantity_add_int"], Amount::plus),
        sum("sub", ["quantity_sub", "quantity_sub_int"], Amount::minus),
    ]
}
