//! Tests of the default roles, of aggregated ones, and of those that are kept as they are.
use std::{sync::Arc, time::Duration};

use serde_json::json;
use tokio::time::{sleep, timeout};

use super::{bootstrap, *};
use crate::{
    ObjectMeta,
    builtin::{Controllers, tests::Inside},
    kind::client::{Client, Patch},
    meta::LabelSelector,
    verbs::Verbs,
};

fn client(api: &Arc<Verbs>) -> Client {
    Client::new(api.clone(), "test")
}

async fn rules_of(api: &Arc<Verbs>, name: &str) -> Vec<PolicyRule> {
    client(api).of::<ClusterRole>("").get(name).await.unwrap().rules.unwrap_or_default()
}

/// Waits until a role has this number of rules.
async fn has_rules(api: &Arc<Verbs>, name: &str, count: usize) {
    let has = async {
        while rules_of(api, name).await.len() != count {
            sleep(Duration::from_millis(5)).await;
        }
    };
    let soon = timeout(Duration::from_secs(10), has).await;
    assert!(soon.is_ok(), "{name} has {:?}", rules_of(api, name).await);
}

fn rule(resource: &str) -> PolicyRule {
    let one = |text: &str| vec![text.to_owned()];
    PolicyRule { verbs: one("get"), api_groups: one("g"), resources: one(resource), ..PolicyRule::default() }
}

fn role(name: &str, label: Option<&str>, rules: &[&str]) -> ClusterRole {
    let mut metadata = ObjectMeta::named(name);
    metadata.labels.extend(label.map(|label| (label.to_owned(), "true".to_owned())));
    ClusterRole { metadata, rules: Some(rules.iter().map(|one| rule(one)).collect()), aggregation_rule: None }
}

#[tokio::test]
async fn aggregated_roles_have_the_rules_of_those_that_they_select() {
    let inside = Inside::new().await;
    let controllers = Controllers::started(&inside.api);
    let roles = client(&inside.api).of::<ClusterRole>("");
    let label = "example.com/into-sum";
    let selector = LabelSelector { match_labels: [(label.to_owned(), "true".to_owned())].into(), ..Default::default() };
    let sum = ClusterRole {
        aggregation_rule: Some(AggregationRule { cluster_role_selectors: vec![selector] }),
        ..role("sum", None, &["overwritten"])
    };
    roles.create(&sum).await.unwrap();
    has_rules(&inside.api, "sum", 0).await;
    roles.create(&role("b", Some(label), &["two", "three"])).await.unwrap();
    roles.create(&role("a", Some(label), &["one", "two"])).await.unwrap();
    has_rules(&inside.api, "sum", 3).await;
    assert_eq!(rules_of(&inside.api, "sum").await, [rule("one"), rule("two"), rule("three")]);
    roles.patch("a", &Patch::Merge(json!({"metadata": {"labels": {label: null}}}))).await.unwrap();
    has_rules(&inside.api, "sum", 2).await;
    roles.patch("sum", &Patch::Merge(json!({"rules": []}))).await.unwrap();
    has_rules(&inside.api, "sum", 2).await;
    controllers.stop().await;
}

#[tokio::test]
async fn default_roles_gather_each_other() {
    let inside = Inside::new().await;
    bootstrap(&inside.api).await.unwrap();
    let controllers = Controllers::started(&inside.api);
    let view = rules_of(&inside.api, "system:aggregate-to-view").await.len();
    let edit = view + rules_of(&inside.api, "system:aggregate-to-edit").await.len();
    let admin = edit + rules_of(&inside.api, "system:aggregate-to-admin").await.len();
    has_rules(&inside.api, "view", view).await;
    has_rules(&inside.api, "edit", edit).await;
    has_rules(&inside.api, "admin", admin).await;
    controllers.stop().await;
}

#[tokio::test]
async fn defaults_are_completed_at_each_start_but_for_those_that_shall_stay() {
    let inside = Inside::new().await;
    bootstrap(&inside.api).await.unwrap();
    let roles = client(&inside.api).of::<ClusterRole>("");
    let bindings = client(&inside.api).of::<ClusterRoleBinding>("");
    let change = async |name: &str, rules, autoupdate: &str| {
        let annotations = json!({"rbac.authorization.kubernetes.io/autoupdate": autoupdate});
        let patch = Patch::Merge(json!({"metadata": {"annotations": annotations}, "rules": rules}));
        roles.patch(name, &patch).await.unwrap();
    };
    change("system:discovery", json!([rule("more")]), "true").await;
    change("system:basic-user", json!([]), "false").await;
    let nobody = Patch::Merge(json!({"subjects": []}));
    bindings.patch("system:discovery", &nobody).await.unwrap();
    let before = inside.api.cache.revision();
    bootstrap(&inside.api).await.unwrap();
    let discovery = rules_of(&inside.api, "system:discovery").await;
    assert!(discovery.len() > 1 && discovery[0] == rule("more"), "{discovery:?}");
    assert_eq!(rules_of(&inside.api, "system:basic-user").await, []);
    assert_eq!(bindings.get("system:discovery").await.unwrap().subjects.len(), 1);
    assert!(inside.api.cache.revision() > before);
    let before = inside.api.cache.revision();
    bootstrap(&inside.api).await.unwrap();
    assert_eq!(inside.api.cache.revision(), before, "nothing is missing");
}
