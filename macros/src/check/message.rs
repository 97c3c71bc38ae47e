//! Rules of messages.
use syn::{Ident, LitInt, ext::IdentExt};

use crate::{
    diag::Errors,
    parse::container::{Body, Container, Content},
};

/// Protobuf identifies a field by its number, so every field of a message needs one. The declaration checks that they
/// are unique.
pub(crate) fn check_numbered(raw: &Container, errors: &Errors) {
    match &raw.body {
        Body::Struct(fields) => {
            all(fields.iter().map(|f| (&f.ident, f.api.proto.as_ref())), "fields", errors);
        }
        Body::Enum(variants) if variants.iter().any(|v| !matches!(v.content, Content::Unit)) => {
            all(variants.iter().map(|v| (&v.ident, v.api.proto.as_ref())), "members", errors);
            for variant in variants {
                if let Content::Struct(fields) = &variant.content {
                    all(fields.iter().map(|f| (&f.ident, f.api.proto.as_ref())), "fields", errors);
                }
            }
        }
        Body::Enum(_) | Body::Refused => {}
    }
}

fn all<'a>(fields: impl Iterator<Item = (&'a Ident, Option<&'a LitInt>)>, what: &str, errors: &Errors) {
    let (mut missing, mut some) = (Vec::new(), false);
    for (ident, number) in fields {
        some |= number.is_some();
        missing.extend(number.is_none().then_some(ident));
    }
    // If only some have numbers, the declaration of the type reports the others.
    if let (Some(first), false) = (missing.first(), some) {
        let name = first.unraw();
        errors.at(
            first.span(),
            format!("`{name}` has no Protobuf number, which a message needs: use `#[api(proto = …)]` on all {what}"),
        );
    }
}
