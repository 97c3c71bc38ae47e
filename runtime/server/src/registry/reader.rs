//! Reads and writes the stored records of a kind for the cache.
//!
//! A record contains its version and a fingerprint of the schema against which its body was checked. The upper half
//! belongs to the structure (fields, types, defaults), the lower half to the other rules; it is zero if the body was
//! not checked. (Old records have the structure's in both.)
//!
//! A body with another structure is defaulted and pruned by the current schema when it is read, and served in this
//! form, valid or not: invalid objects can be read, deleted and fixed. A body in another known version is first
//! defaulted by that version and converted.
mod carried;
mod foreign;
mod growth;
mod loading;
mod renew;

use std::{
    borrow::Cow,
    iter,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
};

use bytes::Bytes;

use self::growth::Growth;
use super::{
    index::Indexes,
    record::{self, Record},
};
use crate::{
    cache::{self, DecodedValue, Texts},
    kind::{Kind, Versions, convert::Answers},
    schema::{self, Document, Meter, Schema},
    webhook::Webhooks,
};

/// The result of the check of an object against the schema under which it is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Validity {
    /// It was checked and is valid.
    Checked,
    /// It is invalid, or was not checked.
    Unchecked,
}

impl Validity {
    /// Checks an object. One that exceeds the meter counts as unchecked.
    pub fn of(schema: &Schema, document: &Document, meter: &Meter) -> Self {
        let is_valid = schema::validate(schema, document, meter).is_ok_and(|errors| errors.is_empty());
        if is_valid { Self::Checked } else { Self::Unchecked }
    }
}

/// When a record needs the selectable values of versions to which a webhook converts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Values {
    /// Always: without them, the object is not stored.
    Required,
    /// Unless the webhook fails: nothing but metadata changes, and must change.
    Optional,
    /// Never: the object is not stored.
    Unneeded,
}

/// Stored objects that do not match the current schema.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct InvalidObjects {
    /// Their number.
    pub count: usize,
    /// The key of one in the store.
    pub example: String,
}

/// Transforms stored bytes, for example by encryption.
pub trait Transformer: Send + Sync {
    /// Transforms a record for storage.
    ///
    /// # Errors
    /// The reason of a failure.
    fn seal(&self, key: &str, record: Vec<u8>) -> Result<Vec<u8>, String>;

    /// Restores the record.
    ///
    /// # Errors
    /// The reason of a failure.
    fn open(&self, key: &str, stored: &Bytes) -> Result<Bytes, String>;

    /// True if a record that is stored so would be transformed in the same way now. Others are stored anew by the next write and by
    /// `kindsmith store migrate`, as after a change of keys.
    fn is_current(&self, _key: &str, _stored: &[u8]) -> bool {
        true
    }
}

/// Stores records unchanged.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Identity;

impl Transformer for Identity {
    fn seal(&self, _key: &str, record: Vec<u8>) -> Result<Vec<u8>, String> {
        Ok(record)
    }

    fn open(&self, _key: &str, stored: &Bytes) -> Result<Bytes, String> {
        Ok(stored.clone())
    }
}

/// The stored form of an object.
pub struct StoredRecord {
    pub value: Bytes,
    /// The approximate size of the object itself.
    pub size: usize,
    /// True if it lacks selectable values because a webhook failed.
    pub lacks: bool,
}

/// The selectable fields of a version.
struct Selectable {
    kind: Arc<Kind>,
    indexes: Indexes,
}

impl Selectable {
    fn of(kind: &Arc<Kind>) -> Self {
        Self { kind: kind.clone(), indexes: Indexes::new(kind) }
    }

    fn version(&self) -> &str {
        &self.kind.group_version.version
    }

    /// The values in a record; `None` if it has those of other fields, or could not be converted to this version.
    fn values<'r, 's>(&self, record: &'r Record<'s>) -> Option<&'r [&'s str]> {
        record.values(self.version(), self.indexes.fingerprint())
    }
}

