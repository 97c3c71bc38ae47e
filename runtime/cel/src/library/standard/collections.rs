//! Indexes, `in` and sizes. The evaluator itself knows what the first two do.
use super::{a, list_of_a, map_of_a_to_b, not_supported};
use crate::{Error, Function, Meter, Type, Value, cost::shared};

pub(super) fn functions() -> Vec<Function> {
    let collections =
        [("bytes", Type::Bytes), ("list", list_of_a()), ("map", map_of_a_to_b()), ("string", Type::String)];
    let size = collections.into_iter().fold(Function::new("size"), |function, (name, kind)| {
        let kind = [kind];
        function.global(&format!("size_{name}"), &kind, Type::Int).member(&format!("{name}_size"), &kind, Type::Int)
    });
    vec![
        Function::new("_[_]").global("index_list", &[list_of_a(), Type::Int], a()).global(
            "index_map",
            &[map_of_a_to_b(), a()],
            Type::parameter("B"),
        ),
        Function::new("@in").global("in_list", &[a(), list_of_a()], Type::Bool).costs(shared::MEMBER).global(
            "in_map",
            &[a(), map_of_a_to_b()],
            Type::Bool,
        ),
        size.singleton(size_of),
    ]
}

fn size_of<'a>(arguments: &[Value<'a>], _: &dyn Meter) -> Result<Value<'a>, Error> {
    match arguments {
        [value @ (Value::Bytes(_) | Value::List(_) | Value::Map(_) | Value::String(_))] => {
            Ok(Value::Int(i64::try_from(value.size()).unwrap_or(i64::MAX)))
        }
        [other] => Err(not_supported("size", other)),
        _ => Err(Error::no_such_overload()),
    }
}
