//! Adapters between a kind's hooks, which work on its Rust type, and the server, which works on documents.
//!
//! Only the changes that a hook makes are applied: the document is decoded, the hook runs, the type is encoded before
//! and after, and the difference is applied. Fields that the type does not know are kept.
use std::{future::ready, marker::PhantomData, sync::Arc};

use serde::{Serialize, de::DeserializeOwned};

use super::{
    binding::{DocumentHooks, Hook, HookContext, HookError, HookFuture},
    difference::apply_difference,
};
use crate::{
    meta::{FieldError, Operation, User, refusal::Result},
    schema::{Document, declare::checks::Cell},
};

/// The request that a hook runs in.
pub struct Context<'a, T> {
    /// The object before the request; `None` on creation, and for documents of handlers. An error means that the type cannot decode it, because it was
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
    pub(crate) request: HookContext<'a>,
}

impl<'a, T: DeserializeOwned> Context<'a, T> {
    fn new(request: HookContext<'a>) -> Self {
        let HookContext { old, operation, user, dry_run, subresource, .. } = request;
        Self { old: old.map(decode), operation, user, dry_run, subresource, request }
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
/// # use std::collections::BTreeSet;
/// # use kindsmith::{ApiType, Context, FieldError, FieldErrorKind, FieldPath, Hooks, ObjectMeta, Resource, Server};
/// # use kindsmith::{builtin::ConfigMap, handlers::Result};
/// # use serde::{Deserialize, Serialize};
/// # use tokio::sync::RwLock;
/// # /// A book.
/// # #[derive(Resource, Clone, Debug)]
/// # #[resource(group = "library.example.com", version = "v1")]
/// # pub struct Book { pub metadata: ObjectMeta, pub spec: BookSpec }
/// # /// What is known about it.
/// # #[derive(ApiType, Clone, Debug, Serialize, Deserialize)]
/// # pub struct BookSpec { pub genre: String }
/// struct Genres {
///     known: RwLock<BTreeSet<String>>,
/// }
///
/// impl Hooks<Book> for Genres {
///     async fn validate(&self, book: &Book, context: &Context<'_, Book>) -> Result<Vec<FieldError>> {
///         if self.known.read().await.contains(&book.spec.genre) {
///             return Ok(Vec::new());
///         }
///         let more = context.client().of::<ConfigMap>("default").get("genres").await?;
///         if more.data.contains_key(&book.spec.genre) {
///             return Ok(Vec::new());
///         }
///         let error = FieldErrorKind::Invalid(book.spec.genre.as_str().into());
///         Ok(vec![FieldError::new(&FieldPath::new("spec").child("genre"), error, "is not a known genre")])
///     }
/// }
///
/// let genres = Genres { known: RwLock::default() };
/// let server = Server::builder().kind_with::<Book>(genres).memory();
/// ```
pub trait Hooks<T>: Send + Sync + 'static {
    /// True if a hook changes something besides the object. A dry run is then refused with 400.
    fn has_side_effects(&self) -> bool {
        false
    }

    /// Sets defaults that the declaration cannot express. They are owned by the writer, like values that it sent.
    ///
    /// # Errors
    /// Why the write is refused.
    fn set_defaults(&self, object: &mut T, context: &Context<'_, T>) -> impl Future<Output = Result<()>> + Send {
        let _ = (object, context);
        ready(Ok(()))
    }

    /// Checks what the schema cannot express. On an update, errors about values that the write does not change, and that
    /// the old object has as well, do not count. To find them, the old object is checked as if it were new.
    ///
    /// # Errors
    /// Why the write is refused, if that is not about fields.
    fn validate(&self, object: &T, context: &Context<'_, T>) -> impl Future<Output = Result<Vec<FieldError>>> + Send {
        let _ = (object, context);
        ready(Ok(Vec::new()))
    }

    /// Decides about a valid write, after validation, and about a deletion, for which `object` is the object that would
    /// be deleted, and `context.operation` is [`Operation::Delete`]. A deletion is not refused for an object that the type
    /// cannot decode, or that cannot be converted to the version of the request.
    ///
    /// # Errors
    /// Why the request is refused.
    fn admit(&self, object: &T, context: &Context<'_, T>) -> impl Future<Output = Result<()>> + Send {
        let _ = (object, context);
        ready(Ok(()))
    }

    /// Generates a name from `metadata.generateName`; `None` appends five random characters.
    fn generate_name(&self, object: &T, base: &str) -> Option<String> {
        let _ = (object, base);
        None
    }

    /// Changes an object when its deletion starts.
    fn on_delete(&self, object: &mut T) {
        let _ = object;
    }

    /// True while a deleted object must be kept.
    fn holds_deletion(&self, object: &T) -> bool {
        let _ = object;
        false
    }

    /// True if a hook does something; the server skips the others.
    #[doc(hidden)]
    fn runs(&self, hook: Hook) -> bool {
        let _ = hook;
        true
    }
}

/// A default hook as declared.
pub type Default<T> = fn(&mut T, &Context<'_, T>);
/// A validate hook as declared.
pub type Validate<T> = fn(&T, &Context<'_, T>) -> Vec<FieldError>;

/// The hooks that a kind's attributes name.
pub struct Functions<T> {
    default: Option<Default<T>>,
    validate: Option<Validate<T>>,
    generate_name: Option<fn(&T, &str) -> String>,
    on_delete: Option<fn(&mut T)>,
    holds_deletion: Option<fn(&T) -> bool>,
}

impl<T> Functions<T> {
    /// None of them.
    pub const NONE: Self =
        Self { default: None, validate: None, generate_name: None, on_delete: None, holds_deletion: None };

    /// With a function that sets defaults that the declaration cannot express.
    #[must_use]
    pub fn default(self, hook: Default<T>) -> Self {
        Self { default: Some(hook), ..self }
    }

    /// With a function that checks what the schema cannot express.
    #[must_use]
    pub fn validate(self, hook: Validate<T>) -> Self {
        Self { validate: Some(hook), ..self }
    }

    /// With a function that makes a name from a base.
    #[must_use]
    pub fn generate_name(self, hook: fn(&T, &str) -> String) -> Self {
        Self { generate_name: Some(hook), ..self }
    }

    /// With a function that changes an object whose deletion begins.
    #[must_use]
    pub fn on_delete(self, hook: fn(&mut T)) -> Self {
        Self { on_delete: Some(hook), ..self }
    }

    /// With a function that says whether a deleted object is still held.
    #[must_use]
    pub fn holds_deletion(self, hook: fn(&T) -> bool) -> Self {
        Self { holds_deletion: Some(hook), ..self }
    }
}

impl<T: Send + Sync + 'static> Hooks<T> for Functions<T> {
    async fn set_defaults(&self, object: &mut T, context: &Context<'_, T>) -> Result<()> {
        if let Some(hook) = self.default {
            hook(object, context);
        }
        Ok(())
    }

    async fn validate(&self, object: &T, context: &Context<'_, T>) -> Result<Vec<FieldError>> {
        Ok(self.validate.map(|hook| hook(object, context)).unwrap_or_default())
    }

    fn generate_name(&self, object: &T, base: &str) -> Option<String> {
        self.generate_name.map(|hook| hook(object, base))
    }

    fn on_delete(&self, object: &mut T) {
        if let Some(hook) = self.on_delete {
            hook(object);
        }
    }

    fn holds_deletion(&self, object: &T) -> bool {
        self.holds_deletion.is_some_and(|hook| hook(object))
    }

    fn runs(&self, hook: Hook) -> bool {
        match hook {
            Hook::Defaults => self.default.is_some(),
            Hook::Validation => self.validate.is_some(),
            Hook::Admission => false,
            Hook::Name => self.generate_name.is_some(),
            Hook::Deletion => self.on_delete.is_some() || self.holds_deletion.is_some(),
        }
    }
}

/// Adapts typed hooks to documents.
pub fn on_documents<T>(hooks: impl Hooks<T>) -> Arc<dyn DocumentHooks>
where
    T: Serialize + DeserializeOwned + Send + Sync + 'static,
{
    Arc::new(Typed { hooks, kind: PhantomData })
}

/// Typed hooks.
struct Typed<T, H> {
    hooks: H,
    kind: PhantomData<fn() -> T>,
}

impl<T, H> DocumentHooks for Typed<T, H>
where
    T: Serialize + DeserializeOwned + Send + Sync + 'static,
    H: Hooks<T>,
{
    fn runs(&self, hook: Hook) -> bool {
        self.hooks.runs(hook)
    }

    fn has_side_effects(&self) -> bool {
        self.hooks.has_side_effects()
    }

    fn set_defaults<'a>(&'a self, object: &'a mut Document, context: HookContext<'a>) -> HookFuture<'a, ()> {
        Box::pin(async move {
            let mut value: T = decode(object).map_err(HookError::Undecodable)?;
            let context = Context::new(context);
            if matches!(context.old, Some(Err(_))) {
                return Ok(());
            }
            let before = encode(&value).map_err(HookError::Undecodable)?;
            self.hooks.set_defaults(&mut value, &context).await.map_err(HookError::Refused)?;
            apply_difference(object, &before, encode(&value).map_err(HookError::Undecodable)?);
            Ok(())
        })
    }

