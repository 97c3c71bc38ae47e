//! Tests of the codec, compared with `serde_json`.
use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::schema::{
    fixture::{documents, form, schema, widget},
    number::{settle, text_of_double},
};

fn read(text: &str) -> Document {
    decode(text.as_bytes(), &Limits::default()).expect(text).document
}

fn refuse(text: &str) -> DecodeError {
    decode(text.as_bytes(), &Limits::default()).expect_err(text)
}

fn write(document: &Document) -> String {
    let mut out = Vec::new();
    encode(document, &mut out);
    String::from_utf8(out).expect("UTF-8")
}

proptest! {
    #[test]
    fn written_documents_round_trip(document in documents()) {
        let text = write(&document);
        let decoded = decode(text.as_bytes(), &Limits::default()).expect("own output");
        prop_assert_eq!(&decoded.document, &document);
        prop_assert!(decoded.faults.is_empty());
        // serde_json, another parser, reads the same from it.
        let mut other: Document = serde_json::from_str(&text).expect("JSON");
        settle(&mut other);
        prop_assert_eq!(other, document);
    }

    #[test]
    fn serde_json_accepts_the_same_texts(text in "[\\[\\]{},:\"0-9a-z.eE+ \\\\\\-\t]{0,24}") {
        let ours = decode(text.as_bytes(), &Limits::default());
        match serde_json::from_str::<Document>(&text) {
            Ok(mut theirs) => {
                settle(&mut theirs);
                prop_assert_eq!(ours.expect("accepted by serde_json").document, theirs);
            }
            Err(error) => prop_assert!(ours.is_err(), "{error}"),
        }
    }

    #[test]
    fn any_bytes_are_answered(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = decode(&bytes, &Limits::default());
    }

    #[test]
    fn doubles_print_so_that_they_read_back(double in prop::num::f64::NORMAL | prop::num::f64::SUBNORMAL) {
        let text = text_of_double(double);
        prop_assert_eq!(text.parse::<f64>().map(f64::to_bits), Ok(double.to_bits()));
    }
}

/// Doubles whose last digit imprecise parsers lose.
const DELICATE: [&str; 6] = [
    "4013953607623568.5",
    "-4013953607623568.5",
    "4503599627370495.5",
    "0.30000000000000004",
    "5e-324",
    "1.7976931348623157e+308",
];

#[test]
fn doubles_of_many_digits_survive_every_encoding() {
    for text in DELICATE {
        let document = json!({"a": text.parse::<f64>().unwrap()});
        let limits = Limits::default();
        assert_eq!(write(&document), format!("{{\"a\":{text}}}"));
        assert_eq!(read(&format!("{{\"a\":{text}}}")), document, "JSON: {text}");
        assert_eq!(serde_json::from_str::<Document>(&write(&document)).unwrap(), document, "stored bodies: {text}");
        assert_eq!(from_typed(&document).unwrap(), document, "typed: {text}");
        let (mut yaml_text, mut cbor_bytes) = (Vec::new(), Vec::new());
        yaml::encode(&document, &mut yaml_text);
        assert_eq!(yaml::decode(&yaml_text, &limits).unwrap().document, document, "YAML: {text}");
        cbor::encode(&document, &mut cbor_bytes);
        assert_eq!(cbor::decode(&cbor_bytes, &limits).unwrap().document, document, "CBOR: {text}");
    }
}

#[test]
fn numbers_are_normalised_as_in_kube_apiserver() {
    assert_eq!(read("9223372036854775807"), json!(i64::MAX));
    assert_eq!(read("-9223372036854775808"), json!(i64::MIN));
    assert!(read("9223372036854775808").is_f64());
    assert_eq!(read("1.0"), json!(1));
    assert_eq!(read("1e3"), json!(1000));
    assert_eq!(read("-0"), json!(0));
    assert_eq!(read("-0.0"), json!(0));
    assert_eq!(read("1.5"), json!(1.5));
    assert_eq!(write(&read("9223372036854775808")), "9223372036854776000");
    assert_eq!(write(&read("1e21")), "1e+21");
    assert_eq!(write(&read("1e-7")), "1e-7");
    assert_eq!(write(&read("0.000001")), "0.000001");
    assert_eq!(refuse("1e999").message, "number out of range: it fits neither a 64-bit integer nor a double");
    assert_eq!(from_typed(&vec![1.0f64, 2.5]).expect("numbers"), json!([1, 2.5]));
}

