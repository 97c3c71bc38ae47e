//! The end of a definition: its objects are deleted as clients delete them, so that their finalizers count; when none is left,
//! the resource is removed, and then the definition itself. If the definition could not be served, its objects are served without
//! a schema until they are deleted.
use std::{sync::Arc, time::Duration};

use serde_json::json;
use tokio::time::sleep;

use super::{Access, FINALIZER, LONGEST_WAIT, MANAGER, defined, names::put_condition, reading::written};
use crate::{
    cache::Object,
    kind::{
        model::{Names, Shared},
        policy::Custom,
    },
    meta::{
        GroupResource,
        options::{DeleteOptions, WriteOptions},
    },
    registry::ResourceEntry,
    schema::Document,
    storage::Hold,
    tasks,
    verbs::{Error, Items, Request},
};

/// The wait after the first pass that leaves objects. Each further wait is twice as long.
const FIRST_WAIT: Duration = Duration::from_millis(50);

/// A definition that is marked for deletion.
pub(super) struct DefinitionRemoval {
    pub access: Access,
    pub name: String,
    /// Its uid: another definition may have the name once it is gone.
    pub uid: Document,
}

impl DefinitionRemoval {
    /// Removes it, however long that takes.
    pub(super) async fn run(&self) {
        let mut wait = FIRST_WAIT;
        while let Err(error) = self.end().await {
            tracing::warn!(definition = self.name, error, "the definition could not be removed");
            sleep(wait).await;
            wait = LONGEST_WAIT.min(wait * 2);
        }
    }

    async fn end(&self) -> Result<(), String> {
        // Looked up in each try: the one before may have replaced the resource.
        let mut resource = match self.access.registered(&self.name) {
            Some(resource) => Some(resource),
            None => self.find_unserved().await?,
        };
        if let Some(resource) = &mut resource {
            self.empty(resource).await?;
        }
        self.finish(resource.as_ref()).await
    }

    /// The resource of a definition that could not be served; `None` if it has no objects.
    async fn find_unserved(&self) -> Result<Option<Arc<ResourceEntry>>, String> {
        let Some((row, definition)) = self.find() else { return Ok(None) };
        let text = |field: &str| definition.pointer(field).and_then(Document::as_str).unwrap_or_default().to_owned();
        let resource = GroupResource { group: text("/spec/group"), resource: text("/spec/names/plural") };
        if self.access.api.registry.resource(&resource).is_some() {
            return Ok(None); // The objects are those of a resource that is declared elsewhere.
        }
        let hold = self.access.hold(&row);
        let prefix = Shared::new(resource.group, Names::new("", resource.resource)).prefix();
        self.serve_bare(&definition, prefix, hold).await
    }

    /// Serves a definition that could not be served, without what may be wrong with it, if it has objects.
    ///
    /// # Errors
    /// The reason why it cannot be served, which the definition then says, too.
    async fn serve_bare(
        &self,
        definition: &Document,
        prefix: String,
        hold: Hold,
    ) -> Result<Option<Arc<ResourceEntry>>, String> {
        let bare = bare(definition.clone());
        let api = self.access.api.clone();
        let resource = tasks::blocking(move || {
            let (entries, _) = api.store.range(&prefix).map_err(|error| error.to_string())?;
            if entries.is_empty() {
                return Ok(None);
            }
            let defined = defined(bare)?;
            api.registry.replace_ending(defined.kinds(&Custom), hold).map(Some)
        });
        let resource = resource.await.map_err(|error| error.to_string()).and_then(|resource| resource);
        if let Err(error) = &resource {
            self.say_why(&format!("its objects cannot be served, so that they cannot be deleted: {error}")).await?;
        }
        resource
    }

    /// Says in the conditions that objects are being deleted. Why an earlier try has left some stays there.
    async fn say_that_it_begins(&self) -> Result<(), String> {
        self.say("InstanceDeletionInProgress", "CustomResource deletion is in progress", |reason| {
            reason == "InstanceDeletionPending"
        })
        .await
    }

    /// Says in the conditions why objects are left.
    async fn say_why(&self, message: &str) -> Result<(), String> {
        self.say("InstanceDeletionFailed", message, |_| true).await
    }

