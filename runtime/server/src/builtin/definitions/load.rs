//! The definitions in the store when the server starts.
use std::{
    collections::{BTreeSet, HashMap},
    panic::resume_unwind,
    sync::Arc,
    thread,
};

use super::{Access, DefinitionState, Definitions, Retry, ServeTasks, Tasks, WAIT, defined, names::is_true, read};
use crate::{
    auth::User,
    cache::Object,
    kind::{Definition, policy::Custom},
    meta::GroupResource,
    verbs::Verbs,
};

impl Definitions {
    /// Serves what the definitions in the store define. Blocks on the disk, and waits for no webhook.
    ///
    /// # Panics
    /// If definitions are not served.
    pub(crate) fn load(api: &Arc<Verbs>) -> Self {
        let resource = GroupResource {
            group: "apiextensions.k8s.io".to_owned(),
            resource: "customresourcedefinitions".to_owned(),
        };
        let definitions = api.registry.resource(&resource).expect("definitions are served");
        let access = Access { api: api.clone(), definitions, user: Arc::new(User::system()) };
        let mut loaded = Self {
            access,
            states: HashMap::new(),
            waiting: BTreeSet::new(),
            generation: 0,
            removals: Tasks::default(),
            servings: ServeTasks::default(),
            failed: BTreeSet::new(),
            retrying: BTreeSet::new(),
            retry: Retry::after(WAIT),
            next_reread: Retry::now(),
            leads: !api.store.is_shared(),
        };
        let snapshot = loaded.access.definitions.objects.snapshot();
        let stored: Vec<&Arc<Object>> = snapshot.range("", None).collect();
        let readers = thread::available_parallelism().map_or(1, usize::from);
        let read_all =
            |some: &[&Arc<Object>]| some.iter().map(|object| EstablishedDefinition::read(object)).collect::<Vec<_>>();
        thread::scope(|scope| {
            let parts = stored.chunks(stored.len().div_ceil(readers).max(1));
            let reading: Vec<_> = parts.map(|part| (part, scope.spawn(|| read_all(part)))).collect();
            for (part, reading) in reading {
                let read = reading.join().unwrap_or_else(|panic| resume_unwind(panic));
                for (object, established) in part.iter().zip(read) {
                    if let Some(established) = established {
                        loaded.states.insert(object.key().to_owned(), established.serve(&loaded.access, object));
                    }
                }
            }
        });
        loaded
    }
}

/// A definition that was established when the server stopped.
struct EstablishedDefinition {
    state: DefinitionState,
    is_settled: bool,
    definition: Result<Definition, String>,
}

impl EstablishedDefinition {
    fn read(object: &Object) -> Option<Self> {
        let definition = read(object)?;
        let status = &definition["status"];
        if !is_true(status, "Established") {
            return None;
        }
        let state = DefinitionState::of(&definition, status);
        let is_settled = is_true(status, "NamesAccepted") && definition["metadata"]["deletionTimestamp"].is_null();
        Some(Self { state, is_settled, definition: defined(definition) })
    }

    fn serve(self, access: &Access, object: &Object) -> DefinitionState {
        let serve = |definition: Definition| {
            let kinds = definition.kinds(&Custom);
            let served = access.api.registry.replace(kinds, Some(access.hold(object)))?;
            Ok((definition, served))
        };
        let served = self.definition.and_then(serve);
        let failed =
            |error: &String| tracing::error!(definition = object.key(), error, "the definition cannot be served");
        let served = served.inspect_err(failed).ok();
        let settled = (self.is_settled && served.is_some()).then(|| object.revision());
        DefinitionState { served, settled, ..self.state }
    }
}
