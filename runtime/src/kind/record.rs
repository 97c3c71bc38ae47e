//! Records: what is stored for an object. The canonical body, and beside it the storage version and a fingerprint of the
//! schema that the body was checked against: its upper half is that of the structure (fields, types, defaults), its lower
//! half that of the rules beyond it, zero where the body was not checked. (Records of old have the structure's in both.)
//!
//! A body of another structure is defaulted and pruned by today's schema when it is read, and served so, whether it fits
//! or not: objects that do not fit can be read, deleted and mended.
//!
//! A record is the byte 1, the fingerprint as eight bytes, least first, the length of the version as one byte, the
//! version, and the body up to the end.
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;

use super::{Kind, index::Indexes};
use crate::{
    cache, codec,
    schema::{self, Document, Schema},
};

/// The layout of records that this code writes.
const LAYOUT: u8 = 1;
/// Where the version begins.
const VERSION_START: usize = 10;
/// Whether an object is known to fit the schema that it is stored under.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fit {
    /// It was checked, and fits.
    Checked,
    /// It does not fit, or was not checked.
    Unchecked,
}

impl Fit {
    /// Checks an object.
    pub fn of(schema: &Schema, document: &Document) -> Self {
        if schema::validate(schema, document).is_empty() { Self::Checked } else { Self::Unchecked }
    }
}

/// Stored objects that do not fit today's schema.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Misfits {
    /// How many there are.
    pub count: usize,
    /// The key of one, as it is in the store.
    pub example: String,
}

/// Changes stored bytes on their way to and from the store, such as by encryption.
pub trait Transformer: Send + Sync {
    /// Makes what is stored.
    ///
    /// # Errors
    /// Why it could not.
    fn seal(&self, key: &str, record: Vec<u8>) -> Result<Vec<u8>, String>;

    /// Makes the record again.
    ///
    /// # Errors
    /// Why it could not.
    fn open(&self, key: &str, stored: &Bytes) -> Result<Bytes, String>;
}

/// Stores records as they are.
#[derive(Clone, Copy, Debug, Default)]
pub struct Identity;

impl Transformer for Identity {
    fn seal(&self, _key: &str, record: Vec<u8>) -> Result<Vec<u8>, String> {
        Ok(record)
    }

    fn open(&self, _key: &str, stored: &Bytes) -> Result<Bytes, String> {
        Ok(stored.clone())
    }
}

/// A record as stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// The version in which the body is.
    pub version: String,
    /// The fingerprint of the schema that the body was checked against.
    pub fingerprint: u64,
    /// The canonical body; a slice of what was read.
    pub body: Bytes,
}

/// Makes the record of a document. The version is at most 255 bytes long.
pub fn encode(version: &str, fingerprint: u64, document: &Document) -> Vec<u8> {
    let mut record = Vec::with_capacity(1_024);
    record.push(LAYOUT);
    record.extend_from_slice(&fingerprint.to_le_bytes());
    record.push(u8::try_from(version.len()).expect("a version is a DNS label of at most 63 bytes"));
    record.extend_from_slice(version.as_bytes());
    codec::canonical(document, &mut record);
    record
}

/// Takes a record apart; nothing is copied but the version.
///
/// # Errors
/// What is wrong with the bytes.
pub fn decode(stored: &Bytes) -> Result<Record, String> {
    match stored.first() {
        None => return Err("the record is empty".to_owned()),
        Some(&LAYOUT) => {}
        Some(other) => return Err(format!("the record has layout {other}; this server reads layout {LAYOUT}")),
    }
    let cut = || format!("the record ends within its header, after {} bytes", stored.len());
    let fingerprint = stored.get(1..9).and_then(|bytes| bytes.try_into().ok()).ok_or_else(cut)?;
    let length = usize::from(*stored.get(9).ok_or_else(cut)?);
    let version = stored.get(VERSION_START..VERSION_START + length).ok_or_else(cut)?;
    let version = std::str::from_utf8(version).map_err(|error| format!("the record's version is not text: {error}"))?;
    Ok(Record {
        version: version.to_owned(),
        fingerprint: u64::from_le_bytes(fingerprint),
        body: stored.slice(VERSION_START + length..),
    })
}

/// Reads and writes the stored values of one kind; the cache's [`cache::Reader`].
pub struct KindReader {
    kind: Arc<Kind>,
    transformer: Arc<dyn Transformer>,
    /// The whole fingerprint of the structure.
    structure: u64,
    /// The fingerprint of the rules.
    rules: u32,
    type_meta: String,
    indexes: Indexes,
    /// What was found while the resource was loaded; `None` after that.
    misfits: Mutex<Option<Misfits>>,
}

