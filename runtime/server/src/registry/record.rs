//! Records: the stored form of an object. This code writes layout 2, and upgrades layout 1 when it reads it.
//!
//! | bytes | in layout 2 |
//! |---|---|
//! | 1 | the layout |
//! | 8 | a fingerprint of the schema against which the body was checked |
//! | 4 each | the lengths of the texts, the managed fields and the body; the end of metadata in the body; the position for managed fields there |
//! | | texts: the version of the body, labels, and by version the values of selectable fields |
//! | | the value of `metadata.managedFields`; empty if there are no managed fields |
//! | | the canonical body, without them |
//!
//! Numbers are little-endian. Each text and each list follows its length of four bytes. A list of selectable values
//! follows the fingerprint of their paths. So loading and committing need no parsing.
//!
//! Layout 1 is the byte 1, the fingerprint, the length of the version as one byte, the version, and the canonical body
//! including its managed fields. What kube-apiserver stored begins with other bytes (`foreign.rs`).
use std::borrow::Borrow;

use bytes::Bytes;

use super::index::{self, Indexes};
use crate::{
    cache::{Body, Texts},
    codec,
    schema::Document,
};

/// The layout of records that this code writes.
const LAYOUT: u8 = 2;
/// The position of the version in layout 1.
const OLD_VERSION: usize = 10;
/// The position of the lengths and offsets, and of the texts.
const NUMBERS: usize = 9;
const TEXTS: usize = NUMBERS + 5 * 4;

/// A parsed record. The texts are borrowed, and the body is a slice of the input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Record<'a> {
    /// The version of the body.
    pub version: &'a str,
    /// The fingerprint of the schema against which the body was checked.
    pub fingerprint: u64,
    /// `metadata.labels`.
    pub labels: Vec<(&'a str, &'a str)>,
    /// The selectable values by version.
    pub selectable: Vec<Selectable<'a>>,
    /// The canonical body.
    pub body: Body,
}

impl<'a> Record<'a> {
    /// The values of the selectable fields of a version, if they have these paths.
    pub(crate) fn values(&self, version: &str, paths: u64) -> Option<&[&'a str]> {
        let found = self.selectable.iter().find(|found| found.version == version && found.paths == paths)?;
        Some(&found.values)
    }
}

/// Values of the selectable fields of a version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Selectable<'a> {
    pub version: &'a str,
    /// The fingerprint of the fields' paths.
    pub paths: u64,
    /// The values in the order of the paths; empty for absent fields.
    pub values: Vec<&'a str>,
}

/// Encodes a document. The selectable values of each version are extracted from the document in that version.
pub(crate) fn encode<'s, D: Borrow<Document>>(
    version: &str,
    fingerprint: u64,
    selectable: impl IntoIterator<Item = (&'s str, &'s Indexes, D)>,
    document: &Document,
) -> Vec<u8> {
    let mut record = Vec::with_capacity(2_048);
    record.push(LAYOUT);
    record.extend_from_slice(&fingerprint.to_le_bytes());
    record.resize(TEXTS, 0);
    push_text(version, &mut record);
    push_list(index::labels(document), &mut record, |(name, value), record| {
        push_text(name, record);
        push_text(value, record);
    });
    push_list(selectable, &mut record, |(version, indexes, document), record| {
        push_text(version, record);
        record.extend_from_slice(&indexes.fingerprint().to_le_bytes());
        push_list(indexes.values(document.borrow()), record, |value, record| {
            push_text(&value[..value.floor_char_boundary(Texts::LONGEST)], record);
        });
    });
    let managed = record.len();
    codec::managed_fields(document, &mut record);
    let body = record.len();
    let places = codec::canonical(document, &mut record);
    let numbers =
        [managed - TEXTS, body - managed, record.len() - body, places.metadata_end, places.managed_at].map(number);
    record[NUMBERS..TEXTS].copy_from_slice(numbers.as_flattened());
    record
}

/// The size of the object itself in a current record, without indexes.
pub(crate) fn object_size(record: &[u8]) -> usize {
    let [_, managed, body, ..] = numbers(record).unwrap_or_default();
    managed + body
}

/// Upgrades a record to the current layout. Fails if a record of layout 1 is invalid.
pub(crate) fn upgrade(stored: Bytes, indexes: &Indexes) -> Result<Bytes, String> {
    match stored.first() {
        Some(1) => from_layout_1(&stored, indexes),
        _ => Ok(stored),
    }
}

