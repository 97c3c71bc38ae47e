//! Tools for whole stores, behind the command `kindsmith store`: check, salvage, backup, restore, storage migration,
//! copies from one place to another whatever their engines, and comparisons of two.
//!
//! The functions block; call them from a blocking thread. They overwrite nothing, and publish a result under its name only
//! once it is complete and durable.
//!
//! # How does a copy keep up with its source?
//!
//! A copy goes through the source in the order of keys, a piece at a time, and then applies the changes that the source
//! made meanwhile. So the target ends as the state of the source at one revision, however long the copy took, and in
//! however many runs. The target notes how far the copy is together with what it writes (`marker.rs`). If the changes
//! since the beginning are compacted, the copy goes through all objects again and writes the differing ones.
//!
//! At the end both are read once more and compared by key, with a digest of each. Memory holds a few pieces, whatever the
//! number of objects; only a backup as the source needs eight bytes for each.

mod compare;
mod copy;
mod digest;
mod marker;
mod place;
mod source;
mod target;

pub use crate::{
    Foreign,
    embedded::tools::{Backup, Check, Error, OnProgress, Progress, Salvage, backup, check, migrate, restore, salvage},
    migration::Migration,
};
pub use compare::{Comparison, Contents, compare, inspect};
pub use copy::{Copied, CopyOptions, Interrupt, copy};
pub use digest::Digest;
pub use place::Place;
