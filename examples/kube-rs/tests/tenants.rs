//! The project's kind and controller on Kindsmith, in one process: a memory store, and kube's client without a connection.
use std::{pin::pin, time::Duration};

use k8s_openapi::api::core::v1::{ConfigMap, Namespace};
use kindsmith::{Server, server::TestServer};
use kube::{
    Api, Client, ResourceExt,
    api::{DeleteParams, Patch, PatchParams, PostParams},
    runtime::wait::{Condition, await_condition, conditions},
};
use kube_rs::{
    controller,
    tenant::{Plan, Tenant, TenantSpec},
};
use serde_json::{Value, json};
use tokio::time::timeout;

const TENANTS: &str = "/apis/platform.example.com/v1/tenants";

async fn platform() -> TestServer {
    Server::test().configure(kube_rs::serve).start().await
}

fn acme() -> Tenant {
    let members = vec!["ahab".to_owned(), "starbuck".to_owned()];
    let spec =
        TenantSpec { contact: "ahab@example.com".to_owned(), plan: Plan::Team, members, remind_after_days: None };
    Tenant::new("acme", spec)
}

/// An object, once it is as expected.
async fn until<K>(api: &Api<K>, name: &str, expected: impl Condition<K>) -> Option<K>
where
    K: kube::Resource<DynamicType = ()> + Clone + std::fmt::Debug + for<'de> serde::Deserialize<'de> + Send + 'static,
{
    let waiting = await_condition(api.clone(), name, expected);
    timeout(Duration::from_secs(20), waiting).await.expect("it is as expected in time").expect("a watch")
}

fn seen(generation: i64) -> impl Condition<Tenant> {
    move |tenant: Option<&Tenant>| {
        let status = tenant.and_then(|tenant| tenant.status.as_ref());
        status.and_then(|status| status.observed_generation) == Some(generation)
    }
}

/// What is expected of the controller.
async fn a_tenant_comes_and_goes(client: Client) {
    let tenants: Api<Tenant> = Api::all(client.clone());
    let namespaces: Api<Namespace> = Api::all(client.clone());
    let members: Api<ConfigMap> = Api::namespaced(client.clone(), "tenant-acme");
    let directory: Api<ConfigMap> = Api::namespaced(client, "kube-public");

    tenants.create(&PostParams::default(), &acme()).await.expect("a tenant");
    let tenant = until(&tenants, "acme", seen(1)).await.expect("a tenant");
    let status = tenant.status.clone().expect("a status");
    assert_eq!(status.namespace.as_deref(), Some("tenant-acme"));
    assert_eq!((&*status.conditions[0].type_, &*status.conditions[0].status), ("Ready", "True"));
    assert_eq!(tenant.finalizers(), ["platform.example.com/directory"]);
    let owner =
        &namespaces.get("tenant-acme").await.expect("a namespace").metadata.owner_references.expect("owners")[0];
    assert_eq!((&*owner.kind, Some(&owner.uid)), ("Tenant", tenant.metadata.uid.as_ref()));
    let data = members.get("members").await.expect("members").data.expect("data");
    assert_eq!(data.into_keys().collect::<Vec<_>>(), ["ahab", "starbuck"]);

    let fewer = json!({"spec": {"members": ["starbuck"]}});
    tenants.patch("acme", &PatchParams::default(), &Patch::Merge(fewer)).await.expect("a patched tenant");
    let tenant = until(&tenants, "acme", seen(2)).await.expect("a tenant");
    let since = |status: &kube_rs::tenant::TenantStatus| status.conditions[0].last_transition_time.clone();
    assert_eq!(tenant.status.as_ref().map(since), Some(since(&status)), "it was ready all the time");
    let data = members.get("members").await.expect("members").data.expect("data");
    assert_eq!(data.into_keys().collect::<Vec<_>>(), ["starbuck"]);

    // Lost, and made again because the controller owns it.
    let lost = members.get("members").await.expect("members").uid().expect("a uid");
    members.delete("members", &DeleteParams::default()).await.expect("a deletion");
    until(&members, "members", move |map: Option<&ConfigMap>| map.is_some_and(|map| map.uid().as_ref() != Some(&lost)))
        .await;

    let line = |map: Option<ConfigMap>| map.and_then(|map| map.data?.remove("acme"));
    assert_eq!(line(directory.get_opt("tenants").await.expect("an answer")).as_deref(), Some("ahab@example.com"));
    let uid = tenant.uid().expect("a uid");
    tenants.delete("acme", &DeleteParams::default()).await.expect("a deletion");
    until(&tenants, "acme", conditions::is_deleted(&uid)).await;
    assert_eq!(line(directory.get_opt("tenants").await.expect("an answer")), None);
    // The garbage collector and the controller of namespaces are the server's.
    until(&namespaces, "tenant-acme", |namespace: Option<&Namespace>| namespace.is_none()).await;
}

