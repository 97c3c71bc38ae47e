//! Records: what is stored for an object. The canonical body, and beside it the storage version and a fingerprint of the
//! schema that the body was checked against.
use std::sync::Arc;

use bytes::Bytes;

use super::Kind;
use crate::{cache, schema::Document};

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

/// Makes the record of a document.
pub fn encode(_version: &str, _fingerprint: u64, _document: &Document) -> Vec<u8> {
    todo!()
}

/// Takes a record apart; nothing is copied.
///
/// # Errors
/// What is wrong with the bytes.
pub fn decode(_stored: &Bytes) -> Result<Record, String> {
    todo!()
}

/// Reads and writes the stored values of one kind; the cache's [`cache::Reader`].
pub struct KindReader {
    _todo: (),
}

impl KindReader {
    /// A reader for a kind.
    pub fn new(_kind: Arc<Kind>, _transformer: Arc<dyn Transformer>) -> Self {
        todo!()
    }

    /// What to store for an object that has passed the pipeline, under a whole store key.
    ///
    /// # Errors
    /// What the transformer says.
    pub fn write(&self, _key: &str, _document: &Document) -> Result<Bytes, String> {
        todo!()
    }
}

impl cache::Reader for KindReader {
    fn type_meta(&self) -> &str {
        todo!()
    }
    fn selectable(&self) -> &[String] {
        todo!()
    }
    fn read(&self, _key: &str, _value: &Bytes) -> cache::Reading {
        todo!()
    }
}
