//! Several whole servers over one store, in one process.
mod account_secrets;
mod aggregation;
mod authorize;
mod delegated;
mod faults;
mod front_proxy;
#[cfg(feature = "etcd")]
#[allow(dead_code, unreachable_pub, reason = "tests of other packages include it, too")]
#[path = "../../../../tests/support/etcd.rs"]
mod member;
mod oidc;
#[cfg(feature = "etcd")]
mod over_etcd;
mod over_tls;
mod rules;
#[cfg(feature = "etcd")]
mod taken_over;

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use serde_json::{Value, json};
use tokio::time::{Instant, sleep, timeout};

use super::{App, Builder, ControllerContext, Election, Server, Shutdown};
use crate::{
    auth::User,
    builtin::{ConfigMap, Lease},
    http::{self, Caller},
    meta::ObjectMeta,
    storage::{
        Store,
        several::{Lag, Several},
    },
};

fn builder(several: &Several) -> Builder {
    Server::builder().store(several.server(Lag::For(Duration::from_millis(2)))).http().definitions()
}

async fn call(app: &App, method: &str, path: &str, body: &Value) -> (u16, Value) {
    let admin = User { groups: vec!["system:masters".to_owned()], ..User::default() };
    let answer = http::call(&app.service(), Caller::User(&admin), method, path, body).await;
    (answer.code, answer.body)
}

/// Waits until something holds.
async fn until<F: Future<Output = bool>>(what: &str, holds: impl Fn() -> F) {
    let end = Instant::now() + Duration::from_mins(1);
    while !holds().await {
        assert!(Instant::now() < end, "{what}");
        sleep(Duration::from_millis(5)).await;
    }
}

async fn lease(app: &App) -> Option<Lease> {
    app.client().of::<Lease>("kube-system").get_opt("kindsmith-controllers").await.expect("a lease or none")
}

async fn holder(app: &App) -> String {
    lease(app).await.and_then(|lease| lease.spec.holder_identity).unwrap_or_default()
}

/// A controller that counts how many of it run at a time.
fn counting(builder: Builder, running: &Arc<AtomicUsize>, most: &Arc<AtomicUsize>) -> Builder {
    let (running, most) = (running.clone(), most.clone());
    builder.controller("counting", move |_: ControllerContext, shutdown: Shutdown| {
        let (running, most) = (running.clone(), most.clone());
        async move {
            let now = running.fetch_add(1, Ordering::SeqCst) + 1;
            most.fetch_max(now, Ordering::SeqCst);
            shutdown.requested().await;
            running.fetch_sub(1, Ordering::SeqCst);
            Ok::<_, std::convert::Infallible>(())
        }
    })
}

#[tokio::test]
async fn one_server_runs_the_controllers_and_another_takes_over_when_it_stops() {
    let (several, running, most) = (Several::new(), Arc::default(), Arc::default());
    let first = counting(builder(&several), &running, &most).build().await.unwrap();
    until("a leader", || async { running.load(Ordering::SeqCst) == 1 }).await;
    let second = counting(builder(&several), &running, &most).build().await.unwrap();
    let leader = holder(&second).await;
    assert!(!leader.is_empty());
    for (app, running) in [(&first, 1), (&second, 0)] {
        let (_, metrics) = call(app, "GET", "/metrics", &Value::Null).await;
        let line = format!("\nkindsmith_controller_running{{controller=\"counting\"}} {running}\n");
        assert!(metrics.as_str().unwrap().contains(&line), "{metrics}");
    }
    first.stop().await;
    assert_eq!(running.load(Ordering::SeqCst), 0, "it has stopped before it has released the lease");
    until("another leader", || async { running.load(Ordering::SeqCst) == 1 }).await;
    assert_ne!(holder(&second).await, leader);
    assert_eq!(lease(&second).await.unwrap().spec.lease_transitions, Some(1));
    assert_eq!(most.load(Ordering::SeqCst), 1);
    second.stop().await;
}

