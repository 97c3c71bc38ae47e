//! The end of a definition: its objects are deleted as clients delete them, so that their finalizers count; when none is left,
//! the resource is removed, and then the definition itself.
use std::{sync::Arc, time::Duration};

use super::{Access, FINALIZER, MANAGER, names::put_condition};
use crate::{
    cache::Object,
    meta::options::{DeleteOptions, WriteOptions},
    registry::Registered,
    schema::Document,
    verbs::{Error, Request},
};

/// The wait after the first pass that leaves objects. Each further wait is twice as long.
const FIRST_WAIT: Duration = Duration::from_millis(50);
/// The longest wait.
const LONGEST_WAIT: Duration = Duration::from_secs(5);

/// A definition that is marked for deletion.
pub(super) struct Ending {
    pub access: Access,
    pub name: String,
    /// Its uid: another definition may have the name once it is gone.
    pub uid: Document,
    /// What it defines; `None` if that is not served.
    pub served: Option<Arc<Registered>>,
}

impl Ending {
    /// Removes it, however long that takes.
    pub(super) async fn run(&self) {
        if let Some(served) = &self.served {
            self.empty(served).await;
        }
        let mut wait = FIRST_WAIT;
        while let Err(error) = self.finish().await {
            tracing::warn!(definition = self.name, error, "the definition could not be removed");
            tokio::time::sleep(wait).await;
            wait = LONGEST_WAIT.min(wait * 2);
        }
    }

    /// The definition, unless it is gone.
    fn find(&self) -> Option<(Arc<Object>, Document)> {
        self.access.find(&self.name).filter(|(_, found)| found["metadata"]["uid"] == self.uid)
    }

    /// Deletes all objects, and waits until they are gone. No new ones are created meanwhile.
    async fn empty(&self, served: &Arc<Registered>) {
        let Access { api, user, .. } = &self.access;
        served.declarer.iter().for_each(|declarer| declarer.end());
        let mut wait = FIRST_WAIT;
        while let snapshot = served.objects.snapshot()
            && !snapshot.is_empty()
        {
            // The definition may be written meanwhile, and objects with finalizers too.
            let Some((row, _)) = self.find() else { return };
            api.registry.confirm(served, self.access.hold(&row));
            for object in snapshot.range("", None) {
                let request = Request {
                    user: user.clone(),
                    served: served.clone(),
                    namespace: object.namespace().to_owned(),
                    name: object.name().to_owned(),
                    subresource: "".into(),
                    warnings: Arc::default(),
                };
                match api.delete(&request, &DeleteOptions::default()).await {
                    Ok(_) | Err(Error::NotFound(..)) => {}
                    Err(error) => {
                        let (definition, key) = (&self.name, object.key());
                        tracing::warn!(definition, key, ?error, "an object could not be deleted");
                    }
                }
            }
            if !served.objects.snapshot().is_empty() {
                tokio::time::sleep(wait).await;
                wait = LONGEST_WAIT.min(wait * 2);
            }
        }
    }

    /// Changes the row, after which no write of an object succeeds; removes the resource; and removes the finalizer. If a
    /// client has removed the finalizer already, only the resource is left to remove.
    async fn finish(&self) -> Result<(), String> {
        if let Some((_, mut definition)) = self.find() {
            let (reason, message) = ("InstanceDeletionCompleted", "removed all instances");
            put_condition(&mut definition["status"], "Terminating", false, reason, message);
            self.write("status", definition).await?;
        }
        if let Some(served) = &self.served {
            self.access.api.remove_resource(served).await.map_err(|error| error.to_string())?;
        }
        let Some((_, mut definition)) = self.find() else { return Ok(()) };
        if let Some(finalizers) = definition["metadata"]["finalizers"].as_array_mut() {
            finalizers.retain(|finalizer| finalizer != FINALIZER);
        }
        self.write("", definition).await
    }

    async fn write(&self, subresource: &str, definition: Document) -> Result<(), String> {
        let (request, options) = (self.access.request(&self.name, subresource), WriteOptions::of_server(MANAGER));
        match self.access.api.update(&request, definition, &options).await {
            Ok(_) | Err(Error::NotFound(..)) => Ok(()),
            Err(error) => Err(format!("{error:?}")),
        }
    }
}
