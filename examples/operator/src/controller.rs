//! The controller. Each step may fail after it was carried out, and is written so that the next try finds what is there: applies, and
//! names that follow from the database.
use std::{future::ready, sync::Arc, time::Duration};

use futures_util::StreamExt;
use k8s_openapi::api::{apps::v1::Deployment, batch::v1::Job};
use kube::{
    Api, Client, Error, Resource, ResourceExt,
    api::{Patch, PatchParams, PostParams},
    runtime::{
        Controller,
        controller::{Action, Config},
        watcher,
    },
};
use serde_json::{Value, from_value, json};

use crate::Database;

/// The name of the controller, as the manager of its fields.
pub const NAME: &str = "database-operator";
/// How long a database waits that could not be reconciled.
const RETRY: Duration = Duration::from_millis(100);
/// The number of databases that are reconciled concurrently.
const CONCURRENCY: u16 = 8;

/// Runs the controller until it is dropped.
pub async fn run(client: Client) {
    let databases: Api<Database> = Api::all(client.clone());
    Controller::new(databases, watcher::Config::default())
        .owns(Api::<Deployment>::all(client.clone()), watcher::Config::default())
        .with_config(Config::default().concurrency(CONCURRENCY))
        .run(reconcile, |_, _: &Error, _| Action::requeue(RETRY), Arc::new(client))
        .for_each(|_| ready(()))
        .await;
}

/// Reconciles a database.
///
/// # Errors
/// If a request fails. Every step may be done again.
pub async fn reconcile(database: Arc<Database>, client: Arc<Client>) -> Result<Action, Error> {
    let (namespace, name) = (database.namespace().unwrap_or_default(), database.name_any());
    let params = PatchParams::apply(NAME).force();
    let deployments: Api<Deployment> = Api::namespaced((*client).clone(), &namespace);
    deployments.patch(&name, &params, &Patch::Apply(deployment(&database))).await?;

    let version = &database.spec.version;
    if database.migrated() != Some(version) {
        let jobs: Api<Job> = Api::namespaced((*client).clone(), &namespace);
        let job = migration(&database, json!({"name": format!("{name}-{version}")}));
        match jobs.create(&PostParams::default(), &job).await {
            // A try before this one has created it, even if it never got the answer.
            Err(Error::Api(status)) if status.is_already_exists() => {}
            created => drop(created?),
        }
        let databases: Api<Database> = Api::namespaced((*client).clone(), &namespace);
        let status = json!({"apiVersion": "example.com/v1", "kind": "Database", "status": {"version": version}});
        databases.patch_status(&name, &params, &Patch::Apply(status)).await?;
    }
    Ok(Action::await_change())
}

/// The Deployment in which a database runs.
pub fn deployment(database: &Database) -> Value {
    let labels = json!({"database": database.name_any()});
    json!({
        "apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": {"name": database.name_any(), "ownerReferences": [database.controller_owner_ref(&())]},
        "spec": {
            "replicas": database.spec.replicas,
            "selector": {"matchLabels": labels},
            "template": {
                "metadata": {"labels": labels},
                "spec": {"containers": [{"name": "database", "image": "example.com/database"}]},
            },
        },
    })
}

/// The Job that migrates a database, with a name or a beginning of one.
///
/// # Panics
/// Never: a Job has these fields.
pub fn migration(database: &Database, mut metadata: Value) -> Job {
    metadata["labels"] = json!({"database": database.name_any()});
    metadata["ownerReferences"] = json!([database.controller_owner_ref(&())]);
    let container = json!({"name": "migrate", "image": "example.com/migrate", "args": [database.spec.version]});
    let pod = json!({"restartPolicy": "Never", "containers": [container]});
    let job = json!({"metadata": metadata, "spec": {"template": {"spec": pod}}});
    from_value(job).expect("a Job has these fields")
}