#[tokio::test]
async fn a_server_with_a_store_of_its_own_writes_no_lease() {
    let (running, most) = (Arc::default(), Arc::default());
    let app = counting(Server::builder().memory().http(), &running, &most).build().await.unwrap();
    until("its controller", || async { running.load(Ordering::SeqCst) == 1 }).await;
    assert_eq!(lease(&app).await, None);
    app.stop().await;
}

/// A leader that is cut off from the store ends its work before another process begins, measured on one clock.
#[tokio::test(start_paused = true)]
async fn a_leader_that_is_cut_off_ends_its_work_before_another_leads() {
    let (several, running, most) = (Several::new(), Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let behind = several.server(Lag::None);
    let first = Server::builder().store(behind.clone()).http().without_builtin_controllers().build().await.unwrap();
    let second = builder(&several).without_builtin_controllers().build().await.unwrap();
    let (stop, stopping) = tokio::sync::watch::channel(false);
    let work = |app: &App| {
        let (client, running, most) = (app.client(), running.clone(), most.clone());
        let shutdown = Shutdown::by(stopping.clone());
        tokio::spawn(async move {
            let election = Election::new(&client, "work").namespace("default");
            let lead = |_: Shutdown| {
                struct Counted(Arc<AtomicUsize>);
                impl Drop for Counted {
                    fn drop(&mut self) {
                        self.0.fetch_sub(1, Ordering::SeqCst);
                    }
                }
                most.fetch_max(running.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                let counted = Counted(running.clone());
                // It does not listen to its shutdown.
                async move {
                    let _counted = counted;
                    std::future::pending::<()>().await;
                }
            };
            election.run(&shutdown, lead).await;
        })
    };
    let leading = work(&first);
    until("a leader", || async { running.load(Ordering::SeqCst) == 1 }).await;
    let first_leader = first.client().of::<Lease>("default").get("work").await.unwrap().spec.holder_identity;
    let waiting = work(&second);
    sleep(Duration::from_mins(1)).await;
    let renewed = second.client().of::<Lease>("default").get("work").await.unwrap();
    assert_eq!(renewed.spec.holder_identity, first_leader, "it renews its lease");

    let cut = Instant::now();
    behind.set_failing(true);
    until("no leader", || async { running.load(Ordering::SeqCst) == 0 }).await;
    assert!(cut.elapsed() >= Duration::from_secs(8), "it has time to renew the lease: {:?}", cut.elapsed());
    until("another leader", || async { running.load(Ordering::SeqCst) == 1 }).await;
    assert!(cut.elapsed() < Duration::from_secs(25), "{:?}", cut.elapsed());
    assert_eq!(most.load(Ordering::SeqCst), 1, "never two at a time");
    stop.send_replace(true);
    leading.abort();
    waiting.abort();
}

#[tokio::test]
async fn a_lease_that_is_not_served_is_an_error() {
    let several = Several::new();
    let error = builder(&several).without_builtins().build().await.err().expect("an error").to_string();
    assert!(error.contains("add .kind::<builtin::Lease>()"), "{error}");
}

fn bolts() -> Value {
    json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": "bolts.example.com"},
        "spec": {"group": "example.com", "scope": "Namespaced",
            "names": {"plural": "bolts", "singular": "bolt", "kind": "Bolt", "listKind": "BoltList"},
            "versions": [{"name": "v1", "served": true, "storage": true,
                "schema": {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}}}]}})
}

const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const BOLTS: &str = "/apis/example.com/v1/namespaces/default/bolts";

