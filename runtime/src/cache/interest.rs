//! Interests: which part of a resource a watch looks at, and the index from a change to the interests it touches.

use std::collections::HashMap;

use super::{Object, change::Change};

/// Which part of a resource a watch looks at; wake-ups are indexed by it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Interest {
    /// Every object.
    All,
    /// Objects of a namespace.
    Namespace(Box<str>),
    /// The object with this key.
    Key(Box<str>),
    /// Objects whose selectable field (by position) has, or had, this value.
    Field(usize, Box<str>),
}

impl Interest {
    /// Whether an object is of interest.
    pub fn covers(&self, object: &Object) -> bool {
        match self {
            Self::All => true,
            Self::Namespace(namespace) => object.namespace() == &**namespace,
            Self::Key(key) => object.key() == &**key,
            Self::Field(position, value) => object.field(*position) == &**value,
        }
    }

    /// Whether a change concerns an object that is or was of interest.
    pub(super) fn touched(&self, change: &Change) -> bool {
        [&change.new, &change.old].into_iter().flatten().any(|object| self.covers(object))
    }
}

/// From what a change touches to the topics that collect it, by number.
#[derive(Default)]
pub(super) struct Index {
    namespaces: HashMap<Box<str>, usize>,
    keys: HashMap<Box<str>, usize>,
    /// A map a field, by position.
    fields: Vec<HashMap<Box<str>, usize>>,
}

impl Index {
    pub(super) fn find(&self, interest: &Interest) -> Option<usize> {
        match interest {
            Interest::All => None,
            Interest::Namespace(namespace) => self.namespaces.get(namespace).copied(),
            Interest::Key(key) => self.keys.get(key).copied(),
            Interest::Field(position, value) => self.fields.get(*position)?.get(value).copied(),
        }
    }

    pub(super) fn insert(&mut self, interest: &Interest, topic: usize) {
        match interest {
            Interest::All => {}
            Interest::Namespace(namespace) => drop(self.namespaces.insert(namespace.clone(), topic)),
            Interest::Key(key) => drop(self.keys.insert(key.clone(), topic)),
            Interest::Field(position, value) => {
                if self.fields.len() <= *position {
                    self.fields.resize_with(position + 1, HashMap::new);
                }
                self.fields[*position].insert(value.clone(), topic);
            }
        }
    }

    pub(super) fn remove(&mut self, interest: &Interest) {
        match interest {
            Interest::All => {}
            Interest::Namespace(namespace) => drop(self.namespaces.remove(namespace)),
            Interest::Key(key) => drop(self.keys.remove(key)),
            Interest::Field(position, value) => {
                if let Some(values) = self.fields.get_mut(*position) {
                    values.remove(value);
                }
            }
        }
    }

    /// Calls `found` with each topic that a change touches, once each.
    pub(super) fn touched(&self, change: &Change, mut found: impl FnMut(usize)) {
        let Some(object) = change.object() else { return };
        if !self.namespaces.is_empty() {
            self.namespaces.get(object.namespace()).copied().map(&mut found);
        }
        if !self.keys.is_empty() {
            self.keys.get(object.key()).copied().map(&mut found);
        }
        for (position, values) in self.fields.iter().enumerate().filter(|(_, values)| !values.is_empty()) {
            let topic = |object: &Option<_>| {
                object.as_deref().and_then(|object: &Object| values.get(object.field(position)).copied())
            };
            let (new, old) = (topic(&change.new), topic(&change.old));
            new.map(&mut found);
            old.filter(|_| old != new).map(&mut found);
        }
    }
}
