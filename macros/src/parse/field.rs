//! `#[api(…)]` on fields.
use proc_macro2::Span;
use syn::{Attribute, Ident, LitInt, LitStr};

use super::{
    args::{Arg, Number, Value, parse_args},
    keys::{Key, Reader},
    keywords::{self, Keywords},
    rules,
};
use crate::diag::Errors;

const KEYS: &[Key] = &[
    ("default", "default = 1"),
    ("minimum", "minimum = 0"),
    ("maximum", "maximum = 100"),
    ("exclusive_minimum", "exclusive_minimum = 0"),
    ("exclusive_maximum", "exclusive_maximum = 100"),
    ("multiple_of", "multiple_of = 5"),
    ("min_length", "min_length = 1"),
    ("max_length", "max_length = 64"),
    ("pattern", "pattern = \"^[a-z]+$\""),
    ("min_items", "min_items = 1"),
    ("max_items", "max_items = 8"),
    ("min_properties", "min_properties = 1"),
    ("max_properties", "max_properties = 8"),
    ("format", "format = \"uri\""),
    ("items", "items(max_length = 16)"),
    ("list", "list = atomic`, `list = set` or `list = map(key = name)"),
    ("map", "map = atomic"),
    ("merge", "merge` or `merge(key = name)"),
    ("retain_keys", "retain_keys"),
    ("immutable", "immutable"),
    ("proto", "proto = 3"),
    ("proto_zero", "proto_zero"),
    ("observed", "observed"),
    ("required", "required"),
    ("nullable", "nullable"),
    ("preserve_unknown", "preserve_unknown"),
    ("embedded", "embedded"),
    ("values", "values = [1, 2]"),
    ("schema", "schema = schemars"),
];

/// A bound: its name, the name's span, and the number.
#[derive(Clone)]
pub(crate) struct Bound {
    pub name: &'static str,
    pub span: Span,
    pub number: Number,
}

/// The argument of `list`.
pub(crate) enum ListArg {
    Atomic(Span),
    Set(Span),
    Map(Span, Vec<Ident>),
}

/// `merge` and its key.
pub(crate) struct MergeArg {
    pub span: Span,
    pub key: Option<Ident>,
}

/// A field's parsed `#[api(…)]` attributes.
#[derive(Default)]
pub(crate) struct FieldArgs {
    pub default: Option<(Span, Value)>,
    /// `minimum`, `max_length` and so on, in source order.
    pub bounds: Vec<Bound>,
    pub pattern: Option<LitStr>,
    pub format: Option<LitStr>,
    pub items: Option<(Span, Box<FieldArgs>)>,
    pub list: Option<ListArg>,
    pub map_atomic: Option<Span>,
    pub merge: Option<MergeArg>,
    pub retain_keys: Option<Span>,
    pub immutable: Option<Span>,
    pub proto: Option<LitInt>,
    pub proto_zero: Option<Span>,
    pub observed: Option<Span>,
    pub required: Option<Span>,
    pub nullable: Option<Span>,
    pub preserve_unknown: Option<Span>,
    pub embedded: Option<Span>,
    pub keywords: Keywords,
    /// What describes the type.
    pub schema: Option<Ident>,
    /// The name and span of each argument.
    pub given: Vec<(String, Span)>,
    /// The description of a list's items or a map's values.
    pub of_items: String,
}

impl FieldArgs {
    /// The bound with a name.
    pub(crate) fn bound(&self, name: &str) -> Option<&Bound> {
        self.bounds.iter().find(|bound| bound.name == name)
    }
}

/// Reads all `#[api(…)]` attributes of a field.
pub(crate) fn read(attributes: &[Attribute], errors: &Errors) -> FieldArgs {
    let mut field = FieldArgs::default();
    let mut seen = Vec::new();
    for attribute in attributes.iter().filter(|a| a.path().is_ident("api")) {
        let Some(args) = errors.ok(attribute.parse_args_with(parse_args)) else { continue };
        fill(
            &mut field,
            &args,
            &mut seen,
            &Reader { attribute: "#[api]", keys: &[KEYS, keywords::KEYS, rules::KEYS], errors },
        );
    }
    field
}

