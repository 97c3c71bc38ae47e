//! selector: filled by its slice.
