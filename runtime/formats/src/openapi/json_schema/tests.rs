//! JSON Schemas and the structural schemas that they become, which are written as JSON Schemas that are structural already.
use serde_json::{Map, json};

use super::read;
use crate::schema::{Document, Schema};

fn structural(root: &Document, definitions: &Document) -> Schema {
    let definitions = definitions.as_object().cloned().unwrap_or_default();
    read(root, &definitions).unwrap_or_else(|errors| panic!("{errors:#?}"))
}

/// Checks that a JSON Schema becomes a structural schema.
fn becomes(given: &Document, expected: &Document) {
    becomes_with(given, &json!({}), expected);
}

fn becomes_with(given: &Document, definitions: &Document, expected: &Document) {
    assert_eq!(structural(given, definitions), structural(expected, &json!({})), "{given:#}");
}

fn refused(given: &Document, definitions: &Document) -> Vec<String> {
    let definitions = definitions.as_object().cloned().unwrap_or_default();
    read(given, &definitions).expect_err("it is not structural")
}

#[test]
fn integers_have_the_bounds_of_their_type() {
    for (format, expected) in [
        ("uint8", json!({"type": "integer", "format": "int32", "minimum": 0, "maximum": 255})),
        ("int16", json!({"type": "integer", "format": "int32", "minimum": -32768, "maximum": 32767})),
        ("uint32", json!({"type": "integer", "format": "int64", "minimum": 0, "maximum": 4_294_967_295_u32})),
        ("uint64", json!({"type": "integer", "format": "int64", "minimum": 0})),
        ("int", json!({"type": "integer", "format": "int64"})),
        ("int32", json!({"type": "integer", "format": "int32"})),
    ] {
        becomes(&json!({"type": "integer", "format": format}), &expected);
    }
    becomes(
        &json!({"type": "integer", "format": "uint64", "minimum": 1, "maximum": u64::MAX}),
        &json!({"type": "integer", "format": "int64", "minimum": 1}),
    );
    becomes(&json!({"type": ["integer", "number"]}), &json!({"type": "number"}));
}

#[test]
fn null_is_said_by_one_keyword() {
    let nullable = json!({"type": "string", "enum": ["A", "B"], "nullable": true});
    becomes(&json!({"type": ["string", "null"], "enum": ["A", "B", null]}), &nullable);
    becomes(&json!({"anyOf": [{"enum": ["A", "B"]}, {"type": "null"}]}), &nullable);
    becomes(&json!({"oneOf": [{"const": "A"}, {"const": "B"}, {"const": null}]}), &nullable);
    becomes(&json!({"type": ["integer", "null"], "default": null}), &json!({"type": "integer", "nullable": true}));
    becomes(
        &json!({"type": "object", "properties": {"a": {}}, "default": {"a": null, "b": [{"c": null}]}}),
        &json!({"type": "object", "properties": {"a": {}}, "default": {"b": [{}]}}),
    );
}

