//! Admission may change only what the write itself may change, for every verb.
use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
};

use serde_json::{Value, json};

use super::fixture::{World, applier, at, below, dry_run, merge_patch, owners, shown, version};
use crate::{
    meta::{
        Operation, Status,
        options::{DeleteOptions, PatchOptions, WriteOptions},
        refusal::{Refusal, Result},
    },
    schema::Document,
    verbs::{Admission, Attributes, Error, Patch, Plugin, Verbs},
};

/// An admission step that makes configurable changes, and records the objects before and after.
struct Forger {
    change: fn(&mut Document),
    seen: Mutex<Vec<[Document; 2]>>,
}

impl Admission for Forger {
    async fn admit(&self, _: &Attributes<'_>, object: &mut Document) -> Result<()> {
        let given = object.clone();
        (self.change)(object);
        self.seen.lock().unwrap().push([given, Document::Null]);
        Ok(())
    }

    async fn validate(&self, _: &Attributes<'_>, object: &Document) -> Result<()> {
        self.seen.lock().unwrap().last_mut().expect("it was admitted")[1] = object.clone();
        Ok(())
    }
}

/// The widgets of a world with an admission step, and its records.
struct Forged {
    world: World,
    api: Arc<Verbs>,
    forger: Arc<Forger>,
}

/// The fields that only the server sets.
const SYSTEM: [&str; 7] = [
    "uid",
    "creationTimestamp",
    "generation",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "namespace",
    "resourceVersion",
];

/// Forges the system fields of a new object, and more.
fn forge_new(object: &mut Document) {
    let metadata = &mut object["metadata"];
    metadata["uid"] = json!("forged");
    metadata["deletionTimestamp"] = json!("2001-01-01T00:00:00Z");
    metadata["deletionGracePeriodSeconds"] = json!(7);
    forge(object);
}

/// Forges fields that are reset without an error, the status and the spec, and adds a label.
fn forge(object: &mut Document) {
    let metadata = &mut object["metadata"];
    metadata["creationTimestamp"] = json!("2001-01-01T00:00:00Z");
    metadata["generation"] = json!(77);
    metadata["selfLink"] = json!("forged");
    metadata["labels"] = json!({"seen": "yes"});
    object["apiVersion"] = json!("forged.example.com/v9");
    object["kind"] = json!("Forgery");
    object["spec"]["color"] = json!("Green");
    object["status"]["phase"] = json!("Forged");
}

impl Forged {
    async fn new(change: fn(&mut Document)) -> Self {
        let world = World::new().await;
        let forger = Arc::new(Forger { change, seen: Mutex::default() });
        let (registry, cache) = (world.api.registry.clone(), world.api.cache.clone());
        let api = Verbs::with_admission(registry, cache, world.store.clone(), vec![Plugin::new(forger.clone())]);
        Self { world, api, forger }
    }

    /// A widget with a status, created without the admission step.
    async fn widget(&self) -> Value {
        self.world.create_widget(json!({"metadata": {"name": "w"}, "spec": {"size": 1}})).await;
        let status = below(self.world.widget("w"), "status");
        self.world.merge(&status, json!({"status": {"phase": "Ready"}})).await.unwrap()
    }

    /// Validating admission saw the object that was stored.
    fn check_validated(&self, stored: &Value) {
        let [given, validated] = self.forger.seen.lock().unwrap().last().cloned().expect("it was admitted");
        for (object, when) in [(&given, "admission"), (&validated, "validation")] {
            for member in ["uid", "creationTimestamp", "namespace"] {
                assert_eq!(object["metadata"][member], stored["metadata"][member], "{member} before {when}");
            }
        }
        assert_eq!((&validated["spec"], &validated["status"]), (&stored["spec"], &stored["status"]));
    }

