//! validate: filled by its slice.
