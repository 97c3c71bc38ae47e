//! Tests of the pure functions over schemas.
mod checks;
mod filling;
mod junctors;
mod ratcheting;
mod recursion;
mod validation;
mod values;
