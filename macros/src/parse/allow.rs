//! `allow(rule = "reason")`: rules of the API conventions that a declaration breaks on purpose.
use super::{
    args::Arg,
    keys::{Key, Reader},
};

/// The rules that may be broken.
pub(crate) const RULES: &[Key] = &[
    ("conditions", "conditions = \"why\""),
    ("field_name", "field_name = \"why\""),
    ("float", "float = \"why\""),
    ("group", "group = \"why\""),
    ("items", "items = \"why\""),
    ("list_kind", "list_kind = \"why\""),
    ("plural", "plural = \"why\""),
    ("status", "status = \"why\""),
];

/// Reads the rules that are broken, and notes them for the checks.
pub(crate) fn read(arg: &Arg, reader: &Reader<'_>) {
    let errors = reader.errors;
    let Some(args) = reader.args(arg) else { return };
    let reader = Reader { attribute: "allow", keys: &[RULES], errors };
    let mut seen = Vec::new();
    for arg in args {
        let (Some(_), Some(rule)) = (reader.name(arg, &mut seen, &[]), &arg.name) else { continue };
        match reader.text(arg) {
            Some(reason) if reason.value().trim().is_empty() => {
                errors.at(reason.span(), format!("the reason is empty; expected `{rule} = \"why\"`"));
            }
            Some(_) => errors.allow(rule.clone()),
            None => {}
        }
    }
}
