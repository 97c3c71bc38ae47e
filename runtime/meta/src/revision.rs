//! Revisions: the store's single, strictly increasing counter, which clients see as `resourceVersion`.
use std::{fmt, num::ParseIntError, str::FromStr};

/// A point in the history of the whole store. Zero precedes everything.
///
/// On the wire it is the decimal text of `metadata.resourceVersion` (API concepts, "Resource versions").
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Revision(pub u64);

impl fmt::Display for Revision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl FromStr for Revision {
    type Err = ParseIntError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        text.parse().map(Revision)
    }
}

impl Revision {
    /// The revision after this one.
    #[must_use]
    pub fn next(self) -> Self {
        Revision(self.0 + 1)
    }

    /// The revision before this one; zero for zero.
    #[must_use]
    pub fn previous(self) -> Self {
        Revision(self.0.saturating_sub(1))
    }
}
