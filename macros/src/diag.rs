//! The sink for errors, so that a derive reports all of them at once.
use std::cell::{Cell, RefCell};

use proc_macro2::{Span, TokenStream};
use syn::Ident;

/// Collects errors. Shared by all stages of one derive.
#[derive(Default)]
pub(crate) struct Errors {
    found: RefCell<Vec<syn::Error>>,
    published: Cell<bool>,
    allowed: RefCell<Vec<AllowedRule>>,
}

/// A rule of the API conventions that the declaration breaks on purpose.
struct AllowedRule {
    rule: Ident,
    /// Something breaks it.
    is_used: bool,
}

impl Errors {
    /// Reports an error at a token.
    pub(crate) fn at(&self, span: Span, message: impl std::fmt::Display) {
        self.push(syn::Error::new(span, message));
    }

    /// Reports a violation of the API conventions, which a published schema may have: it can no longer follow them.
    pub(crate) fn convention(&self, span: Span, message: impl std::fmt::Display) {
        if !self.published.get() {
            self.at(span, message);
        }
    }

    /// Reports a violation of a rule that a declaration may break with a reason: `allow(rule = "reason")`.
    pub(crate) fn breaks(&self, rule: &str, span: Span, message: impl std::fmt::Display) {
        if self.holds(rule) {
            self.at(span, message);
        }
    }

    /// Returns true if a rule that the declaration breaks must hold.
    pub(crate) fn holds(&self, rule: &str) -> bool {
        let mut allowed = self.allowed.borrow_mut();
        let found = allowed.iter_mut().find(|allowed| allowed.rule == rule);
        let is_allowed = found.map(|allowed| allowed.is_used = true).is_some();
        !is_allowed && !self.published.get()
    }

    /// A rule may be broken.
    pub(crate) fn allow(&self, rule: Ident) {
        self.allowed.borrow_mut().push(AllowedRule { rule, is_used: false });
    }

    /// A rule that nothing breaks is not allowed to be broken, so that reasons stay true.
    pub(crate) fn check_allowed(&self) {
        for AllowedRule { rule, .. } in self.allowed.take().iter().filter(|allowed| !allowed.is_used) {
            self.at(rule.span(), format!("nothing here breaks the rule `{rule}`; remove it"));
        }
    }

    /// The type is declared as published elsewhere.
    pub(crate) fn publish(&self) {
        self.published.set(true);
    }

    /// True if it is.
    pub(crate) fn is_published(&self) -> bool {
        self.published.get()
    }

    /// Reports an error that a parser returned.
    pub(crate) fn push(&self, error: syn::Error) {
        self.found.borrow_mut().push(error);
    }

    /// The value, or `None` after reporting the error.
    pub(crate) fn ok<T>(&self, result: syn::Result<T>) -> Option<T> {
        result.map_err(|error| self.push(error)).ok()
    }

    /// True if no error was reported.
    pub(crate) fn is_empty(&self) -> bool {
        self.found.borrow().is_empty()
    }

    /// The number of reported errors.
    pub(crate) fn count(&self) -> usize {
        self.found.borrow().len()
    }

    /// The errors as `compile_error!` invocations.
    pub(crate) fn into_tokens(self) -> TokenStream {
        self.found.into_inner().iter().map(syn::Error::to_compile_error).collect()
    }
}
