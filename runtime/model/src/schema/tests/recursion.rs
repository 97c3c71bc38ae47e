//! Recursive types.
use std::{collections::BTreeMap, sync::Arc};

use serde_json::{Value, json};

use crate::{
    meta::FieldPath,
    schema::{
        At, Document, Meter, Schema, check_types, default, fingerprint,
        fingerprint::rules,
        fixture::{form, form_as_said, schema},
        normalise,
        openapi::{Definitions, Version, define},
        origin, prune, validate, validate_change,
    },
};

fn object(props: &Value) -> Document {
    json!({"apiVersion": "example.com/v1", "kind": "Form", "metadata": {"name": "f"}, "spec": {"props": props}})
}

fn messages(errors: &[crate::meta::FieldError]) -> Vec<String> {
    errors.iter().map(ToString::to_string).collect()
}

#[test]
fn defaults_are_filled_as_deep_as_a_document_goes() {
    let mut document = object(&json!({
        "items": {"properties": {"a": {}, "gone": null}}, "allOf": [{"items": null}], "parts": [{"name": "p", "props": {}}],
    }));
    default(&form(), &mut document, &Meter::default()).unwrap();
    let leaf = json!({"optional": false});
    assert_eq!(
        document,
        object(&json!({
            "optional": false,
            "items": {"optional": false, "properties": {"a": leaf}},
            "allOf": [leaf],
            "parts": [{"name": "p", "props": leaf}],
        }))
    );
}

#[test]
fn errors_name_the_whole_path() {
    let document = object(&json!({
        "items": {"properties": {"a": {"maxLength": -1}}},
        "allOf": [{}, {"type": "number"}],
        "parts": [{"name": "p", "props": {"parts": [{"name": "q"}, {"name": "q"}, {"props": {"tags": [1]}}]}}],
    }));
    assert_eq!(
        messages(&validate(&form(), &document, &Meter::default()).unwrap()),
        [
            "spec.props.allOf[1].type: Unsupported value: \"number\": supported values: \"object\", \"array\", \"string\"",
            "spec.props.items.properties.a.maxLength: Invalid value: -1: spec.props.items.properties.a.maxLength in body \
             should be greater than or equal to 0",
            "spec.props.parts[0].props.parts[2].props.tags[0]: Invalid value: \"integer\": \
             spec.props.parts[0].props.parts[2].props.tags[0] in body must be of type string: \"integer\"",
            "spec.props.parts[0].props.parts[2].name: Required value",
            "spec.props.parts[0].props.parts[1]: Duplicate value: {\"name\":\"q\"}",
        ]
    );
}

#[test]
fn a_change_is_judged_by_what_it_changes_and_what_may_not_change() {
    let old =
        object(&json!({"parts": [{"name": "a", "props": {"maxLength": -1}}, {"name": "b", "props": {"id": "x"}}]}));
    let new = object(&json!({"parts": [
        {"name": "b", "props": {"id": "y", "items": {"maxLength": -2}}}, {"name": "a", "props": {"maxLength": -1}}]}));
    let found = validate(&form(), &new, &Meter::default()).unwrap();
    assert_eq!(found.len(), 2);
    let paths: Vec<_> = validate_change(&form(), found, &new, &old, &Meter::default())
        .unwrap()
        .into_iter()
        .map(|error| error.path.as_str().to_owned())
        .collect();
    assert_eq!(paths, ["spec.props.parts[0].props.items.maxLength", "spec.props.parts[0].props.id"]);
    let origin = origin(&form(), &new, &old, "spec.props.parts[1].props.maxLength");
    assert_eq!((origin.path.as_str(), origin.kept), ("spec.props.parts[0].props.maxLength", true));
}

