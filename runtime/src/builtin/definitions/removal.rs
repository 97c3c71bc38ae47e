//! The end of a definition: its objects are deleted as clients delete them, so that their finalizers count; when none is left,
//! the resource is removed, and then the definition itself.
use std::{sync::Arc, time::Duration};

use super::{Access, FINALIZER, MANAGER, names::put_condition};
use crate::{
    meta::{
        GroupResource,
        options::{DeleteOptions, WriteOptions},
    },
    registry::Registered,
    schema::Document,
    verbs::{Error, Request},
};

/// The wait after the first pass that leaves objects. Each further wait is twice as long.
const FIRST_WAIT: Duration = Duration::from_millis(50);
/// The longest wait.
const LONGEST_WAIT: Duration = Duration::from_secs(5);

/// Removes a definition that is marked for deletion, however long that takes.
pub(super) async fn run(access: &Access, name: &str, resource: Option<&GroupResource>) {
    let served = resource.and_then(|resource| access.api.registry.resource(resource));
    if let Some(served) = &served {
        empty(access, name, served).await;
    }
    let mut wait = FIRST_WAIT;
    while let Err(error) = finish(access, name, resource).await {
        tracing::warn!(definition = name, error, "the definition could not be removed");
        tokio::time::sleep(wait).await;
        wait = LONGEST_WAIT.min(wait * 2);
    }
}

/// Deletes all objects, and waits until they are gone. No new ones are created meanwhile.
async fn empty(access: &Access, name: &str, served: &Arc<Registered>) {
    let (registry, shared) = (&access.api.registry, &served.kind.shared);
    registry.end(&shared.group, &shared.names.plural);
    let mut wait = FIRST_WAIT;
    while let snapshot = served.objects.snapshot()
        && !snapshot.is_empty()
    {
        // The definition may be written meanwhile, and objects with finalizers too.
        let Some((row, _)) = access.find(name) else { return };
        registry.confirm(&shared.group, &shared.names.plural, access.hold(&row));
        for object in snapshot.range("", None) {
            let request = Request {
                user: access.user.clone(),
                served: served.clone(),
                namespace: object.namespace().to_owned(),
                name: object.name().to_owned(),
                subresource: "".into(),
                warnings: Arc::default(),
            };
            match access.api.delete(&request, &DeleteOptions::default()).await {
                Ok(_) | Err(Error::NotFound(..)) => {}
                Err(error) => {
                    tracing::warn!(definition = name, key = object.key(), ?error, "an object could not be deleted");
                }
            }
        }
        if !served.objects.snapshot().is_empty() {
            tokio::time::sleep(wait).await;
            wait = LONGEST_WAIT.min(wait * 2);
        }
    }
}

/// Changes the row, after which no write of an object succeeds; removes the resource; and removes the finalizer.
async fn finish(access: &Access, name: &str, resource: Option<&GroupResource>) -> Result<(), String> {
    let Some((_, mut definition)) = access.find(name) else { return Ok(()) };
    put_condition(
        &mut definition["status"],
        "Terminating",
        false,
        "InstanceDeletionCompleted",
        "removed all instances",
    );
    write(access, name, "status", definition).await?;
    if let Some(resource) = resource {
        access.api.remove_resource(resource).await.map_err(|error| error.to_string())?;
    }
    let Some((_, mut definition)) = access.find(name) else { return Ok(()) };
    if let Some(finalizers) = definition["metadata"]["finalizers"].as_array_mut() {
        finalizers.retain(|finalizer| finalizer != FINALIZER);
    }
    write(access, name, "", definition).await
}

async fn write(access: &Access, name: &str, subresource: &str, definition: Document) -> Result<(), String> {
    match access.api.update(&access.request(name, subresource), definition, &WriteOptions::of_server(MANAGER)).await {
        Ok(_) | Err(Error::NotFound(..)) => Ok(()),
        Err(error) => Err(format!("{error:?}")),
    }
}
