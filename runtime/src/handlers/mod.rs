//! Handlers: the user's own code that answers requests, where no stored object is the answer. Virtual kinds, which only
//! answer POST; subresources of a kind, which act on an object, show something computed from it, or connect to it.
//!
//! Handlers are typed: they get their kind's Rust type and the [`RequestContext`], and give a type back or a [`Refusal`].
//! Their input was strictly decoded, defaulted and validated like a stored object.
//!
//! ```
//! use kindsmith::{ApiType, ObjectMeta, Resource, Server, handlers::{RequestContext, Result}};
//! use serde::{Deserialize, Serialize};
//!
//! /// Asks whether the one who asks may borrow books.
//! #[derive(Resource, Clone, Debug)]
//! #[resource(group = "library.example.com", version = "v1", cluster, unstored)]
//! pub struct LoanReview {
//!     pub metadata: ObjectMeta,
//!     pub spec: LoanReviewSpec,
//!     pub status: Option<LoanReviewStatus>,
//! }
//!
//! /// What is asked for.
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
//! Knows no HTTP. Guarantees that what a handler changes goes through the pipeline of a write, under the request's name.

mod change;
pub(crate) mod client;
mod context;
mod forward;
mod hooks;
mod open;
mod options;
mod parent;
mod session;
mod stream;
mod subresource;
pub(crate) mod table;
mod text;
mod virtual_kind;

pub(crate) use client::{Client, Watch};
pub use context::RequestContext;
pub(crate) use forward::Serve;
pub use forward::{Forward, ForwardOptions};
pub(crate) use open::{Connected, Open};
pub use options::{NoOptions, Options};
pub(crate) use options::{Wrong, read as read_options};
pub use parent::Parent;
pub(crate) use parent::Target;
pub use session::{ExecOptions, Exit, Input, Output, Remote, Session, TerminalSize};
pub(crate) use session::{Redirected, Run, pair};
pub use stream::{exec, port_forward, text};
pub(crate) use subresource::{Connect, Documents, Handler};
pub use subresource::{Reply, Subresource, get, post, put};
pub(crate) use table::Mounted;
pub(crate) use table::{Handlers, Pending};
pub use text::{Text, TextWriter};
pub(crate) use virtual_kind::Ask;

use std::pin::Pin;

use serde::{Serialize, de::DeserializeOwned};

pub use crate::meta::refusal::{Refusal, Result};
use crate::{Resource, schema::Document};

/// The future answer of a handler.
pub(crate) type Soon<T> = Pin<Box<dyn Future<Output = Result<T>> + Send>>;

#[diagnostic::on_unimplemented(
    message = "`{Self}` is no object that handlers take or give",
    label = "not declared as a kind",
    note = "declare it: `#[derive(Resource)] #[resource(group = \"example.com\", version = \"v1\")]`"
)]
/// A kind's Rust type as handlers use it. Every `#[derive(Resource)]` gives it.
pub trait Object: Resource + Serialize + DeserializeOwned + Send + Sync + 'static {}

#[diagnostic::do_not_recommend]
impl<T: Resource + Serialize + DeserializeOwned + Send + Sync + 'static> Object for T {}

/// A document as its type. The schema has been checked already: what goes wrong here is the declaration's fault.
fn decode<T: DeserializeOwned>(document: &Document) -> Result<T> {
    T::deserialize(document).map_err(|error| Refusal::internal(format!("the document does not fit its type: {error}")))
}

fn encode<T: Serialize>(value: &T) -> Result<Document> {
    serde_json::to_value(value).map_err(|error| Refusal::internal(format!("the answer cannot be encoded: {error}")))
}
