//! Programs: a checked expression is planned once, and evaluated many times, by many threads.
//!
//! `plan` is what a program is made of and how it is made; `run` evaluates it.
use std::{borrow::Cow, fmt};

use self::{
    plan::{Node, Planner},
    run::Run,
};
use crate::{Checked, Env, Issue, Issues, Settings, Source, Value, syntax::ast::Ast};

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

/// An error of an evaluation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// What failed, in cel-go's words.
    pub message: Cow<'static, str>,
    /// What kind of failure it is.
    pub failure: Failure,
}

/// The kinds of failures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// A function or an access failed. `||`, `&&` and loops may go on over it.
    Value,
    /// The evaluation was stopped, because it cost more than its limit.
    Cost,
    /// The evaluation was stopped by its meter.
    Interrupted,
}

impl Error {
    /// A function or an access failed.
    pub fn new(message: impl Into<Cow<'static, str>>) -> Self {
        Self { message: message.into(), failure: Failure::Value }
    }

    /// The arguments of a call are of types that it does not have, in the words of operators.
    pub fn no_such_overload() -> Self {
        Self::new("no such overload")
    }

    /// The meter ended the evaluation.
    pub fn interrupted() -> Self {
        Self { message: "operation interrupted".into(), failure: Failure::Interrupted }
    }

    /// True if the evaluation ends with this error, whatever surrounds it.
    pub fn is_fatal(&self) -> bool {
        self.failure != Failure::Value
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Error {}

/// The variables of an evaluation.
pub trait Variables<'a> {
    /// The value of a variable; `None` if there is none.
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

/// Counts the real work of evaluations, and may end them. Costs are Kubernetes' numbers, and are counted apart.
pub trait Meter {
    /// Reports steps of some ten nanoseconds each. False if the evaluation is to end.
    fn step(&self, steps: usize) -> bool;

    /// Reports steps.
    ///
    /// # Errors
    /// The evaluation is to end.
    fn spend(&self, steps: usize) -> Result<(), Error> {
        if self.step(steps) { Ok(()) } else { Err(Error::interrupted()) }
    }
}

/// A meter that never ends an evaluation.
#[derive(Clone, Copy, Debug)]
pub struct Unmetered;

impl Meter for Unmetered {
    fn step(&self, _steps: usize) -> bool {
        true
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
    /// Plans a checked expression. Constant parts are evaluated here.
    ///
    /// # Errors
    /// A constant part fails, or a pattern that is a literal is none.
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

    /// Evaluates the program, up to a limit of cost.
    pub fn evaluate<'a>(
        &'a self,
        variables: &dyn Variables<'a>,
        limit: Option<u64>,
        meter: &dyn Meter,
    ) -> Evaluation<'a> {
        let mut run = Run::new(variables, meter).with(&self.settings, self.slots, limit);
        let value = meter.spend(self.weight).and_then(|()| run.value(&self.root));
        let value = value.and_then(|value| run.settle().map(|()| value));
        Evaluation { value, cost: run.cost }
    }
}
