//! Reads attributes and types, and checks only their syntax.

pub mod args;
pub mod container;
pub mod conversion;
pub mod docs;
pub mod field;
pub mod keys;
pub mod resource;
pub mod serde;
pub mod type_args;
pub mod types;
