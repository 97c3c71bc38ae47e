//! Compile-time checks: functions that are never called, which use paths as expressions and rules as bounds, and
//! assertions on tables. Each token has the user's span, so that errors are reported there.
use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::{Ident, Type, ext::IdentExt, spanned::Spanned};

use super::generated;
use crate::{
    check::{bounds::subject, lists::set_span},
    model::{Container, Content, Field, Keywords, List, Literal, Rules, RustPath, Shape},
    parse::types::{Look, look},
};

/// The checks of all fields of a type.
pub(crate) fn container(container: &Container) -> TokenStream {
    let mut checks = TokenStream::new();
    let mut add = |fields: &[Field]| {
        checks.extend(fields.iter().map(|field| {
            if field.generated {
                return generated::check(&field.ty);
            }
            let mut checks = rules(&field.ty, &field.rules, container.published);
            checks.extend(field.conditions.then(|| conditions(field)));
            checks
        }));
    };
    match &container.shape {
        Shape::Struct(fields) => {
            add(fields);
            checks.extend(rule_fields(&container.keywords).map(|path| path_of(container, path, "declared")));
        }
        Shape::Enum(_) => {}
        Shape::Union(members) => {
            for member in members {
                if let Content::Struct(fields) = &member.content {
                    add(fields);
                }
            }
        }
    }
    checks
}