impl KindReader {
    /// A reader for a kind.
    pub fn new(kind: Arc<Kind>, transformer: Arc<dyn Transformer>) -> Self {
        Self {
            structure: schema::fingerprint(&kind.schema),
            rules: schema::fingerprint::rules(&kind.schema),
            type_meta: format!(r#""kind":"{}","apiVersion":"{}","#, kind.kind, kind.group_version),
            indexes: Indexes::new(&kind.selectable),
            kind,
            transformer,
            misfits: Mutex::new(Some(Misfits::default())),
        }
    }

    /// What to store for an object that has passed the pipeline, under a whole store key.
    ///
    /// # Errors
    /// What the transformer says.
    pub fn write(&self, key: &str, document: &Document, fit: Fit) -> Result<Bytes, String> {
        let rules = if fit == Fit::Checked { self.rules } else { 0 };
        let fingerprint = self.structure >> 32 << 32 | u64::from(rules);
        let record = encode(&self.kind.group_version.version, fingerprint, document);
        self.transformer.seal(key, record).map(Bytes::from)
    }

    /// What was found not to fit while the resource was loaded. Nothing is counted after this.
    pub fn take_misfits(&self) -> Option<Misfits> {
        self.misfits().take().filter(|misfits| misfits.count > 0)
    }

    fn misfits(&self) -> MutexGuard<'_, Option<Misfits>> {
        self.misfits.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Looks whether a body of this structure, but of other rules, fits.
    fn check(&self, key: &str, record: &Record) {
        let fingerprint = record.fingerprint;
        let known = fingerprint == self.structure || fingerprint & 0xffff_ffff == u64::from(self.rules);
        if known || self.misfits().is_none() {
            return;
        }
        if let Ok(decoded) = codec::decode(&record.body, &codec::Limits::default()) {
            self.count_misfit(key, &decoded.document);
        }
    }

    fn count_misfit(&self, key: &str, document: &Document) {
        if self.misfits().is_none() || Fit::of(&self.kind.schema, document) == Fit::Checked {
            return;
        }
        if let Some(misfits) = self.misfits().as_mut() {
            misfits.count += 1;
            if misfits.example.is_empty() {
                key.clone_into(&mut misfits.example);
            }
        }
    }

    /// The body of a stored value, brought to today's schema, and its indexes.
    fn body(&self, key: &str, value: &Bytes) -> Result<cache::Reading, (Bytes, String)> {
        let unknown = |message| (Bytes::new(), message);
        let record = self.transformer.open(key, value).map_err(unknown)?;
        let record = decode(&record).map_err(unknown)?;
        let same_version = record.version == self.kind.group_version.version;
        let same_structure = record.fingerprint >> 32 == self.structure >> 32;
        let (body, renewed) = if same_structure && same_version {
            self.check(key, &record);
            (record.body, false)
        } else {
            let body = self.renew(key, &record.body).map_err(|message| (record.body.clone(), message))?;
            let renewed = !same_version || body != record.body;
            (body, renewed)
        };
        match self.indexes.read(&body) {
            Ok((labels, fields)) => Ok(cache::Reading { body, labels, fields, unreadable: None, renewed }),
            Err(error) => Err((Bytes::new(), error)),
        }
    }

    /// A body that was checked against another schema, defaulted and pruned by this one.
    fn renew(&self, key: &str, body: &[u8]) -> Result<Bytes, String> {
        let decoded = codec::decode(body, &codec::Limits::default()).map_err(|error| error.to_string())?;
        let mut document = decoded.document;
        schema::default(&self.kind.schema, &mut document);
        schema::prune(&self.kind.schema, &mut document);
        schema::normalise(&self.kind.schema, &mut document);
        self.count_misfit(key, &document);
        let mut renewed = Vec::with_capacity(body.len());
        codec::canonical(&document, &mut renewed);
        Ok(Bytes::from(renewed))
    }
}

impl cache::Reader for KindReader {
    fn type_meta(&self) -> &str {
        &self.type_meta
    }

    fn selectable(&self) -> &[String] {
        self.indexes.names()
    }

    fn read(&self, key: &str, value: &Bytes) -> cache::Reading {
        self.body(key, value).unwrap_or_else(|(body, message)| {
            // Kept and marked: what of it can be indexed, is.
            let (labels, fields) = self.indexes.read(&body).unwrap_or_default();
            cache::Reading { body, labels, fields, unreadable: Some(message), renewed: false }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_comes_back_as_it_was_stored() {
        let document = serde_json::json!({
            "apiVersion": "v1", "kind": "X", "data": {"k": "v"},
            "metadata": {"name": "a", "resourceVersion": "7", "labels": {"x": "y"}},
        });
        let stored = Bytes::from(encode("v1beta2", 0x0123_4567_89ab_cdef, &document));
        let record = decode(&stored).expect("a record");
        assert_eq!(record.version, "v1beta2");
        assert_eq!(record.fingerprint, 0x0123_4567_89ab_cdef);
        assert_eq!(&record.body[..], br#"{"metadata":{"labels":{"x":"y"},"name":"a"},"data":{"k":"v"}}"#);
    }

    #[test]
    fn a_torn_record_is_an_error_at_every_length() {
        let stored = Bytes::from(encode("v1", 1, &serde_json::json!({"metadata": {"name": "a"}})));
        for length in 0..VERSION_START + 2 {
            assert!(decode(&stored.slice(..length)).is_err(), "{length} bytes");
        }
        assert!(decode(&Bytes::from_static(&[9, 0, 0])).expect_err("another layout").contains("layout 9"));
    }
}
