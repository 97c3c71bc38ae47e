//! Kinds come back the same from every form that they can have: definitions, OpenAPI documents, Rust, JSON Schema.

#![allow(clippy::unwrap_used, reason = "all of it is a test; only functions marked as tests are exempt by themselves")]

mod compiled;
mod documents;
