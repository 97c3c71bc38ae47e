//! The expansion of `#[derive(Resource)]`.
use proc_macro2::{Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::{Ident, ext::IdentExt, spanned::Spanned};

use super::{
    anonymous, api_type, checks, conversion, root,
    rules::{dotted, option},
};
use crate::{
    model::{Cell, Column, Container, Conversion, Grace, Kind},
    parse::serde::function_name,
};

/// A kind: tables, checks, serde implementations and tests.
pub(crate) fn kind(kind: &Kind) -> TokenStream {
    let mut body = api_type::implementation(&kind.root);
    body.extend(implementation(kind));
    body.extend(checks::container(&kind.root));
    body.extend(paths(kind));
    body.extend(conversion::checks(kind));
    body.extend(root::serde(&kind.root));
    let mut tokens = anonymous(&kind.root.krate, &body);
    tokens.extend(tests(kind));
    tokens
}

/// The tests that every kind gets, and every conversion except `none`.
fn tests(kind: &Kind) -> TokenStream {
    let Container { krate, ident: root, .. } = &kind.root;
    let test = |check: &str| {
        let (name, check) =
            (format_ident!("{}_{check}", function_name(&root.unraw().to_string())), format_ident!("{check}"));
        quote! {
            #[cfg(test)]
            #[allow(unnameable_test_items)]
            #[test]
            fn #name() {
                #krate::testing::#check::<#root>();
            }
        }
    };
    let mut tests = test("schema_and_type_agree");
    if kind.storage.as_ref().is_some_and(|storage| !matches!(storage.conversion, Conversion::None)) {
        tests.extend(test("conversion_loses_nothing"));
    }
    tests
}

