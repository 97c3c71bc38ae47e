//! Errors of evaluations.
use std::{borrow::Cow, fmt};

/// An error of an evaluation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// What failed, in cel-go's words.
    pub message: Cow<'static, str>,
    /// The kind of failure.
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
    pub const fn no_such_overload() -> Self {
        Self { message: Cow::Borrowed("no such overload"), failure: Failure::Value }
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
