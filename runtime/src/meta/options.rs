//! options: filled by its slice.
