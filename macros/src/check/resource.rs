//! Rules of a kind as a whole.
use proc_macro2::Span;
use syn::{Ident, LitStr, ext::IdentExt, spanned::Spanned};

use super::{
    container::{self, Within},
    conventions, conversion, default, field, names, paths,
};
use crate::{
    diag::Errors,
    model::{Cell, Column, Container, Field, Grace, Kind, Scale, Shape},
    parse::{
        container::{Body, Container as Raw, Field as RawField},
        resource::{ColumnArgs, KindArgs, ScaleArgs},
        types::{last_segment, look},
    },
    suggest::did_you_mean,
};

/// Checks a kind.
pub(crate) fn kind(raw: Raw, mut args: KindArgs, errors: &Errors) -> Option<Kind> {
    container::check_generics(&raw.ident, &raw.generics, errors)?;
    if args.unread {
        // What seems to be missing may stand after the syntax error.
        return None;
    }
    let (kind_name, kind_span) = match &args.kind {
        Some(kind) => (kind.value(), kind.span()),
        None => (raw.ident.unraw().to_string(), raw.ident.span()),
    };
    let (group, version) = check_group_version(&raw, &args, errors);
    check_names(&args, (&kind_name, kind_span), errors);
    check_scope(&args, errors);
    check_root_serde(&raw, errors);
    let rule = field::rename_rule(&raw.serde, "camelCase", errors);
    let fields = container::fields(raw_fields(raw.body, &raw.ident, errors)?, &rule, true, Within::Type, errors);
    container::check_ends(&raw.ident, &fields, errors);
    check_fields(&raw.ident, &fields, &args, errors);
    check_unstored(&args, errors);
    let columns = args.columns.iter().map(|c| column(c, &fields, errors)).collect();
    check_columns_differ(&args.columns, args.builtin, errors);
    args.selectable.iter().for_each(|path| paths::check_path(path, &fields, errors));
    check_selectable_differ(&args, errors);
    let storage = conversion::storage(&raw.ident, &mut args, &fields, errors);
    let verbs = conventions::verbs(&args, errors);
    let with_usual_policy = args.policy.is_none();
    let plain = |name: Option<LitStr>| name.map(|n| n.value());
    Some(Kind {
        plural: plain(args.plural).unwrap_or_else(|| names::plural(&kind_name)),
        singular: plain(args.singular).unwrap_or_else(|| kind_name.to_lowercase()),
        short_names: args.short_names.iter().map(LitStr::value).collect(),
        categories: args.categories.iter().map(LitStr::value).collect(),
        cluster: args.cluster.is_some(),
        builtin: args.builtin,
        policy: args.policy,
        generation: !args.unstored && (args.generation || !args.builtin),
        stored: !args.unstored,
        served: !args.unserved,
        verbs,
        deprecated: args.deprecated,
        storage,
        names: name_rule(args.names.as_ref(), errors),
        status: args.status.is_some(),
        grace: args.grace,
        lifetime: args.lifetime,
        roles: args.roles,
        scale: args.scale.and_then(|s| scale(s, &fields, errors)),
        columns,
        no_age: args.no_age,
        selectable: args.selectable,
        update_without_version: args.update_without_version,
        create_on_update: args.create_on_update,
        returns_deleted: args.returns_deleted,
        hooks: args.hooks,
        group,
        version,
        list_kind: args.list_kind.map_or_else(|| format!("{kind_name}List"), |name| name.value()),
        kind: kind_name,
        root: Container {
            krate: raw.krate,
            ident: raw.ident,
            doc: raw.doc,
            shape: Shape::Struct(fields),
            proto_zeros: args.builtin && with_usual_policy || raw.api.proto_zeros.is_some(),
            published: raw.api.published.is_some(),
            keywords: default::keywords(&raw.api.keywords, errors),
            locked: raw.locked,
        },
    })
}

/// Checks the fields of the root that have a meaning in every kind, and the one that the grace period names.
fn check_fields(root: &Ident, fields: &[Field], args: &KindArgs, errors: &Errors) {
    check_metadata(root, fields, errors);
    check_no_type_meta(fields, errors);
    check_no_items(fields, errors);
    check_status(args, fields, errors);
    if let Some(Grace::Path(path)) = &args.grace {
        paths::check_path(path, fields, errors);
    }
}

/// Returns the fields of the root as declared.
fn raw_fields(body: Body, root: &Ident, errors: &Errors) -> Option<Vec<RawField>> {
    match body {
        Body::Struct(fields) => Some(fields),
        Body::Enum(_) => {
            errors.at(
                root.span(),
                "a kind must be a struct with `metadata: ObjectMeta`; \
                 an enum can be a field's type, with `#[derive(ApiType)]`",
            );
            None
        }
        Body::Refused => None,
    }
}

