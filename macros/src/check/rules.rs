//! Rules in CEL: their syntax, and the form of what is said with them. Their types are checked where the schema is known.
use kindsmith_cel::{Source, syntax};
use syn::LitStr;

use crate::{
    diag::Errors,
    model::Literal,
    parse::rules::{FieldArg, RuleArgs},
    suggest::did_you_mean,
};

/// The reasons of errors (`FieldValueErrorReason` of apiextensions/v1).
const REASONS: [&str; 4] = ["FieldValueInvalid", "FieldValueForbidden", "FieldValueRequired", "FieldValueDuplicate"];

/// kube-apiserver refuses a definition with a rule that is no expression, and a client cannot read an empty message.
pub(crate) fn check_rule(args: &RuleArgs, errors: &Errors) -> Literal {
    let RuleArgs { rule, message, message_expression, reason, field, optional_old_self } = args;
    check_expression("rule", rule, errors);
    if let Some(expression) = message_expression {
        check_expression("message_expression", expression, errors);
    }
    check_message(rule, message.as_ref(), errors);
    let mut entries = vec![("rule".to_owned(), text(rule))];
    entries.extend(message.as_ref().map(|message| ("message".to_owned(), text(message))));
    entries.extend(message_expression.as_ref().map(|expression| ("messageExpression".to_owned(), text(expression))));
    if let Some(reason) = reason {
        let name = reason.to_string();
        if !REASONS.contains(&name.as_str()) {
            let near = did_you_mean(&name, REASONS);
            errors.at(reason.span(), format!("the reason must be {}, not `{name}`{near}", quoted()));
        }
        entries.push(("reason".to_owned(), Literal::Text(name)));
    }
    entries.extend(field.as_ref().map(|field| {
        let path = match field {
            FieldArg::Rust(path) => Literal::Path(path.clone()),
            FieldArg::Path(path) => text(path),
        };
        ("fieldPath".to_owned(), path)
    }));
    entries.extend(optional_old_self.map(|value| ("optionalOldSelf".to_owned(), Literal::Bool(value))));
    Literal::Map(entries)
}

fn text(text: &LitStr) -> Literal {
    Literal::Text(text.value())
}

fn quoted() -> String {
    let names: Vec<_> = REASONS.iter().map(|reason| format!("`{reason}`")).collect();
    let (last, others) = names.split_last().expect("there are reasons");
    format!("{} or {last}", others.join(", "))
}

/// The error shows the place inside the literal, of which the compiler knows the whole alone.
fn check_expression(what: &str, expression: &LitStr, errors: &Errors) {
    let text = expression.value();
    if text.trim().is_empty() {
        errors
            .at(expression.span(), format!("`{what}` is empty; say an expression, such as \"self.low <= self.high\""));
        return;
    }
    if let Err(issues) = syntax::parse_rule(&Source::new(&text)) {
        errors.at(expression.span(), format!("`{what}` is no expression in CEL:\n{issues}"));
    }
}

/// The message of an error is one line, and a rule of several lines is none.
fn check_message(rule: &LitStr, message: Option<&LitStr>, errors: &Errors) {
    let is_broken = |text: &str| text.trim().contains(['\n', '\r']);
    match message {
        Some(message) if message.value().trim().is_empty() => {
            errors.at(message.span(), "the message is empty; say what a valid value is");
        }
        Some(message) if is_broken(&message.value()) => {
            errors.at(message.span(), "the message has a line break; messages of errors are one line");
        }
        None if is_broken(&rule.value()) => {
            errors.at(rule.span(), "a rule with line breaks needs a message: add `message = \"…\"`");
        }
        _ => {}
    }
}
