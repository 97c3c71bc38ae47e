//! What can be said of a rule without evaluating it: whether it can hold, be false or fail for the values of a schema.
//!
//! An [`Expression`] is a rule as a tree, and [`Outcomes`] what it may come to. The answer is never wrong, but may be too wide: what is not
//! understood may come to anything. `place` is what a schema says of values, `values` what an operand may be, `key` the text by which
//! equal expressions are known, `facts` what is assumed, `scope` the variables; `evaluation` walks over a
//! tree, with `operand` and `assumption` for what operands may be and conditions say.
mod assumption;
mod evaluation;
mod facts;
mod key;
mod operand;
mod place;
mod scope;
#[cfg(test)]
mod tests;
mod values;

use kindsmith_cel::{
    Source,
    syntax::{ast::Ast, parse_rule},
};
use kindsmith_model::schema::rules::RuleProblem;

use self::evaluation::Evaluation;
pub(crate) use self::place::Place;

/// The path and the message of what is wrong with a rule.
pub(crate) fn finding(problem: &RuleProblem) -> (String, String) {
    let path = if problem.path.is_empty() { String::new() } else { format!(".{}", problem.path.replace(".[]", "[]")) };
    let rule = if problem.rule.is_empty() { String::new() } else { format!("the rule {:?}: ", problem.rule) };
    (path, format!("{rule}{}", problem.problem))
}

/// An expression that was read.
pub(crate) struct Expression(Ast);

/// What an expression may come to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Outcomes {
    /// It may be true.
    pub holds: bool,
    /// It may be false.
    pub is_false: bool,
    /// It may fail.
    pub fails: bool,
}

impl Expression {
    /// Reads an expression. `None` if its syntax is wrong.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        parse_rule(&Source::new(text)).ok().map(Self)
    }

    /// The same text for expressions that differ only in layout, in names of variables, or in the order of operands that does not matter.
    pub(crate) fn key(&self) -> String {
        key::of(&self.0.root, &[])
    }

    /// It refers to the old value.
    pub(crate) fn uses_old_self(&self) -> bool {
        key::mentions(&self.0.root, "oldSelf")
    }

    /// What it may come to for the values of a place that meet other expressions.
    pub(crate) fn outcomes(&self, place: Place<'_>, given: &[&Self]) -> Outcomes {
        let evaluation = Evaluation::new();
        let scope = scope::Scope::of(place);
        let all = given.iter().fold(vec![facts::Facts::default()], |facts, given| {
            let cases = evaluation.cases(facts.clone(), &given.0.root, &scope, true);
            // Expressions that contradict each other say nothing.
            if cases.is_empty() { facts } else { cases }
        });
        evaluation.outcomes(&self.0.root, &scope, &all)
    }
}

impl Outcomes {
    /// What is not understood.
    const ANY: Self = Self { holds: true, is_false: true, fails: true };
    /// What has an error.
    const FAILS: Self = Self { holds: false, is_false: false, fails: true };

    fn of(value: bool) -> Self {
        Self { holds: value, is_false: !value, fails: false }
    }

    fn may_be(self, value: bool) -> bool {
        if value { self.holds } else { self.is_false }
    }

    fn not(self) -> Self {
        Self { holds: self.is_false, is_false: self.holds, fails: self.fails }
    }

    fn or(self, other: Self) -> Self {
        Self {
            holds: self.holds || other.holds,
            is_false: self.is_false || other.is_false,
            fails: self.fails || other.fails,
        }
    }

    /// What two answers to the same question agree on.
    fn and(self, other: Self) -> Self {
        Self {
            holds: self.holds && other.holds,
            is_false: self.is_false && other.is_false,
            fails: self.fails && other.fails,
        }
    }

    /// It is true of all values.
    pub(crate) fn is_always_true(self) -> bool {
        self.holds && !self.is_false && !self.fails
    }

    /// It is true of no value.
    pub(crate) fn is_never_true(self) -> bool {
        !self.holds && (self.is_false || self.fails)
    }
}
