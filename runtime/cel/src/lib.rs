//! CEL, the Common Expression Language, as Kubernetes uses it: parser, type checker, costs, and an evaluator that is metered and
//! reads JSON documents in place.
//!
//! ```
//! use kindsmith_cel::{Env, Program, Type, Unmetered, Value, value::{Dynamic, Shape}};
//!
//! let env = Env::kubernetes_latest().variable("object", Type::Dyn);
//! let program = Program::compile(&env, "object.spec.copies > 1")?;
//!
//! let object = serde_json::json!({"spec": {"copies": 3}});
//! let variables = [("object", Dynamic.read(&object)?)];
//! let evaluation = program.evaluate(&variables, Some(1_000_000), &Unmetered);
//! assert!(matches!(evaluation.value?, Value::Bool(true)));
//! assert_eq!(evaluation.cost, 4);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A [`Program`] is compiled once and shared by threads. [`Env`] says what expressions may refer to; [`library`] has what environments are
//! made of. Documents are read by a [`Shape`](value::Shape), with a schema or, with [`Dynamic`](value::Dynamic), without.
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
