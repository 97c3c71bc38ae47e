//! Handlers: the user's own code, which answers requests that are not about stored objects. Virtual kinds answer POST
//! only. Subresources of a kind act on an object, compute a value from it, or connect to it.
//!
//! Handlers are typed: they get their kind's Rust type and the [`RequestContext`], and return a type or a [`Refusal`].
//! Their input was decoded, defaulted and validated like a stored object.
//!
//! ```
//! use kindsmith::{ApiType, ObjectMeta, Resource, Server, handlers::{RequestContext, Result}};
//! use serde::{Deserialize, Serialize};
//!
//! /// Asks if the user may borrow books.
//! #[derive(Resource, Clone, Debug)]
//! #[resource(group = "library.example.com", version = "v1", cluster, unstored)]
//! pub struct LoanReview {
//!     pub metadata: ObjectMeta,
//!     pub spec: LoanReviewSpec,
//!     pub status: Option<LoanReviewStatus>,
//! }
//!
//! /// The request.
//! #[derive(ApiType, Clone, Debug, Serialize, Deserialize)]
//! pub struct LoanReviewSpec {
//!     #[api(default = 1, minimum = 1)]
//!     pub books: i32,
//! }
//!
//! /// The answer.
//! #[derive(ApiType, Clone, Debug, Serialize, Deserialize)]
//! pub struct LoanReviewStatus {
//!     pub allowed: bool,
//! }
//!
//! async fn review(mut review: LoanReview, context: RequestContext) -> Result<LoanReview> {
//!     let allowed = review.spec.books <= 3 || context.user.is_in("system:masters");
//!     review.status = Some(LoanReviewStatus { allowed });
//!     Ok(review)
//! }
//!
//! let server = Server::builder().virtual_kind(review).memory();
//! ```
//!
//! Independent of HTTP. Guarantees that the changes of a handler go through the pipeline of every write, as the requesting
//! user.

mod backend;
mod change;
mod context;
mod forward;
mod hooks;
mod open;
mod options;
mod parent;
mod session;
mod stream;
mod subresource;
mod table;
#[cfg(test)]
mod tests;
mod text;
mod virtual_kind;

pub use context::RequestContext;
pub(crate) use forward::Serve;
pub use forward::{Forward, ForwardOptions};
pub(crate) use open::{ConnectionGuard, Open};
pub use options::{NoOptions, Options};
pub(crate) use options::{Wrong, read as read_options};
pub use parent::Parent;
pub(crate) use parent::Target;
pub use session::{ExecOptions, Exit, Input, Output, Remote, Session, TerminalSize};
pub(crate) use session::{Run, StreamOptions, pair};
pub use stream::{exec, port_forward, text};
pub(crate) use subresource::{Connect, Documents, Handler};
pub use subresource::{Subresource, get, post, put};
pub(crate) use table::Handlers;
#[doc(hidden)]
pub use table::Pending;
pub(crate) use table::SubresourceHandler;
pub use text::{Text, TextWriter};
pub(crate) use virtual_kind::Ask;

use std::pin::Pin;

pub(crate) use kindsmith_model::kind::client::Client;
pub use kindsmith_model::kind::client::{Object, Reply};
use kindsmith_model::kind::client::{Watch, decode, encode, on_type};

pub use crate::meta::refusal::{Refusal, Result};

/// The future of a handler's answer.
pub(crate) type HandlerFuture<T> = Pin<Box<dyn Future<Output = Result<T>> + Send>>;
