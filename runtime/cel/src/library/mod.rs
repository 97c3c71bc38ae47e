//! The functions of the language and of its extensions: each library with its signatures, implementations and costs in a file or folder.
//!
//! `standard` is the language itself; `extensions` are those of cel-go; `network` is what both cel-go and Kubernetes have; `kubernetes` are
//! those of Kubernetes, and the table of its versions. `arguments` is how functions read their arguments, and `validators` finds
//! literals that they do not accept.

mod arguments;
pub mod extensions;
pub mod kubernetes;
pub mod network;
pub mod standard;
pub(crate) mod validators;
