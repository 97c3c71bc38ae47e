//! The derives `Resource`, `ApiType` and `Message`.
//!
//! A derive runs in stages, one module each: [`parse`] reads attributes, [`check`] applies the rules and turns a valid
//! declaration into a [`model`], and [`expand`] generates Rust from the model, which only `check` can create. All
//! stages report into one sink ([`diag::Errors`]), so that several errors are reported at once. An invalid declaration
//! expands to empty implementations, so that one mistake causes one error.
use proc_macro::TokenStream;

mod check;
mod derive;
mod diag;
mod expand;
mod model;
mod parse;
mod suggest;
#[cfg(test)]
mod tests;

/// Derives `Resource`.
///
#[doc = include_str!("docs/resource.md")]
#[proc_macro_derive(Resource, attributes(resource, api, serde))]
pub fn resource(input: TokenStream) -> TokenStream {
    derive::resource(input.into()).into()
}

/// Derives `Message`.
///
#[doc = include_str!("docs/message.md")]
#[proc_macro_derive(Message, attributes(resource, api, serde))]
pub fn message(input: TokenStream) -> TokenStream {
    derive::message(input.into()).into()
}

/// Derives `ApiType`.
///
#[doc = include_str!("docs/api_type.md")]
#[proc_macro_derive(ApiType, attributes(api, serde))]
pub fn api_type(input: TokenStream) -> TokenStream {
    derive::api_type(input.into()).into()
}
