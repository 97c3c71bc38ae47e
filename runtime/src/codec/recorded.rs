//! Recorded answers of kube-apiserver in three encodings (`encodings.json`), and tests of their JSON.
use std::{fs, io::Write, path::Path};

use base64::{Engine, engine::general_purpose::STANDARD};

use super::{Limits, decode, encode, yaml};
use crate::schema::Document;

const ROWS: &str = include_str!("encodings.json");

/// An answer.
pub(crate) struct Row {
    pub(crate) name: String,
    /// Its documents: one, or one per event of a watch.
    pub(crate) documents: Vec<Document>,
    /// The answer in Protobuf; `None` if kube-apiserver refused.
    pub(crate) protobuf: Option<Vec<u8>>,
    /// The answer in CBOR; `None` if kube-apiserver refused.
    pub(crate) cbor: Option<Vec<u8>>,
}

/// All answers.
pub(crate) fn rows() -> Vec<Row> {
    let recorded: Vec<Document> = serde_json::from_str(ROWS).expect("the recorded rows");
    let rows: Vec<Row> = recorded.iter().map(row).collect();
    assert_eq!(rows.len(), 16);
    for encoding in ["protobuf", "cbor"] {
        let refused = recorded.iter().filter(|row| row[encoding]["status"] != row["json"]["status"]);
        let refused: Vec<_> = refused.map(|row| (&row["name"], &row[encoding]["status"])).collect();
        assert_eq!(refused, [(&"table".into(), &406.into())], "{encoding}");
    }
    rows
}

fn row(recorded: &Document) -> Row {
    let bytes = |encoding: &str| {
        let answered = recorded[encoding]["status"] == recorded["json"]["status"];
        let text = answered.then(|| recorded[encoding]["base64"].as_str().expect("bytes are base64"));
        text.map(|text| STANDARD.decode(text).expect("base64"))
    };
    Row {
        name: recorded["name"].as_str().expect("a name").to_owned(),
        documents: texts(recorded).map(|text| read(text.as_bytes())).collect(),
        protobuf: bytes("protobuf"),
        cbor: bytes("cbor"),
    }
}

/// The recorded JSON, one line per document.
fn texts(recorded: &Document) -> impl Iterator<Item = &str> {
    recorded["json"]["text"].as_str().expect("JSON is text").lines()
}

fn read(json: &[u8]) -> Document {
    let decoded = decode(json, &Limits::default()).expect("JSON");
    assert_eq!(decoded.faults, [""; 0]);
    decoded.document
}

fn written(write: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
    let mut out = Vec::new();
    write(&mut out);
    out
}

#[test]
fn answers_in_json_are_read_and_written() {
    let recorded: Vec<Document> = serde_json::from_str(ROWS).expect("the recorded rows");
    for (row, recorded) in rows().iter().zip(&recorded) {
        for (document, text) in row.documents.iter().zip(texts(recorded)) {
            assert_eq!(serde_json::from_str::<Document>(text).as_ref().ok(), Some(document), "{}", row.name);
            let ours = written(|out| encode(document, out));
            assert_eq!(ours.len(), text.len(), "the same except for the order of keys: {}", row.name);
            assert_eq!(&read(&ours), document, "{}", row.name);
        }
    }
}

#[test]
fn answers_go_through_yaml() {
    for row in rows() {
        for document in row.documents {
            let text = written(|out| yaml::encode(&document, out));
            let decoded = yaml::decode(&text, &Limits::default()).expect("YAML");
            assert_eq!(decoded.document, document, "{}", row.name);
            let json = written(|out| encode(&document, out));
            // The comment prevents the text from being parsed as JSON.
            let text = [b"# YAML\n", &*json].concat();
            assert_eq!(yaml::decode(&text, &Limits::default()).expect("YAML").document, document, "{}", row.name);
        }
    }
}

/// This copy of the rows makes the project's tests self-contained.
#[test]
fn the_rows_are_those_that_were_recorded() {
    let origin = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/conformance/encodings.json");
    let Ok(text) = fs::read_to_string(&origin) else {
        // Bypasses the captured output of the test, which is not shown if it passes.
        let _ = writeln!(std::io::stderr(), "NOT RUN: {} is missing; the rows are taken as they are", origin.display());
        return;
    };
    let parsed = |text: &str| serde_json::from_str::<Document>(text).expect("recorded rows");
    assert!(parsed(&text) == parsed(ROWS), "{} has changed", origin.display());
}
