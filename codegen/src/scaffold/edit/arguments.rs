//! The arguments of `#[resource(…)]`.

use std::{collections::BTreeMap, ops::Range};

use syn::{Attribute, Expr, ItemStruct, Lit, Meta, Token, punctuated::Punctuated, spanned::Spanned};

use super::SourceFile;

/// An argument of `#[resource(…)]`.
pub(crate) struct Argument {
    /// Its place in the text.
    pub range: Range<usize>,
    /// The text of `name = "text"`.
    pub text: Option<String>,
}

impl SourceFile<'_> {
    /// The arguments of a kind, by name; `None` for a struct that is no kind. An argument that is given twice counts as the last
    /// one.
    pub(crate) fn arguments(&self, item: &ItemStruct) -> Result<Option<BTreeMap<String, Argument>>, String> {
        let mut all = None;
        for attribute in item.attrs.iter().filter(|attribute| attribute.path().is_ident("resource")) {
            all.get_or_insert_with(BTreeMap::new).extend(self.arguments_of(attribute)?);
        }
        Ok(all)
    }

    /// The arguments of one attribute, in order.
    pub(crate) fn arguments_of(&self, attribute: &Attribute) -> Result<Vec<(String, Argument)>, String> {
        let read = attribute.parse_args_with(Punctuated::<Meta, Token![,]>::parse_terminated);
        let read = read.map_err(|error| {
            let what = format!("{error}; mend it and run the command again");
            self.error(&error.span().byte_range(), &what)
        })?;
        let arguments = read.iter().map(|meta| {
            let name = meta.path().get_ident().map(ToString::to_string).unwrap_or_default();
            let text = match meta {
                Meta::NameValue(pair) => match &pair.value {
                    Expr::Lit(syn::ExprLit { lit: Lit::Str(text), .. }) => Some(text.value()),
                    _ => None,
                },
                _ => None,
            };
            (name, Argument { range: meta.span().byte_range(), text })
        });
        Ok(arguments.collect())
    }
}
