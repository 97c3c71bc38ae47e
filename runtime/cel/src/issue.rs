//! Errors of an expression, with their positions, printed as cel-go prints them.
use std::fmt;

use super::Source;

/// One error of an expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Issue {
    /// Where it is, in code points from the beginning of the source; nowhere for errors of the source as a whole.
    pub offset: Option<u32>,
    /// What is wrong.
    pub message: String,
}

/// The errors of an expression in the order of their positions: at least one, at most [`Issues::MOST`].
#[derive(Clone, Debug)]
pub struct Issues {
    pub(crate) source: Source,
    pub(crate) issues: Vec<Issue>,
    /// How many more there were.
    pub(crate) more: usize,
}
