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
    /// Sets defaults that the declaration cannot express.
    pub default: Option<Default<T>>,
    /// Checks what the schema cannot express.
    pub validate: Option<Validate<T>>,
    /// Makes a name from a base.
    pub generate_name: Option<fn(&T, &str) -> String>,
    /// Changes an object whose deletion begins.
    pub on_delete: Option<fn(&mut T)>,
    /// True while a deleted object is held.
    pub holds_deletion: Option<fn(&T) -> bool>,
}

impl<T> Functions<T> {
    /// No hooks.
    pub const NONE: Self =
        Self { default: None, validate: None, generate_name: None, on_delete: None, holds_deletion: None };
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
