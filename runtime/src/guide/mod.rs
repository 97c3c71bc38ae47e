//! The guide: how kinds are declared, served, used and run.
//!
#![doc = include_str!("links.md")]
#![doc = include_str!("../../docs/README.md")]

// Holds documentation only, no code: a module for each page in `docs`.
//
// In the repository the links of a page lead to files. Here they lead to modules: `links.md` comes before the page, and of two
// definitions of a link Markdown takes the first. `tests/documentation.rs` checks both. The blocks of code are compiled by
// `tests/support/documents.rs`, each once, so this module is absent where documentation is tested.

/// How to declare a kind, serve it, and use it with kubectl.
///
#[doc = include_str!("links.md")]
#[doc = include_str!("../../docs/first-kind.md")]
pub mod first_kind {}

/// Types and rules of fields, formats, and what cannot be declared. Every argument: [`Resource`](derive@crate::Resource),
/// [`ApiType`](derive@crate::ApiType).
///
#[doc = include_str!("links.md")]
#[doc = include_str!("../../docs/fields.md")]
pub mod fields {}

/// Rules in CEL: what they are, how they run, what they cost, and twenty of them.
///
#[doc = include_str!("links.md")]
#[doc = include_str!("../../docs/rules.md")]
pub mod rules {}

/// Code that runs in writes: [`Hooks`](crate::Hooks), [`Context`](crate::Context), [`admission`](crate::admission).
///
#[doc = include_str!("links.md")]
#[doc = include_str!("../../docs/hooks.md")]
pub mod hooks {}

/// Code that answers requests: [`handlers`](crate::handlers).
///
#[doc = include_str!("links.md")]
#[doc = include_str!("../../docs/subresources.md")]
pub mod subresources {}

/// How a kind changes without breaking clients and stored objects.
///
#[doc = include_str!("links.md")]
#[doc = include_str!("../../docs/versions.md")]
pub mod versions {}

/// Programs that act on objects: [`Builder::controller`](crate::server::Builder::controller), [`client`](crate::client).
///
#[doc = include_str!("links.md")]
#[doc = include_str!("../../docs/controllers.md")]
pub mod controllers {}

/// Clients, encodings, patches and owners of fields: [`client`](crate::client).
///
#[doc = include_str!("links.md")]
#[doc = include_str!("../../docs/clients.md")]
pub mod clients {}

/// Kinds that YAML and OpenAPI documents declare: [`kind::crd`](crate::kind::crd), [`kind::openapi`](crate::kind::openapi).
///
#[doc = include_str!("links.md")]
#[doc = include_str!("../../docs/definitions.md")]
pub mod definitions {}

/// What the command `kindsmith` generates, exports, lints and compares.
///
#[doc = include_str!("links.md")]
#[doc = include_str!("../../docs/generating.md")]
pub mod generating {}

/// Certificates, users, systemd, containers, backups, upgrades, metrics and alerts: [`server`](crate::server),
/// [`auth`](crate::auth), and `tools` with the feature of this name.
///
#[doc = include_str!("links.md")]
#[doc = include_str!("../../docs/running.md")]
pub mod running {}

/// The settings of a deployment: arguments, environment variables and the configuration file.
///
#[doc = include_str!("links.md")]
#[doc = include_str!("../../docs/settings.md")]
pub mod settings {}

/// Sign-in with an identity provider, and anonymous requests.
///
#[doc = include_str!("links.md")]
#[doc = include_str!("../../docs/oidc.md")]
pub mod oidc {}

/// Several servers over one store.
///
#[doc = include_str!("links.md")]
#[doc = include_str!("../../docs/etcd.md")]
pub mod etcd {}

/// Several API servers as one.
///
#[doc = include_str!("links.md")]
#[doc = include_str!("../../docs/aggregation.md")]
pub mod aggregation {}

/// What holds after a crash, on a full disk, and under load.
///
#[doc = include_str!("links.md")]
#[doc = include_str!("../../docs/guarantees.md")]
pub mod guarantees {}

/// Tests of kinds, hooks and controllers: [`Server::test`](crate::Server::test), [`testing`](crate::testing).
///
#[doc = include_str!("links.md")]
#[doc = include_str!("../../docs/testing.md")]
pub mod testing {}

/// The API of Kubernetes for tests of controllers, clients and charts, in any language.
///
#[doc = include_str!("links.md")]
#[doc = include_str!("../../docs/kubernetes-in-tests.md")]
pub mod kubernetes_in_tests {}

/// What is the same and what differs for users of kubebuilder, kube-rs and axum.
///
#[doc = include_str!("links.md")]
#[doc = include_str!("../../docs/coming-from.md")]
pub mod coming_from {}

/// Every option of the [builder](crate::server::Builder), [limit](crate::server::Limits), flag and feature.
///
#[doc = include_str!("links.md")]
#[doc = include_str!("../../docs/reference.md")]
pub mod reference {}

/// The crates and layers, what holds between them, what is absent, and why.
///
#[doc = include_str!("../../docs/layers.svg")]
///
#[doc = include_str!("links.md")]
#[doc = include_str!("../../docs/design.md")]
pub mod design {}

/// What happens to a write, step by step.
///
#[doc = include_str!("../../docs/write.svg")]
///
#[doc = include_str!("links.md")]
#[doc = include_str!("../../docs/write.md")]
pub mod write {}

/// What happens to a watch, step by step.
///
#[doc = include_str!("../../docs/watch.svg")]
///
#[doc = include_str!("links.md")]
#[doc = include_str!("../../docs/watch.md")]
pub mod watch {}

/// How fast, how small, and how that is measured.
///
#[doc = include_str!("links.md")]
#[doc = include_str!("../../docs/figures.md")]
pub mod figures {}