/// Reads and writes the stored values of one kind; implements [`cache::Reader`].
pub struct KindReader {
    versions: Versions,
    transformer: Arc<dyn Transformer>,
    /// The full fingerprint of the structure.
    structure: u64,
    /// The fingerprint of the rules.
    rules: u32,
    type_meta: String,
    /// The selectable fields of the storage version.
    indexes: Indexes,
    /// The selectable fields of the other served versions. Their values follow the values of the storage version.
    others: Vec<Selectable>,
    /// The invalid objects found while loading; `None` after that.
    invalid_objects: Mutex<Option<InvalidObjects>>,
    /// The bytes that defaults add to objects that are read under a changed schema.
    growth: Growth,
    /// Objects that a webhook could not convert, or whose selectable values are missing because of that.
    unread: AtomicUsize,
    /// The webhooks, if one converts objects.
    webhooks: Option<Arc<Webhooks>>,
    /// The answers of webhooks while the objects of the resource are loaded.
    loading: Mutex<Option<Answers>>,
}

impl KindReader {
    /// A reader for a kind.
    pub fn new(versions: Versions, transformer: Arc<dyn Transformer>) -> Self {
        let kind = versions.stored();
        let selects = |other: &&Arc<Kind>| {
            other.binding.conversion.is_some() && other.version.served && !other.version.selectable.is_empty()
        };
        Self {
            structure: schema::fingerprint(&kind.version.schema),
            rules: schema::fingerprint::rules(&kind.version.schema),
            type_meta: kind.type_meta(),
            indexes: Indexes::new(kind),
            others: versions.iter().filter(selects).map(Selectable::of).collect(),
            versions,
            transformer,
            invalid_objects: Mutex::new(Some(InvalidObjects::default())),
            growth: Growth::default(),
            unread: AtomicUsize::new(0),
            webhooks: None,
            loading: Mutex::default(),
        }
    }

    /// The same reader, with the webhooks that convert past states of objects.
    #[must_use]
    pub fn with_webhooks(self, webhooks: &Arc<Webhooks>) -> Self {
        Self { webhooks: self.versions.webhook().map(|_| webhooks.clone()), ..self }
    }

    /// The storage version.
    pub fn stored(&self) -> &Arc<Kind> {
        self.versions.stored()
    }

    /// The kind in all of its versions.
    pub fn versions(&self) -> &Versions {
        &self.versions
    }

    /// The position of a version's selectable fields in an object.
    pub fn first_field(&self, version: &str) -> usize {
        let before = self.others.iter().take_while(|other| other.version() != version);
        if version == self.version() {
            0
        } else {
            before.map(|other| other.indexes.len()).sum::<usize>() + self.indexes.len()
        }
    }

    /// The stored form of an object that has passed the pipeline, under a full store key.
    ///
    /// # Errors
    /// Errors of the transformer; a failed call of a conversion webhook.
    pub fn write(
        &self,
        key: &str,
        document: &Document,
        validity: Validity,
        values: Values,
        answers: &Answers,
    ) -> Result<StoredRecord, String> {
        let rules = if validity == Validity::Checked { self.rules } else { 0 };
        let (record, failed) = self.encode(document, self.structure >> 32 << 32 | u64::from(rules), values, answers);
        self.seal(key, record, failed.as_ref(), values)
    }

    fn seal(
        &self,
        key: &str,
        record: Vec<u8>,
        failed: Option<&String>,
        values: Values,
    ) -> Result<StoredRecord, String> {
        if let Some(why) = failed
            && values == Values::Required
        {
            return Err(why.clone());
        }
        let size = record::object_size(&record);
        Ok(StoredRecord { value: self.transformer.seal(key, record)?.into(), size, lacks: failed.is_some() })
    }

    /// The record of an object, and the error of a webhook, for which it lacks selectable values.
    fn encode(
        &self,
        document: &Document,
        fingerprint: u64,
        values: Values,
        answers: &Answers,
    ) -> (Vec<u8>, Option<String>) {
        let mut failed = None;
        let others = self.others.iter().filter(|other| values != Values::Unneeded || !other.kind.waits());
        // One after the other, since each is as large as the object.
        let of_others = others.filter_map(|other| match other.kind.convert_from_stored(bare(document), answers) {
            Ok(document) => Some((other.version(), &other.indexes, Cow::Owned(document))),
            // Webhooks fail for other reasons than the object. An object that cannot be converted to a version in another way
            // has no selectable values in it.
            Err(why) => {
                failed = other.kind.waits().then_some(why).or(failed.take());
                None
            }
        });
        let selectable = iter::once((self.version(), &self.indexes, Cow::Borrowed(document))).chain(of_others);
        let record = record::encode(self.version(), fingerprint, selectable, document);
        (record, failed)
    }

