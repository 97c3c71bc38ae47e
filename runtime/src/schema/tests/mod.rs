//! Tests of the pure functions over schemas.
mod checks;
mod filling;
mod ratcheting;
mod validation;
