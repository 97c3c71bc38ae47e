//! Rules in CEL (`x-kubernetes-validations`).
//!
//! `rule` has a rule as documents say it, `field_path` the field that its errors are about; `names` are those of fields in expressions,
//! `types` and `sizes` those of values; `compile` has the programs of a node. `place` is how expressions read values, `text` those of
//! texts with a format.
mod compile;
mod field_path;
mod names;
mod place;
mod rule;
mod sizes;
mod text;
mod types;

pub use compile::{CompiledRule, Programs, most_values, programs};
pub use field_path::normalized;
pub use rule::Rule;
