//! The controller: a tenant owns a namespace with a ConfigMap in it, which are deleted with it. It also has a line in the
//! directory, a ConfigMap that all tenants share, so a finalizer keeps a deleted tenant until its line is removed.
use std::{collections::BTreeMap, sync::Arc, time::Duration};

use futures_util::StreamExt;
use k8s_openapi::{
    api::core::v1::{ConfigMap, Namespace},
    apimachinery::pkg::apis::meta::v1::{Condition, Time},
    jiff::Timestamp,
};
use kube::{
    Api, Client, Resource, ResourceExt,
    api::{ObjectMeta, Patch, PatchParams},
    runtime::{
        Controller,
        controller::Action,
        finalizer::{self, finalizer},
        watcher,
    },
};
use serde_json::json;

use crate::tenant::{Tenant, TenantStatus};

const FINALIZER: &str = "platform.example.com/directory";
const MANAGER: &str = "tenant-controller";
/// The namespace and the name of the directory.
const DIRECTORY: (&str, &str) = ("kube-public", "tenants");

/// The reason why a tenant could not be reconciled.
pub type Error = finalizer::Error<kube::Error>;

/// Runs the controller until the process is asked to stop.
pub async fn run(client: Client) {
    let tenants: Api<Tenant> = Api::all(client.clone());
    Controller::new(tenants, watcher::Config::default())
        .owns(Api::<Namespace>::all(client.clone()), watcher::Config::default())
        .owns(Api::<ConfigMap>::all(client.clone()), watcher::Config::default())
        .shutdown_on_signal()
        .run(reconcile, on_error, Arc::new(client))
        .for_each(|done| async {
            if let Err(error) = done {
                tracing::warn!(%error, "a tenant was not reconciled");
            }
        })
        .await;
}

fn on_error(_: Arc<Tenant>, _: &Error, _: Arc<Client>) -> Action {
    Action::requeue(Duration::from_secs(1))
}

async fn reconcile(tenant: Arc<Tenant>, client: Arc<Client>) -> Result<Action, Error> {
    let tenants: Api<Tenant> = Api::all((*client).clone());
    finalizer(&tenants, FINALIZER, tenant, |event| async {
        match event {
            finalizer::Event::Apply(tenant) => apply(&tenant, &client).await,
            finalizer::Event::Cleanup(tenant) => cleanup(&tenant, &client).await,
        }
    })
    .await
}

/// Writes the lines of a tenant in the directory. Each tenant is a field manager, whose apply removes lines that it no longer
/// has.
async fn write_directory(tenant: &Tenant, client: &Client, lines: BTreeMap<String, String>) -> Result<(), kube::Error> {
    let (namespace, name) = DIRECTORY;
    let directory = ConfigMap {
        metadata: ObjectMeta { name: Some(name.to_owned()), ..ObjectMeta::default() },
        data: Some(lines),
        ..ConfigMap::default()
    };
    let params = PatchParams::apply(&format!("tenant-{}", tenant.name_any()));
    Api::<ConfigMap>::namespaced(client.clone(), namespace).patch(name, &params, &Patch::Apply(&directory)).await?;
    Ok(())
}

async fn cleanup(tenant: &Tenant, client: &Client) -> Result<Action, kube::Error> {
    write_directory(tenant, client, BTreeMap::new()).await?;
    Ok(Action::await_change())
}

async fn apply(tenant: &Tenant, client: &Client) -> Result<Action, kube::Error> {
    write_directory(tenant, client, BTreeMap::from([(tenant.name_any(), tenant.spec.contact.clone())])).await?;

    let params = PatchParams::apply(MANAGER).force();
    let name = format!("tenant-{}", tenant.name_any());
    let metadata = |name: &str| ObjectMeta {
        name: Some(name.to_owned()),
        owner_references: tenant.controller_owner_ref(&()).map(|owner| vec![owner]),
        ..ObjectMeta::default()
    };
    let namespace = Namespace { metadata: metadata(&name), ..Namespace::default() };
    Api::<Namespace>::all(client.clone()).patch(&name, &params, &Patch::Apply(&namespace)).await?;
    let members = ConfigMap {
        metadata: metadata("members"),
        data: Some(tenant.spec.members.iter().map(|member| (member.clone(), String::new())).collect()),
        ..ConfigMap::default()
    };
    Api::<ConfigMap>::namespaced(client.clone(), &name).patch("members", &params, &Patch::Apply(&members)).await?;

    let status = TenantStatus {
        namespace: Some(name),
        observed_generation: tenant.metadata.generation,
        conditions: vec![ready(tenant)],
    };
    if tenant.status.as_ref() != Some(&status) {
        let patch = json!({"apiVersion": Tenant::api_version(&()), "kind": Tenant::kind(&()), "status": status});
        Api::<Tenant>::all(client.clone()).patch_status(&tenant.name_any(), &params, &Patch::Apply(patch)).await?;
    }
    Ok(Action::requeue(Duration::from_hours(1)))
}

/// The condition `Ready`, which keeps its time while it is true.
fn ready(tenant: &Tenant) -> Condition {
    let mut conditions = tenant.status.iter().flat_map(|status| &status.conditions);
    let before = conditions.find(|condition| condition.type_ == "Ready" && condition.status == "True");
    Condition {
        type_: "Ready".to_owned(),
        status: "True".to_owned(),
        reason: "NamespaceExists".to_owned(),
        message: String::new(),
        observed_generation: tenant.metadata.generation,
        last_transition_time: before
            .map_or_else(|| Time(Timestamp::now()), |before| before.last_transition_time.clone()),
    }
}
