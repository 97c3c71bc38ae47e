//! The server: the builder, the app, listeners, TLS, the first run, a graceful stop, and a server for tests.
//!
//! [`Builder::build`] returns an [`App`]: a typed client, a `tower::Service`, and `run` with a listener and a future
//! that stops it. [`Builder::serve`] is the short way:
//!
//! ```no_run
//! # use kindsmith::Server;
//! # async fn run() -> kindsmith::Result<()> {
//! Server::builder().data_dir("./data").serve("127.0.0.1:8080").await
//! # }
//! ```
//!
//! Owns the order of startup and shutdown; knows requests only as a service.

mod access;
mod account_keys;
mod aggregation;
mod app;
mod authentication_file;
mod authorization_config;
mod builder;
mod client_ca;
mod client_certificates;
mod client_issuer;
mod connections;
mod controllers;
#[cfg(feature = "kube")]
mod custom_resources;
mod definition_files;
mod delegated;
mod election;
mod encryption;
mod error;
mod export;
mod files;
mod first_run;
mod front_proxy;
mod in_process;
mod installed_definitions;
#[cfg(feature = "kubernetes")]
mod kubernetes;
mod limits;
mod listen;
mod load;
pub mod logging;
mod migrate;
pub mod remote;
mod review;
mod serve;
#[cfg(feature = "settings")]
mod settings;
mod state;
mod stop;
mod stores;
#[cfg(feature = "kube")]
pub mod testing;
#[cfg(test)]
mod tests;
mod tls;
mod token_file;
pub mod users;

pub use app::App;
pub use builder::Builder;
pub use connections::Limits as ConnectionLimits;
pub use controllers::{ControllerContext, Failures, Shutdown};
pub use election::Election;
pub use error::{Error, Result};
pub use front_proxy::FrontProxy;
pub use in_process::{TestBuilder, TestServer};
pub use limits::Limits;
pub use listen::Ready;
pub use review::AuthorizationWebhook;
#[cfg(feature = "settings")]
pub use settings::{Arguments, Settings};

pub use crate::{
    cache::Limits as CacheLimits,
    http::{Answer, Fault, FaultBuilder, Faults, Limits as RequestLimits, PeerCertificates, Service},
    registry::reader::Transformer,
    storage::{FileError, OpenError, Options as StoreOptions},
};

/// Creates servers: [`Server::builder`] for one that serves until it is stopped, [`Server::test`] for one inside a
/// test.
pub struct Server;

impl Server {
    /// A server that serves until a signal stops the process.
    pub fn builder() -> Builder {
        Builder::new()
    }

    /// A server inside a test: plain HTTP on a free port of 127.0.0.1, a memory store, stopped on drop.
    ///
    /// ```
    /// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
    /// let server = kindsmith::Server::test().start().await;
    /// let (status, namespace) = server.call("GET", "/api/v1/namespaces/default", serde_json::Value::Null).await;
    /// assert_eq!((status, &namespace["status"]["phase"]), (200, &"Active".into()));
    /// # });
    /// ```
    pub fn test() -> TestBuilder {
        TestBuilder::new()
    }
}
