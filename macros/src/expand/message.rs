//! The expansion of `#[derive(Message)]`: `prost::Message` for structs and unions, and the field trait for all types.
use proc_macro2::{Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::{Ident, spanned::Spanned};

use super::message_items;
use crate::model::{Container, Content, Field, Member, Shape, Value};

/// A struct, an enum of strings, or a union.
pub(crate) fn container(container: &Container) -> TokenStream {
    let Container { krate, ident, .. } = container;
    let body = match &container.shape {
        Shape::Struct(fields) => structure(container, fields),
        Shape::Union(members) => union(ident, members),
        Shape::Enum(values) => return message_items(krate, &enumeration(ident, values)),
    };
    message_items(krate, &quote!(#body __message::message_field!(impl [] for #ident [], Self::__empty_message());))
}

/// A field's type as part of messages. Uses the type's tokens, so that an unsupported type is reported there.
fn part(field: &Field) -> TokenStream {
    let ty = &field.ty;
    quote_spanned!(ty.span()=> <#ty as __message::Field>)
}

/// The initial value of a field before reading.
fn empty(field: &Field) -> TokenStream {
    let (rust, field_of) = (&field.ident, part(field));
    quote!(#rust: #field_of::empty())
}

/// How a field is written: the statement, and the length.
struct FieldEncoding {
    write: TokenStream,
    length: TokenStream,
}

/// How a field is written; `value` is a reference to it.
fn field_encoding(field: &Field, value: &TokenStream, zeros: bool) -> FieldEncoding {
    let number = field.rules.proto;
    let functions = if field.rules.proto_zero { ["write_always", "always_length"] } else { ["write", "length"] };
    let [write, length] = functions.map(|name| Ident::new(name, Span::call_site()));
    let field_of = part(field);
    let write = quote!(#field_of::#write(#value, #number, out));
    let length = quote!(#field_of::#length(#value, #number));
    // A field that serde skips is not in the document, and so not in its message.
    let skip = field.skip_serializing_if.as_ref().and_then(|path| path.parse::<syn::Path>().ok());
    match skip.filter(|_| !zeros && !field.rules.proto_zero) {
        Some(skip) => FieldEncoding {
            write: quote!(if !#skip(#value) { #write; }),
            length: quote!(if #skip(#value) { 0 } else { #length }),
        },
        None => FieldEncoding { write: quote!(#write;), length },
    }
}

fn by_number(fields: &[Field]) -> Vec<&Field> {
    let mut sorted: Vec<&Field> = fields.iter().collect();
    sorted.sort_by_key(|field| field.rules.proto);
    sorted
}

/// An arm that reads a field; `value` is a mutable reference to it.
fn reading(owner: &str, field: &Field, value: &TokenStream) -> TokenStream {
    let (number, rust, field_of) = (field.rules.proto, &field.rust, part(field));
    quote! {
        #number => __message::merge_named(#field_of::merge(#value, wire, from, context), #owner, #rust)
    }
}

fn structure(container: &Container, fields: &[Field]) -> TokenStream {
    let (ident, name) = (&container.ident, container.ident.to_string());
    let sorted = by_number(fields);
    let encodings = sorted.iter().map(|field| {
        let rust = &field.ident;
        field_encoding(field, &quote!(&self.#rust), container.proto_zeros)
    });
    let (writes, lengths): (Vec<_>, Vec<_>) = encodings.map(|w| (w.write, w.length)).unzip();
    let readings = sorted.iter().map(|field| {
        let rust = &field.ident;
        reading(&name, field, &quote!(&mut self.#rust))
    });
    let empties = fields.iter().map(empty);
    let empty = quote!(Self { #(#empties),* });
    message(ident, &quote!(#(#writes)*), &quote!(0 #(+ #lengths)*), &quote!(#(#readings,)*), &empty)
}

/// The implementation of `prost::Message`, and the initial value.
fn message(
    ident: &Ident,
    writes: &TokenStream,
    length: &TokenStream,
    readings: &TokenStream,
    empty: &TokenStream,
) -> TokenStream {
    quote! {
        impl #ident {
            #[doc(hidden)]
            fn __empty_message() -> Self {
                #empty
            }
        }
        #[diagnostic::do_not_recommend]
        impl __prost::Message for #ident {
            fn encode_raw(&self, out: &mut impl __prost::bytes::BufMut) {
                #writes
            }
            fn merge_field(
                &mut self,
                number: u32,
                wire: __prost::encoding::WireType,
                from: &mut impl __prost::bytes::Buf,
                context: __prost::encoding::DecodeContext,
            ) -> ::core::result::Result<(), __prost::DecodeError> {
                match number {
                    #readings
                    _ => __prost::encoding::skip_field(wire, number, from, context),
                }
            }
            fn encoded_len(&self) -> usize {
                #length
            }
            fn clear(&mut self) {
                *self = Self::__empty_message();
            }
        }
    }
}

/// An enum is encoded as text; the initial value is its first one.
fn enumeration(ident: &Ident, values: &[Value]) -> TokenStream {
    let rust: Vec<Ident> = values.iter().map(|value| format_ident!("{}", value.rust)).collect();
    let wire: Vec<&String> = values.iter().map(|value| &value.wire).collect();
    let Some(first) = rust.first() else { return TokenStream::new() };
    let name = ident.to_string();
    quote! {
        #[diagnostic::do_not_recommend]
        impl __message::Field for #ident {
            fn empty() -> Self {
                Self::#first
            }
            fn write(&self, number: u32, out: &mut impl __prost::bytes::BufMut) {
                __message::write_text(number, match self { #(Self::#rust => #wire),* }, out);
            }
            fn length(&self, number: u32) -> usize {
                __message::text_length(number, match self { #(Self::#rust => #wire),* })
            }
            fn merge(
                &mut self,
                wire: __prost::encoding::WireType,
                from: &mut impl __prost::bytes::Buf,
                context: __prost::encoding::DecodeContext,
            ) -> ::core::result::Result<(), __prost::DecodeError> {
                *self = match __message::read_text(wire, from, context)?.as_str() {
                    #(#wire => Self::#rust,)*
                    other => return __message::no_value(#name, other),
                };
                ::core::result::Result::Ok(())
            }
        }
    }
}

/// A union is a message with exactly one field.
fn union(ident: &Ident, members: &[Member]) -> TokenStream {
    let name = ident.to_string();
    let mut parts = Parts::default();
    for member in members {
        let rust = format_ident!("{}", member.rust);
        match &member.content {
            Content::Type(_) => one(&name, member, &rust, &mut parts),
            Content::Struct(fields) => several(&name, member, &rust, fields, &mut parts),
        }
    }
    let Parts { writes, lengths, readings, empties } = parts;
    let Some(empty) = empties.first() else { return TokenStream::new() };
    message(
        ident,
        &quote!(match self { #(#writes)* }),
        &quote!(match self { #(#lengths)* }),
        &quote!(#(#readings)*),
        empty,
    )
}

/// The match arms of a union's members.
#[derive(Default)]
struct Parts {
    writes: Vec<TokenStream>,
    lengths: Vec<TokenStream>,
    readings: Vec<TokenStream>,
    empties: Vec<TokenStream>,
}

/// A member that contains a type.
fn one(owner: &str, member: &Member, rust: &Ident, parts: &mut Parts) {
    let (number, name) = (member.rules.proto, &member.rust);
    let empty = quote!(Self::#rust(__message::Field::empty()));
    parts.writes.push(quote!(Self::#rust(value) => __message::Field::write_item(value, #number, out),));
    parts.lengths.push(quote!(Self::#rust(value) => __message::Field::item_length(value, #number),));
    parts.readings.push(quote! {
        #number => {
            if !::core::matches!(self, Self::#rust(..)) {
                *self = #empty;
            }
            let Self::#rust(value) = self else { return ::core::result::Result::Ok(()) };
            __message::merge_named(__message::Field::merge(value, wire, from, context), #owner, #name)
        }
    });
    parts.empties.push(empty);
}

/// A member with fields of its own, which form a nested message.
fn several(owner: &str, member: &Member, rust: &Ident, fields: &[Field], parts: &mut Parts) {
    let (number, name) = (member.rules.proto, &member.rust);
    let sorted = by_number(fields);
    let local = |field: &Field| Ident::new(&format!("__{}", field.rust), Span::call_site());
    let pattern: Vec<_> = sorted
        .iter()
        .map(|field| {
            let (rust, local) = (&field.ident, local(field));
            quote!(#rust: #local)
        })
        .collect();
    let encodings = sorted.iter().map(|field| {
        let local = local(field);
        field_encoding(field, &quote!(#local), false)
    });
    let (writes, lengths): (Vec<_>, Vec<_>) = encodings.map(|w| (w.write, w.length)).unzip();
    let readings = sorted.iter().map(|field| {
        let local = local(field);
        reading(name, field, &quote!(#local))
    });
    let empties = fields.iter().map(empty);
    let empty = quote!(Self::#rust { #(#empties),* });
    let length = quote!(0 #(+ #lengths)*);
    parts.writes.push(quote! {
        Self::#rust { #(#pattern),* } => __message::write_nested(#number, #length, out, |out| { #(#writes)* }),
    });
    parts.lengths.push(quote!(Self::#rust { #(#pattern),* } => __message::nested_length(#number, #length),));
    parts.readings.push(quote! {
        #number => {
            if !::core::matches!(self, Self::#rust { .. }) {
                *self = #empty;
            }
            __message::merge_named(
                __message::merge_nested(self, wire, from, context, |value, number, wire, from, context| {
                    let Self::#rust { #(#pattern),* } = value else { return ::core::result::Result::Ok(false) };
                    match number {
                        #(#readings,)*
                        _ => return ::core::result::Result::Ok(false),
                    }?;
                    ::core::result::Result::Ok(true)
                }),
                #owner,
                #name,
            )
        }
    });
    parts.empties.push(empty);
}
