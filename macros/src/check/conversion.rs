//! Rules of kinds with several versions.
use syn::ext::IdentExt;

use super::paths;
use crate::{
    diag::Errors,
    model::{Change, Conversion, Field, RustPath, Storage},
    parse::{args::shown, resource::KindArgs},
};

/// Checks the relation of a version to the storage version.
pub(crate) fn storage(ident: &syn::Ident, args: &mut KindArgs, fields: &[Field], errors: &Errors) -> Option<Storage> {
    let convert = args.convert.take();
    let Some(root) = args.storage.take() else {
        if let Some((span, _)) = convert {
            errors.at(span, "`convert` needs the type of the storage version: `storage = Book`");
        }
        return None;
    };
    check_is_another(ident, &root, errors);
    check_of_all_versions(&root, args, errors);
    let conversion = match convert {
        None => Conversion::Unchanged,
        Some((span, Conversion::Changes(changes))) => {
            check_changes(&changes, fields, errors);
            // A change with a syntax error was already reported.
            if changes.is_empty() && errors.is_empty() {
                errors.at(span, "`convert` declares no change; if only `apiVersion` differs, remove it");
            }
            Conversion::Changes(changes)
        }
        Some((_, conversion)) => conversion,
    };
    Some(Storage { root, conversion })
}

/// Only the other versions name the storage version.
fn check_is_another(ident: &syn::Ident, root: &syn::Path, errors: &Errors) {
    if root.is_ident(ident) || root.is_ident("Self") {
        let span = root.segments[0].ident.span();
        errors.at(span, "the storage version has no `storage` argument; remove it, or name another type");
    }
}

/// Arguments that apply to all versions of a kind and are declared by the storage version.
const OF_ALL_VERSIONS: &[&str] = &[
    "kind",
    "plural",
    "singular",
    "shortname",
    "shortnames",
    "category",
    "categories",
    "namespaced",
    "cluster",
    "names",
    "builtin",
    "policy",
    "generation",
    "update_without_version",
    "create_on_update",
    "returns_deleted",
    "on_delete",
    "holds_deletion",
    "grace_seconds",
    "lifetime",
    "roles",
    "unstored",
];

/// The versions of a kind are one resource: its objects have one name, one scope and one lifecycle.
fn check_of_all_versions(root: &syn::Path, args: &KindArgs, errors: &Errors) {
    // In a version with a group of its own, `builtin` marks that group as one of Kubernetes.
    let is_said = |name: &str| OF_ALL_VERSIONS.contains(&name) && !(name == "builtin" && args.group.is_some());
    for (name, span) in args.given.iter().filter(|(name, _)| is_said(name)) {
        let root = shown(root);
        errors.at(*span, format!("`{name}` applies to all versions and is declared by `{root}`; remove it here"));
    }
}

/// Each change names a different field, outside of metadata, which is the same in all versions.
fn check_changes(changes: &[Change], fields: &[Field], errors: &Errors) {
    let (mut here, mut stored) = (Vec::new(), Vec::new());
    for change in changes {
        match change {
            Change::Renamed(path, there) => {
                check_place(path, Some(fields), &mut here, errors);
                check_place(there, None, &mut stored, errors);
            }
            Change::Added(there) => check_place(there, None, &mut stored, errors),
            Change::Removed(path) => check_place(path, Some(fields), &mut here, errors),
        }
    }
}

fn check_place(path: &RustPath, fields: Option<&[Field]>, seen: &mut Vec<String>, errors: &Errors) {
    let (Some(first), Some(last)) = (path.first(), path.last()) else { return };
    if first.unraw() == "metadata" {
        errors.at(
            first.span(),
            "metadata is the same in every version; use `convert = from` to change labels and annotations",
        );
        return;
    }
    if let Some(fields) = fields {
        paths::check_path(path, fields, errors);
    }
    let shown = paths::shown(path);
    if seen.contains(&shown) {
        errors.at(last.span(), format!("`{shown}` is changed twice"));
    }
    seen.push(shown);
}
