//! The one sink that errors go to, so that all of them are reported at once.
use std::cell::RefCell;

use proc_macro2::{Span, TokenStream};

/// Collects errors; shared by all stages of one derive.
#[derive(Default)]
pub struct Errors {
    found: RefCell<Vec<syn::Error>>,
}

impl Errors {
    /// Reports an error at a token.
    pub fn at(&self, span: Span, message: impl std::fmt::Display) {
        self.push(syn::Error::new(span, message));
    }

    /// Reports an error that a parser returned.
    pub fn push(&self, error: syn::Error) {
        self.found.borrow_mut().push(error);
    }

    /// The value, or nothing and a report.
    pub fn ok<T>(&self, result: syn::Result<T>) -> Option<T> {
        result.map_err(|error| self.push(error)).ok()
    }

    /// Nothing has been reported.
    pub fn is_empty(&self) -> bool {
        self.found.borrow().is_empty()
    }

    /// How many errors have been reported.
    pub fn count(&self) -> usize {
        self.found.borrow().len()
    }

    /// The reports as `compile_error!` invocations.
    pub fn into_tokens(self) -> TokenStream {
        self.found.into_inner().iter().map(syn::Error::to_compile_error).collect()
    }
}
