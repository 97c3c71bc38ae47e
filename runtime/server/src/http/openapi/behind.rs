//! The documents of version 2 of servers behind, which become part of this server's.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use serde_json::{Map, Value};

use super::render::Parts;
use crate::{aggregation::RemoteDocument, schema::openapi::Definitions};

/// How a schema refers to a definition.
const REFERENCE: &str = "#/definitions/";

/// Adds what servers behind serve. Paths that are there already stay as they are.
pub(super) fn add_all(parts: &mut Parts, documents: &[RemoteDocument]) {
    for document in documents {
        let known: BTreeSet<&str> = parts.paths.iter().map(|(path, _)| &**path).collect();
        let is_new = |path: &str| {
            let is_served = document
                .roots
                .iter()
                .any(|root| path.strip_prefix(&**root).is_some_and(|rest| rest.is_empty() || rest.starts_with('/')));
            is_served && !known.contains(path)
        };
        let all = document.document["paths"].as_object().into_iter().flatten();
        let paths: Vec<_> = all.filter(|(path, _)| is_new(path)).collect();
        let definitions = needed(&document.document["definitions"], paths.iter().map(|(_, item)| *item));
        let names = names(&parts.definitions, &definitions);
        let text = |value: &Value| renamed(value, &names).to_string().into_bytes();
        let added: Vec<_> = paths.into_iter().map(|(path, item)| (path.clone(), text(item))).collect();
        parts.paths.extend(added);
        for (name, definition) in definitions {
            let name = names.get(name).map_or(name, |name| &**name);
            parts.definitions.entry(name.to_owned()).or_insert_with(|| Arc::from(text(definition)));
        }
    }
}

/// The definitions that some values refer to, directly or through others.
fn needed<'d>(definitions: &'d Value, values: impl Iterator<Item = &'d Value>) -> BTreeMap<&'d str, &'d Value> {
    let mut found = BTreeMap::new();
    let mut open: Vec<&Value> = values.collect();
    while let Some(value) = open.pop() {
        each_reference(value, &mut |name| {
            if let Some(definition) = definitions.get(name)
                && found.insert(name, definition).is_none()
            {
                open.push(definition);
            }
        });
    }
    found
}

/// New names for definitions that say something else than those of the same name, or refer to such ones.
fn names<'d>(known: &Definitions, definitions: &BTreeMap<&'d str, &'d Value>) -> BTreeMap<&'d str, String> {
    let same = |name: &str, definition: &Value| {
        known.get(name).is_none_or(|text| serde_json::from_slice(text).is_ok_and(|known: Value| known == *definition))
    };
    let mut others: BTreeSet<&str> =
        definitions.iter().filter(|(name, definition)| !same(name, definition)).map(|(name, _)| *name).collect();
    loop {
        let refers = |definition: &Value| {
            let mut refers = false;
            each_reference(definition, &mut |name| refers |= others.contains(name));
            refers
        };
        let more: Vec<_> = definitions
            .iter()
            .filter(|(name, definition)| known.contains_key(**name) && !others.contains(**name) && refers(definition))
            .map(|(name, _)| *name)
            .collect();
        if more.is_empty() {
            break;
        }
        others.extend(more);
    }
    let is_free = |name: &String| !known.contains_key(name) && !definitions.contains_key(&**name);
    // One of these is free: there are more than names.
    let numbers = 2..=known.len() + definitions.len() + 2;
    let name_of = |name: &str| numbers.clone().map(|number| format!("{name}_v{number}")).find(is_free);
    others.into_iter().filter_map(|name| Some((name, name_of(name)?))).collect()
}

/// Calls a function with the name of each definition that a value refers to.
fn each_reference<'d>(value: &'d Value, found: &mut impl FnMut(&'d str)) {
    match value {
        Value::Object(members) => members.iter().for_each(|(key, member)| match member {
            Value::String(target) if key == "$ref" => target.strip_prefix(REFERENCE).into_iter().for_each(&mut *found),
            member => each_reference(member, found),
        }),
        Value::Array(items) => items.iter().for_each(|item| each_reference(item, found)),
        _ => {}
    }
}

