//! The arguments of `#[api(…)]` that a schema needs beside its type.
use kindsmith::schema::{Document, ListType, Schema, Type};
use proc_macro2::{Ident, TokenStream};
use quote::quote;

use super::{
    Options, Warning, bounds, docs,
    keywords::{Keywords, is_object, says_values},
    literal,
    model::{Field, Model, Ty, TypeDeclaration, Use},
    names, rules,
};

/// Writes arguments, and warns of what they cannot say.
pub(super) struct Arguments<'a> {
    pub model: &'a Model,
    pub options: &'a Options,
    pub warnings: &'a mut Vec<Warning>,
    pub kind: &'a str,
}

impl Arguments<'_> {
    /// The arguments of a field.
    pub(super) fn field(&mut self, field: &Field, at: &Use, is_verbatim: bool) -> Vec<TokenStream> {
        let mut arguments = Vec::new();
        let text = &field.schema.description;
        arguments.extend((!docs::is_said(text, is_verbatim)).then(|| quote!(description = #text)));
        arguments.extend(self.value(&field.schema, &field.ty, at, Some(is_verbatim)));
        if field.is_required && (field.schema.default.is_some() || field.schema.nullable) {
            arguments.push(quote!(required));
        }
        arguments
    }

    /// The arguments of a struct. What the fields say is not among them.
    pub(super) fn declaration(&mut self, declaration: &TypeDeclaration, at: &Use, all: &mut Vec<TokenStream>) {
        let mut left = Keywords::of_struct(declaration);
        self.keywords(&mut left, at, all);
        self.warn_of_unions(&declaration.schema, at);
        all.extend(left.rest().map(|rest| named("keywords", &rest)));
    }

    /// The arguments of a value of a type. `comment` is how the description of items is read, if there is one in a comment.
    fn value(&mut self, schema: &Schema, ty: &Ty, at: &Use, comment: Option<bool>) -> Vec<TokenStream> {
        let ty = ty.inner();
        let mut left = Keywords::of_value(schema, ty, self.model);
        let mut all = Vec::new();
        if let Some(default) = &schema.default {
            let value = self.default(default, ty);
            all.push(quote!(default = #value));
            left.say(&["default"]);
        }
        bounds::write(schema, ty, self.model, &mut left, &mut all);
        if let Some(format) = format(schema, ty) {
            all.push(quote!(format = #format));
        }
        left.say(&["format"]);
        if !schema.enumeration.is_empty() && !says_values(schema, ty) {
            all.push(named("values", &schema.enumeration.to_vec().into()));
        }
        left.say(&["enum"]);
        self.list(schema, ty, &mut left, &mut all);
        self.merge(schema, ty, &mut left, &mut all);
        self.flags(schema, ty, &mut left, &mut all);
        self.keywords(&mut left, at, &mut all);
        if !matches!(ty, Ty::Declared(_)) {
            self.warn_of_unions(schema, at);
        }
        self.inner(schema, ty, at, comment, &mut all);
        all.extend(left.rest().map(|rest| named("keywords", &rest)));
        all
    }

    /// Arguments without values.
    fn flags(&self, schema: &Schema, ty: &Ty, left: &mut Keywords, all: &mut Vec<TokenStream>) {
        if schema.map_atomic && left.has("x-kubernetes-map-type") && is_object(ty, self.model) {
            all.push(quote!(map = atomic));
            left.say(&["x-kubernetes-map-type"]);
        }
        if schema.nullable {
            all.push(quote!(nullable));
            left.say(&["nullable"]);
        }
        if schema.immutable {
            all.push(quote!(immutable));
        }
        if schema.embedded && *ty == Ty::Known("RawJson") {
            all.push(quote!(embedded));
            left.say(&["type", "x-kubernetes-embedded-resource"]);
        }
        if schema.preserve_unknown && matches!(ty, Ty::Map(_)) {
            all.push(quote!(preserve_unknown));
            left.say(&["x-kubernetes-preserve-unknown-fields"]);
        }
    }

    /// The rules and descriptions of items and entries.
    fn inner(&mut self, schema: &Schema, ty: &Ty, at: &Use, comment: Option<bool>, all: &mut Vec<TokenStream>) {
        let (inner, ty, keyword) = match (ty, &schema.items, &schema.additional) {
            (Ty::List(ty), Some(items), _) => (items, ty, "items"),
            (Ty::Map(ty), _, Some(values)) => (values, ty, "additionalProperties"),
            _ => return,
        };
        let mut arguments = Vec::new();
        if let Some(text) = docs::of_items(inner, ty, self.model).filter(|text| {
            let is_said = |is_verbatim| docs::is_said(text, is_verbatim);
            !comment.is_some_and(is_said)
        }) {
            arguments.push(quote!(description = #text));
        }
        arguments.extend(self.value(inner, ty, &at.inner(keyword), None));
        if !arguments.is_empty() {
            all.push(quote!(items(#(#arguments),*)));
        }
    }

    fn list(&self, schema: &Schema, ty: &Ty, left: &mut Keywords, all: &mut Vec<TokenStream>) {
        let Ty::List(item) = ty else { return };
        match &schema.list {
            ListType::Map(keys) if keys.iter().all(|key| self.is_key(item, key)) => {
                let keys = keys.iter().map(|key| self.key(item, key));
                all.push(quote!(list = map(#(key = #keys),*)));
            }
            ListType::Set if **item != Ty::Known("f64") && self.is_scalar(item) => all.push(quote!(list = set)),
            _ => return,
        }
        left.say(&["x-kubernetes-list-type", "x-kubernetes-list-map-keys"]);
    }

    /// How strategic merge patches merge the value.
    fn merge(&self, schema: &Schema, ty: &Ty, left: &mut Keywords, all: &mut Vec<TokenStream>) {
        let (patch, mut said) = (&schema.patch, Vec::new());
        if patch.merge {
            let Ty::List(item) = ty else { return };
            match &patch.merge_key {
                Some(key) if self.is_key(item, key) => {
                    let key = self.key(item, key);
                    said.push(quote!(merge(key = #key)));
                }
                None if self.is_scalar(item) => said.push(quote!(merge)),
                _ => return,
            }
        } else if patch.merge_key.is_some() || patch.retain_keys && !is_object(ty, self.model) {
            return;
        }
        said.extend(patch.retain_keys.then(|| quote!(retain_keys)));
        all.extend(said);
        left.say(&["x-kubernetes-patch-strategy", "x-kubernetes-patch-merge-key"]);
    }

    /// True for items that are scalars in Rust, too.
    fn is_scalar(&self, item: &Ty) -> bool {
        match item {
            Ty::Known(name) => {
                let scalars = [
                    "String",
                    "bool",
                    "i32",
                    "i64",
                    "f64",
                    "Time",
                    "MicroTime",
                    "Quantity",
                    "IntOrString",
                    "ByteString",
                ];
                scalars.contains(name)
            }
            Ty::Declared(_) => !is_object(item, self.model),
            _ => false,
        }
    }

    /// True if a property of items can be a key in Rust.
    fn is_key(&self, item: &Ty, wire: &str) -> bool {
        match item.inner() {
            Ty::Declared(_) => self.model.field(item.inner(), wire).is_some_and(|field| match &field.ty {
                Ty::Known(name) => ["String", "bool", "i32", "i64"].contains(name),
                Ty::Declared(_) => !is_object(&field.ty, self.model),
                _ => false,
            }),
            Ty::Known("Condition") => wire == "type",
            Ty::Known("ObjectReference") => ["name", "namespace", "uid", "kind"].contains(&wire),
            _ => false,
        }
    }

    /// The Rust name of a key of items.
    fn key(&self, item: &Ty, wire: &str) -> Ident {
        let item = item.inner();
        if let (Ty::Known("Condition"), "type") = (item, wire) {
            return names::ident("kind");
        }
        let renamed = match item {
            Ty::Declared(id) => self.options.renamed_field(&self.model.types[*id].plain_name, wire),
            _ => None,
        };
        match renamed.or(self.model.field(item, wire).map(|field| &field.rust)) {
            Some(rust) => names::ident(rust),
            None => names::ident(&names::snake(wire)),
        }
    }

    /// A default: a variant of an enumeration, or a value as in JSON.
    fn default(&self, value: &Document, ty: &Ty) -> TokenStream {
        if let (Ty::Declared(id), Some(text)) = (ty, value.as_str()) {
            let declaration = &self.model.types[*id];
            if let Some((variant, _)) = super::variants(&declaration.schema).into_iter().find(|(_, wire)| wire == text)
            {
                let (name, variant) = (names::ident(&declaration.name), names::ident(&variant));
                return quote!(#name::#variant);
            }
        }
        literal::literal(value)
    }

    /// Keywords with values as in JSON.
    fn keywords(&mut self, left: &mut Keywords, at: &Use, all: &mut Vec<TokenStream>) {
        let branches = [("allOf", "all_of"), ("anyOf", "any_of"), ("oneOf", "one_of"), ("not", "not")];
        for (wire, name) in branches {
            all.extend(left.take(wire).map(|value| named(name, &value)));
        }
        for rule in left.take("x-kubernetes-validations").iter().filter_map(Document::as_array).flatten() {
            match rules::rule(rule) {
                Ok(arguments) => all.push(arguments),
                Err(why) => self.warn(at, &format!("a rule is left out: {why}")),
            }
        }
        for (wire, name) in [("title", "title"), ("example", "example"), ("externalDocs", "external_docs")] {
            all.extend(left.take(wire).map(|value| named(name, &value)));
        }
    }

    fn warn_of_unions(&mut self, schema: &Schema, at: &Use) {
        if schema.unenforced.as_ref().is_some_and(|unenforced| !unenforced.unions.is_empty()) {
            self.warn(at, "x-kubernetes-unions is left out, which has no effect");
        }
    }

    pub(super) fn warn(&mut self, at: &Use, message: &str) {
        self.warnings.push(Warning {
            source: String::new(),
            kind: self.kind.to_owned(),
            pointer: at.pointer.clone(),
            message: message.to_owned(),
        });
    }
}

fn named(name: &str, value: &Document) -> TokenStream {
    let (name, value) = (names::ident(name), literal::literal(value));
    quote!(#name = #value)
}

/// The format, if it is not the one of the type, or not that of a type in Go; empty for none.
fn format(schema: &Schema, ty: &Ty) -> Option<String> {
    let usual = match ty {
        Ty::Known("i32") => "int32",
        Ty::Known("i64") => "int64",
        Ty::Known("f64") => "double",
        Ty::Known("Time" | "MicroTime") => "date-time",
        Ty::Known("ByteString") => "byte",
        Ty::Known("Quantity") => "quantity",
        _ => "",
    };
    let given = schema.format.as_deref().unwrap_or_default();
    let is_text = schema.kind == Type::String && schema.scalar.is_none() && *ty != Ty::Known("String");
    (given != usual || is_text && !given.is_empty()).then(|| given.to_owned())
}
