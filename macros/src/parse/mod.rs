//! Reads attributes and types, and checks only their syntax.

pub(crate) mod allow;
pub(crate) mod args;
pub(crate) mod container;
pub(crate) mod conversion;
pub(crate) mod docs;
pub(crate) mod field;
pub(crate) mod keys;
pub(crate) mod keywords;
pub(crate) mod resource;
mod roles;
pub(crate) mod rules;
pub(crate) mod serde;
pub(crate) mod type_args;
pub(crate) mod types;
