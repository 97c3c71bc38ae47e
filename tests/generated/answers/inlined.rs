//! OpenAPI documents in which the types inside of kinds have no names: those of generated types are other ones.
use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

const KINDS: &str = "x-kubernetes-group-version-kind";
/// The types that the server itself declares, and those of them that generated types have under other names.
const MACHINERY: &str = "io.k8s.apimachinery.";
const RENAMED: [&str; 7] = [
    ".FieldSelectorRequirement",
    ".GroupResource",
    ".Condition",
    ".LabelSelector",
    ".LabelSelectorRequirement",
    ".ObjectMeta",
    ".RawExtension",
];
/// Fields by which types of Kindsmith are known, which stand for equal ones with other descriptions.
const STANDING: [(&str, &[&str]); 4] = [
    ("Condition", &["lastTransitionTime", "observedGeneration", "reason"]),
    ("LabelSelector", &["matchExpressions", "matchLabels"]),
    ("ObjectMeta", &["managedFields", "ownerReferences"]),
    ("ObjectReference", &["fieldPath", "resourceVersion", "uid"]),
];
const STANDS_FOR: &str = "stands for";
const PRESERVE: &str = "x-kubernetes-preserve-unknown-fields";

/// A document of version 2 or 3, with each kind's schema in one piece.
pub(super) fn document(mut document: Value) -> Value {
    let schemas = if document["definitions"].is_object() { "/definitions" } else { "/components/schemas" };
    let Some(schemas) = document.pointer_mut(schemas).map(Value::take) else { return document };
    let schemas = schemas.as_object().cloned().unwrap_or_default();
    let is_kept = |name: &str| {
        let is_renamed = RENAMED.iter().any(|end| name.ends_with(end));
        schemas[name].get(KINDS).is_some() || name.starts_with(MACHINERY) && !is_renamed
    };
    let kept: Map<String, Value> = schemas
        .keys()
        .filter(|name| is_kept(name))
        .map(|name| (name.clone(), inlined(&schemas[name], &schemas, &is_kept, &mut BTreeSet::new())))
        .collect();
    document["schemas"] = kept.into();
    document
}

/// A schema in which types that are not kept are in the place of their names. A type inside of itself is raw JSON.
fn inlined<'s>(
    schema: &'s Value,
    schemas: &'s Map<String, Value>,
    is_kept: &impl Fn(&str) -> bool,
    above: &mut BTreeSet<&'s str>,
) -> Value {
    let fields = match schema {
        Value::Array(items) => {
            return items.iter().map(|item| inlined(item, schemas, is_kept, above)).collect();
        }
        Value::Object(fields) => fields,
        _ => return schema.clone(),
    };
    // Keywords beside a reference are those of the place.
    let reference = fields.get("$ref").or_else(|| match fields.get("allOf")?.as_array()?.as_slice() {
        [only] => only.get("$ref"),
        _ => None,
    });
    let name = reference.and_then(Value::as_str).and_then(|path| path.rsplit('/').next());
    let mut all = Map::new();
    if let Some(name) = name {
        if is_kept(name) {
            return schema.clone();
        }
        if !above.insert(name) {
            return json!({ PRESERVE: true });
        }
        if name.ends_with(".RawExtension") {
            all = Map::from_iter([("type".to_owned(), "object".into()), (PRESERVE.to_owned(), true.into())]);
        } else if let Value::Object(fields) = inlined(&schemas[name], schemas, is_kept, above) {
            all = fields;
        }
        above.remove(name);
    }
    for (keyword, value) in
        fields.iter().filter(|(keyword, _)| name.is_none() || !["$ref", "allOf"].contains(&keyword.as_str()))
    {
        all.insert(keyword.clone(), inlined(value, schemas, is_kept, above));
    }
    let known = STANDING.iter().find(|(_, known)| {
        let fields = all.get("properties");
        fields.is_some_and(|fields| known.iter().all(|name| fields.get(name).is_some()))
    });
    if let Some((name, _)) = known.filter(|_| !all.contains_key(KINDS)) {
        return json!({ STANDS_FOR: name });
    }
    if let Some(name) = all.get(STANDS_FOR) {
        return json!({ STANDS_FOR: name });
    }
    // They have no effect, and are left out of generated types with a warning.
    all.remove("x-kubernetes-unions");
    all.into()
}
