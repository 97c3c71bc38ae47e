//! Part of [`kindsmith`](https://docs.rs/kindsmith), on which programs depend instead: CustomResourceDefinitions, OpenAPI
//! documents and `.proto` files, read and written.

#[cfg(test)]
extern crate kindsmith_model as kindsmith;

pub mod crd;
pub mod endpoints;
pub mod files;
pub mod generated;
pub mod openapi;
pub mod proto;
pub mod roles;
#[cfg(test)]
mod tests;

pub(crate) use kindsmith_meta as meta;
#[cfg(test)]
use kindsmith_model::{Resource, widget};
pub(crate) use kindsmith_model::{codec, kind, schema};
