//! What a cluster of a test offers besides faults: users, other processes, definitions, time.
use std::{
    path::Path,
    time::{Duration, Instant},
};

use futures_util::StreamExt as _;
use k8s_openapi::api::{
    core::v1::{ConfigMap, Event},
    rbac::v1::{ClusterRole, ClusterRoleBinding},
};
use kindsmith::{ApiType, ObjectMeta, kube::Kube, testing};
use kube::{
    Api, Client, Config, CustomResource, ResourceExt,
    api::{DeleteParams, PostParams, WatchParams},
    config::{KubeConfigOptions, Kubeconfig},
    runtime::wait::{await_condition, conditions},
};
use operator::Database;
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::{Value, from_value, json};
use tokio::{
    sync::oneshot,
    time::{sleep, timeout},
};

mod support;

use support::cluster;

/// An object from JSON.
fn object<T: DeserializeOwned>(json: Value) -> T {
    from_value(json).expect("an object of the type")
}

#[tokio::test]
async fn a_user_may_do_what_roles_allow() {
    let cluster = cluster().await;
    let as_jane: Api<Database> = Api::default_namespaced(cluster.client_as("jane", &["dev"]));
    let denied = as_jane.get("a").await.unwrap_err().to_string();
    let expected = "databases.example.com \"a\" is forbidden: User \"jane\" cannot get resource \"databases\" in API group \
                    \"example.com\" in the namespace \"default\"";
    assert!(denied.contains(expected), "{denied}");

    let rule = json!({"apiGroups": ["example.com"], "resources": ["databases"], "verbs": ["get", "create"]});
    let role: ClusterRole = object(json!({"metadata": {"name": "databases"}, "rules": [rule]}));
    Api::all(cluster.client()).create(&PostParams::default(), &role).await.unwrap();
    let binding: ClusterRoleBinding = object(json!({
        "metadata": {"name": "databases"},
        "subjects": [{"kind": "Group", "name": "dev", "apiGroup": "rbac.authorization.k8s.io"}],
        "roleRef": {"kind": "ClusterRole", "name": "databases", "apiGroup": "rbac.authorization.k8s.io"},
    }));
    Api::all(cluster.client()).create(&PostParams::default(), &binding).await.unwrap();
    let created = as_jane.create(&PostParams::default(), &Database::named("a", "v1")).await.unwrap();
    assert_eq!((created.spec.replicas, created.managed_fields()[0].manager.as_deref()), (Some(1), Some("jane")));
    assert!(as_jane.delete("a", &DeleteParams::default()).await.is_err(), "the role has no such verb");
}

#[tokio::test]
async fn another_process_uses_the_cluster_by_its_kubeconfig_and_meets_its_faults() {
    let cluster = testing::kubernetes().with_crds("config/crd").listening().start().await;
    assert!(cluster.url().starts_with("https://127.0.0.1:"), "{}", cluster.url());
    let file = cluster.kubeconfig().to_owned();
    let options = KubeConfigOptions::default();
    let config = Config::from_custom_kubeconfig(Kubeconfig::read_from(&file).unwrap(), &options);
    let maps: Api<ConfigMap> = Api::default_namespaced(Client::try_from(config.await.unwrap()).unwrap());

    let faults = cluster.faults();
    let lost = faults.connection_reset().carried_out().on("create", "configmaps").once();
    let map = object(json!({"metadata": {"name": "a"}}));
    maps.create(&PostParams::default(), &map).await.unwrap_err();
    assert_eq!(maps.get("a").await.unwrap().name_any(), "a", "the write has happened");
    let conflict = faults.conflict().on("PUT", "/api/v1/namespaces/*/configmaps/a").once();
    let refused = maps.replace("a", &PostParams::default(), &map).await.unwrap_err();
    let kube::Error::Api(status) = refused else { panic!("{refused}") };
    assert_eq!(
        (status.code, &*status.reason, &*status.message),
        (
            409,
            "Conflict",
            "Operation cannot be fulfilled on configmaps \"a\": the object has been modified; please apply your changes to the latest \
             version and try again"
        )
    );
    assert_eq!((lost.count(), conflict.count()), (1, 1));

    cluster.stop().await;
    assert!(!file.exists() && !file.parent().unwrap().exists(), "no file is left");
}