#[tokio::test]
async fn a_definition_made_on_one_server_is_served_by_all_and_removed_by_one() {
    let several = Several::new();
    let first = builder(&several).build().await.unwrap();
    until("a leader", || async { !holder(&first).await.is_empty() }).await;
    let second = builder(&several).build().await.unwrap();
    assert_eq!(call(&second, "POST", DEFINITIONS, &bolts()).await.0, 201);
    until("both serve it", || async {
        call(&first, "GET", BOLTS, &Value::Null).await.0 == 200
            && call(&second, "GET", BOLTS, &Value::Null).await.0 == 200
    })
    .await;
    for (app, name) in [(&first, "a"), (&second, "b")] {
        let bolt = json!({"apiVersion": "example.com/v1", "kind": "Bolt", "metadata": {"name": name}});
        assert_eq!(call(app, "POST", BOLTS, &bolt).await.0, 201, "{name}");
    }
    let path = format!("{DEFINITIONS}/bolts.example.com");
    let (_, settled) = call(&second, "GET", &path, &Value::Null).await;
    sleep(Duration::from_millis(300)).await;
    assert_eq!(call(&second, "GET", &path, &Value::Null).await.1, settled, "its conditions stay");

    assert_eq!(call(&second, "DELETE", &path, &Value::Null).await.0, 200);
    until("it is gone everywhere", || async {
        call(&first, "GET", BOLTS, &Value::Null).await.0 == 404
            && call(&second, "GET", BOLTS, &Value::Null).await.0 == 404
    })
    .await;
    assert!(several.memory().range("/registry/example.com/bolts/").unwrap().0.is_empty());
    first.stop().await;
    second.stop().await;
}

/// A client that has seen the definition established on one server asks another one.
#[tokio::test]
async fn an_established_definition_is_never_404_on_another_server() {
    let several = Several::new();
    let first = builder(&several).build().await.unwrap();
    until("a leader", || async { !holder(&first).await.is_empty() }).await;
    let late = several.server(Lag::For(Duration::from_millis(100)));
    let second = Server::builder().store(late).http().definitions().build().await.unwrap();
    assert_eq!(call(&second, "GET", BOLTS, &Value::Null).await.0, 404);
    assert_eq!(call(&first, "POST", DEFINITIONS, &bolts()).await.0, 201);
    let path = format!("{DEFINITIONS}/bolts.example.com");
    until("it is established", || async {
        let (_, definition) = call(&first, "GET", &path, &Value::Null).await;
        let mut conditions = definition["status"]["conditions"].as_array().into_iter().flatten();
        conditions.any(|condition| condition["type"] == "Established" && condition["status"] == "True")
    })
    .await;
    assert_eq!(call(&second, "GET", BOLTS, &Value::Null).await.0, 200);
    let other = BOLTS.replace("/v1/", "/v2/");
    assert_eq!(call(&second, "GET", &other, &Value::Null).await.0, 404, "a version that is not served");
    first.stop().await;
    second.stop().await;
}

/// The follower's cache has everything when it becomes the leader: what was left undone is done.
#[tokio::test]
async fn a_new_leader_finishes_what_the_last_one_left() {
    let several = Several::new();
    let first = builder(&several).build().await.unwrap();
    until("a leader", || async { !holder(&first).await.is_empty() }).await;
    let second = builder(&several).build().await.unwrap();
    first.stop().await;
    let space = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "short"}});
    assert_eq!(call(&second, "POST", "/api/v1/namespaces", &space).await.0, 201);
    assert_eq!(call(&second, "DELETE", "/api/v1/namespaces/short", &Value::Null).await.0, 200);
    let gone = until("the namespace ends", || async {
        call(&second, "GET", "/api/v1/namespaces/short", &Value::Null).await.0 == 404
    });
    timeout(Duration::from_secs(20), gone).await.expect("the other server leads within seconds");
    second.stop().await;
}

#[tokio::test]
async fn two_servers_that_start_at_once_share_what_both_create() {
    let several = Several::new();
    let (first, second) = tokio::join!(builder(&several).build(), builder(&several).build());
    let (first, second) = (first.unwrap(), second.unwrap());
    let map = ConfigMap { metadata: ObjectMeta::named("a"), ..ConfigMap::default() };
    first.client().of::<ConfigMap>("default").create(&map).await.unwrap();
    assert_eq!(second.client().of::<ConfigMap>("default").get("a").await.unwrap().metadata.name, "a");
    first.stop().await;
    second.stop().await;
}
