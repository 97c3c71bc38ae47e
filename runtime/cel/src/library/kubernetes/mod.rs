//! The libraries of Kubernetes, and the table of what each of its versions has.
//!
//! Each library is a file or folder: signatures, what they do, and their costs, with the errors of kube-apiserver. `versions` has the table.
pub mod authz;
pub mod format;
pub mod jsonpatch;
pub mod lists;
pub mod quantity;
pub mod regex;
pub mod semver;
#[cfg(test)]
mod tests;
pub mod url;
pub mod versions;
