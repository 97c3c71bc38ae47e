//! Tests of the rules by their own examples, and of the walk.
use std::collections::BTreeSet;

use kindsmith::__layers::codec::{Limits, yaml};
use kindsmith_codegen::Kinds;
use serde_json::{Value, json};

use super::{Finding, check, finding::merged, raw::Files, rules};

/// What the examples of rules replace parts of. It has no findings.
const EXAMPLES: &str = "\
group: library.example.com
names: {kind: Book, plural: books, singular: book, listKind: BookList}
scope: Namespaced
version: {name: v1, subresources: {status: {}}}
required: [spec]
columns: [{name: Ready, type: string, jsonPath: .status.observedGeneration}]
spec: {properties: {title: {type: string}}}
status:
  properties:
    observedGeneration: {type: integer, format: int64}
    conditions:
      type: array
      x-kubernetes-list-type: map
      x-kubernetes-list-map-keys: [type]
      items:
        required: [type, status]
        properties:
          type: {type: string}
          status: {type: string, enum: ['True', 'False', Unknown]}
";

fn value(text: &str) -> Value {
    yaml::decode(text.as_bytes(), &Limits { depth: 64, memory: 1 << 20 }).unwrap().document
}

/// Changes a value by a merge patch.
fn patch(value: &mut Value, by: &Value) {
    let Value::Object(members) = by else {
        *value = by.clone();
        return;
    };
    if !value.is_object() {
        *value = json!({});
    }
    let object = value.as_object_mut().unwrap();
    for (name, by) in members {
        if by.is_null() {
            object.remove(name);
        } else {
            patch(object.entry(name.clone()).or_insert(Value::Null), by);
        }
    }
}

/// Adds what examples leave out: types of objects, and descriptions.
fn completed(schema: &mut Value) {
    let is_object = schema.get("type").is_none() && schema.get("properties").is_some();
    let members = schema.as_object_mut().unwrap();
    if is_object {
        members.insert("type".to_owned(), "object".into());
    }
    members.entry("description").or_insert("Described.".into());
    for below in ["items", "additionalProperties"] {
        if let Some(schema) = members.get_mut(below) {
            completed(schema);
        }
    }
    for schema in
        members.get_mut("properties").and_then(Value::as_object_mut).into_iter().flat_map(|all| all.values_mut())
    {
        completed(schema);
    }
}

/// The definition of an example.
fn definition(example: &str) -> Value {
    let mut parts = value(EXAMPLES);
    patch(&mut parts, &value(example));
    let mut take = |name: &str| parts.as_object_mut().unwrap().remove(name).unwrap_or_default();
    let (group, names, scope, mut version) = (take("group"), take("names"), take("scope"), take("version"));
    let (required, columns) = (take("required"), take("columns"));
    let mut schema = json!({"type": "object", "properties": parts});
    if required.is_array() {
        schema["required"] = required;
    }
    completed(&mut schema);
    version["served"] = true.into();
    version["storage"] = true.into();
    version["schema"] = json!({"openAPIV3Schema": schema});
    if columns.is_array() {
        version["additionalPrinterColumns"] = columns;
    }
    let name = format!("{}.{}", names["plural"].as_str().unwrap(), group.as_str().unwrap());
    let mut metadata = json!({"name": name});
    if group.as_str().unwrap().ends_with("k8s.io") {
        // A definition in such a group has to say something about its approval.
        metadata["annotations"] = json!({"api-approved.kubernetes.io": "unapproved, an example"});
    }
    json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": metadata,
        "spec": {"group": group, "names": names, "scope": scope, "versions": [version]}})
}

/// The findings in a file.
fn found(text: &str) -> Vec<Finding> {
    let kinds = Kinds::of_texts(&[("example.yaml".to_owned(), text.as_bytes().to_vec())]);
    let kinds = kinds.unwrap_or_else(|error| panic!("{error}\n{text}"));
    let mut files = Files::default();
    files.add("example.yaml", text);
    check(&kinds.kinds, &files)
}

fn rules_of(findings: &[Finding]) -> BTreeSet<&'static str> {
    findings.iter().map(|finding| finding.rule.name).collect()
}

#[test]
fn each_rule_finds_its_bad_example_and_nothing_in_its_good_one() {
    assert!(found(&definition("{}").to_string()).is_empty(), "what examples are a part of has no findings");
    let mut wrong = Vec::new();
    for rule in rules::all() {
        let bad = found(&definition(rule.bad).to_string());
        if rules_of(&bad) != BTreeSet::from([rule.name]) {
            wrong.push(format!("{} finds in its bad example: {:?}", rule.name, messages(&bad)));
        }
        let good = found(&definition(rule.good).to_string());
        if !good.is_empty() {
            wrong.push(format!("{} finds in its good example: {:?}", rule.name, messages(&good)));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn messages(findings: &[Finding]) -> Vec<String> {
    findings.iter().map(|finding| format!("{} {}: {}", finding.path, finding.rule.name, finding.message)).collect()
}

#[test]
fn names_of_rules_are_unique_and_reasons_are_sentences() {
    let mut names = BTreeSet::new();
    for rule in rules::all() {
        assert!(names.insert(rule.name), "{}", rule.name);
        assert!(rule.name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-'), "{}", rule.name);
        assert!(rule.reason.ends_with('.') && !rule.reason.contains(". "), "{}: one sentence", rule.name);
        assert!(!rule.section.is_empty() && rule.bad != rule.good, "{}", rule.name);
    }
    assert!(names.len() >= 60, "{}", names.len());
}

#[test]
fn a_finding_in_two_versions_is_one() {
    let mut definition = definition("spec: {properties: {page_count: {type: integer, format: int32}}}");
    let mut second = definition["spec"]["versions"][0].clone();
    second["name"] = "v2".into();
    second["storage"] = false.into();
    definition["spec"]["versions"].as_array_mut().unwrap().push(second);
    let findings = merged(found(&definition.to_string()));
    assert_eq!(findings.len(), 1);
    assert_eq!(
        (&findings[0].versions[..], findings[0].path.as_str()),
        (&["v1".to_owned(), "v2".to_owned()][..], ".spec.page_count")
    );
}

#[test]
fn paths_say_items_and_values() {
    let example = "spec: {properties: {chapters: {type: array, x-kubernetes-list-type: atomic, items: {properties: {notes: {type: object, \
                   additionalProperties: {type: number}}}}}}}";
    let findings = found(&definition(example).to_string());
    assert_eq!(findings.iter().map(|finding| finding.path.as_str()).collect::<Vec<_>>(), [".spec.chapters[].notes.*"]);
}
