//! kube-rs inside the process and on declared kinds, with the feature `kube`: [`Kube`] makes a kind's type a
//! [`Resource`](::kube::Resource), and [`App::kube_client`] is a client of the server without a connection.
//!
//! kube's `Api`, `watcher`, `reflector` and `Controller` run on both unchanged, in the process or over the network:
//!
//! ```no_run
//! use kindsmith::{Server, builtin::ConfigMap, kube::Kube};
//! use kube::{Api, ResourceExt, api::ListParams};
//!
//! # async fn run() -> Result<(), Box<dyn std::error::Error>> {
//! let app = Server::builder().memory().build().await?;
//! let maps: Api<Kube<ConfigMap>> = Api::default_namespaced(app.kube_client());
//! for map in maps.list(&ListParams::default()).await? {
//!     println!("{}: {:?}", map.name_any(), map.data);
//! }
//! # Ok(())
//! # }
//! ```
//!
//! A program that turns this feature on chooses a version of k8s-openapi, as with kube itself:
//! `k8s-openapi = { version = "0.29", features = ["latest"] }`.
//!
//! [`App::kube_client`]: crate::server::App::kube_client

mod agreement;
mod client;
mod resource;

pub use agreement::custom_resource_agrees;
pub(crate) use client::InProcess;
pub use resource::Kube;
