//! Maintenance of a whole store, behind the command `kindsmith store`: check, salvage, backup, restore, storage migration
//! and copies from one place to another.
//!
//! The functions block; call them from a blocking thread. They overwrite nothing, and publish a result under its name only
//! once it is complete and durable.

pub use super::{
    embedded::maintenance::*,
    transfer::{Comparison, Contents, Copied, CopyOptions, Digest, Foreign, Interrupt, Place, compare, copy, inspect},
};
