//! Rules of paths: they start at a field of the root. The compiler checks the other segments.
use syn::ext::IdentExt;

use crate::{diag::Errors, model::Field, model::RustPath, suggest::did_you_mean};

/// A path starts at a field of the root type.
pub(crate) fn check_path(path: &RustPath, fields: &[Field], errors: &Errors) {
    let Some(first) = path.first() else { return };
    let name = first.unraw().to_string();
    if !fields.iter().any(|f| f.rust == name) {
        let names = || fields.iter().map(|f| f.rust.as_str());
        let allowed = names().map(|n| format!("`{n}`")).collect::<Vec<_>>().join(", ");
        let near = did_you_mean(&name, names());
        errors.at(first.span(), format!("the kind has no field `{name}`; a path starts with {allowed}{near}"));
    }
}

/// A path as text.
pub(crate) fn shown(path: &RustPath) -> String {
    path.iter().map(|ident| ident.unraw().to_string()).collect::<Vec<_>>().join(".")
}
