//! Rules about what tools show and scale: columns, and the paths of a scale.
use kindsmith::{
    kind::model::{Cell, Path, Version},
    schema::{Schema, Type},
};

use crate::lint::{Check, Rule, Subject, field::is_time};

pub(super) const RULES: &[Rule] = &[
    Check::Version(no_columns)
        .warning("no-columns", "Typical status properties")
        .reason("A line of kubectl get says only the name and the age; a condition or two tell whether the object is well.")
        .bad("columns: null")
        .good("columns: [{name: Title, type: string, jsonPath: .spec.title}]"),
    Check::Version(column_of_nothing)
        .warning("column-of-nothing", "Beyond the text: columns")
        .reason("The schema drops a field that it does not declare, and the column stays empty.")
        .bad("columns: [{name: Author, type: string, jsonPath: .spec.author}]")
        .good("columns: [{name: Title, type: string, jsonPath: .spec.title}]"),
    Check::Version(column_type)
        .warning("column-type", "Beyond the text: columns")
        .reason("A cell whose value is not of the column's type stays empty.")
        .bad("columns: [{name: Title, type: integer, jsonPath: .spec.title}]")
        .good("columns: [{name: Title, type: string, jsonPath: .spec.title}]"),
    Check::Version(scale_of_nothing)
        .warning("scale-of-nothing", "Types (Kinds)")
        .reason("The scale reads and writes a field that the schema drops, or that is no number of replicas.")
        .bad("version: {subresources: {scale: {specReplicasPath: .spec.replicas, statusReplicasPath: .status.replicas, labelSelectorPath: .status.selector}}}\nstatus: {properties: {replicas: {type: integer, format: int32}, selector: {type: string}}}")
        .good("version: {subresources: {scale: {specReplicasPath: .spec.replicas, statusReplicasPath: .status.replicas, labelSelectorPath: .status.selector}}}\nspec: {properties: {replicas: {type: integer, format: int32}}}\nstatus: {properties: {replicas: {type: integer, format: int32}, selector: {type: string}}}"),
    Check::Version(scale_without_selector)
        .warning("scale-without-selector", "Types (Kinds)")
        .reason("Autoscalers find the pods of a scale by its selector, and refuse one without.")
        .bad("version: {subresources: {scale: {specReplicasPath: .spec.replicas, statusReplicasPath: .status.replicas}}}\nspec: {properties: {replicas: {type: integer, format: int32}}}\nstatus: {properties: {replicas: {type: integer, format: int32}}}")
        .good("version: {subresources: {scale: {specReplicasPath: .spec.replicas, statusReplicasPath: .status.replicas, labelSelectorPath: .status.selector}}}\nspec: {properties: {replicas: {type: integer, format: int32}}}\nstatus: {properties: {replicas: {type: integer, format: int32}, selector: {type: string}}}"),
];

/// What a path leads to.
enum PathTarget<'s> {
    /// A declared field.
    Field(&'s Schema),
    /// Something that no schema declares, and that is not dropped either, or that every object has.
    Other,
    /// A field that is dropped.
    Nothing,
}

fn find<'s>(version: &'s Version, names: &[String]) -> PathTarget<'s> {
    if matches!(names.first().map(String::as_str), None | Some("metadata" | "apiVersion" | "kind")) {
        return PathTarget::Other;
    }
    let mut at = &*version.schema;
    for name in names {
        at = match (at.properties.get(name), &at.additional) {
            _ if at.definition.is_some() || at.embedded => return PathTarget::Other,
            (Some(property), _) => property,
            (None, Some(values)) => values,
            (None, None) if at.preserve_unknown || at.kind == Type::Any => return PathTarget::Other,
            (None, None) => return PathTarget::Nothing,
        };
    }
    PathTarget::Field(at)
}

