//! The reader of a kind: makes records of its objects, and tells the cache what they say.
//!
//! A record holds the storage version and a fingerprint of the schema that its body was checked against. The upper half
//! is that of the structure (fields, types, defaults), the lower half that of the rules beyond it, zero where the body was
//! not checked. (Records of old have the structure's in both.)
//!
//! A body of another structure is defaulted and pruned by today's schema when it is read, and served so, whether it fits
//! or not: objects that do not fit can be read, deleted and mended.
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;

use super::{
    Kind,
    index::Indexes,
    record::{self, Record},
};
use crate::{
    cache::{self, Reading, Texts},
    schema::{self, Document, Schema},
};

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

/// What to store for an object.
pub struct Sealed {
    /// The value.
    pub value: Bytes,
    /// How many bytes the object itself takes, about.
    pub size: usize,
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
    pub fn write(&self, key: &str, document: &Document, fit: Fit) -> Result<Sealed, String> {
        let record = self.encode(document, if fit == Fit::Checked { self.rules } else { 0 });
        let size = record::object_size(&record);
        Ok(Sealed { value: self.transformer.seal(key, record)?.into(), size })
    }

    fn encode(&self, document: &Document, rules: u32) -> Vec<u8> {
        let fingerprint = self.structure >> 32 << 32 | u64::from(rules);
        record::encode(self.version(), fingerprint, &self.indexes, document)
    }

    fn version(&self) -> &str {
        &self.kind.group_version.version
    }

    /// What was found not to fit while the resource was loaded. Nothing is counted after this.
    pub fn take_misfits(&self) -> Option<Misfits> {
        self.misfits().take().filter(|misfits| misfits.count > 0)
    }

    fn misfits(&self) -> MutexGuard<'_, Option<Misfits>> {
        self.misfits.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Looks whether a body of this structure, but of other rules, fits.
    fn check(&self, key: &str, record: &Record<'_>) {
        let fingerprint = record.fingerprint;
        let known = fingerprint == self.structure || fingerprint & 0xffff_ffff == u64::from(self.rules);
        if known || self.misfits().is_none() {
            return;
        }
        if let Ok(document) = record::parse(&record.body.json()) {
            self.count_misfit(key, &document);
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

    /// What a record says, brought to today's schema.
    fn reading(&self, key: &str, stored: &Bytes) -> Result<Reading, String> {
        let record = record::decode(stored)?;
        let same_version = record.version == self.version();
        let same_structure = same_version && record.fingerprint >> 32 == self.structure >> 32;
        if same_structure {
            self.check(key, &record);
            if let Some(values) = record.values(self.version(), self.indexes.fingerprint()) {
                let texts = Texts::new(record.labels.iter().copied(), values.iter().copied());
                return Ok(Reading { body: Ok(record.body), texts, renewed: false });
            }
        }
        let renewed = match self.renew(key, &record, same_structure) {
            Ok(renewed) => Bytes::from(renewed),
            Err(message) => {
                let texts = Texts::new(record.labels.iter().copied(), []);
                return Ok(Reading { texts, ..Reading::plain(Err(message)) });
            }
        };
        let now = record::decode(&renewed)?;
        let values = now.values(self.version(), self.indexes.fingerprint()).unwrap_or_default();
        Ok(Reading {
            texts: Texts::new(now.labels.iter().copied(), values.iter().copied()),
            renewed: !same_version || now.body != record.body,
            body: Ok(now.body),
        })
    }

    /// The record of an object whose values of selectable fields are not known, or whose body was checked against another
    /// schema: then it is defaulted and pruned by this one.
    fn renew(&self, key: &str, record: &Record<'_>, same_structure: bool) -> Result<Vec<u8>, String> {
        let mut document = record::parse(&record.body.json())?;
        if !same_structure {
            schema::default(&self.kind.schema, &mut document);
            schema::prune(&self.kind.schema, &mut document);
            schema::normalise(&self.kind.schema, &mut document);
            self.count_misfit(key, &document);
        }
        Ok(self.encode(&document, 0))
    }
}

impl cache::Reader for KindReader {
    fn type_meta(&self) -> &str {
        &self.type_meta
    }

    fn selectable(&self) -> &[String] {
        self.indexes.names()
    }

    fn read(&self, key: &str, value: &Bytes) -> Reading {
        let record = self.transformer.open(key, value).and_then(|record| record::upgrade(record, &self.indexes));
        record.and_then(|record| self.reading(key, &record)).unwrap_or_else(|message| Reading::plain(Err(message)))
    }
}