/// A kind without group and version has no URL.
fn check_group_version(raw: &Raw, args: &KindArgs, errors: &Errors) -> (Option<String>, String) {
    let span = args.span.unwrap_or_else(|| raw.ident.span());
    if args.span.is_none() {
        errors.at(
            span,
            "a kind needs a group and a version: `#[resource(group = \"library.example.com\", version = \"v1\")]`",
        );
    } else {
        // The storage version declares the group for all versions.
        let no_group = args.group.is_none() && args.storage.is_none();
        let missing: Vec<_> =
            [("group = \"library.example.com\"", no_group), ("version = \"v1\"", args.version.is_none())]
                .into_iter()
                .filter_map(|(form, missing)| missing.then_some(format!("`{form}`")))
                .collect();
        // An argument with a syntax error was already reported.
        if !missing.is_empty() && errors.is_empty() {
            errors.at(span, format!("the kind needs {}", missing.join(" and ")));
        }
    }
    if let Some(group) = &args.group {
        names::check_group(group, args.builtin, errors);
    }
    if let Some(version) = &args.version {
        names::check_version(version, errors);
    }
    let text = |name: &Option<LitStr>| name.as_ref().map(LitStr::value);
    (text(&args.group), text(&args.version).unwrap_or_default())
}

/// Attributes of the root that would change how it is read; the derive generates the root's serde implementations.
fn check_root_serde(raw: &Raw, errors: &Errors) {
    if let Some(span) = raw.serde.default {
        errors.at(span, "the root has no default of its own; put `#[serde(default)]` on the fields that may be absent");
    }
    if let Some(span) = raw.serde.deny_unknown_fields {
        errors.at(
            span,
            "the request decides about unknown fields (`fieldValidation`); \
             a client that knows fewer fields still reads the object",
        );
    }
}

fn check_names(args: &KindArgs, (kind, span): (&str, Span), errors: &Errors) {
    if args.storage.is_none() {
        names::check_kind(kind, span, args.singular.is_some(), errors);
    }
    conventions::check_list_kind(args, kind, errors);
    conventions::check_plural(args, kind, span, errors);
    let single = [("a plural", &args.plural), ("a singular", &args.singular)];
    for (what, name) in single.into_iter().filter_map(|(what, name)| Some((what, name.as_ref()?))) {
        names::check_resource_name(what, name, errors);
    }
    for name in &args.short_names {
        names::check_resource_name("a short name", name, errors);
    }
    for name in &args.categories {
        names::check_resource_name("a category", name, errors);
    }
}

/// Objects are namespaced or cluster-scoped.
fn check_scope(args: &KindArgs, errors: &Errors) {
    if let (Some(_), Some(span)) = (args.namespaced, args.cluster) {
        errors.at(span, "a kind is either `namespaced`, the default, or `cluster`");
    }
}

fn name_rule(word: Option<&syn::Ident>, errors: &Errors) -> &'static str {
    let rules = [("subdomain", "Subdomain"), ("label", "Label"), ("path_segment", "PathSegment")];
    let Some(word) = word else { return rules[0].1 };
    let known = rules.iter().find(|(name, _)| word == name);
    known.map_or_else(
        || {
            let allowed = rules.map(|(name, _)| name);
            let near = did_you_mean(&word.to_string(), allowed);
            errors.at(word.span(), format!("the rule for names must be one of {}{near}", allowed.join(", ")));
            rules[0].1
        },
        |(_, rule)| rule,
    )
}

/// Every object has metadata with this name and type.
fn check_metadata(ident: &syn::Ident, fields: &[Field], errors: &Errors) {
    let Some(metadata) = fields.iter().find(|f| f.rust == "metadata") else {
        let near = fields.iter().find(|f| last_segment(&f.ty).is_some_and(|(name, _)| name == "ObjectMeta"));
        match near {
            Some(field) => errors.at(field.ident.span(), "the field of an object's metadata must be named `metadata`"),
            None => errors.at(ident.span(), "a kind needs the field `pub metadata: kindsmith::ObjectMeta`"),
        }
        return;
    };
    if last_segment(&metadata.ty).is_none_or(|(name, _)| name != "ObjectMeta") {
        errors.at(metadata.ty.span(), "`metadata` must have the type `kindsmith::ObjectMeta`");
        return;
    }
    if !matches!(metadata.rules.proto, 0 | 1) {
        errors.at(
            metadata.ident.span(),
            "`metadata` must be the first field of an object's message: `#[api(proto = 1)]`",
        );
    }
}

/// The declaration defines the type meta; a field could only contradict it.
fn check_no_type_meta(fields: &[Field], errors: &Errors) {
    for field in fields.iter().filter(|f| f.wire == "apiVersion" || f.wire == "kind") {
        errors.at(field.ident.span(), format!("`{}` is read and written automatically; remove the field", field.wire));
    }
}