#[test]
fn unknown_fields_are_dropped_at_any_depth() {
    let mut document = object(&json!({
        "more": 1,
        "properties": {"a": {"items": {"more": 1, "type": "string"}}},
        "parts": [{"name": "p", "more": 1, "props": {"allOf": [{"more": 1}]}}],
    }));
    let dropped = prune(&form(), &mut document);
    let paths: Vec<_> = dropped.iter().map(FieldPath::as_str).collect();
    assert_eq!(
        paths,
        [
            "spec.props.more",
            "spec.props.parts[0].more",
            "spec.props.parts[0].props.allOf[0].more",
            "spec.props.properties.a.items.more"
        ]
    );
    let left =
        json!({"properties": {"a": {"items": {"type": "string"}}}, "parts": [{"name": "p", "props": {"allOf": [{}]}}]});
    assert_eq!(document, object(&left));
}

#[test]
fn documents_that_mean_the_same_become_equal_at_any_depth() {
    let mut document =
        object(&json!({"tags": [], "items": {"tags": [], "properties": {"a": {"tags": [], "maxLength": 1.0}}}}));
    normalise(&form(), &mut document);
    assert_eq!(document, object(&json!({"items": {"properties": {"a": {"maxLength": 1}}}})));
}

#[test]
fn a_wrong_type_is_told_with_its_struct() {
    let document = object(&json!({"items": {"allOf": [{"maxLength": "long"}]}}));
    let said = check_types(&form(), &document).expect("a wrong type");
    let field = "Props.spec.props.items.allOf.maxLength";
    assert_eq!(said, format!("json: cannot unmarshal string into Go struct field {field} of type int32"));
    let list = schema(&json!({"type": "object", "definitions": [{"type": "array", "title": "Tree", "items": {
        "type": "array", "title": "Tree", "definition": 0}}], "properties": {
        "trees": {"type": "array", "title": "Tree", "definition": 0}}}));
    assert_eq!(check_types(&list, &json!({"trees": [[], [[]]]})), None);
    let said = check_types(&list, &json!({"trees": [[], [[1]]]}));
    assert_eq!(said.as_deref(), Some("json: cannot unmarshal number into Go struct field .trees of type v1.Tree"));
}

#[test]
fn fingerprints_tell_definitions_apart() {
    let other = |change: fn(&mut Value)| {
        let mut said = form_as_said();
        change(&mut said);
        let other = schema(&said);
        (fingerprint(&other) != fingerprint(&form()), rules(&other) != rules(&form()))
    };
    assert_eq!(other(|_| {}), (false, false));
    assert_eq!(other(|said| said["definitions"][0]["properties"]["new"] = json!({"type": "string"})), (true, true));
    assert_eq!(other(|said| said["definitions"][0]["properties"]["maxLength"]["minimum"] = json!(1)), (false, true));
    let no_longer = |said: &mut Value| {
        said["definitions"][0]["properties"]["items"].as_object_mut().expect("a schema").remove("definition");
    };
    assert_eq!(other(no_longer), (true, true));
    assert!(form().says_how_patches_merge());
}

#[test]
fn openapi_refers_to_a_recursive_type_by_its_name() {
    for (version, root) in [(Version::V2, "#/definitions/"), (Version::V3, "#/components/schemas/")] {
        let props = json!({"$ref": format!("{root}p.Props")});
        let described = |description: &str| match version {
            Version::V2 => json!({"description": description, "$ref": props["$ref"]}),
            Version::V3 => json!({"description": description, "allOf": [props]}),
        };
        let mut all = Definitions::new();
        let mut defined = |form: &Schema| -> BTreeMap<String, Value> {
            define(("p", "Root"), form, (version, false), &[], |_| {}, &mut all);
            let below = all.iter().filter(|(name, _)| *name != "Root");
            below.map(|(name, text)| (name.clone(), serde_json::from_slice(text).unwrap())).collect()
        };
        let out = defined(&form());
        assert_eq!(out.keys().collect::<Vec<_>>(), ["p.FormSpec", "p.Part", "p.Props"]);
        assert_eq!(out["p.FormSpec"]["properties"]["props"], described("What the form asks for."));
        let fields = &out["p.Props"]["properties"];
        assert_eq!(fields["items"], described("What items are."));
        assert_eq!(fields["properties"], json!({"type": "object", "additionalProperties": props}));
        assert_eq!(fields["allOf"], json!({"type": "array", "x-kubernetes-list-type": "atomic", "items": props}));
        assert_eq!(out["p.Part"]["properties"]["props"], props);
        assert_eq!(out["p.Props"]["type"], "object");
        assert!(out["p.Props"].get("description").is_none(), "descriptions are those of uses");

        let once = out;
        assert_eq!(defined(&form()), once, "another kind with the same type refers to the same definition");
        let mut said = form_as_said();
        said["properties"]["spec"]["title"] = json!("OtherSpec");
        said["definitions"][0]["properties"]["more"] = json!({"type": "string"});
        let out = defined(&schema(&said));
        let names = ["p.FormSpec", "p.OtherSpec", "p.Part", "p.Part_2", "p.Props", "p.Props_2"];
        assert_eq!(out.keys().collect::<Vec<_>>(), names);
        let second = json!({"$ref": format!("{root}p.Props_2")});
        assert_eq!(out["p.Props_2"]["properties"]["allOf"]["items"], second);
        assert_eq!(out["p.Part_2"]["properties"]["props"], second);
        assert_eq!(once.iter().find(|(name, definition)| out[*name] != **definition), None);
    }
}

