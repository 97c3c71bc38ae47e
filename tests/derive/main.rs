//! Tests of the derives' results: the kind as data, serde's form of the root, and hooks.
mod conditions;
mod hooks;
mod unions;
mod widget;
