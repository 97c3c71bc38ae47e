//! Aggregated roles: gathers the rules of the roles that their selectors select, whenever one of these changes.
use std::{sync::Arc, time::Duration};

use tokio::{sync::watch as signal, time::sleep};

use super::{AggregationRule, ClusterRole, PolicyRule};
use crate::{
    Resource as _,
    cache::{Object, Snapshot, Subscription},
    kind::client::Client,
    meta::{refusal::Result, selector::Labels},
    registry::ResourceEntry,
    verbs::Verbs,
};

/// The field manager of its writes.
const MANAGER: &str = "clusterrole-aggregation-controller";
/// How long to collect further changes after a change.
const GATHER: Duration = Duration::from_millis(10);
/// The wait after a failure.
const WAIT: Duration = Duration::from_secs(1);

/// Runs until the stop signal, or until the cache is closed.
pub(in crate::builtin) async fn run(api: Arc<Verbs>, mut stop: signal::Receiver<bool>) {
    let Some(roles) = super::served(&api, &ClusterRole::kind()) else { return };
    let client = Client::new(api.clone(), MANAGER);
    tokio::select! {
        biased;
        _ = stop.wait_for(|stopping| *stopping) => {}
        () = follow(&api, &roles, &client) => {}
    }
}

/// Gathers now, and after each change.
async fn follow(api: &Verbs, roles: &ResourceEntry, client: &Client) {
    while !api.cache.is_closed() {
        let snapshot = roles.objects.snapshot();
        let watch = roles.objects.watch(snapshot.revision(), Subscription::All, None).await;
        let failed = gather_all(&snapshot, client).await;
        let Ok(mut watch) = watch else {
            sleep(WAIT).await;
            continue;
        };
        if failed {
            sleep(WAIT).await;
        } else if matches!(watch.next().await, Some(Ok(_))) {
            sleep(GATHER).await;
        }
    }
}

/// Writes the rules of all aggregated roles that differ. Returns whether some could not be written.
async fn gather_all(roles: &Snapshot, client: &Client) -> bool {
    let mut failed = false;
    for object in roles.range("", None) {
        let Some((role, rule)) = aggregated(object) else { continue };
        let rules = gathered(roles, object.name(), &rule);
        if role.rules.as_ref() != Some(&rules)
            && let Err(error) = write(client, object.name(), rules).await
        {
            tracing::warn!(role = object.name(), %error, "the rules of an aggregated role could not be written");
            failed = true;
        }
    }
    failed
}

/// A role that is aggregated.
fn aggregated(object: &Object) -> Option<(ClusterRole, AggregationRule)> {
    let role: ClusterRole = serde_json::from_slice(object.json_bytes()).ok()?;
    let rule = role.aggregation_rule.clone()?;
    Some((role, rule))
}

/// The rules that the selectors of a role gather, each once: selector by selector, in the order of the names of the roles.
fn gathered(roles: &Snapshot, name: &str, rule: &AggregationRule) -> Vec<PolicyRule> {
    let mut rules = Vec::new();
    for selector in rule.cluster_role_selectors.iter().filter_map(|selector| Labels::from_field(selector).ok()) {
        let selected = |object: &&Arc<Object>| object.name() != name && selector.matches_by(|key| object.label(key));
        for object in roles.range("", None).filter(selected) {
            let Ok(role) = serde_json::from_slice::<ClusterRole>(object.json_bytes()) else { continue };
            for rule in role.rules.unwrap_or_default() {
                if !rules.contains(&rule) {
                    rules.push(rule);
                }
            }
        }
    }
    rules
}

async fn write(client: &Client, name: &str, rules: Vec<PolicyRule>) -> Result<()> {
    let change = |role: &mut ClusterRole| {
        if role.aggregation_rule.is_some() {
            role.rules = Some(rules.clone());
        }
        Ok(())
    };
    client.of::<ClusterRole>("").change(name, change).await.map(drop)
}
