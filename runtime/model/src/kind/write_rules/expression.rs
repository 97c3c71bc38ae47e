//! The expressions of rules, compiled once for all rules that have the same text.
use std::{
    cell::{Cell, OnceCell},
    collections::HashMap,
    fmt,
    sync::Arc,
};

use serde_json::json;

use kindsmith_cel::{
    Env, Error, Program, Type, Value, Variables,
    value::{Dynamic, Shape as _},
};

use crate::{
    meta::{Time, User, uid::uid},
    schema::{Document, Meter},
};

use super::path::Place;

/// The most that the expressions about one object may cost.
const MOST_COST: u64 = 10_000_000;

/// The variables of expressions.
const VARIABLES: [&str; 9] = ["key", "now", "object", "oldObject", "oldSelf", "part", "random", "self", "user"];

/// What a rule costs for each place that it is about.
const COST_OF_A_PLACE: u64 = 10;

/// A compiled expression.
#[derive(Clone)]
pub struct Expression(Arc<Program>);

impl fmt::Debug for Expression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Expression")
    }
}

/// The expressions that were compiled so far.
#[derive(Default)]
pub struct Expressions {
    /// Made for the first expression.
    env: Option<Env>,
    known: HashMap<String, Result<Expression, String>>,
}

impl Expressions {
    /// Compiles an expression.
    ///
    /// # Errors
    /// Its errors as text, with their positions.
    pub fn compile(&mut self, text: &str) -> Result<Expression, String> {
        if let Some(known) = self.known.get(text) {
            return known.clone();
        }
        let env = self.env.get_or_insert_with(|| {
            VARIABLES.iter().fold(Env::kubernetes_latest(), |env, name| env.variable(name, Type::Dyn))
        });
        let compiled = Program::compile(env, text);
        let compiled = compiled.map(|program| Expression(program.into())).map_err(|issues| issues.to_string());
        self.known.insert(text.to_owned(), compiled.clone());
        compiled
    }
}

/// The values that an expression sees.
#[derive(Clone, Copy)]
pub(super) struct Scope<'a> {
    /// The value at the rule's place.
    pub value: &'a Document,
    /// The whole object.
    pub object: &'a Document,
    /// What was at the place.
    pub old: Option<&'a Document>,
    /// The object before an update.
    pub old_object: Option<&'a Document>,
    /// Where the value is.
    pub place: &'a Place,
    /// The number of steps to the part that the rule is of.
    pub part: usize,
    /// Who writes.
    pub user: &'a User,
    /// What is the same for all rules about the object.
    pub budget: &'a Budget,
}

impl<'a> Variables<'a> for Scope<'a> {
    fn variable(&self, name: &str) -> Option<Result<Value<'a>, Error>> {
        let computed = match name {
            "self" => return Some(Dynamic.read(self.value)),
            "object" => return Some(Dynamic.read(self.object)),
            "oldObject" => return Some(Dynamic.read(self.old_object?)),
            "oldSelf" => return Some(Dynamic.read(self.old?)),
            "part" => return Some(Dynamic.read(self.place.around(self.part).get(self.object)?)),
            "key" => self.place.key(),
            "now" => Time::now().to_string().into(),
            "random" => (*self.budget.random.get_or_init(random)).into(),
            "user" => {
                let User { name, uid, groups, extra } = self.user;
                json!({"username": name, "uid": uid, "groups": groups, "extra": extra})
            }
            _ => return None,
        };
        Some(Dynamic.read(&computed).and_then(Value::into_owned))
    }
}

/// A number from 0 to 2^31 - 1.
fn random() -> u32 {
    let uid = uid().unwrap_or_default();
    uid.chars().filter_map(|digit| digit.to_digit(16)).take(8).fold(0_u32, |number, digit| number << 4 | digit) >> 1
}

/// What the expressions about one object may still cost.
pub(super) struct Budget {
    left: Cell<u64>,
    meter: Meter,
    random: OnceCell<u32>,
}

impl Default for Budget {
    fn default() -> Self {
        Self { left: Cell::new(MOST_COST), meter: Meter::new(None), random: OnceCell::new() }
    }
}

/// The message about an object whose rules cost too much.
pub(super) const TOO_LARGE: &str = "the object is too large for the rules of its kind: their cost budget is spent";

impl Budget {
    /// Counts what a rule costs to find so many places. Returns false if nothing is left.
    pub(super) fn spend(&self, places: usize) -> bool {
        self.left.set(self.left.get().saturating_sub(COST_OF_A_PLACE * places as u64));
        !self.is_spent()
    }

    /// True if the budget did not suffice: not all rules have run.
    pub(super) fn is_spent(&self) -> bool {
        self.left.get() == 0
    }
}

impl Expression {
    /// Its value as a document; `None` if it fails.
    pub(super) fn evaluate(&self, scope: Scope<'_>) -> Option<Document> {
        let budget = scope.budget;
        let left = budget.left.get();
        let evaluation = self.0.evaluate(&scope, Some(left), &budget.meter);
        budget.left.set(left.saturating_sub(evaluation.cost));
        match evaluation.value {
            Ok(value) => value.to_json().ok(),
            Err(error) => {
                if error.is_fatal() {
                    budget.left.set(0);
                }
                None
            }
        }
    }
}
