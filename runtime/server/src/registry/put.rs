//! Adds resources to the registry, and replaces them. A resource is loaded under a lock, and webhooks that have to convert its
//! objects are called without it.
use std::{
    mem,
    sync::{Arc, PoisonError},
};

use tokio::sync::watch as signal;

use super::{DefinitionRow, PreparedKind, Registry, ResourceEntry, View, clashes, next_number, table::Table};
use crate::{
    kind::{
        Kind, Versions,
        convert::{Answers, Question},
        endpoint,
    },
    tasks,
};

/// What a resource may replace.
#[derive(Clone)]
pub(super) enum Replaces {
    Nothing,
    /// Another resource with its names, if the same row declares it.
    Any,
    /// This resource, if fewer of its objects are unread then.
    Unread(Arc<ResourceEntry>),
}

/// Why a resource was not added.
enum PutError {
    Refused(String),
    /// Stored objects need these conversions.
    Open(Vec<Question>, Answers),
}

impl From<String> for PutError {
    fn from(why: String) -> Self {
        Self::Refused(why)
    }
}

impl Registry {
    /// Adds a resource, or replaces one. Objects that a webhook has to convert are unread.
    pub(super) fn put(
        &self,
        prepared: &PreparedKind,
        definition_row: Option<&Arc<DefinitionRow>>,
        replaces: &Replaces,
    ) -> Result<Arc<ResourceEntry>, String> {
        match self.try_put(prepared, definition_row, replaces) {
            Ok(done) => Ok(done),
            Err(PutError::Refused(why)) => Err(why),
            Err(PutError::Open(..)) => unreachable!("nothing is asked"),
        }
    }

    /// The same with these objects, unless the signal comes while a webhook is called.
    pub(super) async fn put_converted(
        self: &Arc<Self>,
        versions: Versions,
        definition_row: Option<Arc<DefinitionRow>>,
        replaces: Replaces,
        mut stop: signal::Receiver<bool>,
    ) -> Result<Arc<ResourceEntry>, String> {
        let mut answers = Answers::default();
        for attempt in 0.. {
            let (registry, definition_row, replaces) = (self.clone(), definition_row.clone(), replaces.clone());
            // Each reader counts anew.
            let prepared = self.preparer().loading_with(versions.clone(), mem::take(&mut answers));
            let trying = tasks::blocking(move || registry.try_put(&prepared, definition_row.as_ref(), &replaces));
            let tried = trying.await.map_err(|error| format!("loading the objects broke off: {error}"))?;
            let open = match tried {
                Ok(done) => return Ok(done),
                Err(PutError::Refused(why)) => return Err(why),
                Err(PutError::Open(open, known)) => {
                    answers = known;
                    open
                }
            };
            // Not under the lock, because webhooks may be slow.
            tokio::select! {
                biased;
                Ok(_) = stop.wait_for(|stopping| *stopping) => return Err("it is not needed any more".to_owned()),
                () = self.webhooks.answer(open, &mut answers, attempt) => {}
            }
        }
        unreachable!("what is asked is answered")
    }

    /// The same if the conversions of stored objects were answered, or none may be asked.
    fn try_put(
        &self,
        PreparedKind { records }: &PreparedKind,
        definition_row: Option<&Arc<DefinitionRow>>,
        replaces: &Replaces,
    ) -> Result<Arc<ResourceEntry>, PutError> {
        let _one_at_a_time = self.changing.lock().unwrap_or_else(PoisonError::into_inner);
        let kind = records.stored().clone();
        let table = self.table.load_full();
        let old = table
            .resource(&kind.group_version.group, &kind.names().plural)
            .filter(|_| !matches!(replaces, Replaces::Nothing));
        check(&table, old, records.versions(), definition_row, replaces)?;
        // Objects of another version are converted to the storage version.
        let loading = self.cache.load(&kind.shared.prefix(), records.clone());
        if let Some((open, answers)) = records.end_loading() {
            return Err(PutError::Open(open, answers));
        }
        let loading =
            loading.map_err(|error| format!("cannot load the objects of {}: {error}", kind.group_resource()))?;
        if let Replaces::Unread(before) = replaces
            && records.unread() >= before.records.unread()
        {
            return Err(format!("the objects of {} cannot be converted yet", kind.group_resource()).into());
        }
        if let Some(invalid_objects) = records.take_invalid_objects() {
            tracing::warn!(
                resource = %kind.group_resource(), count = invalid_objects.count, example = invalid_objects.example,
                "stored objects do not fit the schema of their kind: they are served, can be deleted, and can be written \
                 as far as that changes only what fits",
            );
        }
        let entry_of = |kind: &Arc<Kind>| {
            let endpoints = endpoint::of(kind);
            ResourceEntry {
                requests: endpoints.iter().map(|endpoint| self.measured(kind, endpoint)).collect(),
                kind: kind.clone(),
                endpoints,
                objects: loading.resource().clone(),
                records: records.clone(),
                view: None,
                stored: None,
                webhooks: records.versions().webhook().map(|_| self.webhooks.clone()),
                definition_row: definition_row.cloned(),
                deprecated: records.versions().deprecation(kind).map(Into::into),
                number: next_number(),
            }
        };
        let stored = Arc::new(entry_of(&kind));
        let in_version = |version: &Arc<Kind>| {
            if Arc::ptr_eq(version, &kind) {
                return stored.clone();
            }
            let entry = entry_of(version);
            let view = View::new(version.clone(), self.cache.renderings().clone(), entry.number);
            Arc::new(ResourceEntry { view: Some(view), stored: Some(stored.clone()), ..entry })
        };
        let versions: Vec<Arc<ResourceEntry>> = records.versions().iter().map(in_version).collect();
        let table = Arc::new(table.with(old, Some((&versions, &stored))));
        loading.serve(|| self.table.store(table));
        if old.is_some_and(|old| old.webhooks.is_some()) {
            self.webhooks.forget_others(&kind.group_resource().to_string(), records.versions().webhook());
        }
        self.changes.send_replace(());
        Ok(stored)
    }
}

/// Checks that a kind may be added, or replace a resource.
fn check(
    table: &Table,
    old: Option<&Arc<ResourceEntry>>,
    versions: &Versions,
    definition_row: Option<&Arc<DefinitionRow>>,
    replaces: &Replaces,
) -> Result<(), String> {
    let (kind, definition) = (versions.stored(), versions.definition());
    if let Replaces::Unread(before) = replaces
        && !old.is_some_and(|old| Arc::ptr_eq(old, before.stored()))
    {
        return Err(format!("{} was replaced or removed", kind.group_resource()));
    }
    let row = |definition_row: Option<&Arc<DefinitionRow>>| definition_row.map(|row| row.hold.load().key.clone());
    if let Some(old) = old
        && row(old.definition_row.as_ref()) != row(definition_row)
    {
        return Err(format!("{} is declared elsewhere already", kind.group_resource()));
    }
    let prefix = kind.shared.prefix();
    for other in table.resources.iter().filter(|other| old.is_none_or(|old| !Arc::ptr_eq(old, other))) {
        clashes::check_names(definition, other.records.versions().definition())?;
        clashes::check_keys((&kind.shared, &prefix), (&other.kind.shared, other.objects.prefix()))?;
    }
    Ok(())
}
