//! CEL, the Common Expression Language, as Kubernetes uses it: parser, type checker, costs, and an evaluator that is metered and
//! reads JSON documents in place.
//!
//! From the bottom: `source` and `issue` are texts, positions and errors; `syntax` is the parser with its macros; `types` and `value` are
//! what expressions deal with; `env` declares variables, functions and types; `check` types a parsed expression; `cost` estimates it;
//! `program` plans and evaluates it; `library` has the functions of the language, its extensions and those of Kubernetes.
//! Facts are taken from the specification of the language (google/cel-spec), its reference (google/cel-go) and Kubernetes 1.36.

#[cfg(feature = "program")]
mod check;
#[cfg(feature = "program")]
mod cost;
#[cfg(feature = "program")]
mod env;
mod issue;
#[cfg(feature = "program")]
pub mod library;
#[cfg(feature = "program")]
mod program;
#[cfg(feature = "program")]
pub mod re2;
mod source;
pub mod syntax;
#[cfg(feature = "program")]
mod types;
#[cfg(feature = "program")]
pub mod value;

#[cfg(feature = "program")]
pub use self::{
    check::{Checked, Reference},
    cost::{Call, CallCost, Range, Sizes},
    env::{Cost, Env, Function, Implementation, Library, Overload, Settings, Specialize, TypeProvider, Validator},
    program::{Error, Evaluation, Failure, Meter, NoVariables, Program, Unmetered, Variables},
    types::Type,
    value::Value,
};
pub use self::{
    issue::{Issue, Issues},
    source::Source,
};
