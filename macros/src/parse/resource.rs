//! `#[resource(…)]`.
use proc_macro2::Span;
use syn::{Attribute, Ident, LitInt, LitStr};

use super::{
    allow,
    args::{Arg, Value, parse_args},
    conversion,
    keys::{Key, Reader},
    roles,
};
use crate::{
    diag::Errors,
    model::{Conversion, Grace, Roles, RustPath},
};

const KEYS: &[Key] = &[
    ("group", "group = \"library.example.com\""),
    ("version", "version = \"v1\""),
    ("kind", "kind = \"Book\""),
    ("list_kind", "list_kind = \"BookList\""),
    ("plural", "plural = \"books\""),
    ("singular", "singular = \"book\""),
    ("shortname", "shortname = \"bk\""),
    ("shortnames", "shortnames(\"bk\", \"bks\")"),
    ("category", "category = \"all\""),
    ("categories", "categories(\"all\", \"library\")"),
    ("namespaced", "namespaced"),
    ("cluster", "cluster"),
    ("status", "status"),
    ("scale", "scale(replicas = spec.replicas, status = status.replicas, selector = status.selector)"),
    ("column", "column(\"Author\", path = spec.author)"),
    ("no_age", "no_age"),
    ("selectable", "selectable(spec.genre)"),
    ("update_without_version", "update_without_version"),
    ("create_on_update", "create_on_update"),
    ("returns_deleted", "returns_deleted"),
    ("default", "default = Book::fill_in"),
    ("validate", "validate = Book::check"),
    ("generate_name", "generate_name = Book::name"),
    ("on_delete", "on_delete = Book::end"),
    ("holds_deletion", "holds_deletion = Book::is_lent"),
    ("grace_seconds", "grace_seconds = 30"),
    ("lifetime", "lifetime = \"1h\""),
    ("roles", "roles(read = edit, write = admin)"),
    ("names", "names = subdomain"),
    ("builtin", "builtin"),
    ("policy", "policy = Books"),
    ("generation", "generation"),
    ("unstored", "unstored"),
    ("storage", "storage = Book"),
    ("convert", "convert(renamed(spec.writer = spec.author))"),
    ("deprecated", "deprecated = \"use library.example.com/v1\""),
    ("unserved", "unserved"),
    ("verbs", "verbs(get, list, watch)"),
    ("allow", "allow(group = \"why\")"),
    ("proto", "proto = \"schemas/library.example.com/v1.proto\""),
    ("crate", "crate = path::to::kindsmith"),
];

const COLUMN_KEYS: &[Key] = &[
    ("path", "path = spec.author"),
    ("with", "with = Book::ready"),
    ("json_path", "json_path = \".status.conditions[?(@.type=='Ready')].status\""),
    ("type", "type = string"),
    ("priority", "priority = 1"),
    ("description", "description = \"The author of the book\""),
    ("format", "format = \"int32\""),
];

const SCALE_KEYS: &[Key] = &[
    ("replicas", "replicas = spec.replicas"),
    ("status", "status = status.replicas"),
    ("selector", "selector = status.selector"),
];

/// The parsed `#[resource(…)]` attributes.
#[derive(Default)]
#[expect(clippy::struct_excessive_bools, reason = "they are the flags of the attribute")]
pub(crate) struct KindArgs {
    /// The span of `#[resource]`, for errors about missing arguments.
    pub span: Option<Span>,
    pub group: Option<LitStr>,
    pub version: Option<LitStr>,
    pub kind: Option<LitStr>,
    pub list_kind: Option<LitStr>,
    pub plural: Option<LitStr>,
    pub singular: Option<LitStr>,
    pub short_names: Vec<LitStr>,
    pub categories: Vec<LitStr>,
    pub namespaced: Option<Span>,
    pub cluster: Option<Span>,
    pub status: Option<Span>,
    pub scale: Option<ScaleArgs>,
    pub columns: Vec<ColumnArgs>,
    pub no_age: bool,
    pub selectable: Vec<RustPath>,
    pub update_without_version: bool,
    pub create_on_update: bool,
    pub returns_deleted: bool,
    /// The functions of hooks, by the names of their arguments.
    pub hooks: Vec<(Ident, syn::Path)>,
    pub grace: Option<Grace>,
    /// In seconds.
    pub lifetime: Option<u64>,
    pub roles: Roles,
    pub names: Option<Ident>,
    pub builtin: bool,
    pub policy: Option<syn::Path>,
    pub generation: bool,
    pub unstored: bool,
    pub storage: Option<syn::Path>,
    pub convert: Option<(Span, Conversion)>,
    /// The deprecation warning; empty for the default one.
    pub deprecated: Option<String>,
    pub unserved: bool,
    /// The lock of Protobuf numbers.
    pub proto: Option<LitStr>,
    /// The verbs that are served, with the span of the argument.
    pub verbs: Option<(Span, Vec<RustPath>)>,
    /// The path of kindsmith.
    pub krate: Option<syn::Path>,
    /// The name and span of each argument.
    pub given: Vec<(String, Span)>,
    /// True if an attribute has a syntax error, so that its arguments are unknown.
    pub unread: bool,
}