#[tokio::test]
async fn what_cannot_start_says_why_and_what_to_do() {
    let error =
        |builder: testing::ClusterBuilder| async { builder.try_start().await.err().expect("an error").to_string() };
    let none = error(testing::kubernetes().with_crds("src")).await;
    assert!(none.starts_with("src: no CustomResourceDefinition there") && none.contains("relative to /"), "{none}");
    let missing = error(testing::kubernetes().with_crds("config/none")).await;
    assert!(missing.contains("config/none: No such file or directory"), "{missing}");
    let broken = std::env::temp_dir().join(format!("operator-{}.yaml", std::process::id()));
    std::fs::write(
        &broken,
        "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: a.b.c}\n",
    )
    .unwrap();
    let invalid = error(testing::kubernetes().with_crds(&broken)).await;
    std::fs::remove_file(&broken).unwrap();
    assert!(invalid.contains(broken.to_str().unwrap()) && invalid.contains("spec"), "{invalid}");

    let cluster = cluster().await;
    let refused = |call: &dyn Fn()| {
        let panic = std::panic::catch_unwind(std::panic::AssertUnwindSafe(call)).unwrap_err();
        panic.downcast_ref::<String>().cloned().unwrap_or_else(|| (*panic.downcast_ref::<&str>().unwrap()).to_owned())
    };
    assert!(refused(&|| drop(cluster.url().to_owned())).contains("add .listening()"));
    std::thread::scope(|scope| {
        let outside = scope.spawn(|| refused(&|| drop(cluster.client()))).join().expect("the panic was caught");
        assert!(outside.contains("#[tokio::test]"), "{outside}");
    });
    let faults = cluster.faults();
    assert!(
        refused(&|| drop(faults.conflict().on("put", "configmaps").once())).contains("an HTTP method (GET, HEAD, POST")
    );
    assert!(refused(&|| drop(faults.conflict().on("PUT", "/a*/b").once())).contains("for a whole segment"));
}

/// A kind that is declared with kube's derive, and has no file.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize)]
#[kube(group = "example.com", version = "v1", kind = "Cache", plural = "caches", namespaced, schema = "disabled")]
struct CacheSpec {}

#[tokio::test]
async fn a_server_of_ones_own_has_a_client_faults_and_a_clock() {
    let server = kindsmith::Server::builder().kubernetes().crd(Cache::crd_of_any_schema());
    let cluster = testing::serve(server).start().await;
    let caches: Api<Cache> = Api::default_namespaced(cluster.client());
    caches.create(&PostParams::default(), &Cache::new("a", CacheSpec {})).await.unwrap();
    let slow = cluster.faults().slow(Duration::from_millis(100)).on("get", "caches.example.com").always();
    let began = Instant::now();
    caches.get("a").await.unwrap();
    assert!(began.elapsed() >= Duration::from_millis(100) && slow.count() == 1);
    slow.remove();
    caches.get("a").await.unwrap();
    assert_eq!(slow.count(), 1);
}

impl Cache {
    /// A definition whose objects may have any fields.
    fn crd_of_any_schema() -> Value {
        let schema = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
        json!({
            "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
            "metadata": {"name": "caches.example.com"},
            "spec": {
                "group": "example.com", "scope": "Namespaced", "names": {"plural": "caches", "kind": "Cache"},
                "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": schema}}],
            },
        })
    }
}

