//! time: filled by its slice.
