//! Kindsmith turns declared kinds into a Kubernetes-style API server.
//!
//! A tour: declare a kind with [`derive@Resource`] and its nested types with [`derive@ApiType`]; serve it with
//! [`Server::builder`], or in a test with [`Server::test`]. [`testing`] makes documents of a kind and checks that its
//! type and schema agree; that test comes with every derived kind. With the feature `messages`, types are Protobuf messages, too;
//! with the feature `kube`, they are objects of kube-rs's `Api`, over the network or over `App::kube_client`.
//! [`logging`] is for programs: a log that never blocks the server.
//!
//! The layers, from the top: [`server`], [`http`], [`builtin`], [`handlers`], [`verbs`], [`registry`], [`cache`], [`storage`],
//! [`metrics`], [`auth`], [`kind`], [`patch`], [`codec`], [`schema`], [`meta`]. Each imports only from those after it.

// Without the server, most of what it needs of the pure layers is unused. Its own build finds what nothing uses.
#![cfg_attr(not(feature = "server"), allow(dead_code, unused_imports))]

// Derived code names the crate `kindsmith`, in here too.
extern crate self as kindsmith;

#[cfg(feature = "server")]
pub mod auth;
#[cfg(feature = "server")]
pub mod builtin;
#[cfg(feature = "server")]
pub mod cache;
pub mod codec;
#[cfg(feature = "server")]
pub mod handlers;
#[cfg(feature = "server")]
pub mod http;
pub mod kind;
#[cfg(feature = "kube")]
pub mod kube;
#[cfg(feature = "messages")]
pub mod message;
pub mod meta;
#[cfg(feature = "server")]
pub mod metrics;
pub mod patch;
#[cfg(feature = "server")]
pub mod registry;
pub mod schema;
#[cfg(feature = "server")]
pub mod server;
#[cfg(feature = "server")]
pub mod storage;
pub mod testing;
#[cfg(feature = "server")]
pub mod verbs;

#[cfg(feature = "server")]
/// The crate in whose types users register metrics of their own; see [`server::Builder::metrics`].
pub use prometheus;

pub use kind::{
    Resource,
    hook::{Context, Hooks},
};
#[cfg(feature = "messages")]
pub use kindsmith_macros::Message;
pub use kindsmith_macros::{ApiType, Resource};
pub use meta::{
    ByteString, Condition, FieldError, FieldErrorKind, FieldPath, IntOrString, LabelSelector, MicroTime, ObjectMeta,
    ObjectReference, OwnerReference, Quantity, RawJson, Time,
};
pub use schema::declare::ApiType;
#[cfg(feature = "server")]
pub use server::{App, Error, Result, Server, logging};

/// What derived code needs of other crates.
#[doc(hidden)]
pub mod __private {
    pub use serde;

    #[cfg(feature = "messages")]
    pub use crate::message::{self, prost};
    pub use crate::{kind::resource, schema::declare};
}
