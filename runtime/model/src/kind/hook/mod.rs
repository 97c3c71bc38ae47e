//! Code that runs in the writes of a kind, on its Rust type: [`Hooks`], and the functions that attributes name.
use std::{
    pin::Pin,
    task::{Context as Waking, Poll},
};

use serde::de::DeserializeOwned;

pub use self::{
    functions::{Default, Functions, Validate},
    typed::{cell, on_documents},
};
use super::binding::{Hook, HookContext};
use crate::{
    kind::client::Client,
    meta::{FieldError, Operation, User, options::WriteOptions, refusal::Result},
};

mod functions;
mod typed;

/// The request that a hook runs in.
pub struct Context<'a, T> {
    /// The object before the request; `None` on creation, and for documents of handlers. An error means that the type cannot
    /// decode it, because it was
    /// stored when the type was different. A write that fixes such an object is validated, but hooks that set defaults do
    /// not run for it, because the change is unknown.
    pub old: Option<std::result::Result<T, String>>,
    /// What the request does to the object.
    pub operation: Operation,
    /// The requesting user.
    pub user: &'a User,
    /// True if nothing will be stored.
    pub dry_run: bool,
    /// The written subresource, such as `status`; empty for the object itself.
    pub subresource: &'a str,
    /// The same on documents, and the server.
    pub request: HookContext<'a>,
}

impl<'a, T: DeserializeOwned> Context<'a, T> {
    fn new(request: HookContext<'a>) -> Self {
        let HookContext { old, operation, user, dry_run, subresource, .. } = request;
        Self { old: old.map(typed::decode), operation, user, dry_run, subresource, request }
    }
}

impl<T> Context<'_, T> {
    /// The object before the request, if there is one that the type can decode.
    pub fn old(&self) -> Option<&T> {
        self.old.as_ref()?.as_ref().ok()
    }

    /// Warns the client, whether the request succeeds or not. kubectl prints warnings.
    pub fn warn(&self, text: impl Into<String>) {
        self.request.warnings.add(text);
    }

    /// A client that acts for the requesting user: with their name and field manager, and without storing anything in a
    /// dry run. It is not authorized: the user was authorized for this request, and the hook is responsible for its
    /// effects.
    ///
    /// # Panics
    /// If the hook was not called by a server.
    pub fn client(&self) -> Client {
        let HookContext { user, dry_run, field_manager, server, .. } = self.request;
        let server = server.expect("a hook with a client is called by a server").shared();
        let write = WriteOptions { dry_run, field_manager: field_manager.to_owned(), ..WriteOptions::default() };
        Client::acting_as(server, user.clone(), write)
    }
}

