//! `lists`: parts, order and duplicates of lists. This is version 3, which Kubernetes has.
use std::slice::from_ref;

use crate::{
    CallCost, Cost, Error, Function, Library, Meter, Range, Type, Value,
    cost::{Call, TRAVERSAL, shared},
    syntax::{self, ast::Literal},
    value::List,
};

use super::{super::standard::not_supported, grow_list};

mod order;

/// Version 3.
pub static LISTS: Library =
    Library { name: "cel.lib.ext.lists", functions, macros: &syntax::SORT_BY, types: Vec::new, validators: &[] };

/// The cost of each call: it is made, and makes a list.
const CALL: u64 = 11;

/// The types with an order, by the names in the ids of overloads.
const COMPARABLE: [Type; 8] =
    [Type::Int, Type::Uint, Type::Double, Type::Bool, Type::Duration, Type::Timestamp, Type::String, Type::Bytes];

fn functions() -> Vec<Function> {
    let list = Type::list(Type::parameter("T"));
    let dynamic = Type::list(Type::Dyn);
    vec![
        Function::new("slice")
            .member("list_slice", &[list.clone(), Type::Int, Type::Int], list.clone())
            .does(|args, meter| match args {
                [Value::List(list), Value::Int(start), Value::Int(end)] => slice(list, *start, *end, meter),
                _ => Err(Error::no_such_overload()),
            })
            .costs(Cost { estimate: |call| per_element(sliced(call), 1.0), charge: charge_result }),
        Function::new("flatten")
            .member("list_flatten", &[Type::list(list.clone())], list.clone())
            .costs(FLATTEN)
            .member("list_flatten_int", &[dynamic.clone(), Type::Int], dynamic)
            .costs(FLATTEN)
            .singleton(flatten),
        sort(),
        sort_by(&list),
        Function::new("lists.range")
            .global("lists_range", &[Type::Int], Type::list(Type::Int))
            .does(|args, meter| match args {
                [Value::Int(end)] => range(*end, meter),
                _ => Err(Error::no_such_overload()),
            })
            .costs(Cost {
                estimate: |call| per_element(Range::exactly(literal(call, 0).unwrap_or(u64::MAX)), 1.0),
                charge: charge_result,
            }),
        Function::new("reverse")
            .member("list_reverse", from_ref(&list), list.clone())
            .does(|args, meter| match args {
                [Value::List(list)] => reverse(list, meter),
                _ => Err(Error::no_such_overload()),
            })
            .costs(Cost { estimate: |call| per_element(call.size(0), 1.0), charge: charge_result }),
        Function::new("distinct")
            .member("list_distinct", from_ref(&list), list.clone())
            .does(|args, meter| match args {
                [Value::List(list)] => distinct(list, meter),
                _ => Err(Error::no_such_overload()),
            })
            .costs(Cost { estimate: |call| compared(call, 0, 2.0), charge: |args, _| charge_compared(args.first()) }),
    ]
}

fn sort() -> Function {
    let declared = COMPARABLE.iter().fold(Function::new("sort"), |function, element| {
        let list = Type::list(element.clone());
        function.member(&format!("list_{}_sort", element.name()), from_ref(&list), list.clone()).costs(Cost {
            estimate: match element {
                Type::String | Type::Bytes => |call| compared(call, 0, 2.0 + TRAVERSAL),
                _ => |call| compared(call, 0, 2.0),
            },
            charge: |args, _| charge_compared(args.first()),
        })
    });
    declared.singleton(|args, meter| match args {
        [Value::List(list)] => order::sorted(list, list, meter),
        [other] => Err(not_supported("sort", other)),
        _ => Err(Error::no_such_overload()),
    })
}

/// What the macro `sortBy` calls: the elements of a list in the order of their keys.
fn sort_by(list: &Type) -> Function {
    let declared = COMPARABLE.iter().fold(Function::new("@sortByAssociatedKeys"), |function, key| {
        let id = format!("list_{}_sortByAssociatedKeys", key.name());
        function.member(&id, &[list.clone(), Type::list(key.clone())], list.clone()).costs(Cost {
            estimate: match key {
                Type::String | Type::Bytes => |call| compared(call, 1, 2.0 + TRAVERSAL),
                _ => |call| compared(call, 1, 2.0),
            },
            charge: |args, _| charge_compared(args.get(1)),
        })
    });
    declared.singleton(|args, meter| match args {
        [Value::List(list), Value::List(keys)] => order::sorted(list, keys, meter),
        [other, _] => Err(not_supported("@sortByAssociatedKeys", other)),
        _ => Err(Error::no_such_overload()),
    })
}

/// By the number of elements and the depth.
const FLATTEN: Cost = Cost {
    estimate: |call| {
        let depth = if call.len() < 2 { 1 } else { literal(call, 1).unwrap_or(u64::MAX) };
        per_element(call.size(0), as_double(depth))
    },
    charge: |args, _| {
        let depth = match args.get(1) {
            Some(Value::Int(depth)) => *depth,
            _ => 1,
        };
        // A negative depth gives a negative cost, which wraps around in cel-go.
        let size = i64::try_from(shared::size(args, 0)).unwrap_or(i64::MAX);
        CALL.wrapping_add(size.saturating_mul(depth).cast_unsigned())
    },
};

/// A literal number of a call; negative ones count as 0.
fn literal(call: &Call<'_>, argument: usize) -> Option<u64> {
    match call.literal(argument) {
        Some(Literal::Int(number)) => Some(u64::try_from(*number).unwrap_or(0)),
        _ => None,
    }
}

