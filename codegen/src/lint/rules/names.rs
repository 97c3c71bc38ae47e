//! Rules about the names of fields.
use kindsmith::schema::Type;

use crate::{
    lint::{
        Check, Rule,
        field::Field,
        naming,
        words::{self, ABBREVIATIONS},
    },
    scaffold::names,
};

const SECTION: &str = "Naming conventions";

pub(super) const RULES: &[Rule] = &[
    Check::Field(field_name_case)
        .error("field-name-case", SECTION)
        .reason("JSON field names must be camelCase, without underscores and dashes.")
        .bad("spec: {properties: {page_count: {type: integer, format: int32}}}")
        .good("spec: {properties: {pageCount: {type: integer, format: int32}}}"),
    Check::Field(acronym_case)
        .warning("acronym-case", SECTION)
        .reason("All letters of an acronym have the same case, so that names can be guessed.")
        .bad("spec: {properties: {readerId: {type: string}}}")
        .good("spec: {properties: {readerID: {type: string}}}"),
    Check::Field(abbreviation)
        .warning("abbreviation", SECTION)
        .reason("Abbreviations are not used except for the most common ones, such as id, args and stdin: who does not know one cannot \
             guess the name.")
        .bad("spec: {properties: {pubAddr: {type: string}}}")
        .good("spec: {properties: {publisherAddress: {type: string}}}"),
    Check::Field(imperative_name)
        .warning("imperative-name", SECTION)
        .reason("A field declares a state that is held, and not an action that is done once.")
        .bad("spec: {properties: {restartReading: {type: boolean}}}")
        .good("spec: {properties: {restartedTime: {type: string, format: date-time}}}"),
    Check::Field(bool_named_is)
        .warning("bool-named-is", SECTION)
        .reason("A property fooable is called fooable, and not isFooable.")
        .bad("spec: {properties: {isLendable: {type: boolean}}}")
        .good("spec: {properties: {lendable: {type: boolean}}}"),
];

/// The name of a field, unless it is a keyword of JSON Schema, which Kubernetes has in definitions.
fn name<'f>(field: &Field<'f>) -> Option<&'f str> {
    field.name().filter(|name| !name.starts_with('$') && !name.starts_with("x-"))
}

/// What to call it.
pub(super) fn called(suggested: Option<String>) -> String {
    suggested.map_or_else(
        || "begin it with a letter from a to z, and use letters from a to z and digits only".to_owned(),
        |name| format!("call it {name}"),
    )
}

fn field_name_case(field: &Field<'_>) -> Option<String> {
    let name = name(field)?;
    let fits =
        name.starts_with(|first: char| first.is_ascii_lowercase()) && name.chars().all(|c| c.is_ascii_alphanumeric());
    (!fits).then(|| format!("{name} is not camelCase: {}", called(naming::suggested(field))))
}

fn acronym_case(field: &Field<'_>) -> Option<String> {
    let name = name(field)?;
    let is_mixed = |word: &str| {
        let (lower, is_capital) = (word.to_lowercase(), word.starts_with(char::is_uppercase));
        let right = naming::capital(&lower);
        is_capital && word.contains(char::is_lowercase) && right != names::capital(&lower) && right != word
    };
    let has_mixed = words::words(name).into_iter().skip(1).any(is_mixed);
    has_mixed.then(|| format!("an acronym in {name} has letters of both cases: {}", called(naming::suggested(field))))
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
    let all = words::lower(name);
    let [first, others @ ..] = &all[..] else { return None };
    // `doNotTrack`, and what is done whenever something happens.
    let is_policy = others.iter().any(|word| ["always", "if", "not", "on", "when"].contains(&word.as_str()));
    (VERBS.contains(&first.as_str()) && !is_policy)
        .then(|| format!("{name} tells the server to do something: declare the state that is wanted"))
}

fn bool_named_is(field: &Field<'_>) -> Option<String> {
    let name = name(field).filter(|_| field.schema.kind == Type::Boolean)?;
    naming::is_question(&words::lower(name)).then(|| format!("{name} is a bool: {}", called(naming::suggested(field))))
}
