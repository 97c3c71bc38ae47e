//! Sees to it, at each start, that the default roles and bindings exist and grant at least what they should. What an administrator
//! has added to them stays, and one with the annotation `rbac.authorization.kubernetes.io/autoupdate: "false"` stays as it is. The roles
//! of the program's kinds are written anew.
use std::{collections::BTreeMap, sync::Arc};

use super::{AggregationRule, ClusterRole, ClusterRoleBinding, PolicyRule, Role, Subject, declared_kinds, served};
use crate::{
    ObjectMeta, Resource as _,
    auth::roles::{
        cover,
        defaults::{self, DefaultBinding, DefaultRole},
    },
    kind::{Kind, client::Client},
    meta::{LabelSelector, refusal::Result},
    roles::AGGREGATE_TO,
    verbs::Verbs,
};

/// The annotation that keeps an object as it is.
const AUTOUPDATE: &str = "rbac.authorization.kubernetes.io/autoupdate";
/// The role of servers behind this one, its namespace, and the config map that it reads.
const READER: &str = "extension-apiserver-authentication-reader";
const READER_NAMESPACE: &str = "kube-system";
const READ_BY_IT: &str = "extension-apiserver-authentication";
const READER_VERBS: [&str; 3] = ["get", "list", "watch"];
/// The label of all of them.
const LABEL: (&str, &str) = ("kubernetes.io/bootstrapping", "rbac-defaults");

/// Creates and completes the default roles and bindings, if these kinds are served.
///
/// # Errors
/// The object that could not be written, and the reason.
pub(crate) async fn bootstrap(api: &Arc<Verbs>) -> Result<(), String> {
    let is_served = |kind: &Kind| served(api, kind).is_some();
    if is_served(&ClusterRole::kind()) && is_served(&ClusterRoleBinding::kind()) {
        let client = Client::new(api.clone(), "kindsmith");
        let why = |role: &DefaultRole, refusal| format!("the role {} could not be written: {refusal}", role.name);
        for role in defaults::roles() {
            complete_role(&client, &role).await.map_err(|refusal| why(&role, refusal))?;
        }
        if is_served(&Role::kind()) && api.registry.namespaces().is_some() {
            let why = |refusal| format!("the role {READER} could not be written: {refusal}");
            complete_reader(&client).await.map_err(why)?;
        }
        for role in declared_kinds::roles(&api.registry) {
            replace_role(&client, &role).await.map_err(|refusal| why(&role, refusal))?;
        }
        for binding in defaults::BINDINGS {
            let why = |refusal| format!("the binding {} could not be written: {refusal}", binding.name);
            complete_binding(&client, &binding).await.map_err(why)?;
        }
    }
    Ok(())
}

async fn complete_role(client: &Client, expected: &DefaultRole) -> Result<()> {
    let roles = client.of::<ClusterRole>("");
    let Some(found) = roles.get_opt(&expected.name).await? else {
        return unless_there(roles.create(&role(expected)).await);
    };
    let missing = |role: &ClusterRole| {
        let held: &[PolicyRule] = role.rules.as_deref().unwrap_or_default();
        cover::uncovered(held, &expected.rules)
    };
    if stays(&found.metadata) || (missing(&found).is_empty() && is_marked(&found.metadata)) {
        return Ok(());
    }
    let change = |role: &mut ClusterRole| {
        if !stays(&role.metadata) {
            mark(&mut role.metadata);
            let missing = missing(role);
            role.rules.get_or_insert_default().extend(missing);
        }
        Ok(())
    };
    roles.change(&expected.name, change).await.map(drop)
}

/// Creates and completes the role of the namespace `kube-system` for servers behind this one: it reads how requests of this server
/// are known, and by which authorities.
async fn complete_reader(client: &Client) -> Result<()> {
    let roles = client.of::<Role>(READER_NAMESPACE);
    let rule = PolicyRule {
        resource_names: vec![READ_BY_IT.to_owned()],
        ..defaults::on(&READER_VERBS, &[""], &["configmaps"])
    };
    let missing =
        |role: &Role| cover::uncovered(role.rules.as_deref().unwrap_or_default(), std::slice::from_ref(&rule));
    let Some(found) = roles.get_opt(READER).await? else {
        let metadata = ObjectMeta { namespace: READER_NAMESPACE.to_owned(), ..metadata(READER) };
        return unless_there(roles.create(&Role { metadata, rules: Some(vec![rule]) }).await);
    };
    if stays(&found.metadata) || (missing(&found).is_empty() && is_marked(&found.metadata)) {
        return Ok(());
    }
    let change = |role: &mut Role| {
        if !stays(&role.metadata) {
            mark(&mut role.metadata);
            let missing = missing(role);
            role.rules.get_or_insert_default().extend(missing);
        }
        Ok(())
    };
    roles.change(READER, change).await.map(drop)
}