/// The status subresource writes the field `status`, which a new object does not have.
fn check_status(args: &KindArgs, fields: &[Field], errors: &Errors) {
    let field = fields.iter().find(|f| f.wire == "status");
    match (args.status, field) {
        (Some(span), None) => {
            errors.convention(span, "the `status` subresource needs a field: `pub status: Option<BookStatus>`");
        }
        (Some(_), Some(field)) if !look(&field.ty).optional && !field.defaulted => {
            let ty = &field.ty;
            let ty = crate::parse::args::shown(ty);
            errors.convention(field.ty.span(), format!("a new object has no status: use `Option<{ty}>`"));
        }
        (None, Some(field)) if !args.unstored => {
            errors.breaks(
                "status",
                field.ident.span(),
                "without the status subresource, every client that can write the object can write its status; \
                 say `status` in `#[resource(…)]`, or `unstored` if objects of the kind are never stored",
            );
        }
        _ => {}
    }
}

/// Arguments that apply only to stored objects.
const OF_STORED: &[&str] = &[
    "status",
    "scale",
    "selectable",
    "update_without_version",
    "create_on_update",
    "returns_deleted",
    "generate_name",
    "on_delete",
    "holds_deletion",
    "grace_seconds",
    "lifetime",
    "generation",
    "unserved",
    "verbs",
];

/// An object that is not stored is never updated, selected or deleted.
fn check_unstored(args: &KindArgs, errors: &Errors) {
    for (name, span) in args.given.iter().filter(|(name, _)| args.unstored && OF_STORED.contains(&name.as_str())) {
        errors.at(*span, format!("`{name}` applies to stored objects, but the kind is `unstored`; remove one of them"));
    }
}

/// Clients treat any object with `items` as a list (API conventions, "Types (Kinds)").
fn check_no_items(fields: &[Field], errors: &Errors) {
    if let Some(field) = fields.iter().find(|f| f.wire == "items") {
        errors.breaks(
            "items",
            field.ident.span(),
            "only lists may have a top-level field `items`; put the field under `spec`, or rename it",
        );
    }
}

fn scale(args: ScaleArgs, fields: &[Field], errors: &Errors) -> Option<Scale> {
    let (replicas, status) = (args.replicas?, args.status?);
    check_begins(&replicas, "spec", errors);
    check_begins(&status, "status", errors);
    for path in [Some(&replicas), Some(&status), args.selector.as_ref()].into_iter().flatten() {
        paths::check_path(path, fields, errors);
    }
    Some(Scale { replicas, status, selector: args.selector })
}

/// Scale writes the desired state and reads the observed one.
fn check_begins(path: &[syn::Ident], first: &str, errors: &Errors) {
    if path.first().is_some_and(|ident| ident != first) {
        let rest: Vec<_> = path[1..].iter().map(|i| i.unraw().to_string()).collect();
        let near = if rest.is_empty() { format!("{first}.replicas") } else { format!("{first}.{}", rest.join(".")) };
        errors.convention(path[0].span(), format!("the path must start with `{first}`; did you mean `{near}`?"));
    }
}

fn column(args: &ColumnArgs, fields: &[Field], errors: &Errors) -> Column {
    let text = |text: &Option<LitStr>| text.as_ref().map(LitStr::value).unwrap_or_default();
    let cell = match (&args.path, &args.with) {
        (Some(path), _) => {
            paths::check_path(path, fields, errors);
            Cell::Path(path.clone())
        }
        (None, Some(function)) => Cell::Function(function.clone()),
        (None, None) => {
            Cell::Json(text(&args.json_path), args.kind.as_ref().map(ToString::to_string).unwrap_or_default())
        }
    };
    Column {
        name: args.name.value(),
        priority: args.priority.as_ref().and_then(|p| p.base10_parse().ok()).unwrap_or(0),
        description: text(&args.description),
        format: text(&args.format),
        cell,
    }
}

/// kubectl identifies columns by their headers. The first is always the name, except for Event, a builtin kind.
fn check_columns_differ(columns: &[ColumnArgs], builtin: bool, errors: &Errors) {
    for (at, column) in columns.iter().enumerate() {
        let name = column.name.value();
        if name.trim().is_empty() {
            errors.at(column.name.span(), "a column needs a header, such as \"Author\"");
        } else if !builtin && name.eq_ignore_ascii_case("name") {
            errors.convention(column.name.span(), "the first column is always the object's name; remove this one");
        } else if columns[..at].iter().any(|other| other.name.value().eq_ignore_ascii_case(&name)) {
            errors.convention(column.name.span(), format!("the column `{name}` is declared twice"));
        }
    }
}

/// `metadata.name` and `metadata.namespace` are always selectable; any other field may be declared once.
fn check_selectable_differ(args: &KindArgs, errors: &Errors) {
    let mut seen: Vec<String> = vec!["metadata.name".to_owned(), "metadata.namespace".to_owned()];
    for path in &args.selectable {
        let shown = paths::shown(path);
        if seen.contains(&shown) {
            let last = path.last().map_or_else(Span::call_site, syn::Ident::span);
            errors.at(last, format!("`{shown}` is already selectable"));
        }
        seen.push(shown);
    }
}
