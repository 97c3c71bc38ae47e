//! The controller in the process, where the server runs it, and over the network with TLS.
//!
//! `KINDSMITH_SITES=10000 cargo test --release -p controller --test sites -- --nocapture` publishes 10,000 sites, and prints how
//! many in a second.

use std::time::{Duration, Instant};

use controller::{PUBLIC, Site, reconciler};
use kindsmith::{
    ObjectMeta, Server,
    builtin::ConfigMap,
    client::WatchEvent,
    meta::options::{DeleteOptions, ListOptions},
    server::{Failures, TestServer},
};
use kube::{
    Client, Config,
    config::{KubeConfigOptions, Kubeconfig},
};
use serde_json::Value;
use tokio::sync::oneshot;

mod scenario;

/// A server without the controller.
async fn server() -> TestServer {
    Server::test().kind::<Site>().tls().start().await
}

/// A server that runs the controller.
async fn server_with_controller() -> TestServer {
    let add = |server: kindsmith::server::Builder| server.controller("sites", reconciler::run);
    Server::test().kind::<Site>().configure(add).start().await
}

/// A client of the admin's over TLS, by the kubeconfig that the server wrote.
async fn over_tls(server: &TestServer) -> Client {
    let kubeconfig = Kubeconfig::read_from(server.kubeconfig()).expect("a kubeconfig");
    let config = Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await.expect("a config");
    Client::try_from(config).expect("a client")
}

/// Runs work beside the controller, and then stops it.
async fn beside_the_controller<T>(client: Client, work: impl Future<Output = T>) -> T {
    let (stop, stopped) = oneshot::channel::<()>();
    let shutdown = async {
        let _ = stopped.await;
    };
    let controller = tokio::spawn(async move {
        reconciler::publish(client, &Failures::new("sites"), shutdown).await;
    });
    let done = work.await;
    drop(stop);
    controller.await.expect("the controller stops on request");
    done
}

/// The text of a path.
async fn text(server: &TestServer, path: &str) -> String {
    match server.call("GET", path, Value::Null).await {
        (200, Value::String(text)) => text,
        answer => panic!("{path}: {answer:?}"),
    }
}

/// The value of a metric of the controller.
async fn metric(server: &TestServer, name: &str) -> f64 {
    let text = text(server, "/metrics").await;
    let start = format!("kindsmith_controller_{name}{{controller=\"sites\"}} ");
    let value = text.lines().find_map(|line| line.strip_prefix(&start)).unwrap_or_else(|| panic!("no {name}: {text}"));
    value.parse().expect("a number")
}

async fn create(server: &TestServer, sites: u32) {
    let own = server.client().of::<Site>("default");
    for number in 0..sites {
        own.create(&Site::new(&format!("site-{number}"), "Welcome")).await.expect("a site");
    }
}

/// Waits until so many sites are ready.
async fn ready(server: &TestServer, sites: u32) {
    let mut events = server.client().of::<Site>("default").watch(&ListOptions::default()).await.expect("a watch");
    let mut names = std::collections::BTreeSet::new();
    while names.len() < sites as usize {
        if let WatchEvent::Added(site) | WatchEvent::Modified(site) =
            events.next().await.expect("an event").expect("no error")
            && site.ready() == "True"
        {
            names.insert(site.metadata.name);
        }
    }
}

#[tokio::test]
async fn a_site_is_published_and_withdrawn_in_the_process() {
    scenario::publishes(&server_with_controller().await).await;
}

#[tokio::test]
async fn a_site_is_published_and_withdrawn_over_the_network() {
    let server = server().await;
    beside_the_controller(over_tls(&server).await, scenario::publishes(&server)).await;
}

/// A record that cannot be changed, which keeps its site from being published.
async fn obstruct(server: &TestServer, site: &str) {
    let metadata = ObjectMeta::named(format!("default.{site}"));
    let record = ConfigMap { metadata, immutable: Some(true), ..ConfigMap::default() };
    server.client().of::<ConfigMap>(PUBLIC).create(&record).await.expect("a record");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_site_of_a_thousand_that_fails_keeps_no_other_waiting_and_is_shown() {
    let server = server_with_controller().await;
    obstruct(&server, "site-0").await;
    create(&server, 1_000).await;
    ready(&server, 999).await;
    while metric(&server, "failures_total").await < 3.0 {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let shown = ["running", "restarts_total", "failing_objects"];
    for (name, value) in shown.into_iter().zip([1.0, 0.0, 1.0]) {
        assert!((metric(&server, name).await - value).abs() < f64::EPSILON, "{name} is not {value}");
    }
    assert!(metric(&server, "failures_total").await < 20.0, "each further delay is longer");
    let readiness = text(&server, "/readyz?verbose").await;
    let line = readiness.lines().find(|line| line.starts_with("[!]controller/sites: 0 restarts, "));
    let line = line.unwrap_or_else(|| panic!("{readiness}"));
    assert!(line.contains("1 failing objects; last error at 20"), "{line}");
    assert!(line.contains("Z: Site.v1.example.com/site-0.default: ") && line.contains("immutable"), "{line}");
    assert!(readiness.ends_with("readyz check passed\n"), "{readiness}");
    let anyone = kindsmith::auth::User { name: "someone".to_owned(), ..Default::default() };
    let (_, readiness) = server.call_as(&anyone, "GET", "/readyz?verbose", Value::Null).await;
    assert!(!readiness.to_string().contains("site-0"), "the error names an object: {readiness}");

    // Once it can be published, it is, after at most the last delay.
    let records = server.client().of::<ConfigMap>(PUBLIC);
    records.delete("default.site-0", &DeleteOptions::default()).await.expect("it was deleted");
    ready(&server, 1_000).await;
    while metric(&server, "failing_objects").await > 0.0 {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

fn report(sites: u32, way: &str, took: Duration) {
    println!("{sites} sites {way}: {:.0}/s", f64::from(sites) / took.as_secs_f64());
}

/// The number of sites: the one that the environment names, or a small one.
fn number_of_sites(otherwise: u32) -> u32 {
    std::env::var("KINDSMITH_SITES").map_or(otherwise, |sites| sites.parse().expect("a number"))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_burst_of_sites_converges() {
    let sites = number_of_sites(500);
    let server = server_with_controller().await;
    let start = Instant::now();
    tokio::join!(create(&server, sites), ready(&server, sites));
    report(sites, "while they are created", start.elapsed());
    assert!(metric(&server, "failing_objects").await < f64::EPSILON, "nothing is left to do");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sites_that_exist_are_published_in_the_process_and_over_the_network() {
    let sites = number_of_sites(100);
    for over_network in [false, true] {
        let server = server().await;
        create(&server, sites).await;
        let client = if over_network { over_tls(&server).await } else { server.kube_client() };
        let start = Instant::now();
        beside_the_controller(client, ready(&server, sites)).await;
        report(sites, if over_network { "over TLS" } else { "in the process" }, start.elapsed());
    }
}
