//! The functions of the language and of its extensions: each library with its signatures, implementations and costs in a file or folder.
//!
//! `standard` is the language itself; `extensions` are those of cel-go; `kubernetes` are those of Kubernetes, and the table of its versions.

pub mod extensions;
pub mod kubernetes;
pub mod standard;
