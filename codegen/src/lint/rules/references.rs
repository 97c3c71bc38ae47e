//! Rules about references to other objects.
use kindsmith::{
    kind::model::Scope,
    schema::{Schema, Type},
};

use crate::lint::{
    Check, Rule,
    field::{Field, is_plain_text, is_struct},
    words,
};

pub(super) const RULES: &[Rule] = &[
    Check::Field(reference_name)
        .warning("reference-name", "Object references")
        .reason("A reference by an ObjectReference, or a subset of it, is called fooRef, and a list of them fooRefs, so that it is not taken \
             for the object itself.")
        .bad("spec: {properties: {author: {properties: {kind: {type: string}, name: {type: string}}}}}")
        .good("spec: {properties: {authorRef: {properties: {kind: {type: string}, name: {type: string}}}}}"),
    Check::Field(name_called_ref)
        .warning("name-called-ref", "Object references")
        .reason("A reference by name alone is called fooName; fooRef is an object, which can get more fields.")
        .bad("spec: {properties: {authorRef: {type: string}}}")
        .good("spec: {properties: {authorName: {type: string}}}"),
    Check::Field(cross_namespace_reference)
        .warning("cross-namespace-reference", "Object references (current text)")
        .reason("Namespaces are a security boundary: a reference into another one gives access to what its author may not read.")
        .bad("spec: {properties: {authorRef: {properties: {name: {type: string}, namespace: {type: string}}}}}")
        .good("spec: {properties: {authorRef: {properties: {name: {type: string}}}}}"),
];

/// It is an ObjectReference, or a subset that names more than the object.
pub(super) fn is_reference(schema: &Schema) -> bool {
    const FIELDS: [&str; 10] = [
        "apiGroup",
        "apiVersion",
        "fieldPath",
        "group",
        "kind",
        "name",
        "namespace",
        "resource",
        "resourceVersion",
        "uid",
    ];
    let has = |name: &str| schema.properties.contains_key(name);
    let named = schema.name.as_deref().is_some_and(|name| name.ends_with("ObjectReference"));
    // If another field is required, and the name is not, it selects objects of a kind.
    let is_of_one = schema.required.is_empty() || schema.required.iter().any(|name| name == "name");
    is_struct(schema)
        && (named
            || schema.properties.keys().all(|name| FIELDS.contains(&name.as_str()))
                && has("name")
                && is_of_one
                && (has("kind") || has("resource") || has("namespace")))
}

fn reference_name(field: &Field<'_>) -> Option<String> {
    let name = field.name()?;
    let (schema, is_list) = match (&field.schema.items, field.schema.kind) {
        (Some(items), Type::Array) => (items.as_ref(), true),
        _ => (field.schema, false),
    };
    let last = words::last(name);
    let fits = if is_list { last == "refs" } else { last == "ref" };
    // The object that a review is about, and what is not a reference to another object.
    if fits || !is_reference(schema) || ["spec", "status", "metadata"].contains(&name) {
        return None;
    }
    let (suffix, what) = if is_list { ("Refs", "a list of references") } else { ("Ref", "a reference") };
    let stem = ["References", "Reference", "Refs", "Ref"].iter().find_map(|end| name.strip_suffix(end)).unwrap_or(name);
    let stem = if is_list { stem.strip_suffix('s').unwrap_or(stem) } else { stem };
    let right = format!("{stem}{suffix}");
    // Another field has replaced it, and it is kept for old clients.
    let is_replaced = field.parent.is_some_and(|parent| parent.schema.properties.contains_key(&right));
    (!is_replaced).then(|| format!("{name} is {what}: call it {right}"))
}

fn name_called_ref(field: &Field<'_>) -> Option<String> {
    // Commits, images and fields are referred to by text.
    const TEXTS: [&str; 6] = ["base", "commit", "field", "git", "head", "image"];
    let name = field.name().filter(|_| is_plain_text(field.schema))?;
    let all = words::lower(name);
    let is_text = all.first().is_some_and(|first| TEXTS.contains(&first.as_str()));
    let referred = name.strip_suffix("Ref").filter(|_| !is_text)?;
    Some(format!("{name} is a name: call it {referred}Name, or make it an object"))
}

fn cross_namespace_reference(field: &Field<'_>) -> Option<String> {
    let _ = field.name().filter(|name| *name == "namespace" && field.is_in_spec() && !field.is_builtin())?;
    let shared = &field.subject.kind.definition.shared;
    let (around, schema) = field.parent.map(|parent| (parent, parent.schema))?;
    let named = std::iter::once(around).chain(around.ancestors()).find_map(Field::name)?;
    let is_named = matches!(words::last(named).as_str(), "ref" | "refs" | "reference" | "references");
    let is_of_another = is_reference(schema) || is_named && schema.properties.contains_key("name");
    (is_of_another && shared.scope == Scope::Namespaced && shared.stored).then(|| {
        "it may refer to another namespace: leave namespace out, or allow it and say who checks the permission"
            .to_owned()
    })
}
