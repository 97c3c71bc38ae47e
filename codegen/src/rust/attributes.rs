//! The arguments of `#[api(…)]` that a schema needs beside its type.
use kindsmith::schema::{Document, ListType, PatchStrategy, Schema, Type};
use proc_macro2::{Ident, TokenStream};
use quote::quote;

use super::{
    Options, Warning,
    collect::is_enumeration,
    literal,
    model::{Field, Model, Ty, Use},
    names,
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
    pub(super) fn field(&mut self, field: &Field, at: &Use) -> Vec<TokenStream> {
        let mut arguments = self.value(&field.schema, &field.ty, at);
        if field.is_required && (field.schema.default.is_some() || field.schema.nullable) {
            arguments.push(quote!(required));
        }
        arguments
    }

    /// The arguments of a value of a type.
    fn value(&mut self, schema: &Schema, ty: &Ty, at: &Use) -> Vec<TokenStream> {
        let mut all = Vec::new();
        if let Some(default) = &schema.default {
            let value = self.default(default, ty);
            all.push(quote!(default = #value));
        }
        bounds(schema, &mut all);
        if let Some(format) = format(schema, ty) {
            all.push(quote!(format = #format));
        }
        if !schema.enumeration.is_empty() && !is_enumeration(schema) {
            let values = literal::literal(&schema.enumeration.to_vec().into());
            all.push(quote!(values = #values));
        }
        self.list(schema, ty, &mut all);
        if schema.map_atomic && !is_always_atomic(ty) {
            all.push(quote!(map = atomic));
        }
        if schema.patch.retain_keys {
            all.push(quote!(retain_keys));
        }
        if schema.nullable {
            all.push(quote!(nullable));
        }
        if schema.embedded {
            all.push(quote!(embedded));
        }
        if schema.preserve_unknown && schema.properties.is_empty() && schema.kind == Type::Object && !schema.embedded {
            all.push(quote!(preserve_unknown));
        }
        if schema.kind != Type::Object || matches!(ty, Ty::Map(_) | Ty::Known(_)) {
            self.keywords(schema, at, &mut all);
        }
        self.inner(schema, ty, at, &mut all);
        all
    }

    /// The rules of items and entries.
    fn inner(&mut self, schema: &Schema, ty: &Ty, at: &Use, all: &mut Vec<TokenStream>) {
        let (inner, ty, keyword) = match (ty, &schema.items, &schema.additional) {
            (Ty::List(ty), Some(items), _) => (items, ty, "items"),
            (Ty::Map(ty), _, Some(values)) => (values, ty, "additionalProperties"),
            _ => return,
        };
        let arguments = self.value(inner, ty, &at.inner(keyword));
        if !arguments.is_empty() {
            all.push(quote!(items(#(#arguments),*)));
        }
    }

    fn list(&self, schema: &Schema, ty: &Ty, all: &mut Vec<TokenStream>) {
        let Ty::List(item) = ty else { return };
        match &schema.list {
            ListType::Map(keys) => {
                let keys = keys.iter().map(|key| self.key(item, key));
                all.push(quote!(list = map(#(key = #keys),*)));
            }
            ListType::Set => all.push(quote!(list = set)),
            ListType::Atomic => {}
        }
        let PatchStrategy { merge, merge_key, .. } = &schema.patch;
        match merge_key {
            Some(key) if *merge => {
                let key = self.key(item, key);
                all.push(quote!(merge(key = #key)));
            }
            _ if *merge => all.push(quote!(merge)),
            _ => {}
        }
    }

    /// The Rust name of a key of items.
    fn key(&self, item: &Ty, wire: &str) -> Ident {
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
            let declared = &self.model.types[*id];
            if let Some((variant, _)) = super::variants(&declared.schema).into_iter().find(|(_, wire)| wire == text) {
                let (name, variant) = (names::ident(&declared.name), names::ident(&variant));
                return quote!(#name::#variant);
            }
        }
        literal::literal(value)
    }

    /// Keywords with values as in JSON.
    pub(super) fn keywords(&mut self, schema: &Schema, at: &Use, all: &mut Vec<TokenStream>) {
        if let Some(junctors) = &schema.junctors {
            let lists = [("all_of", &junctors.all_of), ("any_of", &junctors.any_of), ("one_of", &junctors.one_of)];
            for (name, branches) in lists.into_iter().filter(|(_, branches)| !branches.is_empty()) {
                let branches: Document = branches.iter().map(literal::branch).collect();
                json(name, &branches, all);
            }
            if let Some(not) = &junctors.not {
                json("not", &literal::branch(not), all);
            }
        }
        let Some(unenforced) = &schema.unenforced else { return };
        for rule in &unenforced.rules {
            all.push(self::rule(rule));
        }
        if !unenforced.title.is_empty() {
            let title = &unenforced.title;
            all.push(quote!(title = #title));
        }
        for (name, value) in [("example", &unenforced.example), ("external_docs", &unenforced.external_docs)] {
            if let Some(value) = value {
                json(name, value, all);
            }
        }
        if !unenforced.unions.is_empty() {
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

fn json(name: &str, value: &Document, all: &mut Vec<TokenStream>) {
    let (name, value) = (names::ident(name), literal::literal(value));
    all.push(quote!(#name = #value));
}

/// A rule in CEL.
fn rule(rule: &Document) -> TokenStream {
    let text = rule["rule"].as_str().unwrap_or_default();
    let mut arguments = vec![quote!(#text)];
    for name in ["message", "messageExpression", "reason", "fieldPath", "optionalOldSelf"] {
        if let Some(value) = rule.get(name).filter(|value| !value.is_null()) {
            json(&names::snake(name), value, &mut arguments);
        }
    }
    quote!(rule(#(#arguments),*))
}

fn bounds(schema: &Schema, all: &mut Vec<TokenStream>) {
    let numbers = [
        (if schema.exclusive_minimum { "exclusive_minimum" } else { "minimum" }, schema.minimum),
        (if schema.exclusive_maximum { "exclusive_maximum" } else { "maximum" }, schema.maximum),
        ("multiple_of", schema.multiple_of),
    ];
    let numbers = numbers.into_iter().filter_map(|(name, value)| Some((name, literal::bound(value?))));
    let counts = [
        ("min_length", schema.min_length),
        ("max_length", schema.max_length),
        ("min_items", schema.min_items),
        ("max_items", schema.max_items),
        ("min_properties", schema.min_properties),
        ("max_properties", schema.max_properties),
    ];
    let counts = counts.into_iter().filter_map(|(name, value)| Some((name, literal::number(&value?.to_string()))));
    for (name, value) in numbers.chain(counts) {
        let name = names::ident(name);
        all.push(quote!(#name = #value));
    }
    if let Some(pattern) = &schema.pattern {
        let text = pattern.text();
        all.push(quote!(pattern = #text));
    }
}

/// The format, if it is not the one of the type; empty for none.
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
    (given != usual).then(|| given.to_owned())
}

/// True for kindsmith's types that are replaced as a whole wherever they are.
fn is_always_atomic(ty: &Ty) -> bool {
    matches!(ty, Ty::Known("LabelSelector" | "ObjectReference"))
}
