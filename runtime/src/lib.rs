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
//! # The guide
//!
//! The module [`guide`] has a page for each of these:
//!
//! | you want to | read |
//! |---|---|
//! | declare a kind | [a first kind](guide::first_kind), [fields and validation](guide::fields), [rules](guide::rules), [versions](guide::versions) |
//! | add code | [hooks and admission](guide::hooks), [subresources](guide::subresources), [controllers](guide::controllers) |
//! | use it | [clients](guide::clients), [testing](guide::testing) |
//! | serve kinds that exist already | [definitions and OpenAPI](guide::definitions), [generating and checking](guide::generating) |
//! | run it | [running](guide::running), [settings](guide::settings), [OpenID Connect](guide::oidc), [in front of other servers](guide::aggregation), [etcd](guide::etcd), [guarantees](guide::guarantees) |
//! | come from elsewhere | [from kubebuilder, kube-rs or axum](guide::coming_from) |
//! | look an option up | [reference](guide::reference) |
//! | know how it works | [design](guide::design), [the way of a write](guide::write), [of a watch](guide::watch), [figures](guide::figures) |
//!
//! The sections below lead to the items of the crate.
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
//! - [`cel`] evaluates expressions in CEL, the language of rules.
//!
//! # Serve
//!
//! - [`Server::builder`] configures a server: [`server::Builder`]. [`App`] is a loaded one, to nest in another program.
//! - [`handlers`] answer with code: virtual kinds, and subresources such as logs, exec and actions.
//! - [`auth`] has the traits of authenticators and authorizers.
//! - [`client`] is the typed client inside the process, for hooks and handlers. With the feature `kube`, kube-rs works with
//!   declared kinds, over the network and inside the process (`App::kube_client`).
//! - [`Builder::controller`](server::Builder::controller) runs controllers, which are written with kube-rs.
//! - [`builtin`] has Namespace, ConfigMap, Secret, ServiceAccount, Event, Lease, roles and bindings, and the reviews behind
//!   `kubectl auth`.
//! - [`Server::test`] starts a server inside a test, and `testing::kubernetes` a cluster with a client of kube-rs (features `kube`
//!   and `kubernetes`).
//! - [`logging`] is a log that never blocks the server. With the feature `tools`, the module `tools` backs up, restores, checks,
//!   salvages and copies stores.
//!
//! # Features
//!
//! | feature | what it adds |
//! |---|---|
//! | `server` (default) | the server. Without it only kinds, schemas and metadata remain, for build scripts and linters: no runtime, network or disk |
//! | `settings` | `server::Settings`: arguments, environment variables and a configuration file |
//! | `logging` | `logging::init`, which sets up the log of a program |
//! | `etcd` | the store over etcd, for several servers of one API |
//! | `messages` | declared types as Protobuf messages in Rust |
//! | `kube` | kube-rs on declared kinds, and inside the process |
//! | `kubernetes` | `Builder::kubernetes`: the API of Kubernetes itself, served without documents |
//! | `tools` | `tools`: what the command `kindsmith store` does with whole stores, such as backups, checks and copies |
//! | `schemars` | types that implement `schemars::JsonSchema` as parts of kinds: `#[api(schema = schemars)]` |

#[cfg(all(doc, not(doctest), feature = "server"))]
pub mod guide;

pub use kindsmith_meta::{
    Condition, FieldError, FieldErrorKind, FieldPath, LabelSelector, MicroTime, ObjectMeta, ObjectReference,
    OwnerReference, Quantity, Time,
    values::{ByteString, IntOrString, RawJson},
};
#[cfg(feature = "messages")]
pub use kindsmith_model::Message;
pub use kindsmith_model::{ApiType, Context, Hooks, Resource};
#[cfg(feature = "kube")]
pub use kindsmith_server::kube;
#[cfg(feature = "server")]
pub use kindsmith_server::{
    App, Error, Result, Server, auth, builtin,
    server::{self, logging},
};
#[cfg(feature = "tools")]
pub use kindsmith_storage::tools;
#[cfg(feature = "etcd")]
pub use kindsmith_storage::{EtcdError, EtcdOptions};
/// The crate in whose types users register metrics of their own; see [`server::Builder::metrics`].
#[cfg(feature = "server")]
pub use prometheus;

/// [Admission](admission::Admission): plugins that may change or refuse requests of any kind.
#[cfg(feature = "server")]
pub mod admission {
    pub use kindsmith_meta::Operation;
    pub use kindsmith_model::schema::Document;
    pub use kindsmith_server::verbs::admission::{Admission, Attributes, Options, ReinvocationPolicy};
}