    fn validate<'a>(&'a self, object: &'a Document, context: HookContext<'a>) -> HookFuture<'a, Vec<FieldError>> {
        Box::pin(async move {
            let value = decode(object).map_err(HookError::Undecodable)?;
            self.hooks.validate(&value, &Context::new(context)).await.map_err(HookError::Refused)
        })
    }

    fn admit<'a>(&'a self, object: &'a Document, context: HookContext<'a>) -> HookFuture<'a, ()> {
        Box::pin(async move {
            let value = decode(object).map_err(HookError::Undecodable)?;
            self.hooks.admit(&value, &Context::new(context)).await.map_err(HookError::Refused)
        })
    }

    /// Validation refuses an object that the type does not decode.
    fn generate_name(&self, object: &Document, base: &str) -> Option<String> {
        let value = self.hooks.runs(Hook::Name).then(|| decode(object).ok())??;
        self.hooks.generate_name(&value, base)
    }

    /// An object that the type does not decode stays as it is.
    fn on_delete(&self, object: &mut Document) {
        if !self.hooks.runs(Hook::Deletion) {
            return;
        }
        let Ok(mut value) = decode::<T>(object) else { return };
        let Ok(before) = encode(&value) else { return };
        self.hooks.on_delete(&mut value);
        if let Ok(after) = encode(&value) {
            apply_difference(object, &before, after);
        }
    }

    /// One that the type does not decode is not held.
    fn holds_deletion(&self, object: &Document) -> bool {
        self.hooks.runs(Hook::Deletion) && decode(object).is_ok_and(|value| self.hooks.holds_deletion(&value))
    }
}

fn decode<T: DeserializeOwned>(document: &Document) -> std::result::Result<T, String> {
    T::deserialize(document).map_err(|e| e.to_string())
}

fn encode<T: Serialize>(value: &T) -> std::result::Result<Document, String> {
    serde_json::to_value(value).map_err(|e| e.to_string())
}

/// Runs a column's function. A document that the type cannot decode has an empty cell.
pub fn cell<T: DeserializeOwned, R: Cell + Serialize>(document: &Document, function: fn(&T) -> R) -> Document {
    decode(document).and_then(|value| encode(&function(&value))).unwrap_or(Document::Null)
}
