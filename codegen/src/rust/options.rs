//! What the user changes of the generated code.
use std::collections::BTreeMap;

use kindsmith_meta::text::nesting;
use proc_macro2::TokenStream;
use quote::quote;
use syn::parse::{Parse, Parser as _};

use super::{
    model::{Model, Ty},
    names,
};

/// Changes of the generated code, by the names that it would have.
#[derive(Clone, Debug, Default)]
pub(crate) struct Options {
    pub types: BTreeMap<String, String>,
    pub fields: BTreeMap<(String, String), String>,
    pub replaced: BTreeMap<String, String>,
    pub skipped: Vec<String>,
    /// Derives by type; of all types, under `*`.
    pub derives: BTreeMap<String, Vec<String>>,
    pub attributes: BTreeMap<String, Vec<String>>,
    pub features: bool,
    pub command: String,
}

impl Options {
    pub(super) fn renamed(&self, name: &str) -> String {
        self.types.get(name).map_or(name, String::as_str).to_owned()
    }

    pub(super) fn renamed_field(&self, ty: &str, wire: &str) -> Option<&String> {
        self.fields.get(&(ty.to_owned(), wire.to_owned()))
    }

    /// Fails if an option names a type or a field that is not generated. Skipped kinds are known by their names.
    pub(super) fn check(&self, model: &Model, skipped: &[String]) -> Result<(), String> {
        let has_type = |name: &str| name == "*" || model.types.iter().any(|declaration| declaration.plain_name == name);
        let has_field = |name: &str, wire: &str| {
            let mut named = model.types.iter().filter(|declaration| declaration.plain_name == name);
            named.any(|declaration| declaration.fields.iter().any(|field| field.wire == wire))
        };
        let types = self.types.keys().chain(self.replaced.keys()).chain(self.derives.keys()).map(String::as_str);
        let types = types.chain(self.skipped.iter().filter(|name| !skipped.contains(name)).map(String::as_str));
        let wrong_type = types.map(str::to_owned).find(|name| !has_type(name));
        let fields = self.fields.keys().map(|(name, wire)| (&**name, &**wire));
        let of_attributes = self.attributes.keys().map(|of| of.split_once('.').unwrap_or((of, "")));
        let mut of_fields = fields.chain(of_attributes);
        let wrong = wrong_type.or_else(|| {
            let wrong =
                |(name, wire): &(&str, &str)| if wire.is_empty() { !has_type(name) } else { !has_field(name, wire) };
            of_fields.find(wrong).map(|(name, wire)| format!("{name}.{wire}").trim_end_matches('.').to_owned())
        });
        if let Some(wrong) = wrong {
            return Err(format!("an option is for `{wrong}`, which is not generated"));
        }
        let names = self.types.values().chain(self.fields.values());
        let wrong = names.into_iter().find(|name| !names::is_ident(name));
        wrong.map_or(Ok(()), |wrong| Err(format!("an option gives the name {wrong:?}, which is no identifier of Rust")))
    }

    /// True if no declaration of the type is written.
    pub(super) fn is_skipped(&self, name: &str) -> bool {
        self.replaced.contains_key(name) || self.skipped.iter().any(|skipped| skipped == name)
    }

    /// True if there is a type of the user's in it.
    pub(super) fn is_replaced(&self, ty: &Ty, model: &Model) -> bool {
        let mut found = false;
        ty.walk(&mut |_| (), &mut |id| found |= self.replaced.contains_key(&model.types[id].plain_name));
        found
    }

    /// A type as it is written.
    pub(super) fn ty(&self, ty: &Ty, model: &Model) -> Result<TokenStream, String> {
        Ok(match ty {
            Ty::Known(name) => {
                let name = names::ident(name);
                quote!(#name)
            }
            Ty::List(item) => {
                let item = self.ty(item, model)?;
                quote!(Vec<#item>)
            }
            Ty::Nullable(inner) => {
                let inner = self.ty(inner, model)?;
                quote!(Option<#inner>)
            }
            Ty::Map(value) => {
                let value = self.ty(value, model)?;
                quote!(BTreeMap<String, #value>)
            }
            Ty::Declared(id) => {
                let declaration = &model.types[*id];
                match self.replaced.get(&declaration.plain_name) {
                    Some(path) => {
                        let path = parsed::<syn::Type>(path)?;
                        quote!(#path)
                    }
                    None if self.is_skipped(&declaration.plain_name) => quote!(kindsmith::RawJson),
                    None => {
                        let name = names::ident(&declaration.name);
                        quote!(#name)
                    }
                }
            }
        })
    }

    /// The derives of a type with further ones, and its further attributes. `Default` is not among those of all types, if the type
    /// has none.
    pub(super) fn attributes(
        &self,
        name: &str,
        derives: &TokenStream,
        has_default: bool,
    ) -> Result<(TokenStream, TokenStream), String> {
        let mut derives = derives.clone();
        let of_all = self.derives.get("*").into_iter().flatten().filter(|path| has_default || *path != "Default");
        for path in of_all.chain(self.derives.get(name).into_iter().flatten()) {
            let is_known = derives.clone().into_iter().any(|token| token.to_string() == *path);
            if !is_known {
                let path = parsed::<syn::Path>(path)?;
                derives.extend(quote!(, #path));
            }
        }
        Ok((derives, self.given(name)?))
    }

    pub(super) fn field_attributes(&self, ty: &str, wire: &str) -> Result<TokenStream, String> {
        self.given(&format!("{ty}.{wire}"))
    }

    fn given(&self, of: &str) -> Result<TokenStream, String> {
        let mut all = TokenStream::new();
        for text in self.attributes.get(of).into_iter().flatten() {
            flat(text)?;
            let attributes = syn::Attribute::parse_outer.parse_str(text).map_err(|error| not_rust(text, &error))?;
            all.extend(quote!(#(#attributes)*));
        }
        Ok(all)
    }
}

fn parsed<T: Parse>(text: &str) -> Result<T, String> {
    flat(text)?;
    syn::parse_str(text).map_err(|error| not_rust(text, &error))
}

/// Fails for a text that is nested so deep that reading it would take the stack.
fn flat(text: &str) -> Result<(), String> {
    const DEEPEST: usize = 64;
    if nesting(text) <= DEEPEST { Ok(()) } else { Err(format!("an option is nested more than {DEEPEST} deep")) }
}

fn not_rust(text: &str, error: &syn::Error) -> String {
    format!("{text:?} is not Rust: {error}")
}