#[test]
fn the_last_duplicate_counts_and_each_is_named_once() {
    let text = r#"{"metadata":{"labels":{"a":"1","a":"2"}},"data":{"k":"1"},"data":{"k":"2"},
        "spec":{"ports":[{"x":1,"x":2,"x":3}]}}"#;
    let decoded = decode(text.as_bytes(), &Limits::default()).expect("JSON");
    assert_eq!(decoded.document["data"], json!({"k": "2"}));
    assert_eq!(decoded.document["spec"]["ports"][0]["x"], json!(3));
    let faults = ["metadata.labels.a", "data", "spec.ports[0].x"].map(|path| format!("duplicate field {path:?}"));
    assert_eq!(decoded.faults, faults);
}

#[test]
fn errors_have_a_reason_and_a_place() {
    for (text, expected) in [
        ("", "unexpected end of JSON input (line 1, column 1)"),
        ("{not json", "invalid character 'n' looking for beginning of object key string (line 1, column 2)"),
        ("{\n \"a\" 1}", "invalid character '1' after object key (line 2, column 6)"),
        ("{\"a\":1 \"b\":2}", "invalid character '\"' after object key:value pair (line 1, column 8)"),
        ("[1 2]", "invalid character '2' after array element (line 1, column 4)"),
        ("[1,]", "invalid character ']' looking for beginning of value (line 1, column 4)"),
        ("{} x", "invalid character 'x' after top-level value (line 1, column 4)"),
        ("nul", "unexpected end of JSON input (line 1, column 4)"),
        ("nuts", "invalid character 't' in literal null (expecting 'l') (line 1, column 3)"),
        ("\"a\nb\"", "invalid character '\\n' in string literal (line 1, column 3)"),
        ("\"\\x\"", "invalid character 'x' in string escape code (line 1, column 3)"),
        ("\"\\u12g\"", "invalid character 'g' in \\u hexadecimal character escape (line 1, column 6)"),
        ("\"\\ud800\"", "lone surrogate in \\u hexadecimal character escape (line 1, column 8)"),
        ("-", "unexpected end of JSON input (line 1, column 2)"),
        ("01", "invalid character '1' after top-level value (line 1, column 2)"),
        ("é", "invalid character 'é' looking for beginning of value (line 1, column 1)"),
    ] {
        assert_eq!(refuse(text).to_string(), expected, "{text}");
    }
    let error = decode(b"[\"\xff\"]", &Limits::default()).expect_err("not UTF-8");
    assert_eq!(error.to_string(), "invalid UTF-8 (line 1, column 3)");
}

#[test]
fn nesting_is_limited_and_what_is_allowed_fits_the_stack() {
    let deep = |depth: usize| "[".repeat(depth) + &"]".repeat(depth);
    assert_eq!(refuse(&deep(257)).message, "exceeded max depth of 256");
    assert_eq!(refuse(&"{\"a\":".repeat(100_000)).message, "exceeded max depth of 256");
    // All recursive walks over documents, on a thread like the ones that serve requests.
    let walk = std::thread::Builder::new().stack_size(2 << 20).spawn(move || {
        let mut document = read(&("{\"a\":".repeat(255) + &deep(1) + &"}".repeat(255)));
        settle(&mut document);
        assert_eq!(document.clone(), document);
        assert_eq!(read(&write(&document)), document);
    });
    walk.expect("a thread").join().expect("no overflow");
}

