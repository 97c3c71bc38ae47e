//! How definitions are served, and no longer. A definition whose objects a webhook converts is served, and its unread objects are
//! read again, by a task of its own: the webhook may not answer, and other definitions do not wait for it.
use std::{collections::HashMap, sync::Arc};

use tokio::sync::{oneshot, watch as signal};

use super::{Definitions, Tasks, defined, reading::apart, removal::DefinitionRemoval};
use crate::{
    cache::Object,
    kind::{Definition, convert::Conversion, policy::Custom},
    registry::{Registry, ResourceEntry},
    schema::Document,
    storage::Hold,
    tasks,
};

/// The result of a task: the served resource, or why it could not be served. `None` if nothing has changed.
type ServeResult = Option<Result<Arc<ResourceEntry>, String>>;

/// The end of a task.
pub(super) struct Outcome {
    /// The definition that it has served.
    pub definition: Definition,
    pub served: Result<Arc<ResourceEntry>, String>,
}

/// The tasks, by the names of their definitions.
#[derive(Default)]
pub(super) struct ServeTasks {
    /// With the number of each.
    tasks: Tasks<(String, u64), ()>,
    running: HashMap<String, ServeTask>,
    last: u64,
}

struct ServeTask {
    number: u64,
    definition: Definition,
    stop: signal::Sender<bool>,
    served: oneshot::Receiver<ServeResult>,
}

impl ServeTasks {
    /// True if a task serves this definition, or reads its objects.
    pub(super) fn has(&self, name: &str) -> bool {
        self.running.contains_key(name)
    }

    /// True if a task serves a definition as it is now.
    pub(super) fn is_serving(&self, name: &str, definition: &Definition) -> bool {
        self.running.get(name).is_some_and(|serving| serving.definition == *definition)
    }

    /// Serves a definition in a task. None may be running for it.
    pub(super) fn serve(&mut self, name: &str, definition: Definition, registry: Arc<Registry>, hold: Hold) {
        let kinds = definition.kinds(&Custom);
        self.start(name, definition, async move |stop| Some(registry.replace_converted(kinds, hold, stop).await));
    }

    /// Reads the unread objects of a definition again in a task. None may be running for it.
    pub(super) fn reread(
        &mut self,
        name: &str,
        definition: Definition,
        registry: Arc<Registry>,
        before: Arc<ResourceEntry>,
    ) {
        self.start(name, definition, async move |stop| registry.reread(&before, stop).await.map(Ok));
    }

    fn start<F>(&mut self, name: &str, definition: Definition, work: impl FnOnce(signal::Receiver<bool>) -> F)
    where
        F: Future<Output = ServeResult> + Send + 'static,
    {
        let ((stop, stopping), (ended, served)) = (signal::channel(false), oneshot::channel());
        let work = work(stopping);
        self.last += 1;
        self.running.insert(name.to_owned(), ServeTask { number: self.last, definition, stop, served });
        self.tasks.spawn((name.to_owned(), self.last), async move {
            // No task waits for the result of stopped work.
            drop(ended.send(work.await));
        });
    }

    /// Waits for the end of a task; `None` if none is running. Safe to cancel.
    pub(super) async fn next(&mut self) -> Option<(String, Option<Outcome>)> {
        let ((name, number), ended) = self.tasks.next().await?;
        if self.running.get(&name).is_none_or(|serving| serving.number != number) {
            return Some((name, None));
        }
        let outcome = self.running.remove(&name).and_then(|mut serving| match ended {
            Ok(()) => serving.served.try_recv().ok().and_then(|served| serving.outcome(served)),
            Err(error) => serving.outcome(Some(Err(error.to_string()))),
        });
        Some((name, outcome))
    }

    /// Ends the task of a definition. It does not wait for the webhook any more.
    pub(super) async fn end(&mut self, name: &str) -> Option<Outcome> {
        let mut serving = self.running.remove(name)?;
        serving.stop.send_replace(true);
        let served = (&mut serving.served).await.ok()?;
        serving.outcome(served)
    }

