//! The table of rules.

mod alternatives;
mod columns;
mod conversion;
mod endpoints;
mod expressions;
mod fields;
mod keywords;
mod kinds;
mod limits;
mod merging;
mod messages;
mod names;
mod storage;
mod types;
mod values;
mod versions;

use super::rule::Rule;

/// The rules by what they are about.
static TABLE: [&[Rule]; 10] = [
    &kinds::RULES,
    &names::RULES,
    &versions::RULES,
    &storage::RULES,
    &conversion::RULES,
    &endpoints::RULES,
    &columns::RULES,
    &keywords::RULES,
    &merging::RULES,
    &messages::RULES,
];

/// All rules.
pub(crate) fn all() -> Vec<&'static Rule> {
    TABLE.iter().flat_map(|rules| rules.iter()).collect()
}

/// The rule of a name.
pub(crate) fn named(name: &str) -> Option<&'static Rule> {
    all().into_iter().find(|rule| rule.name == name)
}
