//! What the command `kindsmith` does with the keys below a prefix: copies from and into it.

mod deadlines;
pub(crate) mod prefix;
pub(crate) mod staged_prefix;
mod tail;
