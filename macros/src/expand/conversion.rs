//! The additional expansion of a version that is not the storage version: its conversion to that version.
use proc_macro2::{Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::spanned::Spanned;

use super::{
    checks,
    rules::{dotted, option},
};
use crate::{
    model::{Change, Conversion, Kind, RustPath, Storage},
    parse::args::shown,
};

/// The declaration of the storage version's type.
pub(crate) fn stored(storage: &Storage) -> TokenStream {
    let root = &storage.root;
    quote_spanned!(root.span()=> <#root as __kind::Resource>::RESOURCE)
}

/// The field `storage`.
pub(crate) fn declaration(kind: &Kind) -> TokenStream {
    option(kind.storage.as_ref().map(|storage| {
        let (here, root, resource) = (&kind.root.ident, &storage.root, stored(storage));
        let conversion = match &storage.conversion {
            Conversion::Unchanged | Conversion::None => quote!(None),
            Conversion::From(span) => {
                let typed = quote_spanned!(*span=> __kind::typed::<#here, #root>);
                quote!(Typed(#typed))
            }
            Conversion::Changes(changes) => {
                let changes = changes.iter().map(change);
                quote!(Changes(&[#(__kind::ChangeDecl::#changes),*]))
            }
        };
        quote! {
            __kind::StorageDecl {
                resource: #resource,
                root: <#root as __decl::ApiType>::DECLARATION,
                conversion: __kind::ConversionDecl::#conversion,
            }
        }
    }))
}

fn change(change: &Change) -> TokenStream {
    let (name, paths) = match change {
        Change::Renamed(here, stored) => ("Renamed", vec![here, stored]),
        Change::Added(path) => ("Added", vec![path]),
        Change::Removed(path) => ("Removed", vec![path]),
    };
    let (name, paths) = (format_ident!("{name}"), paths.into_iter().map(dotted));
    quote!(#name(#(#paths),*))
}

/// Checks of the storage version that need types.
pub(crate) fn checks(kind: &Kind) -> TokenStream {
    let Some(storage) = &kind.storage else { return TokenStream::new() };
    let (version, name, stored) = (&kind.version, shown(&storage.root), stored(storage));
    let span = storage.root.segments.last().map_or_else(Span::call_site, |last| last.ident.span());
    let not_stored = format!("`{name}` is not a storage version: it declares `storage` itself, or is `unstored`");
    let is_stored = quote_spanned! {span=>
        const _: () = ::core::assert!(#stored.storage.is_none() && #stored.stored, #not_stored);
    };
    // In a group of its own, a version may have any name.
    let (field, text, same) = match &kind.group {
        Some(group) => (quote!(group), group, format!("`{name}` is in the group {group}, too; remove `group` here")),
        None => (quote!(version), version, format!("`{name}` is also version {version}")),
    };
    let mut tokens = quote_spanned! {span=>
        #is_stored
        const _: () = ::core::assert!(!__decl::checks::same(#stored.#field.as_bytes(), #text.as_bytes()), #same);
    };
    let Conversion::Changes(changes) = &storage.conversion else { return tokens };
    let here = |path: &RustPath| checks::path_of(&kind.root, path, "declared");
    let there = |path: &RustPath| checks::path(&storage.root, path, "declared");
    for change in changes {
        match change {
            Change::Renamed(path, stored) => tokens.extend([here(path), there(stored)]),
            Change::Added(path) => tokens.extend(there(path)),
            Change::Removed(path) => tokens.extend(here(path)),
        }
    }
    tokens
}
