//! CEL, the Common Expression Language, as Kubernetes uses it: parser, type checker, costs, and an evaluator that is metered and
//! reads JSON documents in place.
//!
//! From the bottom: `source` and `issue` are texts, positions and errors; `syntax` is the parser with its macros; `error`, `meter`, `types`
//! and `value` are what evaluations deal with, and `re2` its patterns; `cost` is what calls cost; `env` declares variables, functions and
//! types, and has checked expressions; `check` makes them; `estimate` estimates what they cost; `program` plans and evaluates them;
//! `library` has the functions of the language, its extensions and those of Kubernetes.
//! Facts are taken from the specification of the language (google/cel-spec), its reference (google/cel-go) and Kubernetes 1.36.

#[cfg(feature = "program")]
mod check;
#[cfg(feature = "program")]
mod cost;
#[cfg(feature = "program")]
mod env;
#[cfg(feature = "program")]
mod error;
#[cfg(feature = "program")]
mod estimate;
mod issue;
#[cfg(feature = "program")]
pub mod library;
#[cfg(feature = "program")]
mod meter;
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
    cost::{Call, CallCost, Cost, Range, Sizes},
    env::{
        Checked, Env, Function, Implementation, Library, Overload, Reference, Settings, Specialize, TypeProvider,
        Validator,
    },
    error::{Error, Failure},
    meter::{Meter, Unmetered},
    program::{Evaluation, NoVariables, Program, Variables},
    types::Type,
    value::Value,
};
pub use self::{
    issue::{Issue, Issues},
    source::Source,
};