    /// Writes the widget `w` in every way that changes an object, each from the same state.
    async fn rewritten(&self, subresource: &str, body: &Value) -> Vec<(&'static str, Value)> {
        let request = below(self.world.widget("w"), subresource);
        let patch = PatchOptions { write: dry_run(), force: true };
        let apply = PatchOptions { write: WriteOptions { dry_run: true, ..applier("one").write }, force: true };
        let mut config = body.clone();
        (config["apiVersion"], config["kind"]) = (json!("example.com/v1"), json!("Widget"));
        config["metadata"] = json!({"name": "w"});
        let mut replaced = body.clone();
        let live = self.world.get(&self.world.widget("w")).await.unwrap();
        replaced["metadata"] = json!({"name": "w", "resourceVersion": version(&live)});
        let replace = json!([{"op": "add", "path": "/spec", "value": body["spec"]},
            {"op": "add", "path": "/status", "value": body["status"]}]);
        let done = [
            ("update", self.api.update(&request, replaced, &dry_run()).await),
            ("merge patch", self.api.patch(&request, merge_patch(body), &patch).await),
            ("JSON patch", self.api.patch(&request, Patch::Json(replace.to_string().into()), &patch).await),
            ("apply", self.api.patch(&request, Patch::Apply(config.into()), &apply).await),
        ];
        done.map(|(verb, written)| {
            let object = shown(written.unwrap_or_else(|error| panic!("{verb}: {error:?}")));
            self.check_validated(&object);
            (verb, object)
        })
        .into()
    }
}

#[tokio::test]
async fn admission_cannot_forge_system_fields_of_a_new_object() {
    let forged = Forged::new(forge_new).await;
    let body = json!({"metadata": {"name": "w"}, "spec": {"size": 1}, "status": {"phase": "Sent"}});
    let made = forged.api.create(&forged.world.widget(""), body, &WriteOptions::default()).await.map(shown).unwrap();
    let metadata = &made["metadata"];
    assert_ne!(metadata["uid"], "forged");
    assert!(metadata["creationTimestamp"].as_str().unwrap() > "2020");
    assert_eq!((&metadata["generation"], &metadata["namespace"]), (&json!(1), &json!("ns")));
    assert_eq!(metadata.get("deletionTimestamp").or(metadata.get("deletionGracePeriodSeconds")), None);
    assert_eq!((&made["apiVersion"], &made["kind"]), (&json!("example.com/v1"), &json!("Widget")));
    assert_eq!(made.get("status"), None, "status has its own subresource");
    assert_eq!((&made["spec"]["color"], &metadata["labels"]), (&json!("Green"), &json!({"seen": "yes"})));
    assert_eq!(forged.world.get(&forged.world.widget("w")).await.unwrap(), made);
    forged.check_validated(&made);
}