/// CEL, the language of [rules](guide::rules), for hooks and admission: compile a [`Program`](cel::Program) once, evaluate it with
/// documents as variables, and read the result.
pub use kindsmith_cel as cel;

/// The typed client inside the process: [`App::client`](crate::App::client) and
/// [`RequestContext::client`](crate::handlers::RequestContext::client) return one. Options are in
/// [`meta::options`].
#[cfg(feature = "server")]
pub mod client {
    pub use kindsmith_model::kind::client::{
        Access, Client, InvalidObject, List, Objects, Patch, Scale, ScaleSpec, ScaleStatus, Watch, WatchEvent,
    };
}

#[cfg(feature = "server")]
pub use kindsmith_server::handlers;

/// Kinds: the `Resource` trait, the definition of a resource and what a kind does, versions and their conversion, and
/// definitions as CustomResourceDefinitions.
pub mod kind {
    #[cfg(feature = "schemars")]
    pub use kindsmith_formats::generated::structural_schema;
    pub use kindsmith_formats::{crd, openapi, proto};
    pub use kindsmith_model::kind::{
        Binding, CellMeter, Compiled, Compute, Convert, Custom, Definition, Described, DocumentHooks, Hook,
        HookContext, HookError, HookFuture, JsonPath, Kind, KindData, NoHooks, Policy, Problems, Resource, Stored,
        Unchanged, Unstored, UserRole, UserRoles, Verb, model,
    };
}

/// The vocabulary of the API: names, metadata, status, selectors, revisions, options. Owns the types that every kind
/// uses on the wire. Knows no kind, no engine and no HTTP.
pub mod meta {
    pub use kindsmith_meta::{
        FieldSelectorRequirement, FieldsV1, GroupKind, GroupResource, GroupVersion, LabelSelectorRequirement, ListMeta,
        LocalObjectReference, ManagedFieldsEntry, Operation, Preconditions, Revision, Status, StatusCause,
        StatusDetails, Warnings, by_priority, find_condition, options, selector, set_condition,
    };
}

/// Structural schemas of documents, and pure functions on schemas and documents: validate, default, prune. Does no I/O, and
/// knows no kinds.
///
/// All functions get the root schema and the whole object, and walk both with one cursor, `At`. `apiVersion`, `kind` and
/// `metadata` are the same for all kinds and are not part of a kind's schema. Decoding, pruning and patches need them and
/// start with `At::object`, which adds them. Validation and defaulting start with `At::of`, which has only the declared
/// fields; `meta` validates metadata.
pub mod schema {
    pub use kindsmith_model::schema::{
        ApiType, Document, Enumeration, Exceeded, ListType, METADATA, Meter, PatchStrategy, Pattern, Properties, Rule,
        Scalar, Schema, Type, Unenforced, check_types, default, prune, validate, validate_change,
    };
}

/// For tests. Of programs that declare kinds: documents generated from a schema, a check that a type and its schema
/// agree, and a check that a conversion between versions loses nothing. Of controllers and other clients: clusters in the process
/// of a test, `kubernetes()` and `serve(builder)`, with [`Faults`](testing::Faults) and a clock that the test moves (feature `kube`).
/// The guide has a page about [testing](guide::testing).
///
/// ```
/// use kindsmith::{Resource, builtin::ConfigMap, testing};
///
/// testing::schema_and_type_agree::<ConfigMap>();
/// let maps: Vec<_> = testing::documents(&ConfigMap::kind(), 1).take(10).collect();
/// assert_eq!((&maps[9]["kind"], &maps[9]["metadata"]["name"]), (&"ConfigMap".into(), &"object-9".into()));
/// ```
pub mod testing {
    pub use kindsmith_model::testing::{
        conversion_loses_nothing, documents, example, has_documents, schema_and_type_agree, schema_and_type_agree_on,
    };
    #[cfg(feature = "kube")]
    pub use kindsmith_server::kube::custom_resource_agrees;
    #[cfg(all(feature = "kube", feature = "kubernetes"))]
    pub use kindsmith_server::server::testing::kubernetes;
    #[cfg(feature = "kube")]
    pub use kindsmith_server::server::testing::{Cluster, ClusterBuilder, serve};
    #[cfg(feature = "server")]
    pub use kindsmith_server::server::{Fault, FaultBuilder, Faults, TestBuilder, TestServer};
}

#[cfg(feature = "messages")]
pub use kindsmith_model::message;

/// What derived code needs of the crate, and of others.
#[doc(hidden)]
pub mod __private {
    pub use kindsmith_model::__private::*;
    pub mod declare {
        pub use kindsmith_formats::generated::{JsonSchemaOf, described};
        pub use kindsmith_model::__private::declare::*;
    }
}
