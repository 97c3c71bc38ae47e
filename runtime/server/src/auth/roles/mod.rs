//! Roles (RBAC): what roles allow to the users that bindings give them to. Reads the objects in the cache, without a lock.
//!
//! - `rule`: rules and subjects, and whether they cover something;
//! - `cover`: whether some rules grant more than others;
//! - `policy`: all roles and bindings, compiled;
//! - `defaults`: the roles and bindings that every server has.
use std::sync::{Arc, Mutex, PoisonError};

use arc_swap::ArcSwap;

use super::{Attributes, Authorize, Decision, Rules, Soon, User};
use crate::cache;

pub(crate) mod cover;
pub(crate) mod defaults;
mod policy;
mod rule;
#[cfg(test)]
mod tests;

pub(crate) use policy::Policy;
use policy::States;
pub(crate) use rule::{GROUP, quoted};
pub use rule::{PolicyRule, RoleRef, Subject};

/// Allows what roles allow.
pub(crate) struct Roles {
    /// The resources `ClusterRole`, `ClusterRoleBinding`, `Role` and `RoleBinding`; `None` if they are not served.
    resources: Option<[Arc<cache::Resource>; 4]>,
    compiled: ArcSwap<Compiled>,
    /// Locked while a change is compiled, so that it is compiled once.
    compiling: Mutex<()>,
}

/// A policy, and the states that it was compiled from.
struct Compiled {
    states: Option<States>,
    policy: Arc<Policy>,
}

impl Roles {
    /// The default roles and bindings, which cannot change.
    pub(crate) fn fixed() -> Self {
        let policy = Arc::new(defaults::policy());
        let compiled = ArcSwap::from_pointee(Compiled { states: None, policy });
        Self { resources: None, compiled, compiling: Mutex::default() }
    }

    /// The roles and bindings in the cache, as they change.
    pub(crate) fn following(resources: [Arc<cache::Resource>; 4]) -> Self {
        let compiled = ArcSwap::from_pointee(Compiled { states: None, policy: Arc::default() });
        Self { resources: Some(resources), compiled, compiling: Mutex::default() }
    }

    /// The policy as of now.
    pub(crate) fn policy(&self) -> Arc<Policy> {
        self.with_policy(Arc::clone)
    }

    /// Reads the policy as of now.
    fn with_policy<T>(&self, read: impl FnOnce(&Arc<Policy>) -> T) -> T {
        let compiled = self.compiled.load();
        let Some(resources) = &self.resources else { return read(&compiled.policy) };
        if compiled.is_newest(resources) { read(&compiled.policy) } else { read(&self.compile(resources)) }
    }

    fn compile(&self, resources: &[Arc<cache::Resource>; 4]) -> Arc<Policy> {
        let _one_at_a_time = self.compiling.lock().unwrap_or_else(PoisonError::into_inner);
        let compiled = self.compiled.load();
        if compiled.is_newest(resources) {
            return compiled.policy.clone();
        }
        let states = resources.each_ref().map(|resource| resource.snapshot());
        let nothing = || states.each_ref().map(|state| cache::Snapshot::of(state.revision(), Vec::new()));
        let before = compiled.states.clone().unwrap_or_else(nothing);
        let policy = Arc::new(compiled.policy.after(&before, &states));
        self.compiled.store(Arc::new(Compiled { states: Some(states), policy: policy.clone() }));
        policy
    }
}

impl Compiled {
    fn is_newest(&self, resources: &[Arc<cache::Resource>; 4]) -> bool {
        let newest = |states: &States| resources.iter().zip(states).all(|(resource, state)| resource.is_newest(state));
        self.states.as_ref().is_some_and(newest)
    }
}

impl Authorize for Roles {
    fn authorize<'a>(&'a self, attributes: &'a Attributes<'a>) -> Soon<'a, Decision> {
        Soon::now(self.with_policy(|policy| policy.decide(attributes)))
    }

    fn rules<'a>(&'a self, user: &'a User, namespace: &'a str) -> Soon<'a, Rules> {
        Soon::now(self.with_policy(|policy| policy.list(user, namespace)))
    }
}
