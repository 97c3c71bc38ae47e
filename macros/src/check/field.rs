//! Rules of one field, and its conversion to the model.
use syn::{Type, ext::IdentExt};

use super::{bounds, default, generated, lists, names, types};
use crate::{
    diag::Errors,
    model::{Field, Rules},
    parse::{
        container::Field as Raw,
        field::{FieldArgs, ListArg},
        serde::{RENAME_RULES, SerdeArgs, field_name},
        types::{Look, WrappedType, last_segment, look, span},
    },
    suggest::did_you_mean,
};

/// Checks a field.
pub(crate) fn field(raw: Raw, rename_all: &str, errors: &Errors) -> Field {
    let rust = raw.ident.unraw().to_string();
    let wire = raw.serde.rename.as_ref().map_or_else(|| field_name(&rust, rename_all), syn::LitStr::value);
    check_renamed(&raw, &wire, errors);
    let before = errors.count();
    let generated = generated::check_field(&raw.api, &raw.ty, errors);
    if !generated {
        types::check_type(&raw.ty, raw.api.observed.is_some(), errors);
    }
    // The rules of a refused type would be checked against the wrong type.
    let rules = if errors.count() == before { rules(&raw.api, &raw.ty, errors) } else { Rules::default() };
    check_skip(&raw, errors);
    check_default_once(&raw, errors);
    check_conventional(&raw, &wire, errors);
    let conditions = !generated && are_checked_conditions(&raw, &wire, errors);
    Field {
        rust,
        wire,
        defaulted: raw.serde.default.is_some(),
        skip_serializing_if: raw.serde.skip_serializing_if,
        ident: raw.ident,
        doc: raw.doc,
        ty: raw.ty,
        generated,
        conditions,
        rules,
    }
}

/// Checks the rules declared for a value.
pub(crate) fn rules(args: &FieldArgs, ty: &Type, errors: &Errors) -> Rules {
    let WrappedType { look, inner, .. } = look(ty);
    bounds::check_bound_fits(args, look, errors);
    bounds::check_bound_in_range(args, look, errors);
    bounds::check_bounds_leave_room(args, errors);
    bounds::check_pattern(args, errors);
    lists::check_map(args, look, errors);
    lists::check_items(args, look, errors);
    lists::check_proto_zero(args, look, errors);
    let list = lists::check_list(args, look, errors);
    let mut rules = Rules {
        required: args.required.is_some(),
        nullable: args.nullable.is_some(),
        preserve_unknown: args.preserve_unknown.is_some(),
        embedded: args.embedded.is_some(),
        keywords: default::keywords(&args.keywords, errors),
        merge: lists::check_merge(args, &list, look, errors),
        list,
        format: args.format.as_ref().map(syn::LitStr::value),
        bounds: bounds::of(args),
        pattern: args.pattern.clone(),
        map_atomic: args.map_atomic.is_some(),
        retain_keys: args.retain_keys.is_some(),
        immutable: args.immutable.is_some(),
        proto: args.proto.as_ref().and_then(|n| n.base10_parse().ok()).unwrap_or(0),
        proto_zero: args.proto_zero.is_some(),
        observed: args.observed.is_some(),
        ..Rules::default()
    };
    rules.default = default::check_default(args, look, &rules.bounds, errors);
    if let Some((_, items)) = &args.items {
        let item = match look {
            crate::parse::types::Look::List(item) | crate::parse::types::Look::Map(item) => item,
            _ => inner,
        };
        let doc = items.keywords.describe(String::new());
        rules.items = Some(Box::new(Rules { doc, ..self::rules(items, item, errors) }));
    }
    if !args.of_items.is_empty() {
        let items = rules.items.get_or_insert_default();
        if items.doc.is_empty() {
            items.doc.clone_from(&args.of_items);
        }
    }
    rules
}

/// An explicit name must be camelCase, too.
fn check_renamed(raw: &Raw, wire: &str, errors: &Errors) {
    if let Some(rename) = raw.serde.rename.as_ref().filter(|_| !names::is_field_name(wire)) {
        let near = Some(names::field_name_near(wire)).filter(|near| names::is_field_name(near));
        let hint = near.map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
        let message = format!("field names must be camelCase on the wire, not `{wire}`{hint}");
        errors.breaks("field_name", rename.span(), message);
    }
}

/// A required field that is skipped on output could not be read back.
fn check_skip(raw: &Raw, errors: &Errors) {
    let Some(skip) = &raw.serde.skip_serializing_if else { return };
    if !look(&raw.ty).optional && raw.serde.default.is_none() {
        errors.at(
            skip.span(),
            "the field may be skipped on output, but it is required on input; \
             add `#[serde(default)]` beside it, or make it an `Option`",
        );
    }
}

/// Two defaults would eventually differ. `api(default)` fills in the document, so serde never uses its own.
fn check_default_once(raw: &Raw, errors: &Errors) {
    if let (Some(_), Some(span)) = (&raw.api.default, raw.serde.default) {
        errors.at(span, "`#[api(default = …)]` fills the field in before serde sees it; remove `serde(default)`");
    }
}

/// Fields with conventional names must have the form that tools expect (API conventions, "Typical status properties").
fn check_conventional(raw: &Raw, wire: &str, errors: &Errors) {
    let look = look(&raw.ty).look;
    match (wire, look) {
        ("observedGeneration", Look::Int(_, high)) if high < i64::MAX => {
            errors.convention(span(&raw.ty), "a generation must be an `i64`");
        }
        ("conditions", Look::Map(_)) => {
            errors.breaks(
                "conditions",
                span(&raw.ty),
                "conditions must be a list: `Vec<kindsmith::Condition>` with `#[api(list = map(key = kind))]`",
            );
        }
        ("conditions", Look::List(item)) if !matches!(raw.api.list, Some(ListArg::Map(..))) => {
            let is_shared = last_segment(item).is_some_and(|(name, _)| name == "Condition");
            let key = if is_shared { "kind" } else { "type" };
            errors.breaks(
                "conditions",
                raw.ident.span(),
                format!("conditions are keyed by type: use `#[api(list = map(key = {key}))]`, or each writer would replace the conditions of all others"),
            );
        }
        _ => {}
    }
}

/// Returns true for conditions of a type of the user's own, whose fields the expansion checks (API conventions, "Typical status
/// properties": a condition "must contain at least type and status fields").
fn are_checked_conditions(raw: &Raw, wire: &str, errors: &Errors) -> bool {
    let Look::List(item) = look(&raw.ty).look else { return false };
    let is_own = wire == "conditions" && last_segment(item).is_some_and(|(name, _)| name != "Condition");
    is_own && matches!(raw.api.list, Some(ListArg::Map(..))) && errors.holds("conditions")
}

/// The `rename_all` rule of a container, or the default one.
pub(crate) fn rename_rule(serde: &SerdeArgs, otherwise: &'static str, errors: &Errors) -> String {
    let Some(rule) = &serde.rename_all else { return otherwise.to_owned() };
    let text = rule.value();
    if !RENAME_RULES.contains(&text.as_str()) {
        let near = did_you_mean(&text, RENAME_RULES);
        errors.at(rule.span(), format!("`rename_all` must be one of {}{near}", RENAME_RULES.join(", ")));
    }
    text
}