#[test]
fn a_place_in_a_schema_is_a_schema_of_its_own_and_nothing_outlives_it() {
    let form = form();
    let spec = At::of(&form).property("spec").expect("a spec").to_schema();
    let all = Arc::downgrade(form.definitions.as_ref().expect("definitions"));
    drop(form);
    let props = At::of(&spec).property("props").expect("props");
    let deep = ["items", "items", "items"].iter().try_fold(props, |at, name| at.property(name)).expect("no end");
    assert_eq!(deep.property("maxLength").expect("a field").minimum, Some(0.0));
    drop(spec);
    assert!(all.upgrade().is_none());
}

#[test]
fn a_type_that_occurs_twice_is_there_once() {
    let shared = Arc::new(Schema { description: "One.".to_owned(), ..Schema::default() });
    let fields = Schema { properties: [("a".to_owned(), shared)].into(), ..Schema::default() };
    let other = Schema { description: "Another use of it.".to_owned(), ..fields.clone() };
    assert!(std::ptr::eq(&raw const fields.properties["a"], &raw const other.properties["a"]));
}

#[test]
fn what_is_wrong_with_back_references_is_named() {
    assert_eq!(form().check(), Ok(()));
    let problems = |change: fn(&mut Value)| {
        let mut said = form_as_said();
        change(&mut said);
        schema(&said).check().expect_err("a wrong schema")
    };
    let leads = "a back reference needs a definition, and has no fields, entries or items of its own";
    assert_eq!(
        problems(|said| said["properties"]["spec"]["properties"]["props"]["definition"] = json!(1)),
        [format!("spec.props: {leads}")]
    );
    assert_eq!(
        problems(
            |said| said["properties"]["spec"]["properties"]["props"]["properties"] = json!({"a": {"type": "string"}})
        ),
        [format!("spec.props: {leads}")]
    );
    assert_eq!(
        problems(|said| said["definitions"][0]["properties"]["items"]["default"] = json!({})),
        ["definitions[0].items: a recursive field has no default: its value would not end"]
    );
    let endless: [fn(&mut Value); 3] = [
        |props| props["items"]["default"] = json!({"items": null}),
        |props| props["allOf"]["items"]["default"] = json!({"allOf": [null]}),
        |props| props["properties"]["additionalProperties"]["default"] = json!({"properties": {"a": null}}),
    ];
    for change in endless {
        let mut said = form_as_said();
        change(&mut said["definitions"][0]["properties"]);
        assert!(schema(&said).check().is_err(), "a default that would not end");
    }
    assert_eq!(
        problems(|said| drop(said["definitions"][0].as_object_mut().unwrap().remove("title"))),
        ["the object: a definition needs a name, and is not a back reference"]
    );
    assert_eq!(
        problems(|said| said["properties"]["spec"]["anyOf"] = json!([{"properties": {"props": {"definition": 0}}}])),
        ["spec.anyOf[0].props: a back reference is not allowed inside allOf, anyOf, oneOf and not"]
    );
}
