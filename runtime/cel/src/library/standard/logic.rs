//! Logic and equality. The evaluator itself implements these, except `!` and `@not_strictly_false`.
use super::a;
use crate::{Cost, Error, Function, Type, Value, cost::shared};

pub(super) fn functions() -> Vec<Function> {
    let two = [Type::Bool, Type::Bool];
    vec![
        Function::new("_?_:_").global("conditional", &[Type::Bool, a(), a()], a()).costs(Cost::ZERO),
        Function::new("_&&_").global("logical_and", &two, Type::Bool).costs(Cost::ZERO),
        Function::new("_||_").global("logical_or", &two, Type::Bool).costs(Cost::ZERO),
        Function::new("!_").global("logical_not", &[Type::Bool], Type::Bool).singleton(|arguments, _| {
            let [Value::Bool(value)] = arguments else { return Err(Error::no_such_overload()) };
            Ok(Value::Bool(!value))
        }),
        Function::new("@not_strictly_false")
            .global("not_strictly_false", &[Type::Bool], Type::Bool)
            .does(|arguments, _| Ok(Value::Bool(!matches!(arguments, [Value::Bool(false)])))),
        Function::new("_==_").global("equals", &[a(), a()], Type::Bool).costs(shared::EQUALS),
        Function::new("_!=_").global("not_equals", &[a(), a()], Type::Bool).costs(shared::COMPARE),
    ]
}
