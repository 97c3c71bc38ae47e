//! Rules about the names of fields.
use kindsmith::schema::Type;

use crate::lint::{
    Check, Level, Rule,
    field::Field,
    words::{self, ABBREVIATIONS, ACRONYMS},
};

const SECTION: &str = "Naming conventions";

pub(super) const RULES: &[Rule] = &[
    Rule {
        name: "field-name-case",
        level: Level::Error,
        section: SECTION,
        reason: "JSON field names must be camelCase, without underscores and dashes.",
        bad: "spec: {properties: {page_count: {type: integer, format: int32}}}",
        good: "spec: {properties: {pageCount: {type: integer, format: int32}}}",
        check: Check::Field(field_name_case),
    },
    Rule {
        name: "acronym-case",
        level: Level::Warning,
        section: SECTION,
        reason: "All letters of an acronym have the same case, so that names can be guessed.",
        bad: "spec: {properties: {readerId: {type: string}}}",
        good: "spec: {properties: {readerID: {type: string}}}",
        check: Check::Field(acronym_case),
    },
    Rule {
        name: "abbreviation",
        level: Level::Warning,
        section: SECTION,
        reason: "Abbreviations are not used except for the most common ones, such as id, args and stdin: who does not know one cannot \
                 guess the name.",
        bad: "spec: {properties: {pubAddr: {type: string}}}",
        good: "spec: {properties: {publisherAddress: {type: string}}}",
        check: Check::Field(abbreviation),
    },
    Rule {
        name: "imperative-name",
        level: Level::Warning,
        section: SECTION,
        reason: "A field declares a state that is held, and not an action that is done once.",
        bad: "spec: {properties: {restartReading: {type: boolean}}}",
        good: "spec: {properties: {restartedTime: {type: string, format: date-time}}}",
        check: Check::Field(imperative_name),
    },
    Rule {
        name: "bool-named-is",
        level: Level::Warning,
        section: SECTION,
        reason: "A property fooable is called fooable, and not isFooable.",
        bad: "spec: {properties: {isLendable: {type: boolean}}}",
        good: "spec: {properties: {lendable: {type: boolean}}}",
        check: Check::Field(bool_named_is),
    },
];

/// The name of a field, unless it is a keyword of JSON Schema, which Kubernetes has in definitions.
fn name<'f>(field: &Field<'f>) -> Option<&'f str> {
    field.name().filter(|name| !name.starts_with('$') && !name.starts_with("x-"))
}

fn field_name_case(field: &Field<'_>) -> Option<String> {
    let name = name(field)?;
    let fits =
        name.starts_with(|first: char| first.is_ascii_lowercase()) && name.chars().all(|c| c.is_ascii_alphanumeric());
    (!fits).then(|| format!("{name} is not camelCase: {}", camel_case(name)))
}

/// The nearest name in camelCase.
fn camel_case(name: &str) -> String {
    let mut near = String::new();
    for part in name.split(|c: char| !c.is_ascii_alphanumeric()).filter(|part| !part.is_empty()) {
        for word in words::words(part) {
            if near.is_empty() {
                near += &word.to_lowercase();
            } else {
                near += &words::capital(word);
            }
        }
    }
    if near.is_empty() { "start with a letter".to_owned() } else { format!("call it {near}") }
}

fn acronym_case(field: &Field<'_>) -> Option<String> {
    let name = name(field)?;
    let mut right = String::new();
    for (position, word) in words::words(name).into_iter().enumerate() {
        let lower = word.to_lowercase();
        let singular = lower.strip_suffix('s').filter(|singular| ACRONYMS.contains(singular));
        let is_mixed = word.chars().any(char::is_uppercase) && word.chars().skip(1).any(char::is_lowercase);
        right += &match singular {
            _ if position == 0 || !is_mixed => word.to_owned(),
            _ if ACRONYMS.contains(&lower.as_str()) => lower.to_uppercase(),
            Some(singular) => singular.to_uppercase() + "s",
            None => word.to_owned(),
        };
    }
    (right != name && !is_plural_acronym(name))
        .then(|| format!("an acronym in {name} has letters of both cases: call it {right}"))
}

/// `IPs` is an acronym with a plural, and has one case.
fn is_plural_acronym(name: &str) -> bool {
    words::words(name).iter().skip(1).all(|word| {
        let letters = word.strip_suffix('s').unwrap_or(word);
        !ACRONYMS.contains(&letters.to_lowercase().as_str()) || letters.chars().all(char::is_uppercase)
    })
}

fn abbreviation(field: &Field<'_>) -> Option<String> {
    let name = name(field)?;
    let all = words::lower(name);
    let (short, long) = all.iter().find_map(|word| ABBREVIATIONS.iter().find(|(short, _)| short == word))?;
    Some(format!("{short} in {name} is an abbreviation: write {long}"))
}

fn imperative_name(field: &Field<'_>) -> Option<String> {
    const VERBS: [&str; 22] = [
        "add", "create", "delete", "do", "drain", "execute", "generate", "perform", "purge", "recreate", "refresh",
        "reload", "remove", "reset", "restart", "retry", "rotate", "send", "start", "stop", "trigger", "update",
    ];
    let name = name(field).filter(|_| field.schema.kind == Type::Boolean && !field.is_in_status())?;
    let first = words::lower(name).into_iter().next()?;
    VERBS
        .contains(&first.as_str())
        .then(|| format!("{name} tells the server to do something: declare the state that is wanted"))
}

fn bool_named_is(field: &Field<'_>) -> Option<String> {
    let name = name(field).filter(|_| field.schema.kind == Type::Boolean)?;
    let all = words::words(name);
    let (first, rest) = all.split_first()?;
    let (second, others) = rest.split_first().filter(|_| *first == "is")?;
    Some(format!("{name} is a bool: call it {}", second.to_lowercase() + &others.concat()))
}
