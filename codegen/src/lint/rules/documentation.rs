//! Rules about descriptions.
use crate::lint::{
    Check, Rule,
    field::{Field, Step},
};

pub(super) const RULES: &[Rule] = &[Check::Field(missing_description)
    .warning("missing-description", "Beyond the text: kubectl explain")
    .reason("kubectl explain and editors show descriptions: without one, the name is all that a user has.")
    .bad("spec: {properties: {title: {type: string, description: ''}}}")
    .good("spec: {properties: {title: {type: string, description: The title on the cover.}}}")];

fn missing_description(field: &Field<'_>) -> Option<String> {
    let is_described = !field.schema.description.trim().is_empty() || !field.schema.type_description.trim().is_empty();
    // Items and values are described with the field that holds them.
    let what = match field.step {
        Step::Root => "the kind",
        Step::Property(_) => "the field",
        Step::Items | Step::Values => return None,
    };
    // A type that contains itself is described where it is defined.
    (!is_described && field.schema.definition.is_none()).then(|| format!("{what} has no description"))
}
