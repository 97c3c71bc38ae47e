//! Tests of the pure functions over schemas.
mod filling;
mod validation;
