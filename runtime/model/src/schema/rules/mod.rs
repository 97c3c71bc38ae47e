//! Rules in CEL (`x-kubernetes-validations`).
//!
//! `rule` has a rule as documents say it, `field_path` paths to fields, such as the one that its errors are about; `names` are those of
//! fields in expressions, `types` and `sizes` those of values; `compile` has the programs of a node, and `set` the nodes that have rules.
//! `walk` visits an object with them, and `evaluate` has those of one value: `place` is how expressions read values, `text` those of texts
//! with a format; `ratchet` knows which values are unchanged, and `outcome` is what was found. `expression` is an expression that no
//! schema declares, and `declaration` tells the author of a kind what is wrong with its rules.
mod compile;
mod declaration;
mod evaluate;
mod expression;
mod field_path;
mod names;
mod outcome;
mod place;
mod ratchet;
mod rule;
mod set;
mod sizes;
#[cfg(test)]
mod tests;
mod text;
mod types;
mod walk;

pub use compile::{CompiledRule, MOST_COST, MOST_TOTAL, Programs, most_values, nodes, programs};
pub use declaration::{RuleProblem, rule_problems};
pub use expression::{Expression, Step, Tried};
pub use field_path::{normalized, steps};
pub use names::{escaped, unescaped};
pub use outcome::{Outcome, not_checked};
pub(crate) use ratchet::Pair;
pub use rule::Rule;
pub use set::RuleSet;
pub(crate) use types::declares_names;