#[tokio::test]
async fn the_same_holds_for_objects_created_by_an_apply() {
    let forged = Forged::new(forge_new).await;
    let config =
        json!({"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "w"}, "spec": {"size": 1}});
    let patch = Patch::Apply(config.into());
    let made = forged.api.patch(&forged.world.widget("w"), patch, &applier("one")).await.map(shown).unwrap();
    assert_eq!((made["metadata"]["uid"] != "forged", &made["metadata"]["generation"]), (true, &json!(1)));
    assert_eq!((made.get("status"), &made["spec"]["color"]), (None, &json!("Green")));
    assert_eq!(owners(&made)[0].1, json!({"f:spec": {"f:size": {}}}), "what admission has changed has no owner");
    forged.check_validated(&made);
}

#[tokio::test]
async fn admission_cannot_change_system_fields_or_status_in_writes_of_an_object() {
    let forged = Forged::new(forge).await;
    let live = forged.widget().await;
    let body = json!({"spec": {"size": 2}, "status": {"phase": "Sent"}});
    for (verb, object) in forged.rewritten("", &body).await {
        for member in SYSTEM {
            let expected = if member == "generation" { &json!(2) } else { &live["metadata"][member] };
            assert_eq!(&object["metadata"][member], expected, "{member} after {verb}");
        }
        assert_eq!((&object["apiVersion"], &object["kind"]), (&live["apiVersion"], &live["kind"]), "{verb}");
        assert_eq!(object["status"], live["status"], "{verb}");
        assert_eq!((&object["spec"]["size"], &object["spec"]["color"]), (&json!(2), &json!("Green")), "{verb}");
        assert_eq!(object["metadata"]["labels"], json!({"seen": "yes"}), "{verb}");
    }
}

#[tokio::test]
async fn admission_cannot_change_anything_else_in_writes_of_the_status() {
    let forged = Forged::new(forge).await;
    let live = forged.widget().await;
    let body = json!({"spec": {"size": 2}, "status": {"phase": "Sent", "replicas": 4}});
    for (verb, mut object) in forged.rewritten("status", &body).await {
        assert_eq!(object["status"], json!({"phase": "Forged", "replicas": 4}), "{verb}");
        let writer = if verb == "apply" { "one Apply status" } else { "unknown Update status" };
        assert!(owners(&object).iter().any(|(owner, _)| owner == writer), "{verb}: {object}");
        object["status"] = live["status"].clone();
        object["metadata"]["managedFields"] = live["metadata"]["managedFields"].clone();
        assert_eq!(object, live, "{verb}");
    }
}

#[tokio::test]
async fn admission_cannot_change_anything_else_in_writes_of_the_scale() {
    let forged = Forged::new(|object| {
        forge(object);
        object["spec"]["replicas"] = json!(9);
    })
    .await;
    let live = forged.widget().await;
    let scale = below(forged.world.widget("w"), "scale");
    let patch = merge_patch(&json!({"spec": {"replicas": 5}}));
    forged.api.patch(&scale, patch, &PatchOptions::default()).await.unwrap();
    let mut object = forged.world.get(&forged.world.widget("w")).await.unwrap();
    assert_eq!((&object["spec"]["replicas"], &object["metadata"]["generation"]), (&json!(9), &json!(2)));
    object["spec"]["replicas"] = live["spec"]["replicas"].clone();
    for member in ["resourceVersion", "generation", "managedFields"] {
        object["metadata"][member] = live["metadata"][member].clone();
    }
    assert_eq!(object, live);
}

/// A change by admission, and the code and a part of the message that refuse it.
type Forgery = (fn(&mut Document), u16, &'static str);

#[tokio::test]
async fn changes_by_admission_of_immutable_fields_are_refused_like_those_of_clients() {
    let changes: [Forgery; 5] = [
        (|object| object["metadata"]["uid"] = json!("forged"), 422, "metadata.uid: Invalid value"),
        (|object| object["metadata"]["name"] = json!("forged"), 422, "metadata.name: Invalid value"),
        (|object| object["metadata"]["namespace"] = json!("forged"), 400, "the namespace of the provided object"),
        (|object| object["metadata"]["deletionTimestamp"] = json!("2001-01-01T00:00:00Z"), 422, "deletionTimestamp"),
        (|object| object["metadata"]["resourceVersion"] = json!("1"), 409, "the object has been modified"),
    ];
    for (change, code, why) in changes {
        let forged = Forged::new(change).await;
        let live = forged.widget().await;
        let patch = merge_patch(&json!({"spec": {"size": 2}}));
        let refused = forged.api.patch(&forged.world.widget("w"), patch, &PatchOptions::default()).await;
        let status = Status::from(refused.expect_err("a forgery"));
        assert!(status.code == code && status.message.contains(why), "{why}: {status:?}");
        let request = below(forged.world.widget("w"), "status");
        let patch = merge_patch(&json!({"status": {"phase": "Other"}}));
        if code != 409 {
            let shown = forged.api.patch(&request, patch, &PatchOptions::default()).await.map(shown).unwrap();
            assert_eq!(shown["metadata"]["uid"], live["metadata"]["uid"], "a write of the status sets nothing else");
        }
    }
    let new: [Forgery; 2] = [
        (|object| object["metadata"]["namespace"] = json!("forged"), 400, "the namespace of the provided object"),
        (|object| object["metadata"]["resourceVersion"] = json!("1"), 500, "resourceVersion should not be set"),
    ];
    for (change, code, why) in new {
        let forged = Forged::new(change).await;
        let body = json!({"metadata": {"name": "w"}, "spec": {"size": 1}});
        let refused = forged.api.create(&forged.world.widget(""), body, &WriteOptions::default()).await;
        let status = Status::from(refused.expect_err("a forgery"));
        assert!(status.code == code && status.message.contains(why), "{why}: {status:?}");
    }
}

#[tokio::test]
async fn admission_may_set_a_name_only_if_the_path_has_none() {
    fn rename(object: &mut Document) {
        if object["metadata"]["name"] == "w" {
            object["metadata"]["name"] = json!("renamed");
        }
    }
    let forged = Forged::new(rename).await;
    let body = json!({"metadata": {"name": "w"}, "spec": {"size": 1}});
    let made = forged.api.create(&forged.world.widget(""), body, &WriteOptions::default()).await.map(shown).unwrap();
    assert_eq!(made["metadata"]["name"], "renamed");
    let (patch, options) = (merge_patch(&json!({"spec": {"size": 3}})), PatchOptions::default());
    let grown = forged.api.patch(&forged.world.widget("renamed"), patch, &options).await.map(shown).unwrap();
    assert_eq!(grown["metadata"]["name"], "renamed");
}

#[tokio::test]
async fn finalizers_of_a_namespace_are_removed_only_through_their_subresource() {
    let forged = Forged::new(|object| object["spec"] = json!({})).await;
    let namespaces = &forged.world.namespaces;
    let body = json!({"metadata": {"name": "new"}});
    let made = forged.api.create(&at(namespaces, "", ""), body, &WriteOptions::default()).await.map(shown).unwrap();
    assert_eq!(made["spec"]["finalizers"], json!(["kubernetes"]));
    forged.world.delete(&at(namespaces, "", "ns")).await.unwrap();
    let patch = merge_patch(&json!({"metadata": {"labels": {"a": "b"}}, "spec": {"finalizers": null}}));
    let ending = forged.api.patch(&at(namespaces, "", "ns"), patch, &PatchOptions::default()).await.map(shown).unwrap();
    assert_eq!(
        (&ending["spec"]["finalizers"], &ending["metadata"]["labels"]["a"]),
        (&json!(["kubernetes"]), &json!("b"))
    );
    assert!(forged.world.get(&at(namespaces, "", "ns")).await.is_ok(), "it is still there");
}

#[tokio::test]
async fn admission_that_does_not_leave_an_object_fails_the_write() {
    let forged = Forged::new(|object| *object = json!([1])).await;
    let body = json!({"metadata": {"name": "a"}});
    let refused = forged.api.create(&at(&forged.world.configs, "ns", ""), body, &WriteOptions::default()).await;
    assert!(matches!(refused, Err(Error::Internal(_))), "{refused:?}");
}

/// Admission that refuses all deletions, and objects with the name `refused`.
struct Refuser;

impl Admission for Refuser {
    fn name(&self) -> &'static str {
        "Quota"
    }

    async fn validate(&self, attributes: &Attributes<'_>, _: &Document) -> Result<()> {
        let refuses = attributes.name == "refused" || attributes.operation == Operation::Delete;
        if refuses { Err(Refusal::forbidden("no")) } else { Ok(()) }
    }
}

#[tokio::test]
async fn each_step_of_admission_is_timed_by_operation_and_outcome() {
    let world = World::new().await;
    let forger = Arc::new(Forger { change: |_| (), seen: Mutex::default() });
    let (registry, cache) = (world.api.registry.clone(), world.api.cache.clone());
    let api =
        Verbs::with_admission(registry, cache, world.store.clone(), vec![Plugin::new(forger), Plugin::new(Refuser)]);
    let body = |name| json!({"metadata": {"name": name}, "spec": {"size": 1}});
    api.create(&world.widget(""), body("w"), &WriteOptions::default()).await.unwrap();
    api.create(&world.widget(""), body("refused"), &WriteOptions::default()).await.unwrap_err();
    api.delete(&world.widget("w"), &DeleteOptions::default()).await.unwrap_err();
    let timed: BTreeMap<_, _> = api
        .admission_durations()
        .map(|(name, durations)| {
            let shown = durations.all().into_iter().map(|(step, operation, rejected, totals)| {
                (format!("{} {} {rejected}", step.as_str(), operation.as_str()), totals.count())
            });
            (name.unwrap_or("all").to_owned(), shown.collect::<Vec<_>>())
        })
        .collect();
    let count = |name: &str, count| (name.to_owned(), count);
    let refused =
        [count("validate CREATE false", 1), count("validate CREATE true", 1), count("validate DELETE true", 1)];
    let admitted = [count("admit CREATE false", 2), count("admit DELETE false", 1)];
    let all = [&admitted[..], &refused[..]].concat();
    assert_eq!((&timed["all"], &timed["Quota"]), (&all, &all));
    let validated = [count("validate CREATE false", 2), count("validate DELETE false", 1)];
    let through = [admitted, validated].concat();
    assert_eq!(timed["Forger"], through);
}
