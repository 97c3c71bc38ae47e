//! Recorded answers of kube-apiserver in three encodings (`encodings.json`).
use base64::{Engine, engine::general_purpose::STANDARD};

use super::{Limits, decode};
use crate::schema::Document;

const ROWS: &str = include_str!("encodings.json");

/// An answer.
pub struct Row {
    /// The name of the request.
    pub name: String,
    /// Its documents: one, or one per event of a watch.
    pub documents: Vec<Document>,
    /// The answer in Protobuf; `None` if kube-apiserver refused.
    pub protobuf: Option<Vec<u8>>,
    /// The answer in CBOR; `None` if kube-apiserver refused.
    pub cbor: Option<Vec<u8>>,
}

/// All answers.
pub fn rows() -> Vec<Row> {
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

#[cfg(test)]
mod tests;
