//! Rust from the model: each item is built as tokens and printed by prettyplease.
use std::collections::BTreeSet;

use kindsmith::schema::Schema;
use kindsmith_meta::text::in_one_line;
use proc_macro2::TokenStream;
use quote::quote;

use super::{
    Options, Warning,
    attributes::Arguments,
    collect::is_enumeration,
    docs, literal,
    model::{Field, Kind, Model, Module, Ty, TypeDeclaration},
    names, variants,
};

/// Writes the modules of a model.
pub(super) struct Emitter<'a> {
    pub model: &'a Model,
    pub options: &'a Options,
    pub warnings: Vec<Warning>,
}

impl Emitter<'_> {
    /// The text of a module, without its documentation.
    pub(super) fn module(&mut self, module: &Module) -> Result<String, String> {
        let mut items = self.imports(module);
        for id in &module.types {
            let declaration = &self.model.types[*id];
            if self.options.is_skipped(&declaration.plain_name) {
                continue;
            }
            let kind = module.kinds.iter().find(|kind| kind.root == *id);
            items.push(match kind {
                Some(kind) => self.root(kind, declaration)?,
                None => self.declaration(declaration)?,
            });
        }
        let mut text = String::new();
        for (index, item) in items.into_iter().enumerate() {
            let shown = item.to_string();
            let file: syn::File =
                syn::parse2(item).map_err(|error| format!("the generated code is not Rust: {error}: {shown}"))?;
            let is_import = shown.starts_with("use ");
            if index > 0 && !is_import {
                text.push('\n');
            }
            text.push_str(&prettyplease::unparse(&file));
        }
        Ok(text)
    }

    fn imports(&self, module: &Module) -> Vec<TokenStream> {
        let mut known: BTreeSet<&str> = BTreeSet::new();
        let mut has_types = false;
        for id in &module.types {
            let declaration = &self.model.types[*id];
            if self.options.is_skipped(&declaration.plain_name) {
                continue;
            }
            known.insert(if declaration.is_root { "Resource" } else { "ApiType" });
            has_types |= !declaration.is_root;
            if declaration.is_root {
                known.insert("ObjectMeta");
            }
            for field in &declaration.fields {
                field.ty.walk(&mut |name| _ = known.insert(name), &mut |_| ());
            }
        }
        let mut items = Vec::new();
        if known.remove("BTreeMap") {
            items.push(quote!(
                use std::collections::BTreeMap;
            ));
        }
        known.retain(|name| !["String", "bool", "i32", "i64", "f64"].contains(name));
        let known = known.iter().map(|name| names::ident(name));
        items.push(quote!(use kindsmith::{#(#known),*};));
        if has_types {
            items.push(quote!(
                use serde::{Deserialize, Serialize};
            ));
        }
        let imported = module.imports.iter().map(|id| &self.model.types[*id]);
        let imported: Vec<_> =
            imported.filter(|declaration| !self.options.is_skipped(&declaration.plain_name)).collect();
        let mut homes: Vec<usize> = imported.iter().map(|declaration| declaration.module).collect();
        homes.sort_unstable();
        homes.dedup();
        for home in homes {
            let of_home = imported.iter().filter(|of| of.module == home);
            let mut all: Vec<&str> = of_home.map(|declaration| declaration.name.as_str()).collect();
            all.sort_unstable();
            let home = &self.model.modules[home];
            let (folder, version) = (names::ident(&home.folder), names::ident(&home.name()));
            let path = if home.folder == module.folder { quote!(super) } else { quote!(super::super::#folder) };
            let all = all.into_iter().map(names::ident);
            items.push(quote!(use #path::#version::{#(#all),*};));
        }
        items
    }

    /// A kind.
    fn root(&mut self, kind: &Kind, declaration: &TypeDeclaration) -> Result<TokenStream, String> {
        let resource = self.resource(kind, declaration);
        let number = declaration.is_numbered().then(|| quote!(#[api(proto = 1)]));
        let metadata = quote! {
            /// Standard object's metadata.
            #number
            pub metadata: ObjectMeta,
        };
        self.item(declaration, &quote!(Resource, Clone, Debug, PartialEq), &resource, &metadata)
    }

    /// A struct or an enumeration.
    fn declaration(&mut self, declaration: &TypeDeclaration) -> Result<TokenStream, String> {
        if is_enumeration(&declaration.schema) {
            return self.enumeration(declaration);
        }
        let is_empty_valid = |field: &Field| {
            !field.is_required && field.schema.default.is_none() && !self.options.is_replaced(&field.ty, self.model)
        };
        let default = declaration.fields.iter().all(is_empty_valid).then(|| quote!(Default,));
        let derives = quote!(ApiType, Clone, Debug, #default PartialEq, Serialize, Deserialize);
        self.item(declaration, &derives, &TokenStream::new(), &TokenStream::new())
    }

    fn item(
        &mut self,
        declaration: &TypeDeclaration,
        derives: &TokenStream,
        attributes: &TokenStream,
        first: &TokenStream,
    ) -> Result<TokenStream, String> {
        let at = declaration.uses[0].clone();
        let of_items = declaration.fields.iter().filter_map(|field| self.items_doc(field));
        let descriptions = declaration.fields.iter().map(|field| &*field.schema.description).chain(of_items);
        let is_verbatim =
            [&*declaration.doc].into_iter().chain(descriptions).any(|text| !docs::survives_wrapping(text));
        let mut api = vec![quote!(published)];
        if is_verbatim {
            api.push(quote!(verbatim));
        }
        api.extend(exact(&declaration.doc, is_verbatim));
        let mut arguments =
            Arguments { model: self.model, options: self.options, warnings: &mut self.warnings, kind: &at.kind };
        arguments.declaration(declaration, &at, &mut api);
        let has_number = |field: &Field| field.schema.protobuf.is_some();
        if declaration.fields.iter().any(has_number) && !declaration.is_numbered() {
            arguments.warn(&at, "not served in Protobuf: found fields without numbers, or inside of other messages; supported: fields with numbers alone");
        }
        let is_renamed = |field: &Field| {
            let rust = self.options.renamed_field(&declaration.plain_name, &field.wire).unwrap_or(&field.rust);
            let written = names::written(rust);
            written != field.wire && names::camel(&written).as_ref() == Some(&field.wire)
        };
        let rename_all = (!declaration.is_root && declaration.fields.iter().any(is_renamed))
            .then(|| quote!(#[serde(rename_all = "camelCase")]));
        let is_undescribed =
            declaration.doc.is_empty() || declaration.fields.iter().any(|field| field.schema.description.is_empty());
        let undescribed = is_undescribed.then(|| quote!(#[allow(missing_docs)]));
        let has_default = self.have_default(declaration);
        let (derives, further) = self.options.attributes(&declaration.plain_name, derives, has_default)?;
        let doc = doc(&docs::lines(&declaration.doc, is_verbatim), declaration.doc.is_empty());
        let fields = declaration.fields.iter().map(|field| self.field(declaration, field, is_verbatim));
        let fields = fields.collect::<Result<Vec<_>, String>>()?;
        let name = names::ident(&declaration.name);
        Ok(quote! {
            #doc
            #[derive(#derives)]
            #attributes
            #[api(#(#api),*)]
            #rename_all
            #undescribed
            #further
            pub struct #name { #first #(#fields)* }
        })
    }

    fn field(
        &mut self,
        declaration: &TypeDeclaration,
        field: &Field,
        is_verbatim: bool,
    ) -> Result<TokenStream, String> {
        let at = declaration.uses[0].field(&field.wire);
        let mut arguments =
            Arguments { model: self.model, options: self.options, warnings: &mut self.warnings, kind: &at.kind };
        let mut api = arguments.field(field, &at, is_verbatim);
        if let (true, Some(number)) = (declaration.is_numbered(), field.schema.protobuf) {
            let number = literal::number(&number.to_string());
            api.insert(0, quote!(proto = #number));
            if field.schema.zero_is_absent && !matches!(field.ty, Ty::List(_) | Ty::Map(_)) {
                api.insert(1, quote!(proto_zero));
            }
        }
        let api = (!api.is_empty()).then(|| quote!(#[api(#(#api),*)]));
        let renamed = self.options.renamed_field(&declaration.plain_name, &field.wire);
        let rust = renamed.unwrap_or(&field.rust);
        let mut serde = Vec::new();
        if names::camel(&names::written(rust)).as_ref() != Some(&field.wire) {
            let wire = &field.wire;
            serde.push(quote!(rename = #wire));
        }
        let ty = self.options.ty(&field.ty, self.model)?;
        let is_optional = !field.is_required && field.schema.default.is_none();
        let ty = if Self::is_option(declaration, field) {
            if field.schema.nullable && is_optional && (declaration.is_counted || has_rules(&field.schema)) {
                serde.extend([quote!(default), quote!(skip_serializing_if = "Option::is_none")]);
            }
            quote!(Option<#ty>)
        } else {
            if is_optional {
                serde.push(quote!(default));
                let is_bounded = field.schema.min_items.is_some() || field.schema.min_properties.is_some();
                let empty = if matches!(field.ty, Ty::List(_)) { "Vec::is_empty" } else { "BTreeMap::is_empty" };
                serde.extend(is_bounded.then(|| quote!(skip_serializing_if = #empty)));
            }
            ty
        };
        let serde = (!serde.is_empty()).then(|| quote!(#[serde(#(#serde),*)]));
        let mut lines = docs::lines(&field.schema.description, is_verbatim);
        let of_items = self.items_doc(field);
        // A comment cannot say a description of spaces.
        let items = of_items
            .map(|text| docs::lines(text, is_verbatim))
            .filter(|lines| lines.iter().any(|line| !line.is_empty()));
        if let Some(items) = items {
            if field.schema.description.is_empty() {
                lines.clear();
            } else {
                lines.push(String::new());
            }
            lines.extend([docs::ITEMS.to_owned(), String::new()]);
            lines.extend(items);
        }
        let doc = doc(&lines, field.schema.description.is_empty() && of_items.is_none());
        let further = self.options.field_attributes(&declaration.plain_name, &field.wire)?;
        let rust = names::ident(rust);
        Ok(quote! { #doc #api #serde #further pub #rust: #ty, })
    }

    /// True if each field has a default in Rust, as far as that is known here.
    fn have_default(&self, declaration: &TypeDeclaration) -> bool {
        let has_default = |field: &Field| match &field.ty {
            _ if Self::is_option(declaration, field) => true,
            Ty::Known(name) => !["Time", "MicroTime"].contains(name),
            Ty::Declared(id) => {
                let of = &self.model.types[*id];
                self.options.is_skipped(&of.plain_name) || !is_enumeration(&of.schema) && self.have_default(of)
            }
            Ty::List(_) | Ty::Map(_) | Ty::Nullable(_) => true,
        };
        declaration.fields.iter().all(has_default)
    }

    /// True for a field whose type is an `Option`. A list or map gets one only where an empty value differs from an
    /// absent one.
    fn is_option(declaration: &TypeDeclaration, field: &Field) -> bool {
        let (is_optional, of) = (!field.is_required && field.schema.default.is_none(), &field.schema);
        let is_told = declaration.is_counted || has_rules(of) || !matches!(field.ty, Ty::List(_) | Ty::Map(_));
        of.nullable || is_optional && is_told
    }

    /// The description of items, if it is not that of their type.
    fn items_doc<'f>(&self, field: &'f Field) -> Option<&'f str> {
        inner(field).and_then(|(schema, ty)| docs::of_items(schema, ty, self.model))
    }

    fn enumeration(&mut self, declaration: &TypeDeclaration) -> Result<TokenStream, String> {
        let variants = variants(&declaration.schema);
        let rule = names::variant_rule(&variants);
        let rename_all = (!rule.is_empty()).then(|| quote!(#[serde(rename_all = #rule)]));
        let fields = variants.iter().map(|(rust, wire)| {
            let rename = (names::variant(rust, rule).as_ref() != Some(wire)).then(|| quote!(#[serde(rename = #wire)]));
            let doc = format!(" `{}`.", if wire.is_empty() { "\"\"".into() } else { in_one_line(wire) });
            let rust = names::ident(rust);
            quote!(#[doc = #doc] #rename #rust,)
        });
        let is_verbatim = !docs::survives_wrapping(&declaration.doc);
        let api = is_verbatim.then(|| quote!(verbatim)).into_iter().chain(exact(&declaration.doc, is_verbatim));
        let api: Vec<_> = api.collect();
        let api = (!api.is_empty()).then(|| quote!(#[api(#(#api),*)]));
        let undescribed = declaration.doc.is_empty().then(|| quote!(#[allow(missing_docs)]));
        let doc = doc(&docs::lines(&declaration.doc, is_verbatim), declaration.doc.is_empty());
        let derives = quote!(ApiType, Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize);
        let (derives, further) = self.options.attributes(&declaration.plain_name, &derives, false)?;
        let name = names::ident(&declaration.name);
        Ok(quote! {
            #doc
            #[derive(#derives)]
            #api
            #rename_all
            #undescribed
            #further
            pub enum #name { #(#fields)* }
        })
    }
}

/// True if a value without content can be invalid.
fn has_rules(schema: &Schema) -> bool {
    !schema.enumeration.is_empty() || !schema.required.is_empty() || schema.junctors.is_some()
}

/// The items of a list, or the values of a map, with their type.
fn inner(field: &Field) -> Option<(&Schema, &Ty)> {
    match (&field.ty, &field.schema.items, &field.schema.additional) {
        (Ty::List(ty), Some(inner), _) | (Ty::Map(ty), _, Some(inner)) => Some((inner, ty)),
        _ => None,
    }
}

/// The description as an argument, if its comment does not say it.
fn exact(text: &str, is_verbatim: bool) -> Option<TokenStream> {
    (!docs::is_said(text, is_verbatim)).then(|| quote!(description = #text))
}

fn doc(lines: &[String], is_empty: bool) -> TokenStream {
    if is_empty {
        return TokenStream::new();
    }
    let lines = lines.iter().map(|line| if line.is_empty() { String::new() } else { format!(" {line}") });
    quote!(#(#[doc = #lines])*)
}
