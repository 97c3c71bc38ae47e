//! Rules in CEL: `rule = "…"`, and the arguments that follow it.
use syn::{Ident, Lit, LitStr};

use super::{
    args::{Arg, Value},
    keys::{Key, Reader},
};

/// `rule`, and what belongs to the rule before it.
pub(crate) const KEYS: &[Key] = &[
    ("rule", "rule = \"self.low <= self.high\""),
    ("message", "message = \"low is at most high\""),
    ("message_expression", "message_expression = \"'low is above ' + string(self.high)\""),
    ("reason", "reason = FieldValueForbidden"),
    ("field", "field = low` or `field = \".labels['app']\""),
    ("optional_old_self", "optional_old_self = true"),
];

/// Arguments that may be given several times: once for each rule.
pub(crate) const NAMES: [&str; KEYS.len()] = {
    let mut names = [""; KEYS.len()];
    let mut index = 0;
    while index < KEYS.len() {
        names[index] = KEYS[index].0;
        index += 1;
    }
    names
};

/// A rule as given.
pub(crate) struct RuleArgs {
    pub rule: LitStr,
    pub message: Option<LitStr>,
    pub message_expression: Option<LitStr>,
    pub reason: Option<Ident>,
    pub field: Option<FieldArg>,
    pub optional_old_self: Option<bool>,
}

/// The field to which the error of a rule belongs.
pub(crate) enum FieldArg {
    /// By names in Rust.
    Rust(Vec<Ident>),
    /// By a path as in definitions.
    Path(LitStr),
}

/// Reads an argument of a rule. True if it is one.
pub(super) fn read(rules: &mut Vec<RuleArgs>, name: &str, arg: &Arg, reader: &Reader<'_>) -> bool {
    if name == "rule" {
        rules.extend(reader.text(arg).map(|rule| RuleArgs {
            rule,
            message: None,
            message_expression: None,
            reason: None,
            field: None,
            optional_old_self: None,
        }));
        return true;
    }
    if !NAMES.contains(&name) {
        return false;
    }
    let Some(rule) = rules.last_mut() else {
        reader.errors.at(arg.span(), format!("`{name}` belongs to a rule: say `rule = \"…\"` before it"));
        return true;
    };
    let is_new = match name {
        "message" => fill(&mut rule.message, reader.text(arg)),
        "message_expression" => fill(&mut rule.message_expression, reader.text(arg)),
        "reason" => fill(&mut rule.reason, reader.word(arg)),
        "field" => fill(&mut rule.field, field(arg, reader)),
        _ => fill(&mut rule.optional_old_self, reader.bool(arg)),
    };
    if !is_new {
        reader.errors.at(arg.span(), format!("`{name}` is given twice for one rule"));
    }
    true
}

/// False if there is a value already.
fn fill<T>(place: &mut Option<T>, value: Option<T>) -> bool {
    let is_new = place.is_none();
    *place = value.or(place.take());
    is_new
}

fn field(arg: &Arg, reader: &Reader<'_>) -> Option<FieldArg> {
    match &arg.value {
        Value::Literal(Lit::Str(path)) => Some(FieldArg::Path(path.clone())),
        _ => reader.dotted(arg).map(FieldArg::Rust),
    }
}