    /// Writes the condition of the removal, if the reason of the one before allows it.
    async fn say(&self, reason: &str, message: &str, replaces: impl Fn(&str) -> bool) -> Result<(), String> {
        let Some((_, mut definition)) = self.find() else { return Ok(()) };
        let before = definition["status"].clone();
        let mut conditions = before["conditions"].as_array().into_iter().flatten();
        let last = conditions.find(|condition| condition["type"] == "Terminating");
        if !replaces(last.and_then(|last| last["reason"].as_str()).unwrap_or_default()) {
            return Ok(());
        }
        put_condition(&mut definition["status"], "Terminating", true, reason, message);
        if definition["status"] == before {
            return Ok(());
        }
        self.write("status", definition).await
    }

    /// The definition, unless it is gone.
    fn find(&self) -> Option<(Arc<Object>, Document)> {
        self.access.find(&self.name).filter(|(_, found)| found["metadata"]["uid"] == self.uid)
    }

    /// Deletes all objects, and waits until they are gone. No new ones are created meanwhile. Objects that a webhook could not
    /// convert are served unconverted before, by another resource.
    async fn empty(&self, resource: &mut Arc<ResourceEntry>) -> Result<(), String> {
        let Access { api, user, .. } = &self.access;
        let mut wait = FIRST_WAIT;
        if !resource.objects.snapshot().is_empty() {
            self.say_that_it_begins().await?;
        }
        while let snapshot = resource.objects.snapshot()
            && !snapshot.is_empty()
        {
            api.registry.end(resource);
            // The definition may be written meanwhile, and objects with finalizers too.
            let Some((row, definition)) = self.find() else { return Ok(()) };
            let hold = self.access.hold(&row);
            if resource.webhooks.is_some() && snapshot.has_unreadable() {
                let prefix = resource.objects.prefix().to_owned();
                let Some(bare) = self.serve_bare(&definition, prefix, hold).await? else { return Ok(()) };
                *resource = bare;
                continue;
            }
            api.registry.confirm(resource, hold);
            let note = |one: &Request, error: Error| {
                let (definition, namespace, name) = (&self.name, &one.namespace, &one.name);
                tracing::warn!(definition, namespace, name, ?error, "an object could not be deleted");
                Ok(())
            };
            let deleted = api
                .delete_all(&Request::for_all(user, resource), &Items::all(&snapshot), &DeleteOptions::default(), note)
                .await;
            deleted.expect("errors are only noted");
            let left = resource.objects.snapshot();
            let mut unreadable = left.range("", None).filter_map(|object| Some((object.key(), object.unreadable()?)));
            if let Some((key, why)) = unreadable.next() {
                let others = match unreadable.count() {
                    0 => String::new(),
                    others => format!(" (and {others} more)"),
                };
                let message = format!(
                    "{key} cannot be read{others}, so that it can only be deleted by force, with \
                     ignoreStoreReadErrorWithClusterBreakingPotential: {why}"
                );
                self.say_why(&message).await?;
            }
            if !left.is_empty() {
                sleep(wait).await;
                wait = LONGEST_WAIT.min(wait * 2);
            }
        }
        Ok(())
    }

    /// Changes the row, after which no write of an object succeeds; removes the resource; and removes the finalizer. If a
    /// client has removed the finalizer already, only the resource is left to remove.
    async fn finish(&self, resource: Option<&Arc<ResourceEntry>>) -> Result<(), String> {
        if let Some((_, mut definition)) = self.find() {
            let (reason, message) = ("InstanceDeletionCompleted", "removed all instances");
            put_condition(&mut definition["status"], "Terminating", false, reason, message);
            self.write("status", definition).await?;
        }
        if let Some(resource) = resource {
            self.access.api.remove_resource(resource).await.map_err(|error| error.to_string())?;
        }
        let Some((_, mut definition)) = self.find() else { return Ok(()) };
        if let Some(finalizers) = definition["metadata"]["finalizers"].as_array_mut() {
            finalizers.retain(|finalizer| finalizer != FINALIZER);
        }
        self.write("", definition).await
    }

