//! Publishes sites with kube's `Controller`. Nothing here knows where it runs: in the process of the server, or over the network.
use std::{convert::Infallible, future::ready, sync::Arc};

use futures_util::StreamExt;
use kindsmith::{
    builtin::ConfigMap,
    kube::Kube,
    server::{ControllerContext, Failures, Shutdown},
};
use kube::{
    Api, Client, Resource, ResourceExt,
    api::{DeleteParams, Patch, PatchParams},
    runtime::{
        Controller,
        controller::{Action, Config},
        events::{Event, EventType, Recorder},
        finalizer::{self, finalizer},
        reflector::ObjectRef,
        watcher,
    },
};
use serde_json::json;

use crate::{FINALIZER, LABEL, PUBLIC, Site};

/// The number of sites that are reconciled concurrently. Without a limit, the controller would at its start send requests
/// for all sites at once, and a server over the network would refuse some of them with 429.
const CONCURRENCY: u16 = 32;

/// The reason why a site could not be reconciled.
pub type Error = finalizer::Error<kube::Error>;

/// What reconciling needs.
struct Context {
    client: Client,
    recorder: Recorder,
}

/// Publishes sites in the process of the server, until it stops.
///
/// # Errors
/// Never. kube's watches begin again by themselves after errors.
pub async fn run(context: ControllerContext, shutdown: Shutdown) -> Result<(), Infallible> {
    publish(context.kube_client(), context.failures(), shutdown.requested()).await;
    Ok(())
}

/// Publishes sites until the shutdown. Watches sites and the pages that they own, and reconciles a site if either changes. A site
/// that fails is tried again after a delay of its own; the others do not wait for it.
pub async fn publish(client: Client, failures: &Failures, shutdown: impl Future<Output = ()> + Send + Sync + 'static) {
    let sites: Api<Kube<Site>> = Api::all(client.clone());
    let pages: Api<Kube<ConfigMap>> = Api::all(client.clone());
    let retry = |site: Arc<Kube<Site>>, error: &Error, _: Arc<Context>| {
        Action::requeue(failures.failed(ObjectRef::from_obj(&*site), error))
    };
    let recorder = Recorder::new(client.clone(), "example.com/sites".into());
    Controller::new(sites, watcher::Config::default())
        .owns(pages, watcher::Config::default().labels(LABEL))
        .with_config(Config::default().concurrency(CONCURRENCY))
        .graceful_shutdown_on(shutdown)
        .run(reconcile, retry, Arc::new(Context { client, recorder }))
        .for_each(|reconciled| {
            if let Ok((site, _)) = reconciled {
                failures.succeeded(site);
            }
            ready(())
        })
        .await;
}

/// Reconciles one site: holds it with the finalizer, publishes it, and withdraws it when it is deleted.
async fn reconcile(site: Arc<Kube<Site>>, context: Arc<Context>) -> Result<Action, Error> {
    let sites = Api::namespaced(context.client.clone(), &site.namespace().unwrap_or_default());
    let reconcile = |event| async {
        match event {
            finalizer::Event::Apply(site) => apply(&site, &context).await,
            finalizer::Event::Cleanup(site) => cleanup(&site, &context.client).await,
        }
    };
    finalizer(&sites, FINALIZER, site, reconcile).await
}

/// Applies what the site has. Applies that change nothing store nothing.
async fn apply(site: &Kube<Site>, Context { client, recorder }: &Context) -> Result<Action, kube::Error> {
    let (namespace, name) = (site.namespace().unwrap_or_default(), site.name_any());
    let sites: Api<Kube<Site>> = Api::namespaced(client.clone(), &namespace);
    let pages: Api<Kube<ConfigMap>> = Api::namespaced(client.clone(), &namespace);
    let records: Api<Kube<ConfigMap>> = Api::namespaced(client.clone(), PUBLIC);
    let params = PatchParams::apply("sites").force();
    let record = site.record();
    pages.patch(&name, &params, &Patch::Apply(site.page())).await?;
    records.patch(&record.metadata.name, &params, &Patch::Apply(&record)).await?;
    let status = site.published();
    if site.status.as_ref() != Some(&status) {
        let patch = json!({"apiVersion": "example.com/v1", "kind": "Site", "status": status});
        sites.patch_status(&name, &params, &Patch::Apply(patch)).await?;
        let event = Event {
            type_: EventType::Normal,
            reason: "Published".to_owned(),
            note: Some(format!("published {:?}", site.spec.title)),
            action: "Publish".to_owned(),
            secondary: None,
        };
        recorder.publish(&event, &site.object_ref(&())).await?;
    }
    Ok(Action::await_change())
}

/// Deletes the record. The page is deleted with its owner.
async fn cleanup(site: &Kube<Site>, client: &Client) -> Result<Action, kube::Error> {
    let records: Api<Kube<ConfigMap>> = Api::namespaced(client.clone(), PUBLIC);
    match records.delete(&site.record().metadata.name, &DeleteParams::default()).await {
        Err(kube::Error::Api(status)) if status.is_not_found() => Ok(Action::await_change()),
        deleted => deleted.map(|_| Action::await_change()),
    }
}
