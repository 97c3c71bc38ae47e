//! `math`: extremes, rounding, signs, bits and roots. Kubernetes does not have it.
use std::{cmp::Ordering, slice::from_ref};

use crate::{Error, Function, Library, Meter, Type, Value, syntax, value::List};

/// Version 2.
pub static MATH: Library =
    Library { name: "cel.lib.ext.math", functions, macros: &syntax::MATH, types: Vec::new, validators: &[] };

type Unary<T, R> = fn(T) -> R;
type Binary<T> = fn(T, T) -> T;

fn functions() -> Vec<Function> {
    let mut functions = vec![
        extreme("max", Ordering::Less),
        extreme("min", Ordering::Greater),
        of_double("ceil", Type::Double, |x| Value::Double(x.ceil())),
        of_double("floor", Type::Double, |x| Value::Double(x.floor())),
        of_double("round", Type::Double, |x| Value::Double(x.round())),
        of_double("trunc", Type::Double, |x| Value::Double(x.trunc())),
        of_double("isInf", Type::Bool, |x| Value::Bool(x.is_infinite())),
        of_double("isNaN", Type::Bool, |x| Value::Bool(x.is_nan())),
        of_double("isFinite", Type::Bool, |x| Value::Bool(x.is_finite())),
        of_number("abs", None, |value| match value {
            Value::Double(x) => Ok(Value::Double(x.abs())),
            Value::Int(x) => x.checked_abs().map(Value::Int).ok_or_else(|| Error::new("integer overflow")),
            other => Ok(other.clone()),
        }),
        of_number("sign", None, |value| {
            Ok(match value {
                Value::Double(x) if x.is_nan() => Value::Double(*x),
                Value::Double(x) if *x == 0.0 => Value::Double(0.0),
                Value::Double(x) => Value::Double(x.signum()),
                Value::Int(x) => Value::Int(x.signum()),
                Value::Uint(x) => Value::Uint(u64::from(*x > 0)),
                other => other.clone(),
            })
        }),
        of_number("sqrt", Some(&Type::Double), square_root),
    ];
    functions.extend(bits());
    functions
}

fn bits() -> Vec<Function> {
    let not = Function::new("math.bitNot")
        .global("math_bitNot_int_int", &[Type::Int], Type::Int)
        .does(|args, _| match args {
            [Value::Int(x)] => Ok(Value::Int(!x)),
            _ => Err(Error::no_such_overload()),
        })
        .global("math_bitNot_uint_uint", &[Type::Uint], Type::Uint)
        .does(|args, _| match args {
            [Value::Uint(x)] => Ok(Value::Uint(!x)),
            _ => Err(Error::no_such_overload()),
        });
    vec![
        bitwise("bitAnd", |x, y| x & y, |x, y| x & y),
        bitwise("bitOr", |x, y| x | y, |x, y| x | y),
        bitwise("bitXor", |x, y| x ^ y, |x, y| x ^ y),
        not,
        shift("bitShiftLeft", u64::checked_shl),
        shift("bitShiftRight", u64::checked_shr),
    ]
}

/// A function of a double.
fn of_double(name: &str, result: Type, compute: Unary<f64, Value<'static>>) -> Function {
    Function::new(&format!("math.{name}")).global(&format!("math_{name}_double"), &[Type::Double], result).does(
        move |args, _| match args {
            [Value::Double(x)] => Ok(compute(*x)),
            _ => Err(Error::no_such_overload()),
        },
    )
}

/// A function of any number. Without a type of its own, the result has that of the number.
fn of_number(
    name: &str,
    result: Option<&Type>,
    compute: for<'v, 'a> fn(&'v Value<'a>) -> Result<Value<'a>, Error>,
) -> Function {
    [Type::Double, Type::Int, Type::Uint].into_iter().fold(Function::new(&format!("math.{name}")), |function, kind| {
        let id = format!("math_{name}_{}", kind.name());
        let result = result.unwrap_or(&kind).clone();
        function.global(&id, &[kind], result).does(move |args, _| match args {
            [value] => compute(value),
            _ => Err(Error::no_such_overload()),
        })
    })
}

#[expect(clippy::cast_precision_loss, reason = "as in cel-go")]
fn square_root<'a>(value: &Value<'a>) -> Result<Value<'a>, Error> {
    let x = match value {
        Value::Double(x) => *x,
        Value::Int(x) => *x as f64,
        Value::Uint(x) => *x as f64,
        _ => return Err(Error::new("no such overload: sqrt")),
    };
    Ok(Value::Double(x.sqrt()))
}

