//! Tests of CBOR: recorded answers of kube-apiserver, examples of RFC 8949, hostile bytes.
use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::{
    codec,
    schema::{fixture::documents, model::Type},
};

fn read(hex: &str) -> Document {
    try_read(hex).unwrap_or_else(|error| panic!("{hex}: {error}"))
}

fn refuse(hex: &str) -> String {
    try_read(hex).expect_err(hex).message
}

fn try_read(hex: &str) -> Result<Document, DecodeError> {
    decode(&bytes(hex), &Limits::default()).map(|decoded| decoded.document)
}

fn bytes(hex: &str) -> Vec<u8> {
    let hex: Vec<u8> = hex.bytes().filter(|byte| *byte != b' ').collect();
    hex.chunks(2).map(|pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap()).collect()
}

fn write(document: &Document) -> Vec<u8> {
    let mut out = Vec::new();
    encode(document, &mut out);
    out
}

/// For each document of an answer, the document and its CBOR.
type Pairs = Vec<(Document, Vec<u8>)>;

/// The recorded answers by name.
fn recorded() -> Vec<(String, Pairs)> {
    let rows = codec::fixture::rows().into_iter().filter_map(|row| {
        let cbor = row.cbor?;
        let mut rest = cbor.as_slice();
        let pairs = row.documents.into_iter().map(|document| {
            let mut item = minicbor::Decoder::new(rest);
            item.skip().expect("a well-formed item");
            let (this, next) = rest.split_at(item.position());
            rest = next;
            (document, this.to_vec())
        });
        let pairs: Pairs = pairs.collect();
        assert!(rest.is_empty(), "as many items as lines");
        Some((row.name, pairs))
    });
    let rows: Vec<_> = rows.collect();
    assert_eq!(rows.len(), 15);
    rows
}

/// The structure of CBOR without the order of keys: heads and contents as a tree.
fn shape(decoder: &mut minicbor::Decoder<'_>) -> Document {
    use minicbor::data::Type;
    match decoder.datatype().expect("an item") {
        Type::Tag => json!({"tag": decoder.tag().expect("a tag").as_u64(), "of": shape(decoder)}),
        Type::Map => {
            let entries = decoder.map().expect("a map").expect("a definite length");
            let key = |decoder: &mut minicbor::Decoder<'_>| shape(decoder).to_string();
            let fields: serde_json::Map<_, _> = (0..entries).map(|_| (key(decoder), shape(decoder))).collect();
            json!({ "map": fields })
        }
        Type::Array => {
            let items = decoder.array().expect("a list").expect("a definite length");
            (0..items).map(|_| shape(decoder)).collect()
        }
        Type::Bytes => json!({ "bytes": decoder.bytes().expect("bytes") }),
        Type::String => json!({ "text": decoder.str().expect("text") }),
        Type::Bool => decoder.bool().expect("a flag").into(),
        _ => decoder.i64().expect("an integer").into(),
    }
}

fn schema_of(row: &str) -> Option<Schema> {
    let byte = || Schema { kind: Type::String, format: Some("byte".to_owned()), ..Schema::default() };
    let field = match row {
        "secret" => "data",
        _ if row.starts_with("configmap") || row == "watch" => "binaryData",
        _ => return None,
    };
    let map = Schema { kind: Type::Object, additional: Some(byte().into()), ..Schema::default() };
    Some(Schema { kind: Type::Object, properties: [(field.to_owned(), map)].into(), ..Schema::default() })
}

/// Our CBOR of a recorded document.
fn ours(row: &str, document: &Document) -> Vec<u8> {
    let (mut out, schema) = (Vec::new(), schema_of(row));
    let object = |object: &Document, out: &mut Vec<u8>| match &schema {
        Some(schema) => {
            out.extend(MARK);
            item(Some(schema), object, out);
        }
        None => encode(object, out),
    };
    if let Some(event) = document.get("type").filter(|_| row.starts_with("watch")) {
        event_start(event.as_str().expect("a type"), &mut out);
        object(&document["object"], &mut out);
    } else if let Some(items) = document.get("items").and_then(Document::as_array) {
        list_start(document["kind"].as_str().expect("a kind"), items.len(), &mut out);
        for one in items {
            item(schema.as_ref(), one, &mut out);
        }
        list_end(document["apiVersion"].as_str().expect("a version"), &document["metadata"], &mut out);
    } else {
        object(document, &mut out);
    }
    out
}