/// `scale(…)`.
pub(crate) struct ScaleArgs {
    pub replicas: Option<RustPath>,
    pub status: Option<RustPath>,
    pub selector: Option<RustPath>,
}

/// `column(…)`.
pub(crate) struct ColumnArgs {
    pub name: LitStr,
    pub path: Option<RustPath>,
    pub with: Option<syn::Path>,
    pub json_path: Option<LitStr>,
    /// The type of the cells at a JSONPath.
    pub kind: Option<Ident>,
    pub priority: Option<LitInt>,
    pub description: Option<LitStr>,
    pub format: Option<LitStr>,
}

/// Reads all `#[resource(…)]` attributes of a type.
pub(crate) fn read(attributes: &[Attribute], errors: &Errors) -> KindArgs {
    let mut kind = KindArgs::default();
    let mut seen = Vec::new();
    let reader = Reader { attribute: "#[resource]", keys: &[KEYS], errors };
    for attribute in attributes.iter().filter(|a| a.path().is_ident("resource")) {
        kind.span.get_or_insert_with(|| attribute.path().segments[0].ident.span());
        let Some(args) = errors.ok(attribute.parse_args_with(parse_args)) else {
            kind.unread = true;
            continue;
        };
        for arg in &args {
            let repeatable = ["column", "selectable", "shortname", "category"];
            let Some(name) = reader.name(arg, &mut seen, &repeatable) else { continue };
            names(&mut kind, &name, arg, &reader);
            behaviour(&mut kind, &name, arg, &reader);
            versions(&mut kind, &name, arg, &reader);
            kind.given.push((name, arg.span()));
        }
    }
    kind
}

/// Arguments that define names: the kind's, and that of our crate.
fn names(kind: &mut KindArgs, name: &str, arg: &Arg, reader: &Reader<'_>) {
    match name {
        "group" => kind.group = reader.text(arg),
        "version" => kind.version = reader.text(arg),
        "kind" => kind.kind = reader.text(arg),
        "list_kind" => kind.list_kind = reader.text(arg),
        "plural" => kind.plural = reader.text(arg),
        "singular" => kind.singular = reader.text(arg),
        "shortname" | "shortnames" => kind.short_names.extend(reader.texts(arg).unwrap_or_default()),
        "category" | "categories" => kind.categories.extend(reader.texts(arg).unwrap_or_default()),
        "namespaced" => kind.namespaced = reader.flag(arg),
        "cluster" => kind.cluster = reader.flag(arg),
        "names" => kind.names = reader.word(arg),
        "crate" => kind.krate = reader.function(arg),
        "allow" => allow::read(arg, reader),
        _ => {}
    }
}

/// Arguments that define the kind's behaviour.
fn behaviour(kind: &mut KindArgs, name: &str, arg: &Arg, reader: &Reader<'_>) {
    match name {
        "status" => kind.status = reader.flag(arg),
        "scale" => kind.scale = reader.args(arg).map(|args| scale(arg.span(), args, reader.errors)),
        "column" => kind.columns.extend(reader.args(arg).and_then(|args| column(arg.span(), args, reader.errors))),
        "selectable" => {
            let expected = "a selectable field must be a path: `selectable(spec.genre)`";
            kind.selectable.extend(reader.paths(arg, expected));
        }
        "no_age" => kind.no_age = reader.flag(arg).is_some(),
        "update_without_version" => kind.update_without_version = reader.flag(arg).is_some(),
        "create_on_update" => kind.create_on_update = reader.flag(arg).is_some(),
        "returns_deleted" => kind.returns_deleted = reader.flag(arg).is_some(),
        "default" | "validate" | "generate_name" | "on_delete" | "holds_deletion" => {
            kind.hooks.extend(arg.name.clone().zip(reader.function(arg)));
        }
        "grace_seconds" => kind.grace = grace(arg, reader),
        "lifetime" => kind.lifetime = lifetime(arg, reader),
        "roles" => kind.roles = roles::read(arg, reader),
        "builtin" => kind.builtin = reader.flag(arg).is_some(),
        "policy" => kind.policy = reader.function(arg),
        "generation" => kind.generation = reader.flag(arg).is_some(),
        "unstored" => kind.unstored = reader.flag(arg).is_some(),
        _ => {}
    }
}

