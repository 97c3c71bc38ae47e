//! The same controller with kube-rs: in the process over `App::kube_client`, or over the network.
use std::{sync::Arc, time::Duration};

use futures_util::StreamExt;
use kindsmith::{
    builtin::{ConfigMap, Event},
    kube::Kube,
};
use kube::{
    Api, Client, ResourceExt,
    api::{DeleteParams, Patch, PatchParams, PostParams},
    runtime::{
        Controller,
        controller::{Action, Config},
        finalizer, watcher,
    },
};
use serde_json::json;

use crate::{FINALIZER, PUBLIC, Site};

/// The number of sites that are reconciled concurrently. Without a limit, the controller would at its start send requests
/// for all sites at once, and the server would refuse some of them with 429.
const AT_ONCE: u16 = 32;

/// The reason why a site could not be reconciled.
pub type Error = finalizer::Error<kube::Error>;

/// Reconciles one site.
///
/// # Errors
/// If a write was refused; the controller tries again.
pub async fn reconcile(site: Arc<Kube<Site>>, client: Arc<Client>) -> Result<Action, Error> {
    let sites = Api::namespaced((*client).clone(), &site.namespace().unwrap_or_default());
    let act = |event| async {
        match event {
            finalizer::Event::Apply(site) => apply(&site, &client).await,
            finalizer::Event::Cleanup(site) => cleanup(&site, &client).await,
        }
    };
    finalizer::finalizer(&sites, FINALIZER, site, act).await
}

async fn apply(site: &Kube<Site>, client: &Client) -> Result<Action, kube::Error> {
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
        let event = site.event("Published", format!("published {:?}", site.spec.title));
        let events: Api<Kube<Event>> = Api::namespaced(client.clone(), &namespace);
        events.create(&PostParams::default(), &event.into()).await?;
    }
    Ok(Action::await_change())
}

async fn cleanup(site: &Kube<Site>, client: &Client) -> Result<Action, kube::Error> {
    let records: Api<Kube<ConfigMap>> = Api::namespaced(client.clone(), PUBLIC);
    match records.delete(&site.record().metadata.name, &DeleteParams::default()).await {
        Err(kube::Error::Api(status)) if status.is_not_found() => Ok(Action::await_change()),
        deleted => deleted.map(|_| Action::await_change()),
    }
}

/// Watches sites and the pages that they own, and reconciles a site if either changes.
pub async fn run(client: Client, shutdown: impl Future<Output = ()> + Send + Sync + 'static) {
    let sites: Api<Kube<Site>> = Api::all(client.clone());
    let pages: Api<Kube<ConfigMap>> = Api::all(client.clone());
    let failed = |_: Arc<Kube<Site>>, error: &Error, _: Arc<Client>| {
        tracing::warn!(%error, "a site was not reconciled");
        Action::requeue(Duration::from_secs(1))
    };
    Controller::new(sites, watcher::Config::default())
        .owns(pages, watcher::Config::default())
        .with_config(Config::default().concurrency(AT_ONCE))
        .graceful_shutdown_on(shutdown)
        .run(reconcile, failed, Arc::new(client))
        .for_each(|_| std::future::ready(()))
        .await;
}