/// Makes the rules of a role those that are expected, because the kinds that the program declares are all that it is about. One of this
/// name that an administrator has applied stays.
async fn replace_role(client: &Client, expected: &DefaultRole) -> Result<()> {
    let roles = client.of::<ClusterRole>("");
    let Some(found) = roles.get_opt(&expected.name).await? else {
        return unless_there(roles.create(&role(expected)).await);
    };
    let is_ours = is_marked(&found.metadata) && !stays(&found.metadata);
    if !is_ours || found.rules.as_ref() == Some(&expected.rules) {
        return Ok(());
    }
    let change = |role: &mut ClusterRole| {
        if !stays(&role.metadata) {
            role.rules = Some(expected.rules.clone());
        }
        Ok(())
    };
    roles.change(&expected.name, change).await.map(drop)
}

/// Of servers that start at once on a new store, one is the first.
fn unless_there<T>(created: Result<T>) -> Result<()> {
    match created {
        Err(refusal) if refusal.status().code == 409 => Ok(()),
        created => created.map(drop),
    }
}

/// A role as it is created.
fn role(expected: &DefaultRole) -> ClusterRole {
    let mut metadata = metadata(&expected.name);
    if !expected.gathered_by.is_empty() {
        metadata.labels.insert(format!("{AGGREGATE_TO}{}", expected.gathered_by), "true".to_owned());
    }
    let label = (format!("{AGGREGATE_TO}{}", expected.name), "true".to_owned());
    let selector = LabelSelector { match_labels: [label].into(), ..LabelSelector::default() };
    let aggregation_rule = expected.gathers.then(|| AggregationRule { cluster_role_selectors: vec![selector] });
    ClusterRole { metadata, rules: Some(expected.rules.clone()), aggregation_rule }
}

async fn complete_binding(client: &Client, expected: &DefaultBinding) -> Result<()> {
    let bindings = client.of::<ClusterRoleBinding>("");
    let Some(found) = bindings.get_opt(expected.name).await? else {
        let (metadata, subjects) = (metadata(expected.name), expected.subjects());
        let new = ClusterRoleBinding { metadata, subjects, role_ref: expected.role_ref() };
        return unless_there(bindings.create(&new).await);
    };
    let missing = |binding: &ClusterRoleBinding| -> Vec<Subject> {
        expected.subjects().into_iter().filter(|subject| !binding.subjects.contains(subject)).collect()
    };
    let is_complete = missing(&found).is_empty() && is_marked(&found.metadata);
    // A binding that an administrator has made of another role stays: its roleRef cannot change.
    if stays(&found.metadata) || found.role_ref != expected.role_ref() || is_complete {
        return Ok(());
    }
    let change = |binding: &mut ClusterRoleBinding| {
        if !stays(&binding.metadata) {
            mark(&mut binding.metadata);
            let missing = missing(binding);
            binding.subjects.extend(missing);
        }
        Ok(())
    };
    bindings.change(expected.name, change).await.map(drop)
}

fn metadata(name: &str) -> ObjectMeta {
    let mut metadata = ObjectMeta::named(name);
    mark(&mut metadata);
    metadata
}

/// The label and the annotation of defaults.
fn mark(metadata: &mut ObjectMeta) {
    let (label, value) = LABEL;
    metadata.labels.insert(label.to_owned(), value.to_owned());
    metadata.annotations.entry(AUTOUPDATE.to_owned()).or_insert_with(|| "true".to_owned());
}

fn is_marked(metadata: &ObjectMeta) -> bool {
    let has = |texts: &BTreeMap<String, String>, key: &str| texts.contains_key(key);
    has(&metadata.labels, LABEL.0) && has(&metadata.annotations, AUTOUPDATE)
}

/// True if an administrator has asked for it to stay as it is.
fn stays(metadata: &ObjectMeta) -> bool {
    metadata.annotations.get(AUTOUPDATE).is_some_and(|value| value == "false")
}