#[test]
fn references_keep_their_name_and_what_is_said_beside_them() {
    let definitions = json!({"Pair<A>": {"type": "object", "properties": {"a": {"type": "string"}}}});
    let reference = json!({"anyOf": [{"$ref": "#/$defs/Pair%3CA%3E"}, {"type": "null"}], "description": "Two."});
    let read = structural(&reference, &definitions);
    assert_eq!((read.name.as_deref(), &*read.description, read.nullable), (None, "Two.", true));
    let read = structural(&json!({"$ref": "#/$defs/Pair%3CA%3E", "description": "Two."}), &definitions);
    assert_eq!((read.name.as_deref(), &*read.description), (Some("Pair<A>"), "Two."));
    let expected = json!({"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "string"}}});
    let beside = json!({"$ref": "#/$defs/Pair%3CA%3E", "properties": {"b": {"type": "string"}}});
    becomes_with(&beside, &definitions, &expected);
}

#[test]
fn variants_without_content_are_values() {
    let described = json!({"oneOf": [
        {"type": "string", "enum": ["A"]},
        {"type": "string", "const": "B", "description": "The second."},
    ], "description": "One of two."});
    becomes(&described, &json!({"type": "string", "enum": ["A", "B"], "description": "One of two."}));
}

#[test]
fn variants_with_a_tag_inside_share_their_fields() {
    let variant = |tag: &str, fields: &[(&str, Document)], required: Document| {
        let mut properties: Map<_, _> = fields.iter().map(|(name, of)| ((*name).to_owned(), of.clone())).collect();
        properties.insert("type".to_owned(), json!({"type": "string", "const": tag}));
        json!({"type": "object", "properties": properties, "required": required})
    };
    let (text, number) = (json!({"type": "string"}), json!({"type": "integer", "minimum": 1, "default": 2}));
    let given = json!({"oneOf": [
        variant("A", &[("name", text.clone()), ("size", number)], json!(["type", "name"])),
        variant("B", &[("name", text)], json!(["type"])),
    ]});
    becomes(
        &given,
        &json!({
            "type": "object",
            "properties": {
                "name": {"type": "string"},
                "size": {"type": "integer", "minimum": 1},
                "type": {"type": "string", "enum": ["A", "B"]},
            },
            "required": ["type"],
            "oneOf": [
                {"properties": {"size": {}, "type": {"enum": ["A"]}}, "required": ["name"]},
                {"properties": {"type": {"enum": ["B"]}}},
            ],
        }),
    );
}

#[test]
fn variants_with_a_tag_outside_are_a_union() {
    let variant = |name: &str, content: Document| json!({"type": "object", "properties": {name: content}, "required": [name], "additionalProperties": false});
    let (text, whole) = (json!({"type": "string"}), json!({"type": "integer"}));
    let read = structural(&json!({"oneOf": [variant("a", text.clone()), variant("b", whole.clone())]}), &json!({}));
    assert!(read.union && read.junctors.is_none());
    assert_eq!(read.properties.keys().collect::<Vec<_>>(), ["a", "b"]);
    // Flattened beside other fields, and optional.
    let branches = [variant("a", text), variant("b", whole)];
    let given = json!({
        "type": "object", "properties": {"c": {"type": "boolean"}},
        "anyOf": [{"oneOf": branches}, {}],
    });
    let names = json!({"a": {"type": "string"}, "b": {"type": "integer"}, "c": {"type": "boolean"}});
    becomes(&given, &json!({"type": "object", "properties": names}));
}

#[test]
fn variants_without_a_tag_are_told_apart_by_what_they_require() {
    let definitions =
        json!({"Name": {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}});
    let by_number = json!({"type": "object", "properties": {"port": {"type": "integer"}}, "required": ["port"]});
    becomes_with(
        &json!({"anyOf": [{"$ref": "#/$defs/Name"}, by_number]}),
        &definitions,
        &json!({
            "type": "object",
            "properties": {"name": {"type": "string"}, "port": {"type": "integer"}},
            "anyOf": [{"required": ["name"]}, {"required": ["port"]}],
        }),
    );
    becomes(
        &json!({"anyOf": [{"type": "integer", "format": "uint16"}, {"type": "string", "pattern": "%$"}]}),
        &json!({"x-kubernetes-int-or-string": true, "minimum": 0, "maximum": 65535, "pattern": "%$"}),
    );
    becomes(&json!({"anyOf": [{"type": "string"}, true]}), &json!(true));
}

#[test]
fn lists_and_maps_say_what_is_in_them() {
    becomes(
        &json!({"type": "array", "uniqueItems": true, "items": {"type": "string"}}),
        &json!({"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}}),
    );
    becomes(
        &json!({"type": "array", "prefixItems": [{"type": "integer"}, {"type": "integer"}], "minItems": 2, "maxItems": 2}),
        &json!({"type": "array", "items": {"type": "integer"}, "minItems": 2, "maxItems": 2}),
    );
    let fields = json!({"a": {"type": "string"}});
    becomes(
        &json!({"type": "object", "properties": fields, "additionalProperties": true}),
        &json!({"type": "object", "properties": fields, "x-kubernetes-preserve-unknown-fields": true}),
    );
    becomes(
        &json!({"type": "object", "properties": fields, "unevaluatedProperties": false}),
        &json!({"type": "object", "properties": fields}),
    );
}

#[test]
fn a_type_that_contains_itself_refers_back() {
    let definitions = json!({"Tree": {"type": "object", "properties": {
        "below": {"type": "array", "items": {"$ref": "#/$defs/Tree"}},
    }}});
    let tree = structural(&json!({"$ref": "#/$defs/Tree"}), &definitions);
    let items = tree.properties["below"].items.as_ref().expect("items");
    assert_eq!((items.definition, tree.definitions.as_ref().map(|all| all.len())), (Some(0), Some(1)));
    let around = json!({"Tree": {"anyOf": [{"$ref": "#/$defs/Tree"}, {"type": "string"}]}});
    let errors = refused(&json!({"$ref": "#/$defs/Tree"}), &around);
    assert!(errors[0].contains("Tree contains itself without a field in between"), "{errors:?}");
}

#[test]
fn what_cannot_be_said_is_an_error_with_its_place() {
    let field = |field: Document| json!({"type": "object", "properties": {"a/b": field}});
    for (given, expected) in [
        (json!({"type": ["string", "object"]}), "/type: found the types object, string; supported: one type, and null"),
        (json!({"type": "null"}), "/type: found null as the only type; supported: "),
        (json!(false), ": found false, which no value matches; supported: a schema"),
        (json!({"contains": {}}), "/contains: structural schemas have no contains; supported: "),
        (json!({"type": "object", "propertyNames": {}}), "/propertyNames: structural schemas have no propertyNames"),
        (json!({"$ref": "#/properties/x"}), "/$ref: found \"#/properties/x\"; supported: #/$defs/<name>"),
        (json!({"pattern": "(?=a)"}), "/pattern: "),
        (
            json!({"type": "object", "properties": {"c": {}}, "additionalProperties": {"type": "string"}}),
            "/additionalProperties: found fields beside entries of one type; supported: ",
        ),
        (
            json!({"anyOf": [{"type": "boolean"}, {"type": "string"}]}),
            "/anyOf: found variants of several types: a boolean, text; supported: variants of one type",
        ),
        (
            json!({"allOf": [{"type": "boolean"}, {"type": "string"}]}),
            "/type: found type \"boolean\" and \"string\" for one value",
        ),
    ] {
        let errors = refused(&field(given), &json!({}));
        let expected = format!("#/properties/a~1b{expected}");
        assert!(errors[0].starts_with(&expected) && errors.len() == 1, "{expected} begins {errors:#?}");
    }
}
