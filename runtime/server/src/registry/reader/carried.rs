//! Writes records of objects that were stored under another schema, with fields that this one does not know.
use bytes::Bytes;

use super::{KindReader, StoredRecord, Validity, Values};
use crate::{
    kind::convert::Answers,
    registry::record,
    schema::{self, Document},
};

impl KindReader {
    /// The stored form of the new state of an object with this stored form, whose fields that the schema does not know stay.
    /// `None` if nothing changes.
    ///
    /// # Errors
    /// Like [`KindReader::write`]; the stored form cannot be read.
    pub fn write_over(
        &self,
        key: &str,
        (document, validity): (&Document, Validity),
        values: Values,
        stored: &Bytes,
        answers: &Answers,
    ) -> Result<Option<StoredRecord>, String> {
        let stored = self.record(key, stored)?;
        let before = record::decode(&stored)?;
        let mut whole = document.clone();
        let carried = before.version == self.version()
            && schema::carry_over(&self.stored().version.schema, &record::parse(&before.body.json())?, &mut whole);
        if !carried {
            return self.write(key, document, validity, values, answers).map(Some);
        }
        // No schema has this fingerprint, so that each reader drops what it does not know.
        let (record, failed) = self.encode(&whole, !self.structure >> 32 << 32, values, answers);
        let record = Bytes::from(record);
        if record::decode(&record)?.body == before.body {
            return Ok(None);
        }
        self.seal(key, record.into(), failed.as_ref(), values).map(Some)
    }
}