#[test]
fn recorded_answers_decode_to_their_json() {
    for (name, pairs) in recorded() {
        for (document, cbor) in pairs {
            assert!(cbor.starts_with(&MARK));
            assert_eq!(decode(&cbor, &Limits::default()).expect(&name).document, document, "{name}");
        }
    }
}

#[test]
fn our_encoding_differs_from_recorded_answers_only_in_the_order_of_keys() {
    for (name, pairs) in recorded() {
        for (document, cbor) in pairs {
            let ours = ours(&name, &document);
            let of = |bytes: &[u8]| shape(&mut minicbor::Decoder::new(bytes));
            assert_eq!(of(&ours), of(&cbor), "{name}");
            assert_eq!(ours.len(), cbor.len(), "{name}");
        }
    }
}

#[test]
fn keys_are_in_the_bytewise_order_of_their_encodings() {
    let long = "a".repeat(24);
    let document = json!({"b": 1, "aa": 2, "": 3, "é": 4, long.clone(): 5, "a": 6});
    let out = write(&document);
    let mut decoder = minicbor::Decoder::new(&out[3..]);
    let entries = decoder.map().unwrap().unwrap();
    let mut keys = Vec::new();
    for _ in 0..entries {
        let start = decoder.position();
        decoder.bytes().unwrap();
        keys.push(out[3 + start..3 + decoder.position()].to_vec());
        decoder.i64().unwrap();
    }
    assert!(keys.is_sorted(), "{keys:?}");
    assert_eq!(keys.len(), 6);
}

#[test]
fn numbers_take_the_fewest_bytes() {
    for (number, want) in [
        (json!(0), "00"),
        (json!(23), "17"),
        (json!(24), "1818"),
        (json!(1_000_000), "1a000f4240"),
        (json!(i64::MAX), "1b7fffffffffffffff"),
        (json!(-1), "20"),
        (json!(-1000), "3903e7"),
        (json!(i64::MIN), "3b7fffffffffffffff"),
        (json!(1.5), "f93e00"),
        (json!(-4.1), "fbc010666666666666"),
        (json!(65_504.5), "fa477fe080"),
        (json!(f64::from(f32::MAX)), "fa7f7fffff"),
        (json!(1.1), "fb3ff199999999999a"),
        (json!(1.0e300), "fb7e37e43c8800759c"),
        (json!(2f64.powi(-24)), "f90001"),
    ] {
        assert_eq!(write(&number)[3..], bytes(want), "{number}");
    }
}

#[test]
fn examples_of_the_rfc() {
    assert_eq!(read("1903e8"), json!(1000));
    assert_eq!(read("f93c00"), json!(1), "a whole number is an integer, as in JSON");
    assert_eq!(read("fa47c35000"), json!(100_000));
    assert_eq!(read("fb3ff199999999999a"), json!(1.1));
    assert_eq!(read("83010203"), json!([1, 2, 3]));
    assert_eq!(read("9f018202039f0405ffff"), json!([1, [2, 3], [4, 5]]));
    assert_eq!(read("bf61610161629f0203ffff"), json!({"a": 1, "b": [2, 3]}));
    assert_eq!(read("7f657374726561646d696e67ff"), json!("streaming"));
    assert_eq!(read("5f42616241 63ff"), json!("abc"));
    assert_eq!(read("a14161f5"), json!({"a": true}), "keys are byte strings or text");
    assert_eq!(read("d9d9f7d9d9f7f6"), json!(null));
    assert_eq!(read("c074323031332d30332d32315432303a30343a30305a"), json!("2013-03-21T20:04:00Z"));
    assert_eq!(read("c11a514b67b0"), json!("2013-03-21T20:04:00Z"));
    assert_eq!(read("c1fb41d452d9ec200000"), json!("2013-03-21T20:04:00.5Z"));
    assert_eq!(read("d74401020304"), json!("01020304"));
    assert_eq!(read("d64401020304"), json!("AQIDBA=="));
    assert_eq!(read("d544fbff0304"), json!("-_8DBA"));
    assert_eq!(read("d6824101d74102"), json!(["AQ==", "02"]), "a tag reaches into lists, as far as the next");
    assert_eq!(read("d818456449455446"), json!("dIETF"), "unknown tags are passed over");
}