/// Arguments about versions.
fn versions(kind: &mut KindArgs, name: &str, arg: &Arg, reader: &Reader<'_>) {
    match name {
        "storage" => kind.storage = reader.function(arg),
        "convert" => kind.convert = conversion::convert(arg, reader).map(|convert| (arg.span(), convert)),
        "deprecated" if matches!(arg.value, Value::Flag) => kind.deprecated = Some(String::new()),
        "deprecated" => kind.deprecated = reader.text(arg).map(|text| text.value()),
        "proto" => kind.proto = reader.text(arg),
        "unserved" => kind.unserved = reader.flag(arg).is_some(),
        "verbs" => kind.verbs = Some((arg.span(), reader.paths(arg, "a verb is a word: `verbs(get, list, watch)`"))),
        _ => {}
    }
}

/// A number for the whole kind, or the field with each object's number.
fn grace(arg: &Arg, reader: &Reader<'_>) -> Option<Grace> {
    match &arg.value {
        Value::Dotted(path) => Some(Grace::Path(path.clone())),
        _ => reader.count(arg).and_then(|seconds| seconds.base10_parse().ok()).map(Grace::Seconds),
    }
}

/// A duration in seconds.
fn lifetime(arg: &Arg, reader: &Reader<'_>) -> Option<u64> {
    let text = reader.text(arg)?;
    let seconds = seconds(&text.value());
    if seconds.is_none() {
        let message = "a lifetime is a number of hours, minutes or seconds above zero, or of several of them: `\"1h\"`, `\"1h30m\"`, `\"90s\"`";
        reader.errors.at(text.span(), message);
    }
    seconds
}

/// Reads a duration such as `1h30m`. `None` for anything else, and for zero.
fn seconds(text: &str) -> Option<u64> {
    let (mut total, mut rest) = (0_u64, text);
    for (unit, seconds) in [('h', 3_600), ('m', 60), ('s', 1)] {
        let Some((number, after)) = rest.split_once(unit) else { continue };
        // A sign would be read as part of the number.
        let number = number.parse::<u64>().ok().filter(|_| number.bytes().all(|byte| byte.is_ascii_digit()))?;
        total = total.checked_add(number.checked_mul(seconds)?)?;
        rest = after;
    }
    (rest.is_empty() && total > 0).then_some(total)
}

fn scale(span: Span, args: &[Arg], errors: &Errors) -> ScaleArgs {
    let mut scale = ScaleArgs { replicas: None, status: None, selector: None };
    let reader = Reader { attribute: "scale", keys: &[SCALE_KEYS], errors };
    let mut seen = Vec::new();
    for arg in args {
        match reader.name(arg, &mut seen, &[]).as_deref() {
            Some("replicas") => scale.replicas = reader.dotted(arg),
            Some("status") => scale.status = reader.dotted(arg),
            Some("selector") => scale.selector = reader.dotted(arg),
            _ => {}
        }
    }
    for (name, missing) in [("replicas", scale.replicas.is_none()), ("status", scale.status.is_none())] {
        if missing && !seen.iter().any(|s| s == name) {
            let form = SCALE_KEYS.iter().find(|(key, _)| *key == name).map_or("", |(_, form)| form);
            errors.at(span, format!("`scale` needs `{name}`: `{form}`"));
        }
    }
    scale
}

fn column(span: Span, args: &[Arg], errors: &Errors) -> Option<ColumnArgs> {
    let reader = Reader { attribute: "column", keys: &[COLUMN_KEYS], errors };
    let [Arg { name: None, value: Value::Literal(syn::Lit::Str(name)) }, rest @ ..] = args else {
        errors.at(span, "a column starts with its header: `column(\"Author\", path = spec.author)`");
        return None;
    };
    let mut column = ColumnArgs {
        name: name.clone(),
        path: None,
        with: None,
        json_path: None,
        kind: None,
        priority: None,
        description: None,
        format: None,
    };
    let (mut seen, before) = (Vec::new(), errors.count());
    for arg in rest {
        match reader.name(arg, &mut seen, &[]).as_deref() {
            Some("path") => column.path = reader.dotted(arg),
            Some("with") => column.with = reader.function(arg),
            Some("json_path") => column.json_path = reader.text(arg),
            Some("type") => column.kind = reader.word(arg),
            Some("priority") => column.priority = reader.count(arg),
            Some("description") => column.description = reader.text(arg),
            Some("format") => column.format = reader.text(arg),
            _ => {}
        }
    }
    // A misspelt argument was already reported.
    if errors.count() > before {
        return None;
    }
    let given = |key: &str| seen.iter().any(|s| s == key);
    let sources = ["path", "with", "json_path"].into_iter().filter(|key| given(key)).count();
    if sources == 0 {
        errors.at(name.span(), "the column needs `path = spec.author` or `with = Book::ready`");
    } else if sources > 1 {
        errors.at(
            name.span(),
            "the column has several of `path`, `with` and `json_path`; its cells come from one of them",
        );
    } else if given("json_path") != given("type") {
        errors.at(name.span(), "`json_path` and `type` belong together: `json_path = \".spec.size\", type = integer`");
    } else {
        return Some(column);
    }
    None
}
