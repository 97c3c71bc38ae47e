//! Evaluates constant parts when a program is made, as kube-apiserver has cel-go do it. Costs depend on it.
use std::sync::Arc;

use super::{
    Comparison, Element, Membership, Node, Planning,
    planner::{Planned, Planner},
};
use crate::{
    Error, Value,
    program::run::Run,
    value::{Entries, List, exact_int, exact_uint},
};

/// The functions whose calls with a constant are constants.
const CONVERSIONS: [&str; 10] =
    ["bool", "bytes", "double", "duration", "dyn", "int", "string", "timestamp", "type", "uint"];

impl Planner<'_> {
    /// A list or map of constants is a constant.
    pub(super) fn folded(&self, node: Node, constant: bool) -> Node {
        if !constant || !self.env.base.settings.fold_constants {
            return node;
        }
        let folded = list_of_constants(&node).map_or_else(|| Self::evaluate(&node), Ok);
        match folded {
            Ok(value) => Node::constant(value),
            Err(error) => Node::Failure(Box::new(error)),
        }
    }

    /// A conversion of a constant is a constant.
    ///
    /// # Errors
    /// It fails.
    pub(super) fn converted(&self, function: &str, node: Node) -> Planned {
        let constant =
            matches!(&node, Node::Call(call) if matches!(&*call.arguments, [argument] if argument.is_constant()));
        if !constant || !self.env.base.settings.fold_constants || !CONVERSIONS.contains(&function) {
            return Ok(node);
        }
        Self::evaluate(&node).map(Node::constant)
    }

    fn evaluate(node: &Node) -> Result<Value<'static>, Error> {
        Run::new(&crate::program::NoVariables, &Planning).value(node)?.into_owned()
    }

    /// A test if a value is one of constants.
    pub(super) fn membership(&self, id: Option<&Arc<str>>, own: Comparison) -> Node {
        let known = id.is_some_and(|id| **id == *"in_list") && self.env.base.settings.fold_constants;
        let list = match &own.operands[1] {
            Node::Constant(value) if known => &**value,
            _ => return Node::In(Box::new(own)),
        };
        let Value::List(list) = list else { return Node::In(Box::new(own)) };
        if list.is_empty() {
            return Node::constant(Value::Bool(false));
        }
        let Some(set) = set_of(list) else { return Node::In(Box::new(own)) };
        let [value, _] = own.operands;
        Node::Member(Box::new(Membership { value, set }))
    }
}

/// A list whose elements are all constants, without copies of what is in them.
fn list_of_constants(node: &Node) -> Option<Value<'static>> {
    let Node::List(elements) = node else { return None };
    let constant = |element: &Element| match &element.value {
        Node::Constant(value) if !element.optional => Some((**value).clone()),
        _ => None,
    };
    elements.iter().map(constant).collect::<Option<_>>().map(Value::list)
}

/// The elements of a list as a set, if all are of types that sets may have.
fn set_of(list: &List<'static>) -> Option<Entries<'static>> {
    let mut set = Entries::default();
    let fits = list.iter().all(|item| item.is_ok_and(|item| include(&mut set, item)));
    fits.then_some(set)
}

/// Adds a constant to a set, numbers in all types; false if it is not of a type that sets may have.
#[expect(clippy::cast_precision_loss, reason = "cel-go loses precision here, too")]
fn include(set: &mut Entries<'static>, item: Value<'static>) -> bool {
    let mut add = |value| set.insert(value, Value::Bool(true));
    match &item {
        Value::Bool(_) | Value::String(_) => {}
        Value::Double(double) => {
            exact_int(*double).map(Value::Int).map(&mut add);
            exact_uint(*double).map(Value::Uint).map(&mut add);
        }
        Value::Int(int) => {
            add(Value::Double(*int as f64));
            u64::try_from(*int).ok().map(Value::Uint).map(&mut add);
        }
        Value::Uint(uint) => {
            add(Value::Double(*uint as f64));
            i64::try_from(*uint).ok().map(Value::Int).map(&mut add);
        }
        _ => return false,
    }
    add(item);
    true
}
