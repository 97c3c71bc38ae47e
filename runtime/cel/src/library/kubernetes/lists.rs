//! Lists: `isSorted`, `sum`, `min`, `max`, `indexOf`, `lastIndexOf`.
use std::cmp::Ordering;

use crate::{
    Error, Function, Library, Meter, Type, Value,
    cost::shared::TRAVERSE,
    library::arguments::list,
    value::{Duration, List},
};

/// The library of lists.
pub static LISTS: Library =
    Library { name: "kubernetes.lists", functions, macros: &[], types: Vec::new, validators: &[] };

/// The types of elements that have an order. The first [`SUMMABLE`] have sums, too.
const COMPARABLE: [(&str, Type); 8] = [
    ("int", Type::Int),
    ("uint", Type::Uint),
    ("double", Type::Double),
    ("duration", Type::Duration),
    ("bool", Type::Bool),
    ("timestamp", Type::Timestamp),
    ("string", Type::String),
    ("bytes", Type::Bytes),
];
const SUMMABLE: usize = 4;

/// The order of two elements; none if they cannot be compared. An element that has no order at all is an error.
fn order(left: &Value<'_>, right: &Value<'_>, meter: &dyn Meter) -> Result<Option<Ordering>, Error> {
    if !left.is_ordered() || !right.is_ordered() {
        return Err(Error::no_such_overload());
    }
    if let (Value::String(left), Value::String(right)) = (left, right) {
        meter.spend(left.len().min(right.len()) / 512)?;
    }
    Ok(left.compare(right).ok())
}

fn is_sorted<'a>(args: &[Value<'a>], meter: &dyn Meter) -> Result<Value<'a>, Error> {
    let list = list(args, 0)?;
    meter.spend(list.len())?;
    let mut last: Option<Value<'_>> = None;
    for item in list.iter() {
        let item = item?;
        if order(last.as_ref().unwrap_or(&item), &item, meter)? == Some(Ordering::Greater) {
            return Ok(Value::Bool(false));
        }
        last = Some(item);
    }
    Ok(Value::Bool(true))
}

/// The first element that others are not `better` than.
fn best<'a>(args: &[Value<'a>], meter: &dyn Meter, name: &str, better: Ordering) -> Result<Value<'a>, Error> {
    let list = list(args, 0)?;
    meter.spend(list.len())?;
    let mut best: Option<Value<'_>> = None;
    for item in list.iter() {
        let item = item?;
        if order(&item, best.as_ref().unwrap_or(&item), meter)? == Some(better) || best.is_none() {
            best = Some(item);
        }
    }
    best.ok_or_else(|| Error::new(format!("{name} called on empty list")))
}

fn sum<'a>(list: &List<'a>, zero: Value<'a>, meter: &dyn Meter) -> Result<Value<'a>, Error> {
    meter.spend(list.len())?;
    list.iter().try_fold(zero, |sum, item| match (sum, item?) {
        (Value::Int(sum), Value::Int(item)) => {
            sum.checked_add(item).map(Value::Int).ok_or(Error::new("integer overflow"))
        }
        (Value::Uint(sum), Value::Uint(item)) => {
            sum.checked_add(item).map(Value::Uint).ok_or(Error::new("unsigned integer overflow"))
        }
        (Value::Double(sum), Value::Double(item)) => Ok(Value::Double(sum + item)),
        (Value::Duration(sum), Value::Duration(item)) => {
            let nanoseconds = sum.nanoseconds.checked_add(item.nanoseconds).ok_or(Error::new("duration overflow"))?;
            Ok(Value::Duration(Duration { nanoseconds }))
        }
        _ => Err(Error::no_such_overload()),
    })
}

/// What sums of a type begin with.
fn zero(of: &Type) -> Value<'static> {
    match of {
        Type::Int => Value::Int(0),
        Type::Uint => Value::Uint(0),
        Type::Double => Value::Double(0.0),
        _ => Value::Duration(Duration { nanoseconds: 0 }),
    }
}

/// Reports the parts of the elements of a list, all of which its cost counts.
fn read_parts(list: &List<'_>, depth: usize, meter: &dyn Meter) -> Result<(), Error> {
    meter.spend(list.len())?;
    for item in list.iter().filter_map(Result::ok) {
        read_part(&item, depth, meter)?;
    }
    Ok(())
}

fn read_part(value: &Value<'_>, depth: usize, meter: &dyn Meter) -> Result<(), Error> {
    match value {
        _ if depth > Value::DEEPEST => Err(Error::interrupted()),
        Value::List(list) => read_parts(list, depth + 1, meter),
        Value::Map(map) => {
            meter.spend(map.len().saturating_mul(2))?;
            map.iter().filter_map(|(_, value)| value.ok()).try_for_each(|value| read_part(&value, depth + 1, meter))
        }
        _ => Ok(()),
    }
}

/// The first or last position of a value; -1 if the value is missing. Elements that cannot be compared with it are others.
fn position<'a>(args: &[Value<'a>], meter: &dyn Meter, is_last: bool) -> Result<Value<'a>, Error> {
    let list = list(args, 0)?;
    read_parts(list, 0, meter)?;
    let item = args.get(1).ok_or_else(Error::no_such_overload)?;
    let is_equal = |at: &usize| match list.get(*at) {
        Some(Ok(element)) => match element.equals(item, meter) {
            Err(error) if error.is_fatal() => Some(Err(error)),
            equals => equals.unwrap_or(false).then_some(Ok(*at)),
        },
        Some(Err(error)) => Some(Err(error)),
        None => None,
    };
    let at = if is_last {
        (0..list.len()).rev().find_map(|at| is_equal(&at))
    } else {
        (0..list.len()).find_map(|at| is_equal(&at))
    };
    Ok(Value::Int(at.transpose()?.map_or(-1, |at| i64::try_from(at).unwrap_or(i64::MAX))))
}

fn functions() -> Vec<Function> {
    let mut sorted = Function::new("isSorted");
    let [mut sums, mut most, mut least] = ["sum", "max", "min"].map(Function::new);
    for (index, (name, kind)) in COMPARABLE.into_iter().enumerate() {
        let of_list = [Type::list(kind.clone())];
        sorted =
            sorted.member(&format!("list_{name}_is_sorted_bool"), &of_list, Type::Bool).does(is_sorted).costs(TRAVERSE);
        most = most
            .member(&format!("list_{name}_max_{name}"), &of_list, kind.clone())
            .does(|args, meter| best(args, meter, "max", Ordering::Greater))
            .costs(TRAVERSE);
        least = least
            .member(&format!("list_{name}_min_{name}"), &of_list, kind.clone())
            .does(|args, meter| best(args, meter, "min", Ordering::Less))
            .costs(TRAVERSE);
        if index < SUMMABLE {
            sums = sums
                .member(&format!("list_{name}_sum_{name}"), &of_list, kind.clone())
                .does(move |args, meter| sum(list(args, 0)?, zero(&kind), meter))
                .costs(TRAVERSE);
        }
    }
    let a = || Type::parameter("A");
    let positions = [("indexOf", "list_a_index_of_int", false), ("lastIndexOf", "list_a_last_index_of_int", true)];
    let positions = positions.map(|(name, id, is_last)| {
        Function::new(name)
            .member(id, &[Type::list(a()), a()], Type::Int)
            .does(move |args, meter| position(args, meter, is_last))
            .costs(TRAVERSE)
    });
    [sorted, sums, most, least].into_iter().chain(positions).map(Function::costs_by_name).collect()
}