fn from_layout_1(stored: &Bytes, indexes: &Indexes) -> Result<Bytes, String> {
    let cut = || format!("the record ends within its header, after {} bytes", stored.len());
    let fingerprint = stored.get(1..NUMBERS).and_then(|bytes| bytes.try_into().ok()).ok_or_else(cut)?;
    let length = usize::from(*stored.get(NUMBERS).ok_or_else(cut)?);
    let (version, body) = stored[OLD_VERSION..].split_at_checked(length).ok_or_else(cut)?;
    let version = std::str::from_utf8(version).map_err(|error| format!("the record's version is not text: {error}"))?;
    let document = parse(body)?;
    if !document.is_object() {
        return Err("the record's body is no object".to_owned());
    }
    Ok(encode(version, u64::from_le_bytes(fingerprint), [(version, indexes, &document)], &document).into())
}

/// Parses JSON that the server wrote.
pub(crate) fn parse(json: &[u8]) -> Result<Document, String> {
    let decoded = codec::decode(json, &codec::Limits::NONE);
    decoded.map(|decoded| decoded.document).map_err(|error| error.to_string())
}

/// Parses a record in the current layout.
pub(crate) fn decode(stored: &Bytes) -> Result<Record<'_>, String> {
    match stored.first() {
        None => return Err("the record is empty".to_owned()),
        Some(&LAYOUT) => {}
        Some(other) => {
            return Err(format!("the record has layout {other}; this server reads layouts 1 and {LAYOUT}"));
        }
    }
    let [texts, managed, body, metadata_end, managed_at] =
        numbers(stored).ok_or_else(|| format!("the record ends within its header, after {} bytes", stored.len()))?;
    let sections = stored[TEXTS..].split_at_checked(texts).and_then(|(texts, rest)| {
        let (managed, rest) = rest.split_at_checked(managed)?;
        (rest.len() == body).then_some((texts, managed, rest))
    });
    let (mut texts, managed, body) = sections.ok_or("the record is not as long as its header says")?;
    let body = Body::new(stored.slice_ref(body), metadata_end, managed_at, stored.slice_ref(managed))
        .ok_or("the record's metadata is not where its header says")?;
    let fingerprint = stored[1..NUMBERS].try_into().map_or(0, u64::from_le_bytes);
    let header = header(&mut texts).filter(|_| texts.is_empty());
    let (version, labels, selectable) = header.ok_or("the record's labels or selectable values are not texts")?;
    Ok(Record { version, fingerprint, labels, selectable, body })
}

type Header<'a> = (&'a str, Vec<(&'a str, &'a str)>, Vec<Selectable<'a>>);

fn header<'a>(rest: &mut &'a [u8]) -> Option<Header<'a>> {
    let version = text(rest)?;
    let labels = list(rest, |rest| Some((text(rest)?, text(rest)?)))?;
    let selectable = list(rest, |rest| {
        let version = text(rest)?;
        let (paths, after) = rest.split_first_chunk()?;
        *rest = after;
        Some(Selectable { version, paths: u64::from_le_bytes(*paths), values: list(rest, text)? })
    })?;
    Some((version, labels, selectable))
}

/// The lengths and offsets of a record.
fn numbers(record: &[u8]) -> Option<[usize; 5]> {
    let (numbers, _) = record.get(NUMBERS..TEXTS)?.as_chunks();
    let mut numbers = numbers.iter().map(|number| usize::try_from(u32::from_le_bytes(*number)).ok());
    let mut next = || numbers.next()?;
    Some([next()?, next()?, next()?, next()?, next()?])
}

fn number(number: usize) -> [u8; 4] {
    u32::try_from(number).expect("an object is smaller than 4 GiB").to_le_bytes()
}

fn push_text(text: &str, record: &mut Vec<u8>) {
    record.extend_from_slice(&number(text.len()));
    record.extend_from_slice(text.as_bytes());
}

fn push_list<T>(items: impl IntoIterator<Item = T>, record: &mut Vec<u8>, push: impl Fn(T, &mut Vec<u8>)) {
    let (at, mut length) = (record.len(), 0);
    record.extend_from_slice(&number(0));
    for item in items {
        push(item, record);
        length += 1;
    }
    record[at..at + 4].copy_from_slice(&number(length));
}

fn length(rest: &mut &[u8]) -> Option<usize> {
    let (length, after) = rest.split_first_chunk()?;
    *rest = after;
    usize::try_from(u32::from_le_bytes(*length)).ok()
}

fn text<'a>(rest: &mut &'a [u8]) -> Option<&'a str> {
    let length = length(rest)?;
    let (text, after) = rest.split_at_checked(length)?;
    *rest = after;
    std::str::from_utf8(text).ok()
}

fn list<'a, T>(rest: &mut &'a [u8], item: impl Fn(&mut &'a [u8]) -> Option<T>) -> Option<Vec<T>> {
    // The available data limits the list, not its declared length.
    (0..length(rest)?).map(|_| item(rest)).collect()
}
