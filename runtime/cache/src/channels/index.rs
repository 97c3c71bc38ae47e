//! The index from a change to the channels that it matches.

use std::collections::HashMap;

use crate::{change::Change, object::Object, subscription::Subscription};

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