#[tokio::test]
async fn the_controller_runs_unchanged_in_the_process() {
    let platform = platform().await;
    let mut controller = pin!(controller::run(platform.kube_client()));
    tokio::select! {
        () = &mut controller => panic!("the controller ended"),
        () = a_tenant_comes_and_goes(platform.kube_client()) => {}
    }
}

#[test]
fn the_type_and_the_definition_agree() {
    kindsmith::testing::custom_resource_agrees::<Tenant>();
}

#[tokio::test]
async fn hooks_have_the_derived_type() {
    let platform = platform().await;
    let tenants: Api<Tenant> = Api::all(platform.kube_client());
    let mut tenant = acme();
    tenant.spec.members = ["starbuck", "ahab", "starbuck"].map(str::to_owned).into();
    let created = tenants.create(&PostParams::default(), &tenant).await.expect("a tenant");
    assert_eq!(created.spec.members, ["ahab", "starbuck"]);

    let free = Patch::Merge(json!({"spec": {"plan": "Free"}}));
    let refused = tenants.patch("acme", &PatchParams::default(), &free).await.expect_err("a refusal");
    assert!(refused.to_string().contains("spec.plan: Forbidden: a team does not become free"), "{refused}");
}

#[tokio::test]
async fn rules_of_the_derived_definition_are_enforced() {
    let platform = platform().await;
    let tenants: Api<Tenant> = Api::all(platform.kube_client());
    let mut tenant = acme();
    tenant.spec.members = (0..4).map(|number| format!("sailor-{number}")).collect();
    tenant.spec.plan = Plan::Free;
    let refused = tenants.create(&PostParams::default(), &tenant).await.expect_err("a refusal");
    assert!(refused.to_string().contains("spec: Invalid value: a free tenant has at most 3 members"), "{refused}");
    tenant.spec.plan = Plan::Team;
    tenants.create(&PostParams::default(), &tenant).await.expect("a tenant");
}

#[tokio::test]
async fn the_derived_definition_is_served_as_declared() {
    let platform = platform().await;
    let tenant = |spec: Value| {
        let metadata = json!({"name": "acme"});
        json!({"apiVersion": "platform.example.com/v1", "kind": "Tenant", "metadata": metadata, "spec": spec})
    };
    let (status, refused) = platform.call("POST", TENANTS, tenant(json!({"contact": "ahab", "plan": "Huge"}))).await;
    let fields: Vec<_> = refused["details"]["causes"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|cause| cause["field"].as_str())
        .collect();
    // As in kube-apiserver, the last says that rules were not checked, because the plan is none of the enumeration.
    assert_eq!((status, fields), (422, vec!["spec.contact", "spec.plan", "<nil>"]), "{refused}");

    let mut tenant = tenant(json!({"contact": "ahab@example.com"}));
    tenant["status"] = json!({"namespace": "mine"});
    let (status, created) = platform.call("POST", TENANTS, tenant.clone()).await;
    assert_eq!(status, 201, "{created}");
    assert_eq!(created["spec"], json!({"contact": "ahab@example.com", "plan": "Free", "members": []}));
    assert_eq!(created["status"], Value::Null, "the status is a subresource");

    tenant["metadata"]["name"] = json!("pequod");
    tenant["spec"]["plan"] = json!("Team");
    platform.call("POST", TENANTS, tenant).await;
    let (_, found) = platform.call("GET", &format!("{TENANTS}?fieldSelector=spec.plan%3DTeam"), Value::Null).await;
    assert_eq!(found["items"].as_array().map(Vec::len), Some(1));
    assert_eq!(found["items"][0]["metadata"]["name"], "pequod");

    let (_, discovered) = platform.call("GET", "/apis/platform.example.com/v1", Value::Null).await;
    let names: Vec<_> = discovered["resources"].as_array().into_iter().flatten().map(|found| &found["name"]).collect();
    assert_eq!(names, ["tenants", "tenants/status"]);
    assert_eq!(discovered["resources"][0]["shortNames"], json!(["tn"]));
    assert_eq!(discovered["resources"][0]["categories"], json!(["platform"]));
}
