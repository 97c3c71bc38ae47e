//! Protobuf definitions as text. A `.proto` file is the lock of published field numbers: this crate reads one, finds the number
//! of a field in it, says what contradicts it and on which line, and merges changed kinds into it.
//!
//! The derives, the runtime and the generator share it, so that a file means the same to all of them. It knows nothing of
//! kinds or schemas, and depends on nothing.
//!
//! Files are in proto2 or proto3. Packages, messages, fields and reserved numbers are understood. Options, enums, services and
//! extensions are kept as they are written.

mod called;
mod lock;
mod merge;
mod model;
mod parse;
mod print;
#[cfg(test)]
mod tests;
mod token;
mod types;

pub use called::camel;
pub use lock::Conflict;
pub use merge::{MergeOutcome, changed_type, merge};
pub use model::{Field, File, Label, Message, Other, Reservation, Span, Syntax};
pub use parse::{Error, is_proto, parse, parse_draft};
pub use types::{ResolvedType, is_scalar, names_same, same_wire};
