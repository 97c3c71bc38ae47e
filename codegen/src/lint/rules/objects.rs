//! Rules about what an object consists of: spec, status, and fields beside them.
use kindsmith::schema::Type;
use serde_json::Value;

use super::references::is_reference;
use crate::lint::{
    Check, Rule, Subject,
    field::{Field, Step, is_struct},
    words,
};

pub(super) const RULES: &[Rule] = &[
    Check::Version(status_without_subresource)
        .error("status-without-subresource", "Spec and Status")
        .reason("A /status subresource must be provided, so that who writes the spec does not overwrite the status, and roles can tell \
             them apart.")
        .bad("version: {name: v1, subresources: null}")
        .good("version: {name: v1, subresources: {status: {}}}"),
    Check::Version(subresource_without_status)
        .warning("subresource-without-status", "Spec and Status")
        .reason("The subresource writes a field that the schema does not have, and all of it is dropped.")
        .bad("status: null\ncolumns: null")
        .good("status: null\ncolumns: null\nversion: {name: v1, subresources: null}"),
    Check::Field(extra_top_level_field)
        .warning("extra-top-level-field", "Spec and Status")
        .reason("Objects with spec and status should have no other fields beside metadata: who may write such a field is not said.")
        .bad("shelf: {type: string}")
        .good("spec: {properties: {shelf: {type: string}}}"),
    Check::Field(items_in_object)
        .error("items-in-object", "Types (Kinds)")
        .reason("Any kind that has the field items must be a list kind: clients take such an object for a list.")
        .bad("items: {type: array, items: {type: string}}\nstatus: null\nspec: null\nrequired: null\ncolumns: null\nversion: {name: v1, subresources: null}")
        .good("spec: {properties: {items: {type: array, items: {type: string}}}}"),
    Check::Field(spec_not_an_object)
        .warning("spec-not-an-object", "Spec and Status")
        .reason("Spec and status are nested objects, which can get more fields later.")
        .bad("spec: {type: string}")
        .good("spec: {properties: {title: {type: string}}}"),
    Check::Field(metadata_repeated)
        .warning("metadata-repeated", "Metadata")
        .reason("All objects have these in metadata, where clients, selectors and the server read them.")
        .bad("spec: {properties: {labels: {type: object, additionalProperties: {type: string}}}}")
        .good("spec: {properties: {genre: {type: string}}}"),
    Check::Field(required_status)
        .warning("required-status", "Spec and Status")
        .reason("A status is written after the object was created, and could be lost and observed again, so that it has to be optional.")
        .bad("required: [spec, status]")
        .good("required: [spec]"),
    Check::Field(required_in_status)
        .warning("required-in-status", "Spec and Status")
        .reason("Several controllers write a status, each at its time: one that has not been written yet would make the others' writes \
             invalid.")
        .bad("status: {required: [copies], properties: {copies: {type: integer, format: int32}}}")
        .good("status: {properties: {copies: {type: integer, format: int32}}}"),
    Check::Field(default_in_status)
        .warning("default-in-status", "Defaulting")
        .reason("Defaults complete the desired state; in a status they claim an observation that was not made.")
        .bad("status: {properties: {copies: {type: integer, format: int32, default: 1}}}")
        .good("status: {properties: {copies: {type: integer, format: int32}}}"),
    Check::Field(schemaless)
        .warning("schemaless", "API Conventions (introduction)")
        .reason("All of the JSON has a schema: a field without one is not validated, documented, defaulted or merged.")
        .bad("spec: {properties: {settings: {type: object, x-kubernetes-preserve-unknown-fields: true}}}")
        .good("spec: {properties: {settings: {type: object, properties: {language: {type: string}}}}}"),
    Check::Field(phase)
        .warning("phase", "Typical status properties")
        .reason("The pattern of a phase is deprecated: a new value breaks clients that know the old ones, and conditions say more.")
        .bad("status: {properties: {phase: {type: string, enum: [Lent, Returned]}}}")
        .good("status: {properties: {lentTime: {type: string, format: date-time}}}"),
    Check::Field(references_in_status)
        .warning("references-in-status", "References to related objects")
        .reason("A status with a reference for each related object grows without bound: clients find these by a label selector.")
        .bad("status: {properties: {loanRefs: {type: array, x-kubernetes-list-type: atomic, items: {properties: {name: {type: string}, kind: {type: string}}}}}}")
        .good("status: {properties: {loans: {type: integer, format: int32}}}"),
];

fn status_without_subresource(of: &Subject<'_>) -> Vec<(String, String)> {
    let is_wrong = of.kind.definition.shared.stored && of.top("status").is_some() && !of.version.status;
    let message = "the status is written with the rest of the object: declare the subresource status";
    is_wrong.then(|| (".status".to_owned(), message.to_owned())).into_iter().collect()
}

