//! Kindsmith turns declared kinds into a Kubernetes-style API server.
//!
//! A tour: declare a kind with [`derive@Resource`] and its nested types with [`derive@ApiType`]; serve it with
//! [`Server::builder`], or in a test with [`Server::test`]. [`testing`] makes documents of a kind and checks that its
//! type and schema agree; that test comes with every derived kind. With the feature `messages`, types are Protobuf messages, too;
//! with the feature `kube`, they are objects of kube-rs's `Api`, over the network or over `App::kube_client`.
//! [`logging`] is for programs: a log that never blocks the server.
//!
//! The layers, from the top: [`server`], [`http`], [`builtin`], [`handlers`], [`verbs`], [`kind`], [`auth`], [`patch`], [`codec`],
//! [`schema`], [`cache`], [`storage`], [`metrics`], [`meta`]. Each imports only from those after it.

// Derived code names the crate `kindsmith`, in here too.
extern crate self as kindsmith;

pub mod auth;
pub mod builtin;
pub mod cache;
pub mod codec;
pub mod handlers;
pub mod http;
pub mod kind;
#[cfg(feature = "kube")]
pub mod kube;
#[cfg(feature = "messages")]
pub mod message;
pub mod meta;
pub mod metrics;
pub mod patch;
pub mod schema;
pub mod server;
pub mod storage;
pub mod testing;
pub mod verbs;

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
pub use server::{App, Error, Result, Server, logging};

/// What derived code needs of other crates.
#[doc(hidden)]
pub mod __private {
    pub use serde;
}