#[test]
fn the_canonical_body_has_metadata_first() {
    let mut out = Vec::new();
    let object = json!({
        "apiVersion": "v1", "kind": "ConfigMap", "data": {"b": "2", "a": "1"}, "binaryData": {},
        "metadata": {"name": "x", "resourceVersion": "7", "labels": {"resourceVersion": "kept"}},
    });
    canonical(&object, &mut out);
    assert_eq!(
        String::from_utf8(out).expect("UTF-8"),
        r#"{"metadata":{"labels":{"resourceVersion":"kept"},"name":"x"},"binaryData":{},"data":{"a":"1","b":"2"}}"#
    );
}

/// The faults of a Widget's body, and the remaining document.
fn strict(text: &str, order: Order) -> (Vec<String>, Document) {
    let decoded = decode_strict(text.as_bytes(), &Limits::default(), &widget(), order).expect(text);
    assert!(decoded.pruned);
    (decoded.faults, decoded.document)
}

#[test]
fn strict_decoding_reports_faults_in_the_order_of_the_body_or_unknown_fields_last() {
    let text = r#"{"zoo":{"a":1,"a":2},"spec":{"size":1,"nope":1,"size":2,"ports":[{"name":"a","what":[{}]}]},
        "metadata":{"selfLink":"/x","odd":1,"labels":{"a":"1","a":"2"}},"apiVersion":"v1","kind":"Widget","zoo":3}"#;
    let (faults, document) = strict(text, Order::AsMet);
    let expected = [
        "unknown field \"zoo\"",
        "unknown field \"spec.nope\"",
        "duplicate field \"spec.size\"",
        "unknown field \"spec.ports[0].what\"",
        "unknown field \"metadata.odd\"",
        "duplicate field \"metadata.labels.a\"",
    ];
    assert_eq!(faults, expected);
    let kept = json!({"apiVersion": "v1", "kind": "Widget", "metadata": {"selfLink": "/x", "labels": {"a": "2"}},
        "spec": {"size": 2, "ports": [{"name": "a"}]}});
    assert_eq!(document, kept);
    let (faults, document) = strict(text, Order::UnknownLast);
    let expected = [
        "duplicate field \"zoo.a\"",
        "duplicate field \"spec.size\"",
        "duplicate field \"metadata.labels.a\"",
        "duplicate field \"zoo\"",
        "unknown field \"metadata.odd\"",
        "unknown field \"spec.nope\"",
        "unknown field \"spec.ports[0].what\"",
        "unknown field \"zoo\"",
    ];
    assert_eq!(faults, expected);
    assert_eq!(document, kept);
}

#[test]
fn a_duplicate_is_reported_before_its_content() {
    let text = r#"{"spec":{"size":1},"spec":{"nope":1}}"#;
    assert_eq!(strict(text, Order::AsMet).0, ["duplicate field \"spec\"", "unknown field \"spec.nope\""]);
}

