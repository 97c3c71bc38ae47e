//! Values of JSON as the arguments of attributes.
use kindsmith::schema::{Document, Schema, Type};
use proc_macro2::TokenStream;
use quote::quote;
use serde_json::{Map, json};

/// A value.
pub(super) fn literal(value: &Document) -> TokenStream {
    match value {
        Document::Null => quote!(null),
        Document::Bool(value) => quote!(#value),
        Document::Number(value) => match value.as_i64() {
            Some(value) => number(&value.to_string()),
            None => number(&format!("{:?}", value.as_f64().unwrap_or_default())),
        },
        Document::String(value) => quote!(#value),
        Document::Array(items) => {
            let items = items.iter().map(literal);
            quote!([#(#items),*])
        }
        Document::Object(entries) => {
            let (keys, values) = (entries.keys(), entries.values().map(literal));
            quote!({ #(#keys: #values),* })
        }
    }
}

/// A number without a suffix.
pub(super) fn number(text: &str) -> TokenStream {
    text.parse().expect("numbers are tokens")
}

/// A bound: whole where it can be.
pub(super) fn bound(value: f64) -> TokenStream {
    if value.fract() == 0.0 && value.abs() < 9e15 {
        number(&format!("{value:.0}"))
    } else {
        number(&format!("{value:?}"))
    }
}

/// A schema that only validates, as JSON.
pub(super) fn branch(schema: &Schema) -> Document {
    let mut all = Map::new();
    let mut put = |name: &str, value: Option<Document>| all.extend(value.map(|value| (name.to_owned(), value)));
    let flag = |on: bool| on.then(|| true.into());
    let branches = |of: &[Schema]| (!of.is_empty()).then(|| of.iter().map(branch).collect());
    let kind = match schema.kind {
        Type::Object => Some("object"),
        Type::Array => Some("array"),
        Type::String => Some("string"),
        Type::Integer => Some("integer"),
        Type::Number => Some("number"),
        Type::Boolean => Some("boolean"),
        Type::IntOrString | Type::Any => None,
    };
    put("type", kind.map(Into::into));
    put("format", schema.format.clone().map(Into::into));
    put("enum", (!schema.enumeration.is_empty()).then(|| schema.enumeration.to_vec().into()));
    put("minimum", schema.minimum.map(Into::into));
    put("exclusiveMinimum", flag(schema.exclusive_minimum));
    put("maximum", schema.maximum.map(Into::into));
    put("exclusiveMaximum", flag(schema.exclusive_maximum));
    put("multipleOf", schema.multiple_of.map(Into::into));
    put("minLength", schema.min_length.map(Into::into));
    put("maxLength", schema.max_length.map(Into::into));
    put("pattern", schema.pattern.as_ref().map(|pattern| pattern.text().into()));
    put("minItems", schema.min_items.map(Into::into));
    put("maxItems", schema.max_items.map(Into::into));
    put("minProperties", schema.min_properties.map(Into::into));
    put("maxProperties", schema.max_properties.map(Into::into));
    put("required", (!schema.required.is_empty()).then(|| json!(schema.required)));
    let properties = schema.properties.iter().map(|(name, property)| (name.clone(), branch(property)));
    put("properties", (!schema.properties.is_empty()).then(|| properties.collect::<Map<_, _>>().into()));
    put("items", schema.items.as_deref().map(branch));
    if let Some(junctors) = &schema.junctors {
        put("allOf", branches(&junctors.all_of));
        put("anyOf", branches(&junctors.any_of));
        put("oneOf", branches(&junctors.one_of));
        put("not", junctors.not.as_ref().map(branch));
    }
    all.into()
}
