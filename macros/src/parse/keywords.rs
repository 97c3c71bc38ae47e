//! Arguments that are keywords of a schema, with values as in JSON: rules in CEL, `allOf` and its kind, and what is only
//! published.
use proc_macro2::Span;
use syn::{Lit, LitStr, ext::IdentExt};

use super::{
    args::{Arg, Value},
    keys::{Key, Reader},
};

const RULE: Key = ("rule", "rule(\"self.low <= self.high\", message = \"low is at most high\")");

/// The keywords on fields and types.
pub(crate) const KEYS: &[Key] = &[
    RULE,
    ("all_of", "all_of = [{\"required\": [\"low\"]}]"),
    ("any_of", "any_of = [{\"required\": [\"low\"]}]"),
    ("one_of", "one_of = [{\"required\": [\"low\"]}]"),
    ("not", "not = {\"required\": [\"low\"]}"),
    ("title", "title = \"Low\""),
    ("example", "example = 1"),
    ("external_docs", "external_docs = {\"url\": \"https://example.com\"}"),
    ("description", "description = \"What a doc comment cannot say\""),
    ("keywords", "keywords = {\"maxLength\": 3}"),
];

/// Arguments that may be given several times.
pub(crate) const REPEATABLE: &[&str] = &["rule"];

const RULE_KEYS: &[Key] = &[
    ("message", "message = \"low is at most high\""),
    ("message_expression", "message_expression = \"'low is above ' + string(self.high)\""),
    ("reason", "reason = \"FieldValueForbidden\""),
    ("field_path", "field_path = \".low\""),
    ("optional_old_self", "optional_old_self = true"),
];

/// Keywords with their values.
#[derive(Default)]
pub(crate) struct Keywords {
    /// Keywords as in JSON, each once.
    pub given: Vec<(String, Value)>,
    /// Rules in CEL, as in JSON.
    pub rules: Vec<Value>,
    /// The description, instead of the doc comment.
    pub description: Option<LitStr>,
    /// The place of `keywords`.
    pub named: Option<Span>,
}

impl Keywords {
    /// Reads an argument, if it is a keyword.
    pub(crate) fn read(&mut self, name: &str, arg: &Arg, reader: &Reader<'_>) {
        let keyword = match name {
            "rule" => return self.rules.extend(rule(arg, reader)),
            "description" => return self.description = reader.text(arg),
            "keywords" => return self.named(arg, reader),
            "all_of" => "allOf",
            "any_of" => "anyOf",
            "one_of" => "oneOf",
            "not" => "not",
            "values" => "enum",
            "title" => "title",
            "example" => "example",
            "external_docs" => "externalDocs",
            _ => return,
        };
        self.given.extend(reader.json(arg).map(|value| (keyword.to_owned(), value)));
    }

    /// `keywords = {"maxLength": 3}`: keywords by their names in definitions.
    fn named(&mut self, arg: &Arg, reader: &Reader<'_>) {
        match reader.json(arg) {
            Some(Value::Map(_, entries)) => {
                self.named = Some(arg.span());
                self.given.extend(entries.into_iter().map(|(keyword, value)| (keyword.value(), value)));
            }
            Some(_) => reader.errors.at(arg.value_span(), "expected `keywords = {\"maxLength\": 3}`"),
            None => {}
        }
    }

    /// The description: the one that is given, or that of the doc comment.
    pub(crate) fn describe(&self, comment: String) -> String {
        self.description.as_ref().map_or(comment, LitStr::value)
    }
}

/// `rule("self.low <= self.high", message = "…")`.
fn rule(arg: &Arg, reader: &Reader<'_>) -> Option<Value> {
    let args = reader.args(arg)?;
    let Some((Arg { name: None, value: Value::Literal(Lit::Str(text)) }, rest)) = args.split_first() else {
        reader.errors.at(arg.span(), format!("expected `{}`", RULE.1));
        return None;
    };
    let inner = Reader { attribute: "rule", keys: &[RULE_KEYS], errors: reader.errors };
    let keyword = |name: &str, span: Span| LitStr::new(name, span);
    let mut rule = vec![(keyword("rule", text.span()), Value::Literal(Lit::Str(text.clone())))];
    let mut seen = Vec::new();
    for arg in rest {
        let Some(name) = inner.name(arg, &mut seen, &[]) else { continue };
        let wire = super::serde::field_name(&name, "camelCase");
        let span = arg.name.as_ref().map_or_else(|| arg.span(), |name| name.unraw().span());
        rule.extend(inner.json(arg).map(|value| (keyword(&wire, span), value)));
    }
    Some(Value::Map(arg.span(), rule))
}
