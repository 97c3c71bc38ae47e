//! Tests of YAML, based on the known behaviour of go-yaml and sigs.k8s.io/yaml.
use super::*;
use crate::schema::Document;

mod reading;
mod writing;

fn read(text: &str) -> Document {
    decode(text.as_bytes(), &Limits::default()).expect(text).document
}

fn refuse(text: &str) -> String {
    decode(text.as_bytes(), &Limits::default()).expect_err(text).to_string()
}
