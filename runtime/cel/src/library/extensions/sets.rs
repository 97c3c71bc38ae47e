//! `sets`: lists compared as sets.
use crate::{CallCost, Cost, Error, Function, Library, Meter, Range, Type, Value, cost::shared, value::List};

/// The only version.
pub static SETS: Library =
    Library { name: "cel.lib.ext.sets", functions, macros: &[], types: Vec::new, validators: &[] };

fn functions() -> Vec<Function> {
    vec![
        function("contains", ONCE, contains),
        function("equivalent", TWICE, |left, right, meter| {
            Ok(contains(left, right, meter)? && contains(right, left, meter)?)
        }),
        function("intersects", ONCE, intersects),
    ]
}

/// Each element of one list is compared with each of the other.
const ONCE: Cost = Cost {
    estimate: |call| CallCost::of(call.size(0).times(call.size(1)).scaled(1.0).plus(Range::ONE)),
    charge: |args, _| 1 + shared::size(args, 0) * shared::size(args, 1),
};

/// They are compared in both directions.
const TWICE: Cost = Cost {
    estimate: |call| CallCost::of(call.size(0).times(call.size(1)).scaled(2.0).plus(Range::ONE)),
    charge: |args, _| 1 + 2 * shared::size(args, 0) * shared::size(args, 1),
};

fn function(
    name: &str,
    cost: Cost,
    test: for<'a> fn(&List<'a>, &List<'a>, &dyn Meter) -> Result<bool, Error>,
) -> Function {
    let list = Type::list(Type::parameter("T"));
    Function::new(&format!("sets.{name}"))
        .global(&format!("list_sets_{name}_list"), &[list.clone(), list], Type::Bool)
        .does(move |args, meter| match args {
            [Value::List(left), Value::List(right)] => test(left, right, meter).map(Value::Bool),
            _ => Err(Error::no_such_overload()),
        })
        .costs(cost)
}

fn contains<'a>(list: &List<'a>, elements: &List<'a>, meter: &dyn Meter) -> Result<bool, Error> {
    for element in elements.iter() {
        if !list.contains(&element?, meter)? {
            return Ok(false);
        }
    }
    Ok(true)
}

fn intersects<'a>(left: &List<'a>, right: &List<'a>, meter: &dyn Meter) -> Result<bool, Error> {
    for element in left.iter() {
        if right.contains(&element?, meter)? {
            return Ok(true);
        }
    }
    Ok(false)
}
