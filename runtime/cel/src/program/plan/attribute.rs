//! Plans attributes: selections, indexes and choices.
use std::sync::Arc;

use super::{
    Attribute, Choice, Key, Name, Node, Qualifier, Root,
    planner::{Planned, Planner},
};
use crate::{Error, Value, syntax::ast::Expr};

impl Planner<'_> {
    /// An expression as the root of selections and indexes.
    pub(super) fn attribute(&mut self, expr: &Expr) -> Planned<Attribute> {
        Ok(Self::as_attribute(self.plan(expr)?))
    }

    fn as_attribute(node: Node) -> Attribute {
        match node {
            Node::Attribute(attribute) => *attribute,
            Node::Choice(choice) => Attribute { root: Root::Choice(choice), qualifiers: Vec::new() },
            node => Attribute { root: Root::Expression(node), qualifiers: Vec::new() },
        }
    }

    /// Adds a qualifier. Of a name that was not checked it may be a part.
    pub(super) fn qualify(&self, attribute: &mut Attribute, qualifier: Qualifier) {
        if let Root::Candidates(candidates) = &mut attribute.root
            && let Key::Constant(Value::String(field)) = &qualifier.key
            && candidates[0].1 == attribute.qualifiers.len()
        {
            let longer = |name: &Name| match name {
                Name::Global(name) | Name::Slot(_, name) | Name::Type(name) => {
                    self.unchecked_name(&format!("{name}.{}", &**field))
                }
            };
            let names = candidates[0].0.iter().map(longer).collect();
            candidates.insert(0, (names, attribute.qualifiers.len() + 1));
        }
        attribute.qualifiers.push(qualifier);
    }

    /// `a[b]`, `a[?b]`, `a.?b`
    pub(super) fn index(&mut self, operand: &Expr, index: &Expr, optional: bool) -> Planned {
        let mut attribute = self.attribute(operand)?;
        let key = match self.plan(index)? {
            Node::Constant(key) => {
                check_key(&key)?;
                Key::Constant(*key)
            }
            key @ (Node::Attribute(_) | Node::Choice(_)) => Key::Attribute(Self::as_attribute(key)),
            Node::Has(key) => Key::Attribute(*key),
            key => Key::Expression(key),
        };
        self.qualify(&mut attribute, Qualifier { key, optional, test: false });
        Ok(Node::Attribute(Box::new(attribute)))
    }

    /// `a ? b : c`
    pub(super) fn conditional(condition: Node, left: Node, right: Node) -> Node {
        let (left, right) = (Self::branch(left), Self::branch(right));
        Node::Choice(Box::new(Choice { condition, left, right }))
    }

    /// A branch that is an attribute costs its qualifiers only; so does a presence test.
    fn branch(node: Node) -> Attribute {
        match node {
            Node::Has(attribute) => *attribute,
            node => Self::as_attribute(node),
        }
    }
}

/// Checks that a value can be an index.
pub(in crate::program) fn check_key(key: &Value<'_>) -> Result<(), Error> {
    match key {
        Value::String(_) | Value::Int(_) | Value::Uint(_) | Value::Bool(_) | Value::Double(_) => Ok(()),
        other => Err(Error::new(format!("invalid qualifier type: {}", go_type(other)))),
    }
}

/// The name of a value's type in Go, which some errors have.
pub(in crate::program) fn go_type(value: &Value<'_>) -> Arc<str> {
    match value {
        Value::Null => "types.Null",
        Value::Bool(_) => "types.Bool",
        Value::Int(_) => "types.Int",
        Value::Uint(_) => "types.Uint",
        Value::Double(_) => "types.Double",
        Value::String(_) => "types.String",
        Value::Bytes(_) => "types.Bytes",
        Value::Duration(_) => "types.Duration",
        Value::Timestamp(_) => "types.Timestamp",
        Value::List(_) => "*types.baseList",
        Value::Map(_) => "*types.baseMap",
        Value::Optional(_) => "*types.Optional",
        Value::Type(_) => "*types.Type",
        Value::Opaque(value) => return value.type_name().into(),
    }
    .into()
}
