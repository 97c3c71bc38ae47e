//! Adapters between a kind's hooks, which work on its Rust type, and the server, which works on documents.
//!
//! Only the changes that a hook makes are applied: the document is decoded, the hook runs, the type is encoded before
//! and after, and the difference is applied. Fields that the type does not know are kept.
use std::{any::TypeId, marker::PhantomData, sync::Arc};

use serde::{Serialize, de::DeserializeOwned};

use super::{Context, Hooks, NotImplemented};
use crate::{
    kind::{
        binding::{DocumentHooks, Hook, HookContext, HookError, HookFuture},
        difference::apply_difference,
    },
    meta::FieldError,
    schema::{Document, Schema, declare::checks::Cell},
};

/// Adapts typed hooks to documents.
pub fn on_documents<T>(hooks: impl Hooks<T>) -> Arc<dyn DocumentHooks>
where
    T: Serialize + DeserializeOwned + Send + Sync + 'static,
{
    Arc::new(TypedHooks { hooks, kind: PhantomData })
}

/// Typed hooks.
struct TypedHooks<T, H> {
    hooks: H,
    kind: PhantomData<fn() -> T>,
}

/// True if a method is not the trait's own, which returns [`NotImplemented`].
fn is_implemented<A, B, C, F: Future + 'static>(_: fn(A, B, C) -> F) -> bool
where
    F::Output: 'static,
{
    TypeId::of::<F>() != TypeId::of::<NotImplemented<F::Output>>()
}

impl<T: 'static, H: Hooks<T>> TypedHooks<T, H> {
    fn implements(hook: Hook) -> bool {
        type Of<T> = &'static Context<'static, T>;
        match hook {
            Hook::Defaults => is_implemented::<&'static H, &'static mut T, Of<T>, _>(H::set_defaults),
            Hook::Validation => is_implemented::<&'static H, &'static T, Of<T>, _>(H::validate),
            Hook::Admission => is_implemented::<&'static H, &'static T, Of<T>, _>(H::admit),
            Hook::Name => is_implemented::<&'static H, &'static T, &'static str, _>(H::generate_name),
            Hook::Deletion => {
                is_implemented::<&'static H, &'static mut T, (), _>(|hooks, object, ()| hooks.on_delete(object))
            }
            Hook::Hold => {
                is_implemented::<&'static H, &'static T, (), _>(|hooks, object, ()| hooks.holds_deletion(object))
            }
        }
    }
}

impl<T, H> DocumentHooks for TypedHooks<T, H>
where
    T: Serialize + DeserializeOwned + Send + Sync + 'static,
    H: Hooks<T>,
{
    fn runs(&self, hook: Hook) -> bool {
        Self::implements(hook) && self.hooks.runs(hook)
    }

    fn has_side_effects(&self) -> bool {
        self.hooks.has_side_effects()
    }

    fn set_defaults<'a>(&'a self, object: &'a mut Document, context: HookContext<'a>) -> HookFuture<'a, ()> {
        Box::pin(async move {
            let mut value: T = decode(object).map_err(HookError::Undecodable)?;
            let (schema, context) = (context.schema, Context::new(context));
            if matches!(context.old, Some(Err(_))) {
                return Ok(());
            }
            let before = encode(&value).map_err(HookError::Undecodable)?;
            self.hooks.set_defaults(&mut value, &context).await.map_err(HookError::Refused)?;
            apply_difference(schema, object, &before, encode(&value).map_err(HookError::Undecodable)?);
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
    fn generate_name<'a>(&'a self, object: &'a Document, base: &'a str) -> HookFuture<'a, Option<String>> {
        Box::pin(async move {
            let Ok(value) = decode(object) else { return Ok(None) };
            Ok(self.hooks.generate_name(&value, base).await)
        })
    }

    /// An object that the type does not decode stays as it is.
    fn on_delete<'a>(&'a self, object: &'a mut Document, schema: &'a Schema) -> HookFuture<'a, ()> {
        Box::pin(async move {
            let Ok(mut value) = decode::<T>(object) else { return Ok(()) };
            let Ok(before) = encode(&value) else { return Ok(()) };
            self.hooks.on_delete(&mut value).await;
            if let Ok(after) = encode(&value) {
                apply_difference(schema, object, &before, after);
            }
            Ok(())
        })
    }

    fn holds_deletion<'a>(&'a self, object: &'a Document) -> HookFuture<'a, bool> {
        Box::pin(async move {
            let value = decode(object).map_err(HookError::Undecodable)?;
            Ok(self.hooks.holds_deletion(&value).await)
        })
    }
}

pub(super) fn decode<T: DeserializeOwned>(document: &Document) -> std::result::Result<T, String> {
    T::deserialize(document).map_err(|e| e.to_string())
}

fn encode<T: Serialize>(value: &T) -> std::result::Result<Document, String> {
    serde_json::to_value(value).map_err(|e| e.to_string())
}

/// Runs a column's function. A document that the type cannot decode has an empty cell.
pub fn cell<T: DeserializeOwned, R: Cell + Serialize>(document: &Document, function: fn(&T) -> R) -> Document {
    decode(document).and_then(|value| encode(&function(&value))).unwrap_or(Document::Null)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Context, meta::refusal::Result, widget::Widget};

    /// Hooks that only check.
    struct Check;

    impl Hooks<Widget> for Check {
        async fn validate(&self, _: &Widget, _: &Context<'_, Widget>) -> Result<Vec<FieldError>> {
            Ok(Vec::new())
        }
    }

    /// Hooks that hold a deletion, or generate a name.
    struct Hold;

    impl Hooks<Widget> for Hold {
        fn generate_name(&self, object: &Widget, base: &str) -> impl Future<Output = Option<String>> + Send {
            Check.generate_name(object, base)
        }

        async fn holds_deletion(&self, _: &Widget) -> bool {
            true
        }
    }

    #[test]
    fn only_hooks_that_are_implemented_run() {
        let running =
            |hooks: Arc<dyn DocumentHooks>| Hook::ALL.into_iter().filter(|hook| hooks.runs(*hook)).collect::<Vec<_>>();
        assert_eq!(running(on_documents(Check)), [Hook::Validation]);
        assert_eq!(
            running(on_documents(Hold)),
            [Hook::Hold],
            "one that passes on to one that is not implemented neither"
        );
    }
}
