//! Kindsmith turns kinds that you declare into a Kubernetes-style API server. One derive gives a resource with its list
//! kind, table columns, validation, watch, paging, patches, apply, discovery and OpenAPI; kubectl, client-go, kube-rs and
//! other Kubernetes clients work against it unchanged.
//!
//! ```no_run
//! use kindsmith::{ApiType, ObjectMeta, Resource, Server};
//! use serde::{Deserialize, Serialize};
//!
//! /// A book that the library holds.
//! #[derive(Resource, Clone, Debug)]
//! #[resource(group = "library.example.com", version = "v1", shortname = "bk")]
//! #[resource(column("Author", path = spec.author))]
//! pub struct Book {
//!     pub metadata: ObjectMeta,
//!     pub spec: BookSpec,
//! }
//!
//! /// The desired state of a book.
//! #[derive(ApiType, Clone, Debug, Serialize, Deserialize)]
//! pub struct BookSpec {
//!     /// The author of the book.
//!     #[api(min_length = 1)]
//!     pub author: String,
//!     #[api(default = 1, minimum = 0)]
//!     pub copies: i32,
//! }
//!
//! # async fn run() -> kindsmith::Result<()> {
//! Server::builder().kind::<Book>().data_dir("./data").serve("127.0.0.1:8080").await
//! # }
//! ```
//!
//! The server listens with TLS and its own certificate authority, creates an admin token and a kubeconfig, and prints
//! commands to try: `kubectl apply`, `kubectl get books --watch`, `kubectl explain book.spec`.
//!
//! # Declare kinds
//!
//! - [`derive@Resource`] declares a kind, [`derive@ApiType`] its nested types; `Message` makes them Protobuf messages,
//!   too (feature `messages`).
//! - Types of fields: [`ObjectMeta`], [`Condition`], [`Quantity`], [`Time`], [`MicroTime`], [`IntOrString`], [`ByteString`],
//!   [`RawJson`], [`LabelSelector`], [`ObjectReference`], [`OwnerReference`]; [`meta`] has further ones.
//! - Every kind gets a test that its type and its schema agree; [`testing`] makes objects of a kind.
//! - A kind is also data: [`kind::Kind`]. [`kind::crd`] reads and checks CustomResourceDefinitions, and [`kind::proto`] writes
//!   `.proto` files.
//!
//! # Change and check objects
//!
//! - Hooks of a kind set defaults, validate and admit: [`Hooks`], [`Context`], [`FieldError`], [`FieldPath`].
//! - [`admission`] changes and refuses requests of any kind.
//!
//! # Serve
//!
//! - [`Server::builder`] configures a server: [`server::Builder`]. [`App`] is a loaded one, to nest in another program.
//! - [`handlers`] answer with code: virtual kinds, and subresources such as logs, exec and actions.
//! - [`auth`] has the traits of authenticators and authorizers.
//! - [`client`] is the typed client inside the process, for handlers and controllers. With the feature `kube`, kube-rs works with
//!   declared kinds, over the network and inside the process (`App::kube_client`).
//! - [`builtin`] has Namespace, ConfigMap, Secret, ServiceAccount, Event and Lease, and the reviews behind `kubectl auth`.
//! - [`Server::test`] starts a server inside a test.
//! - [`maintenance`] backs up, restores, checks and salvages data directories. [`logging`] is a log that never blocks the server.
//!
//! # Features
//!
//! | feature | what it adds |
//! |---|---|
//! | `server` (default) | the server. Without it only kinds, schemas and metadata remain, for build scripts and linters: no runtime, network or disk |
//! | `logging` | `logging::init`, which sets up the log of a program |
//! | `messages` | declared types as Protobuf messages in Rust |
//! | `kube` | kube-rs on declared kinds, and inside the process |
//! | `schemars` | types that implement `schemars::JsonSchema` as parts of kinds: `#[api(schema = schemars)]` |

// Without the server, most of what it needs of the pure layers is unused. Its own build finds what nothing uses.
#![cfg_attr(not(feature = "server"), allow(dead_code, unreachable_pub, unused_imports))]

// Derived code names the crate `kindsmith`, in here too.
extern crate self as kindsmith;

