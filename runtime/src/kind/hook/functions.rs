//! Hooks that a kind's attributes name.
use super::{Context, Hooks};
use crate::{
    kind::binding::Hook,
    meta::{FieldError, refusal::Result},
};

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

    async fn generate_name(&self, object: &T, base: &str) -> Option<String> {
        self.generate_name.map(|hook| hook(object, base))
    }

    async fn on_delete(&self, object: &mut T) {
        if let Some(hook) = self.on_delete {
            hook(object);
        }
    }

    async fn holds_deletion(&self, object: &T) -> bool {
        self.holds_deletion.is_some_and(|hook| hook(object))
    }

    fn runs(&self, hook: Hook) -> bool {
        match hook {
            Hook::Defaults => self.default.is_some(),
            Hook::Validation => self.validate.is_some(),
            Hook::Admission => false,
            Hook::Name => self.generate_name.is_some(),
            Hook::Deletion => self.on_delete.is_some(),
            Hook::Hold => self.holds_deletion.is_some(),
        }
    }
}
