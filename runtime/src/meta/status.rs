//! status: filled by its slice.
