//! Objects that were stored under another schema, as the schema of today has them.
use std::sync::Arc;

use super::{
    KindReader, Values,
    record::{self, Record},
};
use crate::{
    kind::{Kind, convert::Answers},
    schema::{Document, Meter},
};

impl KindReader {
    /// Renews the record of an object with missing selectable values, or whose body was checked against another schema:
    /// the body is converted to the storage version and adapted to its schema. An object whose defaults have become too many is
    /// read without them: it is served, and can be deleted.
    pub(super) fn renew(
        &self,
        key: &str,
        record: &Record<'_>,
        same_structure: bool,
        answers: &Answers,
    ) -> Result<Vec<u8>, String> {
        if same_structure {
            return Ok(self.renewed(&record::parse(&record.body.json())?, answers));
        }
        let meter = Meter::stored();
        let size = record.body.json().len();
        let adapted =
            self.adapted(record, Some(&meter), answers).map(|document| (self.renewed(&document, answers), document));
        let (renewed, document) = match adapted {
            Ok((renewed, document)) if !self.is_loading() || self.growth.allows(size, renewed.len()) => {
                (renewed, document)
            }
            Err(why) if meter.goes_on() => return Err(why),
            Ok(_) | Err(_) => {
                if self.growth.is_first_without() {
                    let resource = self.stored().group_resource();
                    tracing::warn!(%resource, key, "the defaults of stored objects take too much: some are served without them");
                }
                let document = self.adapted(record, None, answers)?;
                (self.renewed(&document, answers), document)
            }
        };
        self.count_invalid(key, &document);
        Ok(renewed)
    }

    /// The object of a record in the storage version of today, with defaults if there is a meter for them.
    fn adapted(&self, record: &Record<'_>, defaults: Option<&Meter>, answers: &Answers) -> Result<Document, String> {
        let mut document = record::parse(&record.body.json())?;
        let written =
            |kind: &&Arc<Kind>| kind.group_version.version == record.version && kind.binding.conversion.is_some();
        match (self.versions.iter().find(written), defaults) {
            (Some(kind), defaults) => return kind.renew_to(self.stored(), document, defaults, answers),
            (None, Some(meter)) => self.stored().fill(&mut document, meter)?,
            (None, None) => self.stored().trim(&mut document),
        }
        Ok(document)
    }

    /// The renewed record of an object.
    fn renewed(&self, document: &Document, answers: &Answers) -> Vec<u8> {
        // An object whose stored form is known is readable, whatever happens to its other versions.
        let (renewed, failed) = self.encode(document, self.structure >> 32 << 32, Values::Optional, answers);
        if failed.is_some() {
            self.count_while_loading();
        }
        renewed
    }
}
