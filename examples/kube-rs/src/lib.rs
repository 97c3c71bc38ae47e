//! A project that was written for a cluster with kube-rs: `tenant` is its kind, `controller` its controller. Neither
//! names Kindsmith, which serves the kind in the process of the controller; `serve` and `main.rs` are all that it takes.
//!
//! `cargo run -p kube-rs --features kube` runs it.
#![cfg(feature = "kube")]

pub mod controller;
pub mod tenant;

use kindsmith::server::Builder;
use kube::CustomResourceExt;

use crate::tenant::Tenant;

/// Adds tenants to a server.
pub fn serve(server: Builder) -> Builder {
    server.crd(Tenant::crd())
}
