//! Files that users name. Their content is not trusted: only regular files of a limited size are read, and nothing is written outside
//! of the chosen folder. Owns the limits of files that commands and servers read. Knows no formats.

mod folder;
mod listing;
mod reading;
#[cfg(test)]
mod tests;

pub use folder::{Folder, RelativePath};
pub use listing::{Listing, list};
pub use reading::{Limits, read, read_from, read_next, read_text};
