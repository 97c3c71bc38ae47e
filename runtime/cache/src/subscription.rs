//! Subscriptions: the part of a resource that a watch needs, and the index from a change to matching subscriptions.

use std::{
    collections::HashMap,
    hash::{DefaultHasher, Hash, Hasher},
};

use super::{Object, change::Change};

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

    /// True if the subscription includes the object before or after the change.
    pub(super) fn touched(&self, change: &Change) -> bool {
        [&change.new, &change.old].into_iter().flatten().any(|object| self.covers(object))
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

/// Maps a change to the numbers of matching channels.
#[derive(Default)]
pub(super) struct Index {
    namespaces: HashMap<Box<str>, usize>,
    keys: HashMap<Box<str>, usize>,
    /// One map per field, by position.
    fields: Vec<HashMap<Box<str>, usize>>,
}

impl Index {
    pub(super) fn find(&self, subscription: &Subscription) -> Option<usize> {
        match subscription {
            Subscription::All => None,
            Subscription::Namespace(namespace) => self.namespaces.get(namespace).copied(),
            Subscription::Key(key) => self.keys.get(key).copied(),
            Subscription::Field(position, value) => self.fields.get(*position)?.get(value).copied(),
        }
    }

    pub(super) fn insert(&mut self, subscription: &Subscription, channel: usize) {
        match subscription {
            Subscription::All => {}
            Subscription::Namespace(namespace) => drop(self.namespaces.insert(namespace.clone(), channel)),
            Subscription::Key(key) => drop(self.keys.insert(key.clone(), channel)),
            Subscription::Field(position, value) => {
                if self.fields.len() <= *position {
                    self.fields.resize_with(position + 1, HashMap::new);
                }
                self.fields[*position].insert(value.clone(), channel);
            }
        }
    }

    pub(super) fn remove(&mut self, subscription: &Subscription) {
        match subscription {
            Subscription::All => {}
            Subscription::Namespace(namespace) => drop(self.namespaces.remove(namespace)),
            Subscription::Key(key) => drop(self.keys.remove(key)),
            Subscription::Field(position, value) => {
                if let Some(values) = self.fields.get_mut(*position) {
                    values.remove(value);
                }
            }
        }
    }

    /// Calls `found` once with each channel that a change matches.
    pub(super) fn touched(&self, change: &Change, mut found: impl FnMut(usize)) {
        let Some(object) = change.object() else { return };
        if !self.namespaces.is_empty() {
            self.namespaces.get(object.namespace()).copied().map(&mut found);
        }
        if !self.keys.is_empty() {
            self.keys.get(object.key()).copied().map(&mut found);
        }
        for (position, values) in self.fields.iter().enumerate().filter(|(_, values)| !values.is_empty()) {
            let channel = |object: &Option<_>| {
                object.as_deref().and_then(|object: &Object| values.get(object.field(position)).copied())
            };
            let (new, old) = (channel(&change.new), channel(&change.old));
            new.map(&mut found);
            old.filter(|_| old != new).map(&mut found);
        }
    }
}
