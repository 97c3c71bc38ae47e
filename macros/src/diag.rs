//! The sink for errors, so that a derive reports all of them at once.
use std::cell::{Cell, RefCell};

use proc_macro2::{Span, TokenStream};

/// Collects errors. Shared by all stages of one derive.
#[derive(Default)]
pub(crate) struct Errors {
    found: RefCell<Vec<syn::Error>>,
    published: Cell<bool>,
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

    /// The type is declared as published elsewhere.
    pub(crate) fn publish(&self) {
        self.published.set(true);
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
