//! Copies of whole stores from one place to another, whatever their engines, and comparisons of two.
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

pub use compare::{Comparison, Contents, Foreign, compare, inspect};
pub use copy::{Copied, CopyOptions, Interrupt, copy};
pub use digest::Digest;
pub use place::Place;
