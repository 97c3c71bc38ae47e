//! Subscriptions: the part of a resource that a watch needs.

use std::hash::{DefaultHasher, Hash, Hasher};

use super::object::Object;

/// The part of a resource that a watch needs. Wake-ups are indexed by it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Subscription {
    /// Every object.
    All,
    /// Objects of a namespace.
    Namespace(Box<str>),
    /// The object with this key.
    Key(Box<str>),
    /// Objects whose selectable field (by position) has, or had, this value.
    Field(usize, Box<str>),
}

impl Subscription {
    /// True if the subscription includes the object.
    pub fn covers(&self, object: &Object) -> bool {
        match self {
            Self::All => true,
            Self::Namespace(namespace) => object.namespace() == &**namespace,
            Self::Key(key) => object.key() == &**key,
            Self::Field(position, value) => object.field(*position) == &**value,
        }
    }

    /// True if the key of an object decides whether it is included.
    pub(super) fn is_of_keys(&self) -> bool {
        !matches!(self, Self::Field(..))
    }

    /// A number by which changes in the window are found. Other subscriptions may have the same one. `None` if only a
    /// search of all changes finds those of the subscription.
    pub(super) fn mark(&self) -> Option<u64> {
        match self {
            Self::Namespace(namespace) => Some(Self::namespace_mark(namespace)),
            Self::Key(key) => Some(Self::key_mark(key)),
            // Objects without the field have this value, too, and no mark for it.
            Self::Field(_, value) if value.is_empty() => None,
            Self::Field(position, value) => Some(Self::field_mark(*position, value)),
            Self::All => None,
        }
    }

    pub(super) fn namespace_mark(namespace: &str) -> u64 {
        mark(0, namespace)
    }

    pub(super) fn key_mark(key: &str) -> u64 {
        mark(1, key)
    }

    pub(super) fn field_mark(position: usize, value: &str) -> u64 {
        mark(position + 2, value)
    }
}

fn mark(what: usize, text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    (what, text).hash(&mut hasher);
    hasher.finish()
}
