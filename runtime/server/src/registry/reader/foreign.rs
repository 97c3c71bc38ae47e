//! Values that kube-apiserver stored: custom resources and their definitions as JSON, and its own kinds as Protobuf.
//!
//! They are read as they are. The next write of an object stores a record instead, which kube-apiserver cannot read.

use bytes::Bytes;

use super::{KindReader, record};
use crate::{
    codec::{self, protobuf},
    kind::Versions,
    schema::Document,
    storage::Foreign,
};

impl KindReader {
    /// The record that is stored, in the current layout, or that stands for what kube-apiserver stored.
    pub(super) fn record(&self, key: &str, stored: &Bytes) -> Result<Bytes, String> {
        let stored = self.transformer.open(key, stored)?;
        match read(&stored, &self.versions)? {
            // Its fingerprint is zero: nothing is known of the schema.
            Some((version, document)) => {
                Ok(record::encode(&version, 0, [(&*version, &self.indexes, &document)], &document).into())
            }
            None => record::upgrade(stored, &self.indexes),
        }
    }
}

/// An object and its version, or `None` for a value that is not kube-apiserver's.
fn read(stored: &[u8], versions: &Versions) -> Result<Option<(String, Document)>, String> {
    let document = match Foreign::of(stored) {
        Some(Foreign::Protobuf) => from_protobuf(stored, versions)?,
        Some(encrypted @ Foreign::Encrypted) => return Err(format!("this object is {encrypted}")),
        None if stored.starts_with(b"{") => record::parse(stored)?,
        None => return Ok(None),
    };
    let api_version = document.get("apiVersion").and_then(Document::as_str);
    let api_version = api_version.ok_or("the object that kube-apiserver stored has no apiVersion")?;
    let version = api_version.rsplit_once('/').map_or(api_version, |(_, version)| version).to_owned();
    if !document.get("metadata").is_some_and(Document::is_object) {
        return Err("the object that kube-apiserver stored has no metadata".to_owned());
    }
    Ok(Some((version, document)))
}

fn from_protobuf(stored: &[u8], versions: &Versions) -> Result<Document, String> {
    let invalid = |error: protobuf::DecodeError| format!("the Protobuf that kube-apiserver stored is invalid: {error}");
    let envelope = protobuf::open(stored).map_err(invalid)?;
    let kind = versions.find(envelope.api_version).filter(|kind| kind.names().kind == envelope.kind);
    let message = kind.and_then(|kind| kind.message()).ok_or_else(|| {
        format!(
            "kube-apiserver stored this object in Protobuf, as {} of {}, for which this server has no Protobuf numbers",
            envelope.kind, envelope.api_version
        )
    })?;
    protobuf::object(message, &envelope, &codec::Limits::NONE).map_err(invalid)
}
