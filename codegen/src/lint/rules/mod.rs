//! The rules, by what they are about.

mod conditions;
mod documentation;
mod expressions;
mod kinds;
mod lists;
mod names;
mod numbers;
mod objects;
mod references;
mod times;
mod tools;
mod units;
mod values;

use super::Rule;

/// All rules, by subject.
pub(crate) fn all() -> impl Iterator<Item = &'static Rule> {
    let tables: [&'static [Rule]; 13] = [
        kinds::RULES,
        objects::RULES,
        conditions::RULES,
        names::RULES,
        times::RULES,
        units::RULES,
        numbers::RULES,
        values::RULES,
        lists::RULES,
        expressions::RULES,
        references::RULES,
        tools::RULES,
        documentation::RULES,
    ];
    tables.into_iter().flatten()
}

/// The rule of a name.
pub(crate) fn find(name: &str) -> Option<&'static Rule> {
    all().find(|rule| rule.name == name)
}
