//! Part of [`kindsmith`](https://docs.rs/kindsmith), on which programs depend instead: the API server.
//!
//! The layers, from the top; imports go down only:
//!
//! - [`server`]: the builder and the App: listeners, TLS, first run, controllers' life, graceful stop.
//! - `kube`: kube-rs inside the process (feature `kube`).
//! - `http`: the only layer that names HTTP types.
//! - `aggregation`: servers behind this one, which APIServices name.
//! - [`builtin`]: kinds declared with our own derive, and lifecycle controllers.
//! - [`handlers`]: user code that answers.
//! - [`verbs`]: one file a verb, admission, and the pipeline of a write.
//! - [`registry`]: the resources that are served.
//! - `upstream`: other servers that this one asks. `webhook`, `metrics`.
//! - [`auth`]: who, and may they.

// Derived code names the crate `kindsmith`.
extern crate kindsmith_model as kindsmith;

mod aggregation;
pub mod auth;
pub mod builtin;
pub mod handlers;
pub mod http;
#[cfg(feature = "kube")]
pub mod kube;
mod metrics;
pub mod registry;
pub mod server;
mod tasks;
mod upstream;
pub mod verbs;
mod webhook;

use kindsmith_cache as cache;
use kindsmith_formats::{crd, files, openapi, proto, roles};
use kindsmith_meta as meta;
#[cfg(feature = "messages")]
use kindsmith_model::Message;
#[cfg(all(test, feature = "messages"))]
use kindsmith_model::testing;
use kindsmith_model::{ApiType, ObjectMeta, RawJson, Resource, codec, kind, patch, schema};
#[cfg(test)]
use kindsmith_model::{kind::client, widget};
use kindsmith_storage as storage;

pub use server::{App, Error, Result, Server, logging};
