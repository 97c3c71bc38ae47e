//! Controllers as they are written by hand: each of them works as long as nothing happens, and has one mistake.
use std::{collections::BTreeSet, future::ready, pin::pin, sync::Arc, time::Duration};

use futures_util::{StreamExt, TryStreamExt};
use k8s_openapi::api::batch::v1::Job;
use kube::{
    Api, Client, Error, ResourceExt,
    api::{ListParams, Patch, PatchParams, PostParams, WatchEvent, WatchParams},
    runtime::{Controller, controller::Action, watcher},
};
use operator::{Database, DatabaseStatus, controller};
use serde_json::{Value, json};
use tokio::time::{sleep, timeout};

/// The delay of those that try again.
const RETRY: Duration = Duration::from_millis(20);

fn all(client: &Client) -> Api<Database> {
    Api::all(client.clone())
}

/// Writes the status.
async fn finish(database: &Database, client: &Client) -> Result<(), Error> {
    let databases: Api<Database> = Api::default_namespaced(client.clone());
    let status = json!({"status": {"version": database.spec.version}});
    databases.patch_status(&database.name_any(), &PatchParams::default(), &Patch::Merge(status)).await.map(drop)
}

/// Replaces the status that it has read, and takes a conflict for a sign that someone else did the work.
pub(crate) async fn ignores_conflicts(client: Client) {
    async fn reconcile(database: Arc<Database>, client: Arc<Client>) -> Result<Action, Error> {
        let databases: Api<Database> = Api::default_namespaced((*client).clone());
        let mut own = (*database).clone();
        own.status = Some(DatabaseStatus { version: Some(own.spec.version.clone()) });
        match databases.replace_status(&own.name_any(), &PostParams::default(), &own).await {
            Err(Error::Api(status)) if status.code == 409 => Ok(Action::await_change()),
            written => written.map(|_| Action::await_change()),
        }
    }
    let retry = |_: Arc<Database>, _: &Error, _: Arc<Client>| Action::requeue(RETRY);
    let running = Controller::new(all(&client), watcher::Config::default()).run(reconcile, retry, Arc::new(client));
    running.for_each(|_| ready(())).await;
}

/// Creates a Job with a generated name, and takes a lost answer for one that was not created.
pub(crate) async fn creates_again(client: Client) {
    creates_with(|_| json!({"generateName": "migrate-"}), client).await;
}

/// Creates a Job with a fixed name. If the answer was lost, takes its own Job for that of another.
pub(crate) async fn stumbles_over_its_own(client: Client) {
    creates_with(|database| json!({"name": database.name_any()}), client).await;
}

/// Creates a Job with this metadata for each database that was not migrated.
async fn creates_with(metadata: fn(&Database) -> Value, client: Client) {
    type Context = (Client, fn(&Database) -> Value);
    async fn reconcile(database: Arc<Database>, context: Arc<Context>) -> Result<Action, Error> {
        let (client, metadata) = &*context;
        if database.migrated().is_none() {
            let jobs: Api<Job> = Api::default_namespaced(client.clone());
            let job = controller::migration(&database, metadata(&database));
            jobs.create(&PostParams::default(), &job).await?;
            finish(&database, client).await?;
        }
        Ok(Action::await_change())
    }
    let retry = |_: Arc<Database>, _: &Error, _: Arc<Context>| Action::requeue(RETRY);
    let context = Arc::new((client.clone(), metadata));
    let running = Controller::new(all(&client), watcher::Config::default()).run(reconcile, retry, context);
    running.for_each(|_| ready(())).await;
}

/// Takes any error for a final one.
pub(crate) async fn gives_up(client: Client) {
    let forget = |_: Arc<Database>, _: &Error, _: Arc<Client>| Action::await_change();
    let databases = Controller::new(all(&client), watcher::Config::default());
    databases.run(controller::reconcile, forget, Arc::new(client)).for_each(|_| ready(())).await;
}

/// Waits for each request as long as for a fast one, and takes a slow answer for a final error.
pub(crate) async fn waits_too_briefly(client: Client) {
    async fn reconcile(database: Arc<Database>, client: Arc<Client>) -> Result<Action, Error> {
        match timeout(Duration::from_secs(5), controller::reconcile(database, client)).await {
            Ok(reconciled) => reconciled,
            Err(_) => Ok(Action::await_change()),
        }
    }
    let retry = |_: Arc<Database>, _: &Error, _: Arc<Client>| Action::requeue(RETRY);
    let running = Controller::new(all(&client), watcher::Config::default()).run(reconcile, retry, Arc::new(client));
    running.for_each(|_| ready(())).await;
}

/// Lists and watches once, as in many examples. The first end of the watch is its own end.
pub(crate) async fn watches_once(client: Client) {
    let list = all(&client).list(&ListParams::default()).await.expect("a list");
    let from = list.metadata.resource_version.unwrap_or_default();
    let mut done = BTreeSet::new();
    let watch = all(&client).watch(&WatchParams::default(), &from).await.expect("a watch");
    let mut watch = pin!(watch);
    while let Ok(Some(WatchEvent::Added(database) | WatchEvent::Modified(database))) = watch.try_next().await {
        if done.insert(database.name_any()) {
            drop(finish(&database, &client).await);
        }
    }
}

/// Lists once, and watches again and again from there. Nothing else than a new list helps once the server has forgotten that.
pub(crate) async fn never_lists_again(client: Client) {
    let list = all(&client).list(&ListParams::default()).await.expect("a list");
    let from = list.metadata.resource_version.unwrap_or_default();
    let mut done = BTreeSet::new();
    loop {
        if let Ok(watch) = all(&client).watch(&WatchParams::default(), &from).await {
            let mut watch = pin!(watch);
            while let Ok(Some(event)) = watch.try_next().await {
                if let WatchEvent::Added(database) | WatchEvent::Modified(database) = event
                    && done.insert(database.name_any())
                {
                    drop(finish(&database, &client).await);
                }
            }
        }
        sleep(RETRY).await;
    }
}