    /// Cancels all tasks.
    pub(super) async fn shutdown(&mut self) {
        self.tasks.shutdown().await;
    }
}

impl ServeTask {
    fn outcome(self, served: ServeResult) -> Option<Outcome> {
        served.map(|served| Outcome { definition: self.definition, served })
    }
}

impl Definitions {
    /// Serves a definition no more that is gone. Returns true if names may have become free.
    pub(super) async fn forget(&mut self, name: &str) -> bool {
        if self.access.definitions.objects.snapshot().get(name).is_some() {
            return false; // What cannot be read is not gone.
        }
        self.waiting.remove(name);
        let is_known = self.states.remove(name).is_some();
        self.failed.remove(name);
        // Not what is known: a removal that broke off may have replaced it.
        if let Some(served) = self.access.registered(name) {
            let api = self.access.api.clone();
            drop(tasks::blocking(move || api.registry.remove(&served)).await);
        }
        is_known
    }

    /// Serves a definition as it is now, and has its row be the condition of writes. Returns false if a task serves it, which has
    /// not ended. It is not read again if it `is_read`. `refused` is why such a task has failed.
    pub(super) async fn serve(
        &mut self,
        name: &str,
        (object, definition, status): (&Arc<Object>, &Document, &Document),
        (served, is_read): (&mut Option<(Definition, Arc<ResourceEntry>)>, bool),
        refused: Option<(Definition, String)>,
    ) -> Result<bool, String> {
        let (hold, registry) = (self.access.hold(object), self.access.api.registry.clone());
        if let Some((_, served)) = served.as_ref().filter(|_| is_read)
            && registry.confirm(served, hold.clone())
        {
            return Ok(true);
        }
        let mut accepted = definition.clone();
        accepted["status"] = status.clone();
        let now = apart(move || defined(accepted)).await?;
        if let Some((_, why)) = refused.filter(|(definition, _)| *definition == now) {
            return Err(why);
        }
        if let Some((before, served)) = served
            && *before == now
            && registry.confirm(served, hold.clone())
        {
            return Ok(true);
        }
        if self.servings.is_serving(name, &now) {
            return Ok(false);
        }
        if let Some(Outcome { definition, served: Ok(late) }) = self.servings.end(name).await {
            *served = Some((definition, late));
        }
        if matches!(now.conversion, Conversion::Webhook(_)) {
            self.servings.serve(name, now, registry, hold);
            return Ok(false);
        }
        let kinds = now.kinds(&Custom);
        let replaced = tasks::blocking(move || registry.replace(kinds, Some(hold))).await;
        *served = Some((now, replaced.map_err(|error| error.to_string())??));
        Ok(true)
    }

    /// Notes what a task has served, or returns why it has failed.
    pub(super) fn note_served(&mut self, name: &str, outcome: Outcome) -> Option<(Definition, String)> {
        match outcome.served {
            Err(why) => Some((outcome.definition, why)),
            Ok(served) => {
                if let Some(state) = self.states.get_mut(name) {
                    state.served = Some((outcome.definition, served));
                }
                None
            }
        }
    }

    /// Ends the task of a definition, and notes what it has served.
    pub(super) async fn end_serving(&mut self, name: &str) {
        if let Some(outcome) = self.servings.end(name).await {
            self.note_served(name, outcome);
        }
    }

    /// Serves the objects of a definition that another server removes, without new ones.
    pub(super) fn end(&self, name: &str, object: &Object) {
        let Some(served) = self.access.registered(name) else { return };
        self.access.api.registry.end(&served);
        self.access.api.registry.confirm(&served, self.access.hold(object));
    }

    /// Removes the objects of a definition and then the definition, in a task.
    pub(super) fn remove(&mut self, name: &str, definition: &Document) {
        let removal = DefinitionRemoval {
            access: self.access.clone(),
            name: name.to_owned(),
            uid: definition["metadata"]["uid"].clone(),
        };
        self.removals.spawn(name.to_owned(), async move { removal.run().await });
    }
}
