//! Types that implement `schemars::JsonSchema`: their declaration reads the JSON Schema at run time.
use proc_macro2::TokenStream;
use quote::quote_spanned;
use syn::{GenericArgument, PathArguments, Type, parse_quote, spanned::Spanned};

use super::{anonymous, checks};
use crate::{
    model::{Field, SchemarsType},
    parse::types::last_segment,
};

impl Field {
    /// The type whose declaration describes the field.
    pub(super) fn declared(&self) -> Type {
        if self.generated { wrapped(&self.ty) } else { self.ty.clone() }
    }
}

/// The type around which there are others that are declared as for other fields, so that their rules apply.
fn within(ty: &Type) -> Option<&Type> {
    let (name, arguments) = last_segment(ty)?;
    match (name.as_str(), arguments.as_slice()) {
        ("Option" | "Box", [inner]) => Some(inner),
        ("Vec", [item]) => Some(*item).filter(|item| !is_optional(item)),
        ("BTreeMap" | "HashMap", [key, value]) => {
            let is_text = last_segment(key).is_some_and(|(name, _)| name == "String");
            Some(*value).filter(|value| is_text && !is_optional(value))
        }
        _ => None,
    }
}

/// Checks that the type can be described.
pub(super) fn check(ty: &Type) -> TokenStream {
    if let Some(inner) = within(ty) {
        return check(inner);
    }
    quote_spanned!(ty.span()=> const _: fn() = __decl::described::<#ty>;)
}

/// The type with the described part in it, as `Option<Vec<JsonSchemaOf<T>>>`.
fn wrapped(ty: &Type) -> Type {
    let mut around = ty.clone();
    if within(ty).is_some()
        && let Type::Path(path) = &mut around
        && let Some(last) = path.path.segments.last_mut()
        && let PathArguments::AngleBracketed(arguments) = &mut last.arguments
        && let Some(GenericArgument::Type(inner)) = arguments.args.last_mut()
    {
        *inner = wrapped(inner);
        return around;
    }
    let span = ty.span();
    let wrapper = quote_spanned!(span=> __decl::JsonSchemaOf);
    parse_quote!(#wrapper<#ty>)
}

fn is_optional(ty: &Type) -> bool {
    last_segment(ty).is_some_and(|(name, _)| name == "Option")
}

/// The expansion of `#[derive(ApiType)] #[api(schema = schemars)]`.
pub(crate) fn api_type(SchemarsType { krate, ident }: &SchemarsType) -> TokenStream {
    let mut body = quote_spanned! {ident.span()=>
        #[diagnostic::do_not_recommend]
        impl __decl::ApiType for #ident {
            type Inner = Self;
            const DECLARATION: &'static __decl::TypeDecl =
                <__decl::JsonSchemaOf<#ident> as __decl::ApiType>::DECLARATION;
            const NESTING: usize = 1;
        }
    };
    body.extend(check(&parse_quote!(#ident)));
    body.extend(checks::on_the_wire(ident));
    anonymous(krate, &body)
}
