//! Rules in CEL (`x-kubernetes-validations`).
//!
//! `rule` has a rule as documents say it.
mod rule;

pub use rule::Rule;