/// Code of a kind's own that runs in its writes: with state, asynchronous, and able to refuse with any Status. It is added
/// to a kind by the builder's `kind_with`. Hooks run for each served version of the kind for which they were added, and
/// those of the storage version also for writes and deletions of other versions. `on_delete` and `holds_deletion` are called
/// only in the storage version.
///
/// Pure functions need no state: the derive's attributes `default`, `validate`, `generate_name`, `on_delete` and
/// `holds_deletion` declare them, and they run first.
///
/// A hook may wait: other requests go on meanwhile, and if the object has changed by then, a patch runs the hooks again,
/// so that one request may call them several times. A panic answers with 500.
///
/// ```
/// # extern crate kindsmith_model as kindsmith;
/// # use std::collections::BTreeSet;
/// # use kindsmith::{ApiType, Context, FieldError, FieldErrorKind, FieldPath, Hooks, ObjectMeta, Resource};
/// # use kindsmith::meta::refusal::Result;
/// # use serde::{Deserialize, Serialize};
/// # use tokio::sync::RwLock;
/// # /// A book.
/// # #[derive(Resource, Clone, Debug)]
/// # #[resource(group = "library.example.com", version = "v1")]
/// # pub struct Book { pub metadata: ObjectMeta, pub spec: BookSpec }
/// # /// What is known about it.
/// # #[derive(ApiType, Clone, Debug, Serialize, Deserialize)]
/// # pub struct BookSpec { pub genre: String }
/// # /// A genre.
/// # #[derive(Resource, Clone, Debug)]
/// # #[resource(group = "library.example.com", version = "v1", cluster)]
/// # pub struct Genre { pub metadata: ObjectMeta }
/// struct Genres {
///     known: RwLock<BTreeSet<String>>,
/// }
///
/// impl Hooks<Book> for Genres {
///     async fn validate(&self, book: &Book, context: &Context<'_, Book>) -> Result<Vec<FieldError>> {
///         if self.known.read().await.contains(&book.spec.genre) {
///             return Ok(Vec::new());
///         }
///         if context.client().of::<Genre>("").get_opt(&book.spec.genre).await?.is_some() {
///             return Ok(Vec::new());
///         }
///         let error = FieldErrorKind::Invalid(book.spec.genre.as_str().into());
///         Ok(vec![FieldError::new(&FieldPath::new("spec").child("genre"), error, "is not a known genre")])
///     }
/// }
/// ```
pub trait Hooks<T>: Send + Sync + 'static {
    /// True if a hook changes something besides the object. A dry run is then refused with 400.
    fn has_side_effects(&self) -> bool {
        false
    }

    /// Sets defaults that the declaration cannot express. They are owned by the writer, like values that it sent.
    ///
    /// Fields that the type does not know are kept. List items are matched by the keys of a map list, otherwise by equality. If
    /// other items of such a list change, and their number changes as well, they lose their unknown fields.
    ///
    /// # Errors
    /// Why the write is refused.
    fn set_defaults(&self, object: &mut T, context: &Context<'_, T>) -> impl Future<Output = Result<()>> + Send {
        let _ = (object, context);
        NotImplemented(|| Ok(()))
    }

    /// Checks what the schema cannot express. On an update, errors about values that the write does not change, and that
    /// the old object has as well, do not count. To find them, the old object is checked as if it were new.
    ///
    /// # Errors
    /// Why the write is refused, if that is not about fields.
    fn validate(&self, object: &T, context: &Context<'_, T>) -> impl Future<Output = Result<Vec<FieldError>>> + Send {
        let _ = (object, context);
        NotImplemented(|| Ok(Vec::new()))
    }

    /// Decides about a valid write, after validation, and about a deletion, for which `object` is the object that would
    /// be deleted, and `context.operation` is [`Operation::Delete`]. A deletion is not refused for an object that the type
    /// cannot decode, or that cannot be converted to the version of the request.
    ///
    /// # Errors
    /// Why the request is refused.
    fn admit(&self, object: &T, context: &Context<'_, T>) -> impl Future<Output = Result<()>> + Send {
        let _ = (object, context);
        NotImplemented(|| Ok(()))
    }

    /// Generates a name from `metadata.generateName`; `None` appends five random characters.
    fn generate_name(&self, object: &T, base: &str) -> impl Future<Output = Option<String>> + Send {
        let _ = (object, base);
        NotImplemented(|| None)
    }

    /// Changes an object when its deletion starts. One that the type cannot decode is deleted without this change.
    fn on_delete(&self, object: &mut T) -> impl Future<Output = ()> + Send {
        let _ = object;
        NotImplemented(|| ())
    }

    /// True while a deleted object must be kept. One that the type cannot decode is kept, too, until a change of it or of the
    /// type mends that, or until an administrator deletes it with `ignoreStoreReadErrorWithClusterBreakingPotential`.
    fn holds_deletion(&self, object: &T) -> impl Future<Output = bool> + Send {
        let _ = object;
        NotImplemented(|| false)
    }

    /// True if a hook does something. The server skips other hooks, and hooks that are not implemented.
    #[doc(hidden)]
    fn runs(&self, hook: Hook) -> bool {
        let _ = hook;
        true
    }
}

/// The future of a hook that is not implemented, which is recognized by this type.
struct NotImplemented<O>(fn() -> O);

impl<O> Future for NotImplemented<O> {
    type Output = O;

    fn poll(self: Pin<&mut Self>, _: &mut Waking<'_>) -> Poll<O> {
        Poll::Ready((self.0)())
    }
}
