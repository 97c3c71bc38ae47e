//! Rules for writes that are declared as data: defaults under conditions, fields that do not change, and checks. Overlays have them, for
//! kinds of Kubernetes and of others whose schemas do not say these things.
//!
//! They run as hooks of the kind: defaults after those of the schema, and checks after its validation. Rules run in the order of their
//! list, and see what earlier ones did. Conditions are expressions in CEL on values without types. An expression that fails because a field is
//! absent counts as false in a condition and as true in a check. The variables:
//!
//! | variable | |
//! |---|---|
//! | `self` | the value at the rule's path; of a default, the object that holds the field |
//! | `object` | the whole object |
//! | `oldSelf`, `oldObject` | the same before an update |
//! | `part` | the value at the path where the rule's part is included |
//! | `key` | the name or the index of the value |
//! | `user` | who writes: `username`, `uid`, `groups`, `extra` |
//! | `now` | the time, as text |
//! | `random` | a number below 2^31, the same for all rules in a write |

mod checks;
mod defaults;
mod expression;
mod path;
#[cfg(test)]
mod tests;

use std::future::ready;

use self::expression::{Budget, TOO_LARGE};
pub use self::{
    checks::{Check, Immutable, Reason, Test, Text},
    defaults::{DefaultRule, Effect, Value, When},
    expression::{Expression, Expressions},
    path::Path,
};
use super::binding::{DocumentHooks, Hook, HookContext, HookError, HookFuture};
use crate::{
    meta::{FieldError, FieldErrorKind, FieldPath, Refusal, User},
    schema::Document,
};

/// The rules for writes of a kind in one version.
#[derive(Clone, Debug, Default)]
pub struct WriteRules {
    /// What is set before validation.
    pub defaults: Vec<DefaultRule>,
    /// What an update may not change.
    pub immutable: Vec<Immutable>,
    /// What is refused.
    pub checks: Vec<Check>,
}

impl WriteRules {
    /// True without rules.
    pub fn is_empty(&self) -> bool {
        self.defaults.is_empty() && self.immutable.is_empty() && self.checks.is_empty()
    }

    /// Adds the rules of another list after these.
    pub fn append(&mut self, mut other: Self) {
        self.defaults.append(&mut other.defaults);
        self.immutable.append(&mut other.immutable);
        self.checks.append(&mut other.checks);
    }
}

impl DocumentHooks for WriteRules {
    fn runs(&self, hook: Hook) -> bool {
        match hook {
            Hook::Defaults => !self.defaults.is_empty(),
            Hook::Validation => !(self.checks.is_empty() && self.immutable.is_empty()),
            _ => false,
        }
    }

    fn set_defaults<'a>(&'a self, object: &'a mut Document, context: HookContext<'a>) -> HookFuture<'a, ()> {
        let budget = Budget::default();
        for rule in self.defaults.iter().filter(|rule| rule.on.is(context.operation)) {
            rule.apply(object, (context.old, context.user), &budget);
        }
        let refused = budget.is_spent().then(|| HookError::Refused(Refusal::forbidden(TOO_LARGE)));
        Box::pin(ready(refused.map_or(Ok(()), Err)))
    }

    fn validate<'a>(&'a self, object: &'a Document, context: HookContext<'a>) -> HookFuture<'a, Vec<FieldError>> {
        let (budget, mut errors) = (Budget::default(), Vec::new());
        let old = context.old.map(|old| self.defaulted(old, context.user));
        if let Some(old) = old.as_ref().filter(|_| context.subresource.is_empty()) {
            self.immutable.iter().for_each(|rule| rule.check(object, old, &mut errors));
        }
        for check in self.checks.iter().filter(|check| check.on.is(context.operation)) {
            if check.subresource.as_ref().is_none_or(|name| name == context.subresource) {
                check.run(object, (old.as_ref(), context.user), &budget, &mut errors);
            }
        }
        if budget.is_spent() {
            errors.push(FieldError::new(&FieldPath::root(), FieldErrorKind::Forbidden, TOO_LARGE));
        }
        Box::pin(ready(Ok(errors)))
    }
}

impl WriteRules {
    /// An old object with the defaults of all writes. It may be older than a rule, and what the rule sets is then no change of the user's.
    fn defaulted(&self, old: &Document, user: &User) -> Document {
        let (budget, mut old) = (Budget::default(), old.clone());
        for rule in self.defaults.iter().filter(|rule| rule.on == When::Always) {
            rule.apply(&mut old, (None, user), &budget);
        }
        old
    }
}
