//! Tests of recorded answers in JSON and YAML.
use std::{fs, io::Write, path::Path};

use super::*;
use crate::codec::{encode, yaml};

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
    let origin = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/conformance/encodings.json");
    let Ok(text) = fs::read_to_string(&origin) else {
        // Bypasses the captured output of the test, which is not shown if it passes.
        let _ = writeln!(std::io::stderr(), "NOT RUN: {} is missing; the rows are taken as they are", origin.display());
        return;
    };
    let parsed = |text: &str| serde_json::from_str::<Document>(text).expect("recorded rows");
    assert!(parsed(&text) == parsed(ROWS), "{} has changed", origin.display());
}