// The layers. Public ones export by name what users need.
#[cfg(feature = "server")]
pub mod auth;
#[cfg(feature = "server")]
pub mod builtin;
#[cfg(feature = "server")]
mod cache;
mod codec;
mod files;
#[cfg(feature = "server")]
pub mod handlers;
#[cfg(feature = "server")]
mod http;
pub mod kind;
#[cfg(feature = "kube")]
pub mod kube;
#[cfg(feature = "messages")]
pub mod message;
pub mod meta;
#[cfg(feature = "server")]
mod metrics;
mod patch;
#[cfg(feature = "server")]
mod registry;
pub mod schema;
#[cfg(feature = "server")]
pub mod server;
#[cfg(feature = "server")]
mod storage;
pub mod testing;
#[cfg(feature = "server")]
mod verbs;
#[cfg(feature = "server")]
mod webhook;
#[cfg(test)]
#[path = "../../tests/support/widget.rs"]
mod widget;

#[cfg(feature = "messages")]
pub use kindsmith_macros::Message;
pub use kindsmith_macros::{ApiType, Resource};
/// The crate in whose types users register metrics of their own; see [`server::Builder::metrics`].
#[cfg(feature = "server")]
pub use prometheus;

pub use kind::{
    Resource,
    hook::{Context, Hooks},
};
pub use meta::{
    field::{FieldError, FieldErrorKind, FieldPath},
    object::{ObjectMeta, OwnerReference},
    quantity::Quantity,
    shared::{Condition, LabelSelector, ObjectReference},
    time::{MicroTime, Time},
    values::{ByteString, IntOrString, RawJson},
};
pub use schema::declare::ApiType;
#[cfg(feature = "server")]
pub use server::{App, Error, Result, Server, logging};
#[cfg(feature = "server")]
pub use storage::maintenance;
#[cfg(feature = "etcd")]
pub use storage::{EtcdError, EtcdOptions};

/// [Admission](admission::Admission): plugins that may change or refuse requests of any kind.
#[cfg(feature = "server")]
pub mod admission {
    pub use crate::{
        meta::Operation,
        schema::Document,
        verbs::admission::{Admission, Attributes, Options, ReinvocationPolicy},
    };
}

/// The typed client inside the process: [`App::client`](crate::App::client) and
/// [`RequestContext::client`](crate::handlers::RequestContext::client) return one. Options are in
/// [`meta::options`].
#[cfg(feature = "server")]
pub mod client {
    pub use crate::handlers::client::{
        Client, InvalidObject, List, Objects, Patch, Scale, ScaleSpec, ScaleStatus, Watch, WatchEvent,
    };
}

/// What derived code needs of the crate, and of others.
#[doc(hidden)]
pub mod __private {
    pub use serde;

    #[cfg(feature = "messages")]
    pub use crate::message::{self, prost};
    pub mod resource {
        pub use crate::kind::resource::*;
        pub mod hook {
            pub use crate::kind::hook::*;
        }
    }
    pub mod declare {
        pub use crate::kind::generated::{JsonSchemaOf, described};
        pub use crate::schema::declare::*;
    }
}

/// What the benches, the fuzzer and the tests of changes under load reach of the private layers: they measure and attack these
/// alone. The command `kindsmith` reads samples with the codec. It is no part of the API.
#[doc(hidden)]
pub mod __layers {
    pub mod files {
        pub use crate::files::{Folder, Limits, Listing, RelativePath, list, read, read_next, read_text};
    }
    pub mod text {
        pub use crate::meta::text::{in_one_line, is_unsafe, nesting};
    }
    #[cfg(feature = "server")]
    pub mod cache {
        pub use crate::cache::{Body, Cache, Limits, Reader, Reading, Resource, Subscription};
    }
    #[cfg(feature = "server")]
    pub mod codec {
        pub use crate::codec::{
            Decoded, Encoding, Limits, Order, cbor, decode, decode_strict, encode, from_typed, protobuf, size, yaml,
        };
    }
    #[cfg(feature = "server")]
    pub mod endpoint {
        pub use crate::kind::endpoint::{Answer, Body, DocumentSchema, Endpoint, Verb};
    }
    #[cfg(feature = "server")]
    pub mod http {
        pub use crate::http::{Backend, Caller, Health, Limits, Metrics, Service, VersionInfo, call};
    }
    #[cfg(feature = "server")]
    pub mod patch {
        pub use crate::patch::{PatchError, apply, json, merge, strategic};
    }
    #[cfg(feature = "server")]
    pub mod schema {
        pub use crate::schema::format::is_known as is_known_format;
    }
    #[cfg(feature = "server")]
    pub mod storage {
        pub use crate::storage::*;
    }
    #[cfg(feature = "server")]
    pub use crate::{
        handlers::table::Pending,
        registry::{Registered, Registry},
        verbs::{Answer, Patch, Request, Verbs},
    };
}
