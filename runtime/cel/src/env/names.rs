//! How names are looked up: in the container of the environment first, then in those around it.
use std::sync::Arc;

use super::{Env, Function};
use crate::Type;

impl Env {
    /// The variable or type that a name refers to: its whole name, and its type. A leading dot makes a name absolute.
    pub(crate) fn find(&self, name: &str) -> Option<(Arc<str>, Type)> {
        self.candidates(name, |candidate| {
            let variable = self.variables.get_key_value(candidate).map(|(name, kind)| (Arc::clone(name), kind.clone()));
            variable.or_else(|| self.find_type(candidate))
        })
    }

    /// The function that a name refers to.
    pub(crate) fn find_function(&self, name: &str) -> Option<&Function> {
        self.candidates(name, |candidate| self.function(candidate))
    }

    /// What is found first of what a name may mean, beginning in the container.
    pub(crate) fn candidates<T>(&self, name: &str, find: impl Fn(&str) -> Option<T>) -> Option<T> {
        if let Some(absolute) = name.strip_prefix('.') {
            return find(absolute);
        }
        let mut container = &*self.container;
        while !container.is_empty() {
            let found = find(&format!("{container}.{name}"));
            if found.is_some() {
                return found;
            }
            container = container.rsplit_once('.').map_or("", |(outer, _)| outer);
        }
        find(name)
    }

    /// True for a type that values have by this name. The checker alone knows the names of messages, and short names of other types.
    pub(crate) fn is_type_of_values(&self, name: &str) -> bool {
        let is_message = |kind: &Type| matches!(kind, Type::Struct(_)) && name.starts_with("google.protobuf.");
        self.base.types.get(name).is_some_and(|kind| kind.name() == name && !is_message(kind))
    }

    fn find_type(&self, name: &str) -> Option<(Arc<str>, Type)> {
        if let Some((name, kind)) = self.base.types.get_key_value(name) {
            return Some((Arc::clone(name), Type::of_type(kind.clone())));
        }
        let known = self.provider.as_ref().is_some_and(|provider| provider.has(name));
        known.then(|| {
            let name: Arc<str> = name.into();
            (Arc::clone(&name), Type::of_type(Type::Struct(name)))
        })
    }
}
