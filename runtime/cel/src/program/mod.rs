//! Programs: a checked expression is planned once, and evaluated many times, by many threads.
//!
//! `plan` is what a program is made of and how it is made; `run` evaluates it.
use std::cell::Cell;

use self::{
    plan::{DEEPEST, Node, Planner, depth},
    run::Run,
};
use crate::{Checked, Env, Error, Issue, Issues, Meter, Settings, Source, Value, syntax::ast::Ast};

mod plan;
mod run;
#[cfg(test)]
mod tests;

/// A program.
#[derive(Debug)]
pub struct Program {
    root: Node,
    /// How many variables its loops have.
    slots: usize,
    /// How much work it is without its loops.
    weight: usize,
    settings: Settings,
}

/// The variables of an evaluation.
pub trait Variables<'a> {
    /// The value of a variable; `None` if it is missing.
    fn variable(&self, name: &str) -> Option<Result<Value<'a>, Error>>;
}

/// No variables.
#[derive(Clone, Copy, Debug)]
pub struct NoVariables;

impl<'a> Variables<'a> for NoVariables {
    fn variable(&self, _name: &str) -> Option<Result<Value<'a>, Error>> {
        None
    }
}

/// Variables by their names.
impl<'a> Variables<'a> for [(&str, Value<'a>)] {
    fn variable(&self, name: &str) -> Option<Result<Value<'a>, Error>> {
        self.iter().find(|(known, _)| *known == name).map(|(_, value)| Ok(value.clone()))
    }
}

impl<'a, const N: usize> Variables<'a> for [(&str, Value<'a>); N] {
    fn variable(&self, name: &str) -> Option<Result<Value<'a>, Error>> {
        self.as_slice().variable(name)
    }
}

/// A meter that counts the bytes that an evaluation allocates, too.
struct Counting<'m> {
    meter: &'m dyn Meter,
    bytes: Cell<usize>,
}

impl Meter for Counting<'_> {
    fn step(&self, steps: usize) -> bool {
        self.meter.step(steps)
    }

    fn allocate(&self, bytes: usize) -> bool {
        self.bytes.set(self.bytes.get().saturating_add(bytes));
        self.bytes.get() <= Program::MEMORY && self.meter.allocate(bytes)
    }
}

/// The result of an evaluation.
#[derive(Debug)]
pub struct Evaluation<'a> {
    /// The value, or what failed.
    pub value: Result<Value<'a>, Error>,
    /// What it cost.
    pub cost: u64,
}

impl Program {
    /// The most bytes that an evaluation allocates, in all. Mostly the limit of cost in Kubernetes comes first; but the sum of two lists
    /// costs 1.
    pub const MEMORY: usize = 128 << 20;

    /// Plans a checked expression. Constant parts are evaluated here.
    ///
    /// # Errors
    /// A constant part fails, or a literal pattern is invalid.
    pub fn new(checked: &Checked) -> Result<Self, Error> {
        Self::plan(&checked.env, Some(checked), &checked.ast)
    }

    /// Plans an expression that was not checked: names and functions are looked up when it runs.
    ///
    /// # Errors
    /// As [`Program::new`].
    pub fn unchecked(env: &Env, ast: &Ast) -> Result<Self, Error> {
        Self::plan(env, None, ast)
    }

    fn plan(env: &Env, checked: Option<&Checked>, ast: &Ast) -> Result<Self, Error> {
        if depth(&ast.root) > DEEPEST {
            return Err(Error::new("max recursion depth exceeded"));
        }
        let mut planner = Planner::new(env, checked);
        let root = planner.plan(&ast.root)?;
        Ok(Self { root, slots: planner.slots, weight: planner.nodes, settings: env.base.settings })
    }

    /// Parses, checks and plans an expression.
    ///
    /// # Errors
    /// All errors with their positions.
    pub fn compile(env: &Env, text: &str) -> Result<Self, Issues> {
        let checked = env.compile(text)?;
        Self::new(&checked).map_err(|error| Issues {
            source: Source::new(text),
            issues: vec![Issue { offset: None, message: error.message.into_owned() }],
            more: 0,
        })
    }

    /// The number of its nodes. Each is a step of every evaluation, whether that comes to it or not. Macros repeat their operands, so that a
    /// short text may have many.
    pub fn nodes(&self) -> usize {
        self.weight
    }

    /// Evaluates the program, up to a limit of cost.
    pub fn evaluate<'a>(
        &'a self,
        variables: &dyn Variables<'a>,
        limit: Option<u64>,
        meter: &dyn Meter,
    ) -> Evaluation<'a> {
        let meter = Counting { meter, bytes: Cell::new(0) };
        let mut run = Run::new(variables, &meter).with(&self.settings, self.slots, limit);
        let value = meter.spend(self.weight).and_then(|()| run.value(&self.root));
        let value = value.and_then(|value| run.settle().map(|()| value));
        Evaluation { value, cost: run.cost }
    }
}