/// Conditions have a type and a status, which clients such as `kubectl wait` read.
fn conditions(Field { ident, ty, .. }: &Field) -> TokenStream {
    ["type", "status"]
        .map(|name| {
            let message = format!("a condition needs the field `{name}`; use `kindsmith::Condition` for the items");
            quote_spanned! {ident.span()=>
                const _: () = ::core::assert!(__decl::checks::has::<__decl::checks::Item<#ty>>(#name), #message);
            }
        })
        .into_iter()
        .collect()
}

/// Checks that serde's traits are derived, too.
pub(crate) fn on_the_wire(container: &Ident) -> TokenStream {
    let check = Ident::new("on_the_wire", container.span());
    quote_spanned!(container.span()=> const _: fn() = __decl::checks::#check::<#container>;)
}

/// Checks of a field's rules that need types. Items of published lists may lack keys.
fn rules(ty: &Type, rules: &Rules, published: bool) -> TokenStream {
    let mut checks = TokenStream::new();
    if let Some(span) = set_span(&rules.list) {
        checks.extend(quote_spanned!(span=> const _: fn() = __decl::checks::set_items::<#ty>;));
    }
    if let List::Map(keys) = &rules.list {
        checks.extend(keys.iter().map(|k| key(ty, k, published)));
        checks.extend(keys.iter().filter(|_| !published).map(|k| key_is_required(ty, k)));
    }
    let merge_key = rules.merge.as_ref().and_then(|merge| merge.key.as_ref());
    let known = |key: &Ident| matches!(&rules.list, List::Map(keys) if keys.contains(key));
    checks.extend(merge_key.filter(|key| !known(key)).map(|k| key(ty, k, published)));
    checks.extend(default(ty, rules));
    if let Look::Other = look(ty).look {
        checks.extend(shape(ty, rules));
        checks.extend(
            rule_fields(&rules.keywords).map(|field| path(&quote!(<#ty as __decl::ApiType>::Inner), field, "declared")),
        );
    }
    checks
}

/// The fields that rules in CEL name.
fn rule_fields(keywords: &Keywords) -> impl Iterator<Item = &RustPath> {
    let rules =
        keywords.iter().filter_map(|(_, value)| if let Literal::List(rules) = value { Some(rules) } else { None });
    rules.flatten().filter_map(|rule| {
        let Literal::Map(entries) = rule else { return None };
        entries.iter().find_map(|(_, value)| if let Literal::Path(path) = value { Some(path) } else { None })
    })
}

/// A key of a list map must be a scalar and required field of the items.
fn key(ty: &Type, key: &Ident, published: bool) -> TokenStream {
    let key = plain(key);
    let value = Ident::new("value", key.span());
    let check = if published { Ident::new("published_key", key.span()) } else { Ident::new("key", key.span()) };
    let check = quote_spanned!(key.span()=> __decl::checks::#check(#value));
    quote! {
        const _: fn(&__decl::checks::Item<#ty>) = |item| {
            let #value = &item.#key;
            #check
        };
    }
}

/// serde silently fills in a defaulted field, so the schema would not require the key.
fn key_is_required(ty: &Type, key: &Ident) -> TokenStream {
    let name = key.unraw().to_string();
    let message = format!("the key `{name}` of a list map must be required: remove `#[serde(default)]` from its field");
    quote_spanned! {key.span()=>
        const _: () = ::core::assert!(__decl::checks::required::<__decl::checks::Item<#ty>>(#name), #message);
    }
}

/// Checks that a default variant has the field's type, and that other defaults have the field's JSON type.
fn default(ty: &Type, rules: &Rules) -> Option<TokenStream> {
    let (span, literal) = rules.default.as_ref()?;
    if let Literal::Variant(path) = literal {
        return Some(quote! {
            const _: fn() -> <#ty as __decl::ApiType>::Inner = || #path;
        });
    }
    let Look::Other = look(ty).look else { return None };
    let (what, message) = match literal {
        Literal::Text(_) => {
            ("Text", "the default is text, but the field is not; write a variant as `default = Color::Red`")
        }
        Literal::Int(_) | Literal::Float(_) => ("Number", "the default is a number, but the field is not"),
        Literal::Bool(_) => ("Boolean", "the default is a boolean, but the field is not"),
        Literal::List(_) => ("List", "the default is a list, but the field is not"),
        Literal::Map(_) => ("Object", "the default is an object, but the field is not"),
        Literal::Null | Literal::Variant(_) | Literal::Path(_) => return None,
    };
    Some(assert_shape(ty, *span, what, message))
}

/// Checks that a bound applies to a type whose tokens do not show its JSON type.
fn shape(ty: &Type, rules: &Rules) -> TokenStream {
    let pattern = rules.pattern.as_ref().map(|pattern| ("pattern", pattern.span()));
    let bounds = pattern.into_iter().chain(rules.bounds.iter().map(|bound| (bound.name, bound.span)));
    let bounds = bounds.map(|(name, span)| {
        let subject = subject(name);
        let what = match subject {
            "text" => "Text",
            "lists" => "List",
            "numbers" => "Number",
            _ => "Object",
        };
        assert_shape(ty, span, what, &format!("`{name}` applies to {subject}, but the field has another type"))
    });
    let whole = (rules.map_atomic || rules.retain_keys && rules.merge.is_none())
        .then(|| assert_shape(ty, ty.span(), "Object", "`map` and `retain_keys` apply to maps and structs"));
    bounds.chain(whole).collect()
}

fn assert_shape(ty: &Type, span: Span, what: &str, message: &str) -> TokenStream {
    let what = Ident::new(what, span);
    quote_spanned! {span=>
        const _: () = ::core::assert!(__decl::checks::is::<#ty>(__decl::checks::Sort::#what), #message);
    }
}

/// Checks a path from the root with a function of `checks`: `what(&inner(&root.spec).author)`.
///
/// Nothing is known here of fields in a type that `schemars::JsonSchema` describes; the kind's test finds wrong ones.
pub(crate) fn path_of(root: &Container, path: &RustPath, what: &str) -> TokenStream {
    let Shape::Struct(fields) = &root.shape else { return TokenStream::new() };
    let is_generated = |first: &Ident| fields.iter().any(|field| field.generated && first.unraw() == field.rust);
    if path.first().is_some_and(is_generated) {
        return TokenStream::new();
    }
    self::path(&root.ident, path, what)
}

/// Checks a path from a type with a function of `checks`.
pub(crate) fn path(root: &impl ToTokens, path: &RustPath, what: &str) -> TokenStream {
    let Some((last, before)) = path.split_last() else { return TokenStream::new() };
    let mut at = quote!(root);
    for segment in before {
        let name = plain(segment);
        at = quote_spanned!(segment.span()=> __decl::checks::inner(&#at.#name));
    }
    let name = plain(last);
    let what = Ident::new(what, last.span());
    let value = Ident::new("value", last.span());
    let check = quote_spanned!(last.span()=> __decl::checks::#what(#value));
    quote! {
        const _: fn(&#root) = |root| {
            let #value = &#at.#name;
            #check
        };
    }
}

/// A field's name, which may be a keyword in our attributes (`selectable(type)`).
fn plain(name: &Ident) -> Ident {
    let text = name.unraw().to_string();
    // The parser does not know that `gen` is a keyword since the edition of 2024.
    match syn::parse_str::<Ident>(&text) {
        Ok(_) if text != "gen" => Ident::new(&text, name.span()),
        _ => Ident::new_raw(&text, name.span()),
    }
}