/// The size of a slice, which wraps around in cel-go if it would be negative.
fn sliced(call: &Call<'_>) -> Range {
    let start = literal(call, 1).unwrap_or(0);
    let end = literal(call, 2).unwrap_or(call.size(0).max);
    Range::exactly(end.wrapping_sub(start))
}

fn per_element(size: Range, factor: f64) -> CallCost {
    CallCost::of(size.scaled(factor).plus(Range::exactly(CALL))).with_size(size)
}

/// Each element of a list is compared with each.
fn compared(call: &Call<'_>, list: usize, factor: f64) -> CallCost {
    let size = call.size(list);
    per_element(size.times(size), factor)
}

fn charge_result(_: &[Value<'_>], result: Result<&Value<'_>, &Error>) -> u64 {
    result.map_or(1, Value::size).saturating_add(CALL)
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "cel-go calculates in doubles")]
fn charge_compared(list: Option<&Value<'_>>) -> u64 {
    let Some(Value::List(list)) = list else { return CALL };
    let factor = match list.get(0) {
        Some(Ok(Value::String(_) | Value::Bytes(_))) => 2.0 + TRAVERSAL,
        _ => 2.0,
    };
    let size = list.len() as u64;
    ((as_double(size.saturating_mul(size)) * factor) as u64).saturating_add(CALL)
}

#[expect(clippy::cast_precision_loss, reason = "cel-go calculates in doubles")]
fn as_double(number: u64) -> f64 {
    number as f64
}

fn slice<'a>(list: &List<'a>, start: i64, end: i64, meter: &dyn Meter) -> Result<Value<'a>, Error> {
    let problem = |problem: &str| Err(Error::new(format!("cannot slice({start}, {end}), {problem}")));
    let (Ok(from), Ok(to)) = (usize::try_from(start), usize::try_from(end)) else {
        return problem("negative indexes not supported");
    };
    if from > to {
        return problem("start index must be less than or equal to end index");
    }
    if list.len() < to {
        return problem(&format!("list is length {}", list.len()));
    }
    grow_list(meter, 0, to - from)?;
    (from..to).filter_map(|index| list.get(index)).collect::<Result<_, _>>().map(Value::list)
}

fn flatten<'a>(args: &[Value<'a>], meter: &dyn Meter) -> Result<Value<'a>, Error> {
    let (list, depth) = match args {
        [Value::List(list)] => (list, 1),
        [Value::List(list), Value::Int(depth)] => (list, *depth),
        [other] => return Err(Error::new(format!("no such overload: {}.flatten()", kind(other)))),
        [other, depth, ..] => {
            let (other, depth) = (kind(other), kind(depth));
            return Err(Error::new(format!("no such overload: {other}.flatten({depth})")));
        }
        [] => return Err(Error::no_such_overload()),
    };
    let depth = u64::try_from(depth).map_err(|_| Error::new("level must be non-negative"))?;
    let mut flat = Vec::new();
    flatten_into(&mut flat, list, [depth, 0], meter)?;
    Ok(Value::list(flat))
}

/// The type of a value as cel-go prints it here.
fn kind<'v>(value: &'v Value<'_>) -> &'v str {
    if matches!(value, Value::Map(_)) { "map(dyn, dyn)" } else { value.type_name() }
}

/// Adds the elements of a list, and of lists in it down to a depth. The second number is how deep the list itself is.
fn flatten_into<'a>(
    flat: &mut Vec<Value<'a>>,
    list: &List<'a>,
    [depth, within]: [u64; 2],
    meter: &dyn Meter,
) -> Result<(), Error> {
    if within > Value::DEEPEST as u64 {
        return Err(Error::interrupted());
    }
    for item in list.iter() {
        match item? {
            Value::List(inner) if depth > 0 => {
                meter.spend(1)?;
                flatten_into(flat, &inner, [depth - 1, within + 1], meter)?;
            }
            item => {
                grow_list(meter, flat.len(), 1)?;
                flat.push(item);
            }
        }
    }
    Ok(())
}

fn range<'a>(end: i64, meter: &dyn Meter) -> Result<Value<'a>, Error> {
    grow_list(meter, 0, usize::try_from(end.max(0)).unwrap_or(usize::MAX))?;
    Ok(Value::list((0..end).map(Value::Int).collect()))
}

fn reverse<'a>(list: &List<'a>, meter: &dyn Meter) -> Result<Value<'a>, Error> {
    grow_list(meter, 0, list.len())?;
    (0..list.len()).rev().filter_map(|index| list.get(index)).collect::<Result<_, _>>().map(Value::list)
}

/// The elements without repeated ones.
fn distinct<'a>(list: &List<'a>, meter: &dyn Meter) -> Result<Value<'a>, Error> {
    let mut unique: Vec<Value<'a>> = Vec::new();
    for item in list.iter() {
        let item = item?;
        let mut is_known = false;
        for other in &unique {
            meter.spend(1)?;
            match item.equals_as_left(other, meter) {
                Ok(true) => {
                    is_known = true;
                    break;
                }
                Err(error) if error.is_fatal() => return Err(error),
                // Values that cannot be compared are not equal.
                Ok(false) | Err(_) => {}
            }
        }
        if !is_known {
            grow_list(meter, unique.len(), 1)?;
            unique.push(item);
        }
    }
    Ok(Value::list(unique))
}