/// The columns of a version that are read from fields, with the names up to the first list or filter, and whether that is all.
fn columns(version: &Version) -> Vec<(&kindsmith::kind::model::Column, Vec<String>, bool)> {
    let read = version.columns.iter().filter_map(|column| match &column.cell {
        Cell::Path(path) => Some((column, path.0.clone(), true)),
        Cell::JsonPath(path) => {
            let text = path.to_string();
            let plain = text.split(['[', '*', '@', '{', '\\', '(']).next().unwrap_or_default();
            let is_whole = plain == text;
            // The recursive descent `..` may begin anywhere.
            let names = plain.split("..").next().unwrap_or_default();
            Some((column, names.split('.').filter(|name| !name.is_empty()).map(str::to_owned).collect(), is_whole))
        }
        _ => None,
    });
    read.collect()
}

fn no_columns(of: &Subject<'_>) -> Vec<(String, String)> {
    let has_conditions = of.top("status").is_some_and(|status| status.properties.contains_key("conditions"));
    let shows_age_alone = of.version.columns.iter().all(|column| column.name == "Age");
    let is_known = of.kind.definition.shared.stored && !of.kind.is_document && !of.kind.is_builtin;
    let message = "kubectl get shows the age alone: add a column, such as the status of a condition";
    (is_known && has_conditions && shows_age_alone).then(|| (String::new(), message.to_owned())).into_iter().collect()
}

fn column_of_nothing(of: &Subject<'_>) -> Vec<(String, String)> {
    let lost =
        columns(of.version).into_iter().filter(|(_, names, _)| matches!(find(of.version, names), PathTarget::Nothing));
    lost.map(|(column, names, _)| {
        let path = format!(".{}", names.join("."));
        (path.clone(), format!("the column {} shows {path}, which the schema does not declare", column.name))
    })
    .collect()
}

fn column_type(of: &Subject<'_>) -> Vec<(String, String)> {
    let mut wrong = Vec::new();
    for (column, names, is_whole) in columns(of.version) {
        let PathTarget::Field(schema) = find(of.version, &names) else { continue };
        let fits = match column.kind.as_str() {
            "integer" => matches!(schema.kind, Type::Integer | Type::IntOrString | Type::Any),
            "number" => matches!(schema.kind, Type::Integer | Type::Number | Type::Any),
            "boolean" => matches!(schema.kind, Type::Boolean | Type::Any),
            "date" => is_time(schema) || schema.kind == Type::Any,
            _ => true,
        };
        if is_whole && !fits {
            let path = format!(".{}", names.join("."));
            wrong.push((
                path.clone(),
                format!("the column {} is of the type {}, and {path} is not", column.name, column.kind),
            ));
        }
    }
    wrong
}

fn scale_of_nothing(of: &Subject<'_>) -> Vec<(String, String)> {
    let Some(scale) = of.version.scale.as_ref().filter(|_| !of.kind.is_builtin) else { return Vec::new() };
    let wrong = |path: &Path, fits: fn(&Schema) -> bool, what: &str| {
        let message = match find(of.version, &path.0) {
            PathTarget::Other => return None,
            PathTarget::Field(schema) if fits(schema) => return None,
            PathTarget::Field(_) => format!("the scale reads .{path}, which is not {what}"),
            PathTarget::Nothing => format!("the scale reads .{path}, which the schema does not declare"),
        };
        Some((format!(".{path}"), message))
    };
    let is_number = |schema: &Schema| schema.kind == Type::Integer;
    let is_selector = |schema: &Schema| matches!(schema.kind, Type::String | Type::Object);
    [&scale.replicas, &scale.status_replicas]
        .into_iter()
        .filter_map(|path| wrong(path, is_number, "an integer"))
        .chain(scale.selector.as_ref().and_then(|path| wrong(path, is_selector, "a string")))
        .collect()
}

fn scale_without_selector(of: &Subject<'_>) -> Vec<(String, String)> {
    let scale = of.version.scale.as_ref().filter(|_| !of.kind.is_builtin && !of.kind.is_document);
    let message =
        "the scale has no label selector, and cannot be scaled by a HorizontalPodAutoscaler: declare its path";
    scale.filter(|scale| scale.selector.is_none()).map(|_| (String::new(), message.to_owned())).into_iter().collect()
}