fn fill(field: &mut FieldArgs, args: &[Arg], seen: &mut Vec<String>, reader: &Reader<'_>) {
    for arg in args {
        let Some(name) = reader.name(arg, seen, &rules::NAMES) else { continue };
        field.given.push((name.clone(), arg.span()));
        match name.as_str() {
            "default" => field.default = default(arg, reader),
            "pattern" => field.pattern = reader.text(arg),
            "format" => field.format = reader.text(arg),
            "items" => field.items = items(arg, reader),
            "list" => field.list = list(arg, reader),
            "map" => field.map_atomic = map(arg, reader),
            "merge" => field.merge = merge(arg, reader),
            "retain_keys" => field.retain_keys = reader.flag(arg),
            "immutable" => field.immutable = reader.flag(arg),
            "proto" => field.proto = reader.count(arg),
            "proto_zero" => field.proto_zero = reader.flag(arg),
            "observed" => field.observed = reader.flag(arg),
            "required" => field.required = reader.flag(arg),
            "nullable" => field.nullable = reader.flag(arg),
            "preserve_unknown" => field.preserve_unknown = reader.flag(arg),
            "embedded" => field.embedded = reader.flag(arg),
            "schema" => field.schema = reader.word(arg),
            name if is_bound(name) => field.bounds.extend(self::bound(name, arg, reader)),
            keyword => field.keywords.read(keyword, arg, reader),
        }
    }
}

fn is_bound(name: &str) -> bool {
    ["min", "max", "exclusive", "multiple"].iter().any(|begin| name.starts_with(begin))
}

fn bound(name: &str, arg: &Arg, reader: &Reader<'_>) -> Option<Bound> {
    let name = KEYS.iter().find(|(key, _)| *key == name).map(|(key, _)| *key)?;
    if name.ends_with("_length") || name.ends_with("_items") || name.ends_with("_properties") {
        reader.count(arg)?;
    }
    Some(Bound { name, span: arg.span(), number: reader.number(arg)? })
}

fn default(arg: &Arg, reader: &Reader<'_>) -> Option<(Span, Value)> {
    let value = arg.value.constant().filter(|value| !matches!(value, Value::Dotted(_)));
    if value.is_none() {
        let message = "a default must be a literal, a variant such as `Color::Red`, `[…]` or `{…}`";
        reader.errors.at(arg.value_span(), message);
    }
    Some((arg.value_span(), value?))
}

fn items(arg: &Arg, reader: &Reader<'_>) -> Option<(Span, Box<FieldArgs>)> {
    let mut inner = FieldArgs::default();
    fill(&mut inner, reader.args(arg)?, &mut Vec::new(), reader);
    Some((arg.span(), Box::new(inner)))
}

fn list(arg: &Arg, reader: &Reader<'_>) -> Option<ListArg> {
    let allowed = "a list must be `atomic`, `set` or `map(key = name)`";
    match &arg.value {
        Value::Dotted(names) if names.len() == 1 => match names[0].to_string().as_str() {
            "atomic" => return Some(ListArg::Atomic(names[0].span())),
            "set" => return Some(ListArg::Set(names[0].span())),
            "map" => reader.errors.at(names[0].span(), "a list map needs a key: `list = map(key = name)`"),
            other => {
                let near = crate::suggest::did_you_mean(other, ["atomic", "set", "map"]);
                reader.errors.at(names[0].span(), format!("{allowed}{near}"));
            }
        },
        Value::Call(name, args) if name == "map" => {
            let keys = keys(args, reader)?;
            if keys.is_empty() {
                reader.errors.at(name.span(), "a list map needs a key: `list = map(key = name)`");
                return None;
            }
            return Some(ListArg::Map(name.span(), keys));
        }
        _ => reader.errors.at(arg.value_span(), allowed),
    }
    None
}

/// `key = name, key = protocol`.
fn keys(args: &[Arg], reader: &Reader<'_>) -> Option<Vec<Ident>> {
    let mut keys = Vec::new();
    let reader = Reader { attribute: "the list", keys: &[&[("key", "key = name")]], errors: reader.errors };
    for arg in args {
        reader.name(arg, &mut Vec::new(), &[])?;
        keys.push(reader.word(arg)?);
    }
    Some(keys)
}

fn map(arg: &Arg, reader: &Reader<'_>) -> Option<Span> {
    let word = reader.word(arg)?;
    if word == "atomic" {
        return Some(word.span());
    }
    reader.errors.at(word.span(), "maps are granular by default; the only value is `map = atomic`");
    None
}

fn merge(arg: &Arg, reader: &Reader<'_>) -> Option<MergeArg> {
    match &arg.value {
        Value::Args(args) => Some(MergeArg { span: arg.span(), key: keys(args, reader)?.into_iter().next() }),
        _ => reader.flag(arg).map(|span| MergeArg { span, key: None }),
    }
}