fn implementation(kind: &Kind) -> TokenStream {
    let Kind { version, status, served, deprecated, .. } = kind;
    let root = &kind.root.ident;
    let scale = option(kind.scale.as_ref().map(|scale| {
        let (replicas, status) = (dotted(&scale.replicas), dotted(&scale.status));
        let selector = option(scale.selector.as_ref().map(dotted));
        quote!(__kind::ScaleDecl { replicas: #replicas, status: #status, selector: #selector })
    }));
    let no_age = kind.no_age;
    let columns = kind.columns.iter().map(|c| column(root, c));
    let selectable = kind.selectable.iter().map(dotted);
    let hooks = hooks(kind);
    let deprecated = option(deprecated.as_ref());
    let verbs = option(kind.verbs.as_ref().map(|verbs| {
        let verbs = verbs.iter().map(|verb| format_ident!("{verb}"));
        quote!(&[#(__kind::Verb::#verbs),*])
    }));
    let storage = conversion::declaration(kind);
    let shared = match &kind.storage {
        None => of_all_versions(kind),
        Some(storage) => {
            let stored = conversion::stored(storage);
            let group = kind.group.as_ref().map(|group| quote!(group: #group,));
            quote!(#group ..*#stored)
        }
    };
    let scope = match &kind.storage {
        None if kind.cluster => quote!(__kind::Cluster),
        None => quote!(__kind::Namespaced),
        Some(storage) => {
            let stored = &storage.root;
            quote_spanned!(stored.span()=> <#stored as __kind::Resource>::Scope)
        }
    };
    let keeping = if kind.stored { quote!(Stored) } else { quote!(Unstored) };
    quote! {
        #[diagnostic::do_not_recommend]
        impl __kind::Resource for #root {
            type Scope = #scope;
            const RESOURCE: &'static __kind::ResourceDecl = &__kind::ResourceDecl {
                version: #version,
                served: #served,
                deprecated: #deprecated,
                verbs: #verbs,
                storage: #storage,
                status: #status,
                scale: #scale,
                columns: &[#(#columns),*],
                no_age: #no_age,
                selectable: &[#(#selectable),*],
                hooks: #hooks,
                #shared
            };
        }
        #[diagnostic::do_not_recommend]
        impl __kind::#keeping for #root {}
    }
}

/// The common part of a kind's versions, as fields of the table.
fn of_all_versions(kind: &Kind) -> TokenStream {
    let Kind { kind: name, plural, singular, short_names, categories, .. } = kind;
    let Kind { list_kind, generation, stored, update_without_version, create_on_update, returns_deleted, .. } = kind;
    let group = kind.group.as_deref().unwrap_or_default();
    let scope = if kind.cluster { quote!(Cluster) } else { quote!(Namespaced) };
    let policy = match &kind.policy {
        Some(policy) => quote!(#policy),
        None if kind.builtin => quote!(__kind::Compiled),
        None => quote!(__kind::Custom),
    };
    let names = format_ident!("{}", kind.names);
    let grace = option(kind.grace.as_ref().map(|grace| match grace {
        Grace::Seconds(seconds) => quote!(__kind::GraceDecl::Seconds(#seconds)),
        Grace::Path(path) => {
            let path = dotted(path);
            quote!(__kind::GraceDecl::Path(#path))
        }
    }));
    let [read, write] = [kind.roles.read, kind.roles.write].map(|role| {
        option(role.map(|role| {
            let role = format_ident!("{role:?}");
            quote!(__kind::UserRole::#role)
        }))
    });
    let lifetime = option(kind.lifetime.map(|seconds| quote!(#seconds)));
    quote! {
        group: #group,
        kind: #name,
        list_kind: #list_kind,
        plural: #plural,
        singular: #singular,
        short_names: &[#(#short_names),*],
        categories: &[#(#categories),*],
        scope: __kind::Scope::#scope,
        policy: &#policy,
        names: __kind::NameRule::#names,
        generation: #generation,
        stored: #stored,
        update_without_version: #update_without_version,
        create_on_update: #create_on_update,
        returns_deleted: #returns_deleted,
        grace: #grace,
        lifetime_seconds: #lifetime,
        roles: __kind::UserRoles { read: #read, write: #write },
    }
}

fn column(root: &Ident, column: &Column) -> TokenStream {
    let Column { name, priority, description, format, .. } = column;
    let cell = match &column.cell {
        Cell::Path(path) => {
            let path = dotted(path);
            quote!(__kind::CellDecl::Path(#path))
        }
        Cell::Json(path, kind) => quote!(__kind::CellDecl::JsonPath(#path, #kind)),
        Cell::Function(function) => {
            let span = function.segments.last().map_or_else(Span::call_site, |s| s.ident.span());
            let cell = quote_spanned!(span=> __kind::hook::cell::<#root, _>);
            let column = quote_spanned!(span=> __decl::checks::column_of::<#root, _>);
            let kind = quote!(#column(&(#function as fn(&#root) -> _)));
            quote!(__kind::CellDecl::Computed(|document| #cell(document, #function), #kind))
        }
    };
    quote! {
        __kind::ColumnDecl {
            name: #name,
            priority: #priority,
            description: #description,
            format: #format,
            cell: #cell,
        }
    }
}

/// Adapters of the declared hooks. A kind without hooks generates no code.
fn hooks(kind: &Kind) -> TokenStream {
    let root = &kind.root.ident;
    if kind.hooks.is_empty() {
        return quote!(|| ::std::sync::Arc::new(__kind::NoHooks));
    }
    let declared = kind.hooks.iter().map(|(name, function)| quote!(#name: ::core::option::Option::Some(#function)));
    let functions = quote!(__kind::hook::Functions::<#root>);
    quote!(|| __kind::hook::on_documents(#functions { #(#declared,)* ..#functions::NONE }))
}

/// Paths as expressions, for the compiler.
fn paths(kind: &Kind) -> TokenStream {
    let root = &kind.root;
    let columns = kind.columns.iter().filter_map(|c| match &c.cell {
        Cell::Path(path) => Some((path, "column")),
        Cell::Function(_) | Cell::Json(..) => None,
    });
    let selectable = kind.selectable.iter().map(|path| (path, "selectable"));
    let scale = kind.scale.iter().flat_map(|scale| {
        // A schema that is published elsewhere may say anything of them.
        let [replicas, selector] = if root.published { ["declared"; 2] } else { ["replicas", "selector"] };
        let selector = scale.selector.as_ref().map(|path| (path, selector));
        [Some((&scale.replicas, replicas)), Some((&scale.status, replicas)), selector].into_iter().flatten()
    });
    let grace = kind.grace.iter().filter_map(|grace| match grace {
        Grace::Path(path) => Some((path, "seconds")),
        Grace::Seconds(_) => None,
    });
    columns.chain(selectable).chain(scale).chain(grace).map(|(path, what)| checks::path_of(root, path, what)).collect()
}
