//! Structural schemas: what a kind's documents look like, and the pure functions over them: validate, default, prune.
//! Does no I/O; knows no kind.

pub mod declare;
pub mod model;

pub use declare::ApiType;
pub use model::Schema;

/// A document: JSON as Kubernetes tells it apart. Keys are kept sorted; numbers are `i64` or `f64` (an integer literal
/// outside `i64` is a double); duplicates have been settled by the decoder. Equality of documents decides what is no change.
pub type Document = serde_json::Value;
