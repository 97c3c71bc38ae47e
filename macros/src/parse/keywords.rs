//! Arguments that are keywords of a schema, with values as in JSON: `allOf` and its kind, and what is only published; and
//! rules in CEL.
use proc_macro2::Span;
use syn::LitStr;

use super::{
    args::{Arg, Value},
    keys::{Key, Reader},
    rules::{self, RuleArgs},
};

/// The keywords on fields and types.
pub(crate) const KEYS: &[Key] = &[
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

/// Keywords with their values.
#[derive(Default)]
pub(crate) struct Keywords {
    /// Keywords as in JSON, each once.
    pub given: Vec<(String, Value)>,
    /// Rules in CEL.
    pub rules: Vec<RuleArgs>,
    /// The description, instead of the doc comment.
    pub description: Option<LitStr>,
    /// The place of `keywords`.
    pub named: Option<Span>,
}

impl Keywords {
    /// Reads an argument, if it is a keyword.
    pub(crate) fn read(&mut self, name: &str, arg: &Arg, reader: &Reader<'_>) {
        if rules::read(&mut self.rules, name, arg, reader) {
            return;
        }
        let keyword = match name {
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
