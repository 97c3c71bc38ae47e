//! Rules in CEL (`x-kubernetes-validations`).
//!
//! `rule` has a rule as documents say it, `field_path` the field that its errors are about; `compile` has the programs of a node.
mod compile;
mod field_path;
mod rule;

pub use compile::{CompiledRule, compile};
pub use field_path::normalized;
pub use rule::Rule;
