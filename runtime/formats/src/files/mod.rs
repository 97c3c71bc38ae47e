//! Files of users, read and written as if a stranger had made them: what is read is regular and bounded, and what is written stays
//! below its folder. Owns the limits of files that commands and servers read. Knows no formats.

mod folder;
mod listing;
mod reading;
#[cfg(test)]
mod tests;

pub use folder::{Folder, RelativePath};
pub use listing::{Listing, list};
pub use reading::{Limits, read, read_next, read_text};
