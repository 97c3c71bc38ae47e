//! Generates Rust from the model: tables, compile-time checks, and adapters for the declared functions.

pub mod api_type;
pub mod checks;
pub mod conversion;
pub mod empty;
pub mod message;
pub mod resource;
pub mod root;
pub mod rules;

use proc_macro2::TokenStream;
use quote::quote;

/// An item that adds no names to the user's module. Inside, `__decl` is `kindsmith::schema::declare`.
fn anonymous(body: &TokenStream) -> TokenStream {
    quote! {
        #[doc(hidden)]
        #[allow(dead_code, unused_qualifications, clippy::all, clippy::pedantic)]
        const _: () = {
            use ::kindsmith::schema::declare as __decl;
            #body
        };
    }
}

/// An item that adds no names to the user's module, without the tables. Inside, `__message` is `kindsmith::message`.
fn message_items(body: &TokenStream) -> TokenStream {
    quote! {
        #[doc(hidden)]
        #[allow(dead_code, unused_qualifications, clippy::all, clippy::pedantic)]
        const _: () = {
            use ::kindsmith::message as __message;
            use ::kindsmith::message::prost as __prost;
            #body
        };
    }
}