    async fn write(&self, subresource: &str, definition: Document) -> Result<(), String> {
        let (request, options) = (self.access.request(&self.name, subresource), WriteOptions::of_server(MANAGER));
        let api = self.access.api.clone();
        match written(async move { api.update(&request, definition, &options).await }).await {
            Ok(_) | Err(Error::NotFound(..)) => Ok(()),
            Err(error) => Err(format!("{error:?}")),
        }
    }
}

/// A definition without what its objects do not need to be deleted: any content is valid, and there is no subresource.
fn bare(mut definition: Document) -> Document {
    definition["spec"]["conversion"] = json!({"strategy": "None"});
    definition["status"] = json!({"acceptedNames": definition["spec"]["names"]});
    for version in definition["spec"]["versions"].as_array_mut().into_iter().flatten() {
        let schema = json!({"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}});
        let [name, served, storage] = ["name", "served", "storage"].map(|field| version[field].take());
        *version = json!({"name": name, "served": served, "storage": storage, "schema": schema});
    }
    definition
}

#[cfg(test)]
mod tests {
    use super::{super::Definitions, *};
    use crate::{
        builtin::{definitions::definition_kind, tests::Inside},
        registry::Registry,
    };

    const NAME: &str = "gadgets.example.com";

    /// A definition, and a resource under its row that is not the one that was served first.
    async fn replaced() -> (Inside, Access) {
        let inside = Inside::new().await;
        inside.api.registry.register([definition_kind()]).unwrap();
        let access = Definitions::load(&inside.api).access;
        let schema = json!({"openAPIV3Schema": {"type": "object"}});
        let names = json!({"plural": "gadgets", "singular": "gadget", "kind": "Gadget", "listKind": "GadgetList"});
        let definition = json!({"metadata": {"name": NAME, "finalizers": [FINALIZER]}, "spec": {
            "group": "example.com", "scope": "Namespaced", "names": names,
            "versions": [{"name": "v1", "served": true, "storage": true, "schema": schema}],
        }});
        let created = access.api.create(&access.request("", ""), definition, &WriteOptions::default()).await;
        assert!(created.is_ok(), "{:?}", created.err());
        let (row, definition) = access.find(NAME).unwrap();
        let kinds = defined(bare(definition)).unwrap().kinds(&Custom);
        let first = access.api.registry.replace(kinds.clone(), Some(access.hold(&row))).unwrap();
        access.api.registry.replace_ending(kinds, access.hold(&row)).unwrap();
        assert!(!access.api.registry.serves(&first));
        (inside, access)
    }

    fn is_served(registry: &Registry) -> bool {
        registry.find("example.com", "v1", "gadgets").is_some()
    }

    async fn delete(access: &Access) {
        let deleted = access.api.delete(&access.request(NAME, ""), &DeleteOptions::default()).await;
        assert!(deleted.is_ok(), "{:?}", deleted.err());
    }

    #[tokio::test]
    async fn what_an_earlier_try_has_served_is_removed() {
        let (inside, access) = replaced().await;
        delete(&access).await;
        let uid = access.find(NAME).unwrap().1["metadata"]["uid"].clone();
        let removal = DefinitionRemoval { access: access.clone(), name: NAME.to_owned(), uid };
        assert!(is_served(&inside.api.registry));
        removal.end().await.unwrap();
        assert!(access.find(NAME).is_none() && !is_served(&inside.api.registry));
    }

    #[tokio::test]
    async fn what_a_removal_has_served_that_broke_off_is_removed_with_the_definition() {
        let (inside, access) = replaced().await;
        let mut definitions = Definitions::load(&inside.api);
        definitions.forget(NAME).await;
        assert!(is_served(&inside.api.registry), "it is defined");
        delete(&access).await;
        let (_, mut definition) = access.find(NAME).unwrap();
        definition["metadata"]["finalizers"] = json!([]);
        assert!(access.api.update(&access.request(NAME, ""), definition, &WriteOptions::default()).await.is_ok());
        assert!(access.find(NAME).is_none());
        definitions.forget(NAME).await;
        assert!(!is_served(&inside.api.registry));
    }
}
