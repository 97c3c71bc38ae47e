//! Kindsmith turns declared kinds into a Kubernetes-style API server.

pub mod auth;
pub mod builtin;
pub mod cache;
pub mod codec;
pub mod http;
pub mod kind;
pub mod meta;
pub mod patch;
pub mod schema;
pub mod server;
pub mod storage;
pub mod testing;
pub mod verbs;

pub use kind::Resource;
pub use kindsmith_macros::{ApiType, Resource};
pub use meta::object::ObjectMeta;
pub use schema::declare::ApiType;
pub use server::{Error, Result, Server};
