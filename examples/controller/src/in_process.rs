//! The controller with the server's own client, inside the process.
use kindsmith::{
    builtin::{ConfigMap, Event},
    client::{Client, Patch, WatchEvent},
    handlers::Result,
    meta::{
        options::{DeleteOptions, ListOptions},
        selector::Labels,
    },
    server::Shutdown,
};
use serde_json::json;

use crate::{FINALIZER, LABEL, PUBLIC, Site};

/// Reconciles one site. Applies that change nothing store nothing.
///
/// # Errors
/// If a write was refused; the caller tries again.
pub async fn reconcile(client: &Client, site: &Site) -> Result<()> {
    let (namespace, name) = (&site.metadata.namespace, &site.metadata.name);
    let sites = client.of::<Site>(namespace).field_manager("sites").force();
    let pages = client.of::<ConfigMap>(namespace).field_manager("sites").force();
    let records = client.of::<ConfigMap>(PUBLIC).field_manager("sites").force();
    let record = site.record();
    let held = site.metadata.finalizers.iter().any(|finalizer| finalizer == FINALIZER);

    if site.metadata.deletion_timestamp.is_some() {
        if held {
            let deleted = records.delete(&record.metadata.name, &DeleteOptions::default()).await;
            if let Some(refusal) = deleted.err().filter(|refusal| !refusal.status().is_not_found()) {
                return Err(refusal);
            }
            let release = |site: &mut Site| {
                site.metadata.finalizers.retain(|finalizer| finalizer != FINALIZER);
                Ok(())
            };
            sites.change(name, release).await?;
        }
        return Ok(());
    }
    if !held {
        // First, so that the record is deleted even if the site is deleted before this function ends.
        let hold = |site: &mut Site| {
            site.metadata.finalizers.push(FINALIZER.to_owned());
            Ok(())
        };
        sites.change(name, hold).await?;
    }
    pages.patch(name, &Patch::Apply(site.page())).await?;
    records.patch(&record.metadata.name, &Patch::Apply(&record)).await?;
    let status = site.published();
    if site.status.as_ref() != Some(&status) {
        sites.patch_status(name, &Patch::Apply(json!({"status": status}))).await?;
        let event = site.event("Published", format!("published {:?}", site.spec.title));
        client.of::<Event>(namespace).create(&event).await?;
    }
    Ok(())
}

/// Watches sites and their pages, and reconciles a site if either changes. The watches start with the existing objects, so
/// that no earlier change is missed.
///
/// # Errors
/// If a site cannot be reconciled, or a watch fails. The server then restarts the controller after a delay.
pub async fn run(client: Client, shutdown: Shutdown) -> Result<()> {
    let pages = ListOptions::labelled(Labels::parse(LABEL).expect("a selector"));
    let mut sites = client.of::<Site>("").watch(&ListOptions::default()).await?;
    let mut pages = client.of::<ConfigMap>("").watch(&pages).await?;
    loop {
        let site = tokio::select! {
            () = shutdown.requested() => return Ok(()),
            event = sites.next() => match event.transpose()? {
                Some(WatchEvent::Added(site) | WatchEvent::Modified(site)) => Some(site),
                Some(_) => None,
                None => return Ok(()),
            },
            event = pages.next() => match event.transpose()? {
                Some(WatchEvent::Modified(page) | WatchEvent::Deleted(page)) => {
                    client.of::<Site>(page.metadata.namespace).get_opt(&page.metadata.labels[LABEL]).await?
                }
                Some(_) => None,
                None => return Ok(()),
            },
        };
        if let Some(site) = site {
            reconcile(&client, &site).await?;
        }
    }
}