fn bitwise(name: &str, of_ints: Binary<i64>, of_uints: Binary<u64>) -> Function {
    Function::new(&format!("math.{name}"))
        .global(&format!("math_{name}_int_int"), &[Type::Int, Type::Int], Type::Int)
        .does(move |args, _| match args {
            [Value::Int(x), Value::Int(y)] => Ok(Value::Int(of_ints(*x, *y))),
            _ => Err(Error::no_such_overload()),
        })
        .global(&format!("math_{name}_uint_uint"), &[Type::Uint, Type::Uint], Type::Uint)
        .does(move |args, _| match args {
            [Value::Uint(x), Value::Uint(y)] => Ok(Value::Uint(of_uints(*x, *y))),
            _ => Err(Error::no_such_overload()),
        })
}

/// A shift. Bits that leave are lost, zeros come in: the sign is no exception.
fn shift(name: &'static str, compute: fn(u64, u32) -> Option<u64>) -> Function {
    let shifted = move |x: u64, by: i64| match u32::try_from(by) {
        Ok(by) => Ok(compute(x, by).unwrap_or(0)),
        Err(_) if by < 0 => Err(Error::new(format!("math.{name}() negative offset: {by}"))),
        Err(_) => Ok(0),
    };
    Function::new(&format!("math.{name}"))
        .global(&format!("math_{name}_int_int"), &[Type::Int, Type::Int], Type::Int)
        .does(move |args, _| match args {
            [Value::Int(x), Value::Int(by)] => shifted(x.cast_unsigned(), *by).map(|x| Value::Int(x.cast_signed())),
            _ => Err(Error::no_such_overload()),
        })
        .global(&format!("math_{name}_uint_int"), &[Type::Uint, Type::Int], Type::Uint)
        .does(move |args, _| match args {
            [Value::Uint(x), Value::Int(by)] => shifted(*x, *by).map(Value::Uint),
            _ => Err(Error::no_such_overload()),
        })
}

/// What the macros `math.greatest` and `math.least` call. The second of two values wins if the first compares so with it.
fn extreme(name: &'static str, loses: Ordering) -> Function {
    let numbers = [Type::Double, Type::Int, Type::Uint];
    let mut function = Function::new(&format!("math.@{name}"));
    for kind in &numbers {
        function =
            function.global(&format!("math_@{name}_{}", kind.name()), from_ref(kind), kind.clone()).does(|args, _| {
                match args {
                    [value] => Ok(value.clone()),
                    _ => Err(Error::no_such_overload()),
                }
            });
    }
    let pairs = numbers.iter().flat_map(|first| numbers.iter().map(move |second| (first, second)));
    for (first, second) in pairs {
        let id = format!("math_@{name}_{}_{}", first.name(), second.name());
        let result = if first == second { first.clone() } else { Type::Dyn };
        function = function.global(&id, &[first.clone(), second.clone()], result).does(move |args, _| match args {
            [first, second] => pair(name, loses, first, second),
            _ => Err(Error::no_such_overload()),
        });
    }
    for kind in &numbers {
        let id = format!("math_@{name}_list_{}", kind.name());
        function =
            function.global(&id, &[Type::list(kind.clone())], kind.clone()).does(move |args, meter| match args {
                [Value::List(values)] => of_list(name, loses, values, meter),
                _ => Err(Error::no_such_overload()),
            });
    }
    function
}

fn pair<'a>(name: &str, loses: Ordering, first: &Value<'a>, second: &Value<'a>) -> Result<Value<'a>, Error> {
    let order = first.compare(second).map_err(|error| Error::new(format!("{}: math.@{name}", error.message)))?;
    Ok(if order == loses { second.clone() } else { first.clone() })
}

fn of_list<'a>(name: &str, loses: Ordering, values: &List<'a>, meter: &dyn Meter) -> Result<Value<'a>, Error> {
    let no_overload = || Error::new(format!("no such overload: math.@{name}"));
    let mut values = values.iter();
    let first = values.next().ok_or_else(|| Error::new(format!("math.@{name}(list) argument must not be empty")))?;
    let extreme = values.try_fold(first?, |extreme, value| {
        meter.spend(1)?;
        pair(name, loses, &extreme, &value?).map_err(|_| no_overload())
    })?;
    if extreme.is_number() { Ok(extreme) } else { Err(no_overload()) }
}
