//! Storage migration: objects stored in another version of their kind or under another schema are stored in their
//! current form, so that support for the old form can be removed.
//!
//! An object is rewritten only if it has not changed since it was read; any other write rewrites it, too. New objects
//! are always stored in the current form, so one pass over the keys is enough. Only the resourceVersion of objects
//! changes.
use std::sync::Arc;

use super::{
    Error, Request, Verbs,
    commit::{New, Row},
    delete_collection::{AT_ONCE, BYTES_AT_ONCE, Concurrent, all},
    retry::WriteFailure,
    stored::document_of,
};
use crate::{
    cache::Object,
    registry::{
        ResourceEntry,
        reader::{Validity, Values},
    },
    schema::Meter,
    storage::{Expect, migration::Migration},
};

/// Report at least after this many objects that need no rewrite.
const LOOKED_AT: u64 = 10_000;
/// How many objects that are skipped are named.
const NAMED: usize = 100;

fn skip(migration: &mut Migration, object: &Object, why: impl Into<String>) {
    migration.skipped += 1;
    if migration.reasons.len() < NAMED {
        migration.reasons.push((object.key().to_owned(), why.into()));
    }
}

impl Verbs {
    /// Stores each object of a resource in the current storage version and schema, in the order of keys. Reports the
    /// progress after every few objects. An interrupted migration can be repeated: current objects are read, but not
    /// written.
    ///
    /// # Errors
    /// [`Error::Unavailable`] while the server stops or its disk fails, [`Error::InsufficientStorage`] if the disk is full,
    /// [`Error::Internal`]. The reported objects are stored nevertheless.
    pub async fn migrate(
        &self,
        resource: &Arc<ResourceEntry>,
        mut report: impl FnMut(&Migration) + Send,
    ) -> Result<Migration, Error> {
        let name = resource.kind.group_resource().to_string();
        let (mut migration, mut position) = (Migration { resource: name, ..Migration::default() }, None);
        let collection = Request::for_all(&Arc::default(), resource.stored());
        loop {
            let old = next(&collection, &mut position, &mut migration);
            let writes =
                old.iter().map(|object| Box::pin(self.renew(&collection, object)) as Concurrent<'_, _>).collect();
            for outcome in all(writes).await {
                match outcome? {
                    RewriteOutcome::Written => migration.rewritten += 1,
                    RewriteOutcome::ByOthers => {}
                    RewriteOutcome::Skipped(object, why) => skip(&mut migration, &object, why),
                }
            }
            report(&migration);
            if migration.left == 0 {
                return Ok(migration);
            }
            // If all objects are current, nothing else in this loop waits.
            tokio::task::yield_now().await;
        }
    }

    /// Stores an object in its current form if it has not changed since it was read.
    async fn renew(&self, collection: &Request, object: &Arc<Object>) -> Result<RewriteOutcome, Error> {
        let request = collection.clone().at(object.key());
        let document = document_of(object)?;
        let validity = Validity::of(&request.resource.kind.version.schema, &document, &Meter::stored());
        let new = New { document: &document, validity, values: Values::Required };
        let row = Row { api: self, request: &request, permits: request.permits(), key: object.key() };
        match row.store(new, Expect::At(object.revision()), false).await {
            Ok(_) => Ok(RewriteOutcome::Written),
            Err(WriteFailure::Lost) => Ok(RewriteOutcome::ByOthers),
            Err(WriteFailure::Refused(Error::TooLarge(why))) => Ok(RewriteOutcome::Skipped(object.clone(), why)),
            Err(WriteFailure::Refused(Error::StoreRead { causes, .. })) => {
                let why = causes.into_iter().map(|(_, why)| why).collect::<Vec<_>>().join("; ");
                Ok(RewriteOutcome::Skipped(object.clone(), why))
            }
            Err(WriteFailure::Refused(error)) => Err(error),
        }
    }
}

/// The result for an object.
enum RewriteOutcome {
    Written,
    /// Another client has written or deleted it.
    ByOthers,
    Skipped(Arc<Object>, String),
}

/// The next objects that need a rewrite. Objects before them count as examined.
fn next(collection: &Request, position: &mut Option<String>, migration: &mut Migration) -> Vec<Arc<Object>> {
    let snapshot = collection.resource.objects.snapshot();
    let after = position.take();
    let mut objects = snapshot.range("", after.as_deref());
    let (mut old, mut bytes, mut looked_at) = (Vec::new(), 0, 0);
    while old.len() < AT_ONCE && bytes < BYTES_AT_ONCE && looked_at < LOOKED_AT {
        let Some(object) = objects.next() else { break };
        looked_at += 1;
        *position = Some(object.key().to_owned());
        if let Some(why) = object.unreadable() {
            skip(migration, object, why);
        } else if object.is_renewed() {
            bytes += object.json_bytes().len();
            old.push(object.clone());
        }
    }
    migration.seen += looked_at;
    migration.left = objects.len() as u64;
    old
}