#[test]
fn raw_and_preserved_values_keep_everything_and_embedded_objects_have_metadata() {
    let root = schema(&json!({"type": "object", "properties": {
        "raw": {},
        "list": {"type": "array", "x-kubernetes-preserve-unknown-fields": true,
            "items": {"type": "object", "properties": {"a": {"type": "string"}}}},
        "open": {"type": "object", "x-kubernetes-preserve-unknown-fields": true,
            "properties": {"known": {"type": "object", "properties": {"a": {"type": "string"}}}}},
        "pod": {"type": "object", "x-kubernetes-embedded-resource": true, "properties": {"spec": {"type": "object"}}},
        "port": {"x-kubernetes-int-or-string": true}}}));
    let text = r#"{"raw":{"a":1,"a":{"b":1}},"list":[{"a":"1","b":2}],"open":{"x":{"y":1},"known":{"a":"1","b":1}},
        "pod":{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p","odd":1},"spec":{"x":1},"other":1},"port":{"x":1}}"#;
    let as_met = decode_strict(text.as_bytes(), &Limits::default(), &root, Order::AsMet).expect(text);
    let unknown = ["open.known.b", "pod.metadata.odd", "pod.spec.x", "pod.other", "port.x"];
    assert_eq!(as_met.faults, unknown.map(|path| format!("unknown field {path:?}")));
    let last = decode_strict(text.as_bytes(), &Limits::default(), &root, Order::UnknownLast).expect(text);
    assert_eq!(last.faults[0], "duplicate field \"raw.a\"");
    assert_eq!(last.faults[1..].len(), unknown.len());
    assert_eq!(as_met.document["list"], json!([{"a": "1", "b": 2}]));
    assert_eq!(as_met.document["open"], json!({"x": {"y": 1}, "known": {"a": "1"}}));
    assert_eq!(as_met.document["port"], json!({}));
    assert_eq!(as_met.document, last.document);
}

#[test]
fn faults_are_bounded_and_their_paths_quoted() {
    let many: Vec<String> = (0..500).map(|n| format!("\"u{n:03}\":{n}")).collect();
    let text = format!("{{{}}}", many.join(","));
    assert_eq!(strict(&text, Order::AsMet).0.len(), 100);
    assert_eq!(strict(&text, Order::UnknownLast).0.len(), 500);
    let long = "k".repeat(1 << 20);
    let text = format!(
        "{{\"spec\":{{\"{long}\":1,\"options\":{{\"{long}\":\"1\",{}}}}}}}",
        "\"a\":\"1\",".repeat(9) + "\"b\":\"\""
    );
    let (faults, _) = strict(&text, Order::AsMet);
    assert!(faults.iter().map(String::len).sum::<usize>() < 2 << 20);
    assert_eq!(strict("{\"a\\n\\u0001\\\"é\\u200b\":1}", Order::AsMet).0, ["unknown field \"a\\n\\x01\\\"é\\u200b\""]);
}

proptest! {
    #[test]
    fn strict_decoding_is_decoding_and_then_dropping(document in documents(), spec in documents()) {
        let mut object = crate::schema::fixture::object(&spec);
        object["status"] = document;
        let text = write(&object);
        let mut decoded = read(&text);
        for order in [Order::AsMet, Order::UnknownLast] {
            let strict = decode_strict(text.as_bytes(), &Limits::default(), &widget(), order).expect("own output");
            let faults = drop_unknown(&mut decoded.clone(), &widget(), order);
            prop_assert_eq!(strict.faults, faults);
            let dropped = drop_unknown(&mut decoded, &widget(), order);
            prop_assert!(dropped.len() < 100);
            prop_assert_eq!(&strict.document, &decoded);
            decoded = read(&text);
        }
    }
}

#[test]
fn unknown_and_repeated_fields_are_found_within_recursive_types() {
    let text = r#"{"spec": {"props": {"more": 1, "properties": {"a": {"items": {"more": 1, "id": "x", "id": "y"}}},
        "parts": [{"name": "p", "props": {"allOf": [{}, {"more": {"more": 2}}]}}]}}}"#;
    let left = json!({"spec": {"props": {
        "properties": {"a": {"items": {"id": "y"}}}, "parts": [{"name": "p", "props": {"allOf": [{}, {}]}}]}}});
    let unknown = [
        "unknown field \"spec.props.more\"",
        "unknown field \"spec.props.parts[0].props.allOf[1].more\"",
        "unknown field \"spec.props.properties.a.items.more\"",
    ];
    let decoded = decode_strict(text.as_bytes(), &Limits::default(), &form(), Order::UnknownLast).expect("JSON");
    assert_eq!(decoded.document, left);
    assert_eq!(decoded.faults[0], "duplicate field \"spec.props.properties.a.items.id\"");
    assert_eq!(decoded.faults[1..], unknown);
    // The comment keeps the text from being read as JSON.
    let mut yaml =
        yaml::decode(format!("# YAML\n{}", text.replace("\"id\": \"x\", ", "")).as_bytes(), &Limits::default())
            .expect("YAML")
            .document;
    assert_eq!(drop_unknown(&mut yaml, &form(), Order::UnknownLast), unknown);
    assert_eq!(yaml, left);
    let mut bytes = Vec::new();
    cbor::item(Some(&form()), &left, &mut bytes);
    assert_eq!(cbor::decode(&bytes, &Limits::default()).expect("CBOR").document, left);
}
