//! Rules in CEL as arguments of the macro.
use kindsmith::schema::Document;
use kindsmith_cel::{Source, syntax};
use proc_macro2::{Literal, TokenStream};
use quote::quote;

use super::names;

/// The reasons of errors.
const REASONS: [&str; 4] = ["FieldValueInvalid", "FieldValueForbidden", "FieldValueRequired", "FieldValueDuplicate"];

/// The arguments of a rule; or why it can have none. Definitions with such a rule are not read at all, but documents are.
pub(super) fn rule(rule: &Document) -> Result<TokenStream, String> {
    let text = |name: &str| rule[name].as_str();
    let expression = text("rule").unwrap_or_default();
    let is_broken = |text: &str| text.trim().contains(['\n', '\r']);
    check("rule", expression)?;
    match text("message") {
        Some(message) if message.trim().is_empty() => return Err("its message is empty".to_owned()),
        Some(message) if is_broken(message) => return Err("its message has a line break".to_owned()),
        None if is_broken(expression) => return Err("it has line breaks but no message".to_owned()),
        _ => {}
    }
    let said = self::literal(expression);
    let mut arguments = vec![quote!(rule = #said)];
    let texts = [("message", "message"), ("messageExpression", "message_expression"), ("fieldPath", "field")];
    for (wire, name) in texts {
        if let Some(value) = text(wire) {
            let (name, value) = (names::ident(name), self::literal(value));
            arguments.push(quote!(#name = #value));
        }
    }
    if let Some(expression) = text("messageExpression") {
        check("messageExpression", expression)?;
    }
    if let Some(reason) = text("reason") {
        if !REASONS.contains(&reason) {
            return Err(format!("its reason {reason:?} is none of {}", REASONS.join(", ")));
        }
        let reason = names::ident(reason);
        arguments.push(quote!(reason = #reason));
    }
    if let Some(optional) = rule["optionalOldSelf"].as_bool() {
        arguments.push(quote!(optional_old_self = #optional));
    }
    Ok(quote!(#(#arguments),*))
}

fn check(name: &str, expression: &str) -> Result<(), String> {
    if expression.trim().is_empty() {
        return Err(format!("its {name} is empty"));
    }
    let parsed = syntax::parse_rule(&Source::new(expression));
    parsed.map(|_| ()).map_err(|issues| format!("its {name} is no expression in CEL: {issues}"))
}

/// A text, without escapes where they would make it hard to read.
fn literal(text: &str) -> Literal {
    let is_plain = !text.contains(['"', '\\', '\n']);
    let is_raw = !text.contains("\"#") && text.chars().all(|c| c == '\n' || !c.is_control());
    let raw = if is_plain || !is_raw { None } else { format!("r#\"{text}\"#").parse().ok() };
    raw.unwrap_or_else(|| Literal::string(text))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn rules_are_written_so_that_they_can_be_read() {
        for (of, expected) in [
            (json!({"rule": "self.a > 1"}), "rule = \"self.a > 1\""),
            (
                json!({"rule": "self.matches(\"a\\\\.b\")", "message": "it's \"so\""}),
                "rule = r#\"self.matches(\"a\\\\.b\")\"# , message = r#\"it's \"so\"\"#",
            ),
            (json!({"rule": "self.a\n  > 1", "message": "a"}), "rule = r#\"self.a\n  > 1\"# , message = \"a\""),
            (
                json!({"rule": "self == '\\u0007'", "message": "\u{7}"}),
                "rule = r#\"self == '\\u0007'\"# , message = \"\\u{7}\"",
            ),
            (
                json!({"rule": "self.a > 1", "reason": "FieldValueForbidden", "fieldPath": ".a", "optionalOldSelf": false}),
                "rule = \"self.a > 1\" , field = \".a\" , reason = FieldValueForbidden , optional_old_self = false",
            ),
        ] {
            assert_eq!(rule(&of).unwrap().to_string(), expected);
        }
    }

    #[test]
    fn rules_that_the_macro_refuses_are_left_out() {
        for (of, expected) in [
            (json!({"rule": "self.a >"}), "its rule is no expression in CEL: ERROR: <input>:1:9: Syntax error"),
            (json!({"message": "a"}), "its rule is empty"),
            (json!({"rule": "true", "reason": "Wrong"}), "its reason \"Wrong\" is none of FieldValueInvalid"),
            (json!({"rule": "true", "message": "a\nb"}), "its message has a line break"),
            (json!({"rule": "true", "message": " "}), "its message is empty"),
            (json!({"rule": "1 >\n2"}), "it has line breaks but no message"),
            (json!({"rule": "true", "messageExpression": "'a"}), "its messageExpression is no expression in CEL"),
        ] {
            let error = rule(&of).unwrap_err();
            assert!(error.starts_with(expected), "{error}");
        }
    }
}
