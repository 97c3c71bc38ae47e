//! Tests of the Protobuf form, by reading it back.
use std::collections::BTreeMap;

use serde_json::json;

use super::*;

/// A message read back: values by field number.
#[derive(Debug, Default)]
struct Read {
    texts: BTreeMap<u64, Vec<Vec<u8>>>,
    numbers: BTreeMap<u64, u64>,
}

fn varint(bytes: &mut &[u8]) -> u64 {
    let (mut value, mut shift) = (0, 0);
    loop {
        let byte = bytes[0];
        *bytes = &bytes[1..];
        value |= u64::from(byte & 0x7f) << shift;
        shift += 7;
        if byte < 0x80 {
            return value;
        }
    }
}

fn read(mut bytes: &[u8]) -> Read {
    let mut found = Read::default();
    while !bytes.is_empty() {
        let tag = varint(&mut bytes);
        match tag & 7 {
            0 => {
                found.numbers.insert(tag >> 3, varint(&mut bytes));
            }
            1 => {
                found.numbers.insert(tag >> 3, u64::from_le_bytes(bytes[..8].try_into().unwrap()));
                bytes = &bytes[8..];
            }
            2 => {
                let length = usize::try_from(varint(&mut bytes)).unwrap();
                found.texts.entry(tag >> 3).or_default().push(bytes[..length].to_vec());
                bytes = &bytes[length..];
            }
            other => panic!("wire type {other}"),
        }
    }
    found
}

impl Read {
    fn text(&self, number: u64) -> String {
        String::from_utf8(self.texts[&number][0].clone()).unwrap()
    }

    fn message(&self, number: u64) -> Read {
        read(&self.texts[&number][0])
    }

    /// The values of `Named…` messages by their keys.
    fn named(&self, number: u64) -> BTreeMap<String, Read> {
        self.texts[&number].iter().map(|entry| read(entry)).map(|entry| (entry.text(1), entry.message(2))).collect()
    }
}

fn document() -> Read {
    let item = json!({
            "get": {
                "operationId": "readA", "produces": ["application/json"], "consumes": ["*/*"],
                "parameters": [
                    {"name": "q", "in": "query", "type": "integer", "uniqueItems": true, "description": "D"},
                    {"name": "body", "in": "body", "required": true, "schema": {"$ref": "#/definitions/A"}},
                ],
                "responses": {"200": {"description": "OK", "schema": {"$ref": "#/definitions/A"}}},
                "x-kubernetes-action": "get",
            },
            "parameters": [{"name": "name", "in": "path", "required": true, "type": "string", "uniqueItems": true}],
    });
    let definition = json!({
            "type": "object", "required": ["b"], "description": "An A.",
            "properties": {
                "b": {"type": "integer", "format": "int32", "minimum": 1.5, "maxLength": 300, "enum": [1, "x"], "default": {"z": 1}},
                "c": {"type": "object", "additionalProperties": {"type": "string"}},
                "d": {"type": "array", "items": {"$ref": "#/definitions/B"}},
            },
            "x-kubernetes-group-version-kind": [{"group": "g", "kind": "A", "version": "v1"}],
    });
    let parts = Parts {
        paths: vec![("/a/{name}".to_owned(), item.to_string().into_bytes())],
        definitions: [("A".to_owned(), definition.to_string().into_bytes().into())].into(),
    };
    read(&protobuf::document(parts, "V"))
}

#[test]
fn definitions_in_protobuf() {
    let document = document();
    assert_eq!((document.text(1), document.message(2).text(1)), ("2.0".to_owned(), "Kubernetes".to_owned()));
    let a = &document.message(9).named(1)["A"];
    assert_eq!((a.text(4), a.text(19), a.message(22).text(1)), ("An A.".into(), "b".into(), "object".into()));
    let extension = &a.named(31)["x-kubernetes-group-version-kind"];
    let yaml: serde_json::Value = serde_json::from_str(&extension.text(2)).unwrap();
    assert_eq!(yaml, json!([{"group": "g", "kind": "A", "version": "v1"}]));
    let properties = a.message(25).named(1);
    let b = &properties["b"];
    assert_eq!((b.numbers[&9], b.numbers[&11]), (1.5f64.to_bits(), 300));
    assert_eq!((b.texts[&20].len(), b.text(2)), (2, "int32".to_owned()));
    assert_eq!(b.message(5).text(2), "{\"z\":1}\n");
    assert_eq!(properties["c"].message(21).message(1).message(22).text(1), "string");
    assert_eq!(properties["d"].message(23).message(1).text(1), "#/definitions/B");
}

#[test]
fn operations_in_protobuf() {
    let paths = document().message(8).named(2);
    let item = &paths["/a/{name}"];
    let get = item.message(2);
    assert_eq!((get.text(5), get.text(6), get.text(7)), ("readA".into(), "application/json".into(), "*/*".into()));
    assert!(get.named(13).contains_key("x-kubernetes-action"));
    let parameters: Vec<Read> = get.texts[&8].iter().map(|item| read(item).message(1)).collect();
    // NonBodyParameter, QueryParameterSubSchema: type 6, uniqueItems 20.
    let query = parameters[0].message(2).message(3);
    assert_eq!((query.text(4), query.text(6), query.numbers[&20]), ("q".into(), "integer".into(), 1));
    let body = parameters[1].message(1);
    assert_eq!((body.numbers[&4], body.message(5).text(1)), (1, "#/definitions/A".into()));
    // NonBodyParameter, PathParameterSubSchema: type 5, uniqueItems 19.
    let path = item.message(9).message(1).message(2).message(4);
    assert_eq!((path.numbers[&1], path.text(5), path.numbers[&19]), (1, "string".into(), 1));
    let ok = &get.message(9).named(1)["200"];
    assert_eq!(ok.message(1).message(2).message(1).text(1), "#/definitions/A");
}
