//! Controllers in the process: when they start, how they come back, and the order in which they end.

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use kindsmith::{
    App, ObjectMeta, Server,
    builtin::{ConfigMap, Namespace},
    client::Client,
    handlers::{Refusal, Result},
    server::{Builder, ControllerContext, Shutdown},
};
use tokio::{sync::mpsc, time::timeout};

const PATIENCE: Duration = Duration::from_secs(20);

fn server() -> Builder {
    Server::builder().memory()
}

#[tokio::test]
async fn a_controller_starts_with_a_client_when_the_store_is_loaded() {
    let (tell, mut told) = mpsc::channel(1);
    let controller = move |context: ControllerContext, shutdown: Shutdown| {
        let (tell, client) = (tell.clone(), context.client());
        async move {
            client.of::<Namespace>("").get("default").await?;
            let mut map = ConfigMap { metadata: ObjectMeta::named("mark"), ..ConfigMap::default() };
            map.data.insert("k".into(), "v".into());
            client.of::<ConfigMap>("default").create(&map).await?;
            tell.send(shutdown.is_requested()).await.expect("the test waits");
            shutdown.requested().await;
            Ok::<_, Refusal>(())
        }
    };
    let app = server().controller("marker", controller).build().await.expect("it starts");
    let stopping = timeout(PATIENCE, told.recv()).await.expect("the controller runs");
    assert_eq!(stopping, Some(false));
    let token = app.admin_token().expect("an admin").to_owned();
    let path = "/api/v1/namespaces/default/configmaps/mark";
    let caller = kindsmith_server::http::Caller::Token(&token);
    let map = kindsmith_server::http::call(&app.service(), caller, "GET", path, &serde_json::Value::Null).await.body;
    assert_eq!(map["metadata"]["managedFields"][0]["manager"], "marker", "{map}");
    app.stop().await;
}

/// The text of a path, for the admin.
async fn text(app: &App, path: &str) -> String {
    let caller = kindsmith_server::http::Caller::Token(app.admin_token().expect("an admin"));
    let answer = kindsmith_server::http::call(&app.service(), caller, "GET", path, &serde_json::Value::Null).await;
    answer.body.as_str().expect("text").to_owned()
}

#[tokio::test]
async fn a_controller_that_fails_or_panics_starts_again_and_one_that_returns_is_done() {
    let runs = Arc::new(AtomicUsize::new(0));
    let (tell, mut told) = mpsc::unbounded_channel();
    let counted = runs.clone();
    let controller = move |_: ControllerContext, _: Shutdown| {
        let (run, tell) = (counted.fetch_add(1, Ordering::SeqCst), tell.clone());
        assert_ne!(run, 0, "a panic before there is a future");
        async move {
            tell.send((run, tokio::time::Instant::now())).expect("the test waits");
            match run {
                1 => panic!("a panic in the future"),
                2 => Err("an error"),
                _ => Ok(()),
            }
        }
    };
    let began = tokio::time::Instant::now();
    let app = server().controller("unsteady", controller).build().await.expect("it starts");
    let mut at = Vec::new();
    for run in 1..=3 {
        let (told, when) = timeout(PATIENCE, told.recv()).await.expect("it starts again").expect("it is there");
        assert_eq!(told, run);
        at.push(when.duration_since(began));
    }
    assert!(at[0] >= Duration::from_millis(200), "a failure is waited after: {at:?}");
    assert!(at[2] > at[0] + at[1], "each wait is longer: {at:?}");
    tokio::time::sleep(Duration::from_millis(300)).await;
    assert_eq!(runs.load(Ordering::SeqCst), 4, "it is done");
    let shown = text(&app, "/metrics").await;
    for line in ["restarts_total{controller=\"unsteady\"} 3", "running{controller=\"unsteady\"} 0"] {
        assert!(shown.contains(&format!("\nkindsmith_controller_{line}\n")), "{line}: {shown}");
    }
    let readiness = text(&app, "/readyz?verbose").await;
    assert!(readiness.contains("\n[!]controller/unsteady: 3 restarts, 0 failures of objects, "), "{readiness}");
    assert!(readiness.contains("Z: an error\n"), "{readiness}");
    app.stop().await;
}

/// Writes down when it ends, after a write of its own.
async fn recording(name: &'static str, log: Arc<Mutex<Vec<String>>>, client: Client, shutdown: Shutdown) -> Result<()> {
    log.lock().expect("no panic").push(format!("{name} started"));
    shutdown.requested().await;
    let map = ConfigMap { metadata: ObjectMeta::named(name), ..ConfigMap::default() };
    client.of::<ConfigMap>("default").create(&map).await?;
    tokio::time::sleep(Duration::from_millis(50)).await;
    log.lock().expect("no panic").push(format!("{name} ended"));
    Ok(())
}

#[tokio::test]
async fn a_stop_ends_controllers_one_after_the_other_the_last_one_first_while_they_can_write() {
    let log = Arc::<Mutex<Vec<String>>>::default();
    let mut server = server();
    for name in ["first", "second", "third"] {
        let log = log.clone();
        server =
            server.controller(name, move |context, shutdown| recording(name, log.clone(), context.client(), shutdown));
    }
    let app = server.build().await.expect("it starts");
    while log.lock().expect("no panic").len() < 3 {
        tokio::task::yield_now().await;
    }
    log.lock().expect("no panic").clear();
    app.stop().await;
    assert_eq!(*log.lock().expect("no panic"), ["third ended", "second ended", "first ended"]);
}

#[tokio::test]
async fn a_controller_that_does_not_end_is_cut_off_and_so_is_one_that_waits_to_start_again() {
    struct Dropped(mpsc::UnboundedSender<()>);
    impl Drop for Dropped {
        fn drop(&mut self) {
            let _ = self.0.send(());
        }
    }
    let (tell, mut told) = mpsc::unbounded_channel();
    let deaf = move |_: ControllerContext, _: Shutdown| {
        let guard = Dropped(tell.clone());
        async move {
            std::future::pending::<()>().await;
            drop(guard);
            Ok::<_, Refusal>(())
        }
    };
    let app = server()
        .stop_within(Duration::from_millis(400))
        .controller("failing", async |_: ControllerContext, _: Shutdown| Err("always"))
        .controller("deaf", deaf)
        .build()
        .await
        .expect("it starts");
    tokio::time::sleep(Duration::from_millis(50)).await;
    timeout(PATIENCE, app.stop()).await.expect("a stop has an end");
    told.try_recv().expect("what did not end was cut off");
}