    fn version(&self) -> &str {
        &self.stored().group_version.version
    }

    /// The number of objects that a conversion webhook could not convert to the storage version, or to a version with selectable
    /// fields, since they were loaded.
    pub fn unread(&self) -> usize {
        self.unread.load(Ordering::Relaxed)
    }

    /// Counts an object that was stored without selectable values.
    pub fn count_unread(&self) {
        self.unread.fetch_add(1, Ordering::Relaxed);
    }

    fn read_with(&self, key: &str, value: &Bytes, answers: &Answers) -> DecodedValue {
        let read = self.record(key, value).and_then(|record| self.decode(key, &record, answers));
        let read = read.unwrap_or_else(|message| DecodedValue::plain(Err(message)));
        let renewed = read.renewed || !self.transformer.is_current(key, value);
        DecodedValue { renewed, ..read }
    }

    /// Reads a record and adapts it to the current schema.
    fn decode(&self, key: &str, stored: &Bytes, answers: &Answers) -> Result<DecodedValue, String> {
        let record = record::decode(stored)?;
        let same_version = record.version == self.version();
        let same_structure = same_version && record.fingerprint >> 32 == self.structure >> 32;
        if same_structure {
            self.check(key, &record);
            if let Some(texts) = self.texts(&record) {
                return Ok(DecodedValue { texts, ..DecodedValue::plain(Ok(record.body)) });
            }
        }
        let renewed = match self.renew(key, &record, same_structure, answers) {
            Ok(renewed) => Bytes::from(renewed),
            Err(message) => {
                self.count_while_loading();
                let texts = Texts::new(record.labels.iter().copied(), []);
                let awaits_conversion = !same_version && self.versions.webhook().is_some();
                return Ok(DecodedValue { texts, awaits_conversion, ..DecodedValue::plain(Err(message)) });
            }
        };
        let now = record::decode(&renewed)?;
        Ok(DecodedValue {
            texts: self.texts(&now).unwrap_or_else(|| self.known_texts(&now)),
            renewed: !same_version || now.body != record.body,
            ..DecodedValue::plain(Ok(now.body))
        })
    }

    /// The labels and selectable values of a record; `None` if some are missing.
    fn texts(&self, record: &Record<'_>) -> Option<Texts> {
        let all = self.others.iter().all(|other| other.values(record).is_some());
        let known = all && record.values(self.version(), self.indexes.fingerprint()).is_some();
        known.then(|| self.known_texts(record))
    }

    /// The same, with empty values for missing ones.
    fn known_texts(&self, record: &Record<'_>) -> Texts {
        let own = record.values(self.version(), self.indexes.fingerprint()).unwrap_or_default().iter().copied();
        let others = self.others.iter().flat_map(|other| {
            let values = other.values(record).unwrap_or_default();
            let lacking = other.indexes.len() - values.len();
            values.iter().copied().chain(iter::repeat_n("", lacking))
        });
        Texts::new(record.labels.iter().copied(), own.chain(others))
    }
}

/// A document without managed fields, which conversions do not see.
fn bare(document: &Document) -> Document {
    let mut bare = document.clone();
    if let Some(metadata) = bare.get_mut("metadata").and_then(Document::as_object_mut) {
        metadata.remove("managedFields");
    }
    bare
}

impl cache::Reader for KindReader {
    fn type_meta(&self) -> &str {
        &self.type_meta
    }

    fn read(&self, key: &str, value: &Bytes) -> DecodedValue {
        if self.webhooks.is_some()
            && let Some(answers) = &*self.loading()
        {
            return self.read_with(key, value, answers);
        }
        self.read_with(key, value, &Answers::none())
    }

    fn is_local(&self) -> bool {
        self.webhooks.is_none()
    }

    fn read_all(&self, values: &[(&str, &Bytes)]) -> Vec<DecodedValue> {
        let read = |answers: &Answers| {
            let read = |(key, value): &(&str, &Bytes)| DecodedValue::guarded(|| self.read_with(key, value, answers));
            values.iter().map(read).collect()
        };
        match &self.webhooks {
            Some(webhooks) => webhooks.resolve_blocking(read),
            None => read(&Answers::none()),
        }
    }
}