/// A value whose references have the new names.
fn renamed(value: &Value, names: &BTreeMap<&str, String>) -> Value {
    let member = |(key, member): (&String, &Value)| {
        let new = member.as_str().filter(|_| key == "$ref").and_then(|target| target.strip_prefix(REFERENCE));
        let new = new.and_then(|name| names.get(name));
        (key.clone(), new.map_or_else(|| renamed(member, names), |new| format!("{REFERENCE}{new}").into()))
    };
    match value {
        Value::Object(members) => members.iter().map(member).collect::<Map<_, _>>().into(),
        Value::Array(items) => items.iter().map(|item| renamed(item, names)).collect(),
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn parts() -> Parts {
        let definitions = [
            ("Shared", json!({"type": "object", "properties": {"same": {"type": "string"}}})),
            ("Meta", json!({"type": "object", "description": "ours"})),
            ("Around", json!({"type": "object", "properties": {"meta": {"$ref": "#/definitions/Meta"}}})),
        ];
        let definitions = definitions.map(|(name, value)| (name.to_owned(), Arc::from(value.to_string().into_bytes())));
        Parts { paths: vec![("/apis/own/v1/a".to_owned(), b"{}".to_vec())], definitions: definitions.into() }
    }

    fn answer(name: &str) -> Value {
        json!({"get": {"responses": {"200": {"schema": {"$ref": format!("#/definitions/{name}")}}}}})
    }

    #[test]
    fn paths_of_the_versions_and_what_they_refer_to_are_added_under_names_of_their_own() {
        let document = json!({
            "paths": {
                "/apis/far/v1/": answer("Thing"),
                "/apis/far/v1beta1/things": answer("Old"),
                "/apis/far/v10/things": answer("Old"),
                "/apis/own/v1/a": answer("Old"),
            },
            "definitions": {
                "Thing": {"properties": {"a": {"$ref": "#/definitions/Around"}, "s": {"items": [{"$ref": "#/definitions/Shared"}]}}},
                "Around": {"type": "object", "properties": {"meta": {"$ref": "#/definitions/Meta"}}},
                "Meta": {"type": "object", "description": "theirs", "properties": {"self": {"$ref": "#/definitions/Meta"}}},
                "Meta_v2": {"type": "string"},
                "Shared": {"properties": {"same": {"type": "string"}}, "type": "object"},
                "Old": {}, "Unused": {},
            },
        });
        let mut parts = parts();
        let roots = vec!["/apis/far/v1".to_owned(), "/apis/own/v1".to_owned()];
        add_all(&mut parts, &[RemoteDocument { roots, document }]);
        let paths: Vec<_> = parts.paths.iter().map(|(path, _)| &**path).collect();
        assert_eq!(paths, ["/apis/own/v1/a", "/apis/far/v1/"]);
        let read = |name: &str| serde_json::from_slice::<Value>(&parts.definitions[name]).unwrap();
        let names: Vec<_> = parts.definitions.keys().map(String::as_str).collect();
        assert_eq!(names, ["Around", "Around_v2", "Meta", "Meta_v2", "Shared", "Thing"]);
        assert_eq!(read("Meta")["description"], "ours");
        assert_eq!(read("Meta_v2")["properties"]["self"]["$ref"], "#/definitions/Meta_v2");
        assert_eq!(read("Around_v2")["properties"]["meta"]["$ref"], "#/definitions/Meta_v2");
        let thing = read("Thing");
        assert_eq!(thing["properties"]["a"]["$ref"], "#/definitions/Around_v2");
        assert_eq!(thing["properties"]["s"]["items"][0]["$ref"], "#/definitions/Shared");
    }

    #[test]
    fn a_document_that_is_none_adds_nothing() {
        for document in
            [json!(null), json!([]), json!({"paths": [], "definitions": 1}), json!({"paths": {"/apis/far/v1": 3}})]
        {
            let mut parts = parts();
            add_all(&mut parts, &[RemoteDocument { roots: vec!["/apis/far/v1".to_owned()], document }]);
            assert_eq!(parts.definitions.len(), 3);
        }
    }
}
