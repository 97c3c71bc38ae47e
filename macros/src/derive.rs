//! The derives from end to end: parse, check, expand. An invalid declaration expands to its errors and to empty
//! implementations, so that uses of the type cause no further errors.
use proc_macro2::TokenStream;
use syn::{DeriveInput, ext::IdentExt};

use crate::{
    check,
    diag::Errors,
    expand,
    parse::{container, resource as resource_args, type_args},
};

/// `#[derive(Resource)]`.
pub(crate) fn resource(input: TokenStream) -> TokenStream {
    let errors = Errors::default();
    let (input, mut raw) = match container::parse(input, &errors) {
        Ok(parsed) => parsed,
        Err(error) => return error.to_compile_error(),
    };
    let args = resource_args::read(&input.attrs, &errors);
    raw.krate = args.krate.clone().unwrap_or(raw.krate);
    let message = "the fields of a kind are declared here; put `#[api(schema = schemars)]` on the field `spec`";
    check::generated::check_absent(&raw.api, message, &errors);
    let krate = raw.krate.clone();
    number_kind(&mut raw, &args, &errors);
    let kind = check::resource::kind(raw, args, &errors);
    errors.check_allowed();
    finish((&input, &krate), kind, errors, |kind| expand::resource::kind(&kind), expand::empty::resource)
}

/// `#[derive(ApiType)]`.
pub(crate) fn api_type(input: TokenStream) -> TokenStream {
    let errors = Errors::default();
    if let Some(input) = type_args::generated(&input) {
        let krate = container::default_crate();
        let found = check::generated::api_type(&input, &errors);
        return finish((&input, &krate), found, errors, |g| expand::generated::api_type(&g), expand::empty::api_type);
    }
    let (input, mut raw) = match container::parse(input, &errors) {
        Ok(parsed) => parsed,
        Err(error) => return error.to_compile_error(),
    };
    let krate = raw.krate.clone();
    number_type(&mut raw, &errors);
    let container = check::container::api_type(raw, &errors);
    errors.check_allowed();
    finish((&input, &krate), container, errors, |c| expand::api_type::container(&c), expand::empty::api_type)
}

/// `#[derive(Message)]`. The derive beside it reports errors of the declaration; this one only reports errors of the
/// message.
pub(crate) fn message(input: TokenStream) -> TokenStream {
    let (errors, others) = (Errors::default(), Errors::default());
    let (input, mut raw) = match container::parse(input, &others) {
        Ok(parsed) => parsed,
        Err(error) => return error.to_compile_error(),
    };
    let message = "a message needs fields with numbers, which this type does not declare; remove `schema`";
    check::generated::check_absent(&raw.api, message, &errors);
    let is_kind = input.attrs.iter().any(|attribute| attribute.path().is_ident("resource"));
    let args = resource_args::read(&input.attrs, &others);
    if is_kind {
        number_kind(&mut raw, &args, &others);
    } else {
        number_type(&mut raw, &others);
    }
    // A lock that does not fit is an error of the declaration.
    if others.is_empty() && !check::lock::is_open(&raw, &args) {
        check::message::check_numbered(&raw, &errors);
    }
    raw.krate = args.krate.clone().unwrap_or(raw.krate);
    let krate = raw.krate.clone();
    let container = if is_kind {
        check::resource::kind(raw, args, &others).map(|kind| kind.root)
    } else {
        check::container::api_type(raw, &others)
    };
    let container = container.filter(|_| others.is_empty());
    finish((&input, &krate), container, errors, |c| expand::message::container(&c), expand::empty::message)
}

/// Numbers a kind by its lock.
fn number_kind(raw: &mut container::Container, args: &resource_args::KindArgs, errors: &Errors) {
    if let Some(path) = &args.proto {
        let name = args.kind.as_ref().map_or_else(|| raw.ident.unraw().to_string(), syn::LitStr::value);
        check::lock::number(raw, path, &name, true, errors);
    }
}

/// Numbers a nested type by its lock.
fn number_type(raw: &mut container::Container, errors: &Errors) {
    if let Some(path) = raw.api.proto.clone() {
        let name = raw.ident.unraw().to_string();
        check::lock::number(raw, &path, &name, false, errors);
    }
}

fn finish<M>(
    (input, krate): (&DeriveInput, &syn::Path),
    model: Option<M>,
    errors: Errors,
    expand: impl FnOnce(M) -> TokenStream,
    empty: impl FnOnce(&DeriveInput, &syn::Path) -> TokenStream,
) -> TokenStream {
    match model {
        Some(model) if errors.is_empty() => expand(model),
        _ => {
            let mut tokens = empty(input, krate);
            tokens.extend(errors.into_tokens());
            tokens
        }
    }
}