#[test]
fn values_without_a_json_counterpart_are_refused() {
    for (hex, why) in [
        ("1b8000000000000000", "int64"),
        ("3bffffffffffffffff", "int64"),
        ("c249010000000000000000", "bignum"),
        ("c349010000000000000000", "bignum"),
        ("f97e00", "NaN"),
        ("f97c00", "inf"),
        ("faff800000", "-inf"),
        ("f7", "simple value 23"),
        ("f0", "simple value 16"),
        ("f8ff", "simple value 255"),
        ("a10102", "map keys are text"),
        ("a1f602", "map keys are text"),
        ("a2416101616102", "duplicate map key \"a\" at map element index 1"),
        ("62c328", "utf-8"),
        ("42c328", "UTF-8"),
        ("c0636e6f74", "RFC 3339"),
        ("c16161", ""),
        ("0000", "1 bytes of extraneous data starting at index 1"),
    ] {
        let message = refuse(hex);
        assert!(message.contains(why), "{hex}: {message}");
    }
}

#[test]
fn malformed_items_are_refused() {
    let all = [
        "",
        "18",
        "61",
        "5f",
        "5f00ff",
        "5f5f4161ffff",
        "7f4161ff",
        "81",
        "9f",
        "a1",
        "a16161",
        "bf6161ff",
        "bf",
        "ff",
        "c1",
        "81ff",
        "a1ff00",
        "1c",
        "3d",
        "5c",
        "9d",
        "bd",
        "dc",
        "fc",
        "f9",
        "f93c",
        "fa",
        "fb00",
        "f8",
        "d9d9f7",
        "d9d9",
        "f800",
        "1f",
        "3f",
        "df",
        "d6ff",
    ];
    for hex in all {
        assert!(try_read(hex).is_err(), "{hex}");
    }
}

#[test]
fn bombs_are_refused_at_once() {
    let start = std::time::Instant::now();
    for claim in [
        "9bffffffffffffffff",
        "bbffffffffffffffff",
        "5bffffffffffffffff",
        "7bffffffffffffffff",
        "9a7fffffff00",
        "ba7fffffff",
    ] {
        assert!(try_read(claim).is_err(), "{claim}");
    }
    let limits = Limits { depth: 100, ..Limits::default() };
    for open in [0x81, 0x9f] {
        let message = decode(&vec![open; 3 << 20], &limits).expect_err("too deep").message;
        assert_eq!(message, "cbor: exceeded max nested level 100");
    }
    let tags = vec![0xc6; 3 << 20];
    assert!(decode(&tags, &limits).is_err());
    let mut many = vec![0x9f];
    many.resize(3 << 20, 0x00);
    assert!(decode(&many, &limits).expect_err("too many").message.contains("memory"));
    let mut maps = vec![0x9f];
    maps.resize(3 << 20, 0xa0);
    assert!(decode(&maps, &limits).expect_err("too many").message.contains("memory"));
    let mut nested = vec![0x81; 100];
    nested.push(0x00);
    assert!(decode(&nested, &limits).is_ok());
    // About 50 milliseconds in optimized code.
    assert!(start.elapsed().as_secs() < 30, "{:?}", start.elapsed());
}

#[test]
fn text_that_is_not_base64_stays_text() {
    let byte = Schema { kind: Type::String, format: Some("byte".to_owned()), ..Schema::default() };
    let mut out = Vec::new();
    item(Some(&byte), &json!("AA=="), &mut out);
    item(Some(&byte), &json!("no!"), &mut out);
    assert_eq!(out, bytes("d64100 436e6f21"));
}

proptest! {
    #[test]
    fn written_documents_round_trip(document in documents()) {
        let out = write(&document);
        prop_assert_eq!(decode(&out, &Limits::default()).expect("own output").document, document);
    }

    #[test]
    fn any_bytes_are_answered(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        if let Ok(decoded) = decode(&bytes, &Limits::default()) {
            let again = decode(&write(&decoded.document), &Limits::default()).expect("own output");
            prop_assert_eq!(again.document, decoded.document);
        }
    }

    #[test]
    fn a_damaged_document_is_answered(document in documents(), at in any::<prop::sample::Index>(), byte in any::<u8>()) {
        let mut out = write(&document);
        let at = at.index(out.len());
        out[at] = byte;
        let _ = decode(&out, &Limits::default());
        out.truncate(at);
        prop_assert!(decode(&out, &Limits::default()).is_err());
    }
}
