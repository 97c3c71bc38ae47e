//! What `kindsmith new` and `kindsmith add` write: a crate, kinds, and lines in files that the user owns. All of it is text; only
//! [`change`](crate::cli::change) writes to the disk.

pub(crate) mod controller;
pub(crate) mod declarations;
pub(crate) mod dependency;
pub(crate) mod edit;
pub(crate) mod edits;
pub(crate) mod field;
pub(crate) mod kind;
pub(crate) mod manifest;
pub(crate) mod names;
pub(crate) mod new_crate;
pub(crate) mod project;
pub(crate) mod sample;
pub(crate) mod status;
mod status_type;
mod structure;
pub(crate) mod subresource;
mod templates;
mod test_module;
pub(crate) mod version;
