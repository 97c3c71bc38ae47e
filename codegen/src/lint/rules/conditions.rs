//! Rules about conditions.
use kindsmith::schema::{Schema, Type};

use crate::lint::{
    Check, Rule, Subject,
    field::{Field, is_struct, merge_keys},
};

const SECTION: &str = "Typical status properties";

pub(super) const RULES: &[Rule] = &[
    Check::Version(status_without_conditions)
        .warning("status-without-conditions", SECTION)
        .reason("Conditions tell people and tools how an object is, without knowledge of its kind: kubectl wait and others read them.")
        .bad("status: {properties: {conditions: null, copies: {type: integer, format: int32}}}")
        .good("status: {properties: {copies: {type: integer, format: int32}}}"),
    Check::Field(conditions_not_a_list)
        .warning("conditions-not-a-list", SECTION)
        .reason("Conditions are a list of objects that look alike, so that clients can read those of any kind.")
        .bad("status: {properties: {conditions: {type: object, items: null, x-kubernetes-list-type: null, x-kubernetes-list-map-keys: null, additionalProperties: {type: string}}}}")
        .good("status: {properties: {copies: {type: integer, format: int32}}}"),
    Check::Field(conditions_not_by_type)
        .warning("conditions-not-by-type", "Typical status properties (current text)")
        .reason("Conditions are treated as a map with the key type; otherwise a controller that applies its own removes those of others.")
        .bad("status: {properties: {conditions: {x-kubernetes-list-type: atomic, x-kubernetes-list-map-keys: null}}}")
        .good("status: {properties: {conditions: {x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [type]}}}"),
    Check::Field(condition_fields)
        .error("condition-fields", SECTION)
        .reason("A condition must contain at least type and status, which clients of any kind read.")
        .bad("status: {properties: {conditions: {x-kubernetes-list-map-keys: [type], items: {required: [type], properties: {status: null, value: {type: string}}}}}}")
        .good("status: {properties: {conditions: {items: {properties: {reason: {type: string}}}}}}"),
    Check::Field(condition_status_type)
        .error("condition-status-type", SECTION)
        .reason("The status of a condition is one of the strings True, False and Unknown: a bool cannot say Unknown.")
        .bad("status: {properties: {conditions: {items: {properties: {status: {type: boolean, enum: null}}}}}}")
        .good("status: {properties: {conditions: {items: {properties: {status: {type: string, enum: ['True', 'False', Unknown]}}}}}}"),
    Check::Field(condition_status_values)
        .warning("condition-status-values", SECTION)
        .reason("Clients compare the status of a condition with True, False and Unknown alone.")
        .bad("status: {properties: {conditions: {items: {properties: {status: {enum: [Healthy, Broken]}}}}}}")
        .good("status: {properties: {conditions: {items: {properties: {status: {enum: ['True', 'False', Unknown]}}}}}}"),
    Check::Field(condition_type_enum)
        .warning("condition-type-enum", SECTION)
        .reason("New types of conditions may be added later, also by controllers of others, so that the set of types is open.")
        .bad("status: {properties: {conditions: {items: {properties: {type: {enum: [Ready, Lent]}}}}}}")
        .good("status: {properties: {conditions: {items: {properties: {type: {type: string, maxLength: 316}}}}}}"),
];

fn status_without_conditions(of: &Subject<'_>) -> Vec<(String, String)> {
    let Some(status) = of.top("status").filter(|_| of.kind.definition.shared.stored) else { return Vec::new() };
    // An object needs no conditions of its own if its parts have some, such as the parents of a route.
    let is_wrong = status.kind == Type::Object && !status.preserve_unknown && !has_conditions(status);
    let message = "the status has no conditions: add a list of them";
    is_wrong.then(|| (".status".to_owned(), message.to_owned())).into_iter().collect()
}

fn has_conditions(schema: &Schema) -> bool {
    let below = schema.properties.values().chain(schema.items.as_deref()).chain(schema.additional.as_deref());
    schema.properties.contains_key("conditions") || below.into_iter().any(has_conditions)
}

/// The conditions of a status, or of a part of it.
fn conditions<'f>(field: &Field<'f>) -> Option<&'f Schema> {
    (field.is_in_status() && field.is_stored() && field.name() == Some("conditions")).then_some(field.schema)
}

/// A condition.
fn condition<'f>(field: &Field<'f>) -> Option<&'f Schema> {
    conditions(field)?.items.as_deref().filter(|item| is_struct(item))
}

fn conditions_not_a_list(field: &Field<'_>) -> Option<String> {
    let schema = conditions(field)?;
    let fits = schema.kind == Type::Array && schema.items.as_deref().is_some_and(|items| items.kind == Type::Object);
    (!fits).then(|| "conditions are a list of objects".to_owned())
}

fn conditions_not_by_type(field: &Field<'_>) -> Option<String> {
    let schema = conditions(field).filter(|schema| schema.kind == Type::Array)?;
    (merge_keys(schema).is_none_or(|keys| keys != ["type"])).then(|| {
        "one who applies conditions replaces all of them: declare x-kubernetes-list-type: map with the key type"
            .to_owned()
    })
}

fn condition_fields(field: &Field<'_>) -> Option<String> {
    let item = condition(field)?;
    let missing: Vec<&str> =
        ["type", "status"].into_iter().filter(|name| !item.properties.contains_key(name)).collect();
    (!missing.is_empty()).then(|| format!("a condition has no {}", missing.join(" and no ")))
}

fn condition_status_type(field: &Field<'_>) -> Option<String> {
    let status = condition(field)?.properties.get("status")?;
    (status.kind != Type::String)
        .then(|| "the status of a condition is not a string: True, False or Unknown".to_owned())
}

fn condition_status_values(field: &Field<'_>) -> Option<String> {
    let status = condition(field)?.properties.get("status").filter(|status| status.kind == Type::String)?;
    let other = status
        .enumeration
        .iter()
        .find(|value| !["True", "False", "Unknown"].contains(&value.as_str().unwrap_or("")))?;
    Some(format!("the status of a condition may be {other}; clients know True, False and Unknown"))
}

fn condition_type_enum(field: &Field<'_>) -> Option<String> {
    let of = condition(field)?.properties.get("type")?;
    (!of.enumeration.is_empty()).then(|| "types of conditions are a closed set: declare a string".to_owned())
}