fn subresource_without_status(of: &Subject<'_>) -> Vec<(String, String)> {
    let is_open = of.version.schema.preserve_unknown;
    let is_wrong = of.version.status && of.top("status").is_none() && !is_open;
    let message =
        "there is a subresource status, and no field of this name: declare the field, or leave the subresource out";
    is_wrong.then(|| (String::new(), message.to_owned())).into_iter().collect()
}

fn extra_top_level_field(field: &Field<'_>) -> Option<String> {
    let name = field.name().filter(|name| field.is_top() && !["spec", "status"].contains(name))?;
    let of = field.subject;
    (of.top("spec").is_some() && of.top("status").is_some())
        .then(|| format!("{name} stands beside spec and status: move it into one of them"))
}

fn items_in_object(field: &Field<'_>) -> Option<String> {
    (field.is_top() && field.name() == Some("items"))
        .then(|| "an object with items is taken for a list: move them into spec, or give them another name".to_owned())
}

fn spec_not_an_object(field: &Field<'_>) -> Option<String> {
    let name = field.name().filter(|name| field.is_top() && ["spec", "status"].contains(name))?;
    let is_object = field.schema.kind == Type::Object && field.schema.additional.is_none();
    (!is_object && field.schema.kind != Type::Any).then(|| format!("{name} is no object with fields"))
}

fn metadata_repeated(field: &Field<'_>) -> Option<String> {
    const METADATA: [&str; 9] = [
        "annotations",
        "creationTimestamp",
        "deletionTimestamp",
        "finalizers",
        "generation",
        "labels",
        "ownerReferences",
        "resourceVersion",
        "uid",
    ];
    let name = field.name().filter(|name| METADATA.contains(name) && field.is_directly_in("spec"))?;
    // The uid that a review asks about is another object's.
    (field.is_stored() && !field.is_builtin())
        .then(|| format!("every object has metadata.{name}: use that, or say in the name whose {name} this is"))
}

fn required_status(field: &Field<'_>) -> Option<String> {
    (field.is_top() && field.name() == Some("status") && field.is_required && field.is_stored())
        .then(|| "the status is required, and an object cannot be created without one: make it optional".to_owned())
}

fn required_in_status(field: &Field<'_>) -> Option<String> {
    let name = field.name().filter(|_| field.is_directly_in("status") && field.is_required && field.is_stored())?;
    Some(format!("{name} is required in the status: make it optional"))
}

fn default_in_status(field: &Field<'_>) -> Option<String> {
    let default = field.schema.default.as_ref().filter(|_| field.is_in_status() && field.is_stored())?;
    // It completes an item that was written, and does not stand for one.
    let is_in_item =
        std::iter::once(field).chain(field.ancestors()).any(|of| matches!(of.step, Step::Items | Step::Values));
    // Kubernetes publishes Go's zero values as defaults.
    (!is_in_item && (!field.is_builtin() || !is_zero(default)))
        .then(|| format!("the default {} stands for an observation: leave it out", shown(default)))
}

/// A value in a message.
pub(super) fn shown(value: &Value) -> String {
    const MOST: usize = 40;
    let text = value.to_string();
    if text.chars().count() <= MOST { text } else { text.chars().take(MOST).collect::<String>() + "…" }
}

/// The value of a field that Go has not set.
pub(super) fn is_zero(value: &Value) -> bool {
    match value {
        Value::Object(fields) => fields.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::String(text) => text.is_empty(),
        Value::Number(number) => number.as_f64() == Some(0.0),
        other => *other == false,
    }
}

fn schemaless(field: &Field<'_>) -> Option<String> {
    let schema = field.schema;
    if schema.embedded || schema.definition.is_some() {
        return None;
    }
    let holds_anything = schema.kind == Type::Any && schema.properties.is_empty() && schema.additional.is_none();
    let is_within = field.parent.is_some_and(|parent| parent.schema.kind == Type::Any);
    (!is_within && (holds_anything || schema.preserve_unknown && schema.items.is_none()))
        .then(|| "fields that no schema declares are accepted here: declare them".to_owned())
}

fn phase(field: &Field<'_>) -> Option<String> {
    let name =
        field.name().filter(|_| field.is_in_status() && field.is_stored() && field.schema.kind == Type::String)?;
    let is_phase = words::last(name) == "phase";
    let is_state = name == "state" && !field.schema.enumeration.is_empty();
    (is_phase || is_state).then(|| format!("{name} is a state machine in one field: report conditions"))
}

fn references_in_status(field: &Field<'_>) -> Option<String> {
    let items = field.schema.items.as_deref().filter(|_| field.is_in_status() && field.is_stored())?;
    (is_struct(items) && is_reference(items))
        .then(|| "the list grows with the objects that it refers to: let clients select them by labels".to_owned())
}