#[tokio::test]
async fn time_moves_for_one_cluster_alone() {
    let (cluster, other) = tokio::join!(cluster(), cluster());
    let maps: Api<ConfigMap> = Api::default_namespaced(cluster.client());
    let create = async |maps: &Api<ConfigMap>, name: &str| {
        let map = maps
            .create(&PostParams::default(), &object(json!({"metadata": {"name": name}, "data": {"a": "b"}})))
            .await
            .unwrap();
        let written = map.managed_fields()[0].time.clone().unwrap().0.as_second();
        (map.creation_timestamp().unwrap().0.as_second(), written)
    };
    let (before, _) = create(&maps, "before").await;
    cluster.advance(Duration::from_hours(24));
    let day = 24 * 3600;
    let (after, written) = create(&maps, "after").await;
    assert!((day..day + 60).contains(&(after - before)) && written == after, "{before} {after} {written}");
    assert!((0..60).contains(&(cluster.now().parts().0 - after)));
    let (elsewhere, _) = create(&Api::default_namespaced(other.client()), "after").await;
    assert!(elsewhere - before < 60, "the other cluster has the time of the system");
}

/// A kind whose objects have half an hour to end.
#[derive(kindsmith::Resource, Clone, Debug)]
#[resource(group = "example.com", version = "v1", grace_seconds = 1800)]
struct Session {
    metadata: ObjectMeta,
    spec: SessionSpec,
}

/// `SessionSpec` has no fields.
#[derive(ApiType, Clone, Debug, Serialize, Deserialize)]
struct SessionSpec {}

#[tokio::test]
async fn what_ends_by_time_ends_when_the_clock_is_moved() {
    let cluster = testing::kubernetes().with_kind::<Session>().start().await;
    let events: Api<Event> = Api::default_namespaced(cluster.client());
    let about = json!({"kind": "Pod", "namespace": "default", "name": "web"});
    let event = json!({"metadata": {"name": "a"}, "involvedObject": about, "reason": "Test"});
    events.create(&PostParams::default(), &object(event)).await.unwrap();
    let sessions: Api<Kube<Session>> = Api::default_namespaced(cluster.client());
    let session = Kube::from(Session { metadata: ObjectMeta::named("a"), spec: SessionSpec {} });
    let session = sessions.create(&PostParams::default(), &session).await.unwrap();
    sessions.delete("a", &DeleteParams::default()).await.unwrap();
    sleep(Duration::from_millis(100)).await;
    assert!(sessions.get("a").await.unwrap().metadata.deletion_timestamp.is_some(), "it waits for its grace period");

    cluster.advance(Duration::from_mins(31));
    let uid = session.uid().unwrap();
    let deleted = await_condition(sessions, "a", conditions::is_deleted(&uid));
    timeout(Duration::from_secs(10), deleted).await.expect("the grace period has passed").unwrap();
    assert!(events.get_opt("a").await.unwrap().is_some());
    cluster.advance(Duration::from_mins(30));
    let gone = async {
        while events.get_opt("a").await.unwrap().is_some() {
            sleep(Duration::from_millis(5)).await;
        }
    };
    timeout(Duration::from_secs(10), gone).await.expect("Events live for an hour");
}

#[tokio::test]
async fn clusters_leave_no_files() {
    let cluster = cluster().await;
    let folder = cluster.server().authority().parent().map(Path::to_owned).unwrap();
    assert!(folder.exists());
    drop(cluster);
    assert!(!folder.exists());
}

#[tokio::test]
async fn a_cluster_that_is_watched_in_the_thread_of_the_test_stops_at_once() {
    let cluster = cluster().await;
    let (maps, (watches, watching)) = (Api::<ConfigMap>::default_namespaced(cluster.client()), oneshot::channel());
    let watcher = tokio::spawn(async move {
        let mut events = Box::pin(maps.watch(&WatchParams::default(), "0").await.unwrap());
        watches.send(()).unwrap();
        while events.next().await.is_some() {}
    });
    watching.await.unwrap();
    let began = Instant::now();
    drop(cluster);
    assert!(began.elapsed() < Duration::from_secs(5), "{:?}", began.elapsed());
    timeout(Duration::from_secs(30), watcher).await.expect("the watch ends").unwrap();
}
