//! The names of fields in JSON.
use crate::{Field, Message};

/// A name of Protobuf as JSON has it: `display_name` as `displayName`.
pub fn camel(name: &str) -> String {
    let mut text = String::new();
    let mut after_underscore = false;
    for letter in name.chars() {
        if letter == '_' {
            after_underscore = true;
        } else if std::mem::take(&mut after_underscore) {
            text.extend(letter.to_uppercase());
        } else {
            text.push(letter);
        }
    }
    text
}

impl Field {
    /// The name in JSON that the field declares, `[json_name = "…"]`.
    fn json_name(&self) -> Option<&str> {
        let (_, rest) = self.options.split_once("json_name")?;
        let rest = rest.trim_start().strip_prefix('=')?.trim_start();
        let quote = rest.chars().next().filter(|first| ['"', '\''].contains(first))?;
        rest[1..].split(quote).next()
    }

    /// The name in JSON that a draft of ours means: the declared one, or else that of the field as it stands.
    pub fn called(&self) -> &str {
        self.json_name().unwrap_or(&self.name)
    }

    /// True if the field has this name in JSON. Go's names differ from those of JSON in their case, such as `uID` from `uid`.
    pub fn is_called(&self, name: &str) -> bool {
        match self.json_name() {
            Some(json) => json == name,
            None => self.name.eq_ignore_ascii_case(name) || camel(&self.name) == name,
        }
    }
}

impl Message {
    /// The field of a name in JSON; one of exactly this name, if there is one.
    pub fn field(&self, name: &str) -> Option<&Field> {
        let exact = self.fields.iter().find(|field| field.name == name && field.is_called(name));
        exact.or_else(|| self.fields.iter().find(|field| field.is_called(name)))
    }
}
