//! Generates Rust from the model: tables, compile-time checks, and adapters for the declared functions.

pub(crate) mod api_type;
pub(crate) mod checks;
pub(crate) mod conversion;
pub(crate) mod empty;
pub(crate) mod generated;
pub(crate) mod message;
pub(crate) mod resource;
pub(crate) mod root;
pub(crate) mod rules;

use proc_macro2::TokenStream;
use quote::quote;

/// An item that adds no names to the user's module. Inside, `__decl` is kindsmith's `schema::declare`, `__kind` is
/// `kind::resource`, and `serde` is the crate.
fn anonymous(krate: &syn::Path, body: &TokenStream) -> TokenStream {
    quote! {
        #[doc(hidden)]
        #[allow(dead_code, unused_imports, unused_qualifications, clippy::all, clippy::pedantic)]
        const _: () = {
            use #krate::__private::{declare as __decl, resource as __kind, serde};
            #body
        };
    }
}

/// An item that adds no names to the user's module, without the tables. Inside, `__message` is kindsmith's `message`, and
/// `__prost` the crate.
fn message_items(krate: &syn::Path, body: &TokenStream) -> TokenStream {
    quote! {
        #[doc(hidden)]
        #[allow(dead_code, unused_qualifications, clippy::all, clippy::pedantic)]
        const _: () = {
            use #krate::__private::{message as __message, prost as __prost};
            #body
        };
    }
}
