//! The controller with kube-rs: in the process, and over the network with TLS.
//!
//! `KINDSMITH_SITES=10000 cargo test --release -p controller --features kube --test with_kube -- --nocapture` prints how
//! many sites it publishes in a second.
#![cfg(feature = "kube")]

use std::time::{Duration, Instant};

use controller::{Site, with_kube};
use kindsmith::{Server, client::WatchEvent, meta::options::ListOptions, server::TestServer};
use kube::{
    Client, Config,
    config::{KubeConfigOptions, Kubeconfig},
};
use tokio::sync::oneshot;

mod scenario;

async fn server() -> TestServer {
    Server::test().kind::<Site>().tls().start().await
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
    let controller = tokio::spawn(with_kube::run(client, async {
        let _ = stopped.await;
    }));
    let done = work.await;
    drop(stop);
    controller.await.expect("the controller stops on request");
    done
}

#[tokio::test]
async fn a_site_is_published_and_withdrawn_in_the_process() {
    let server = server().await;
    beside_the_controller(server.kube_client(), scenario::publishes(&server)).await;
}

#[tokio::test]
async fn a_site_is_published_and_withdrawn_over_the_network() {
    let server = server().await;
    beside_the_controller(over_tls(&server).await, scenario::publishes(&server)).await;
}

/// How long it takes until all of so many sites are published.
async fn publish(server: &TestServer, client: Client, sites: u32) -> Duration {
    let own = server.client().of::<Site>("default");
    for number in 0..sites {
        own.create(&Site::new(&format!("site-{number}"), "Welcome")).await.expect("a site");
    }
    let mut events = own.watch(&ListOptions::default()).await.expect("a watch");
    let start = Instant::now();
    beside_the_controller(client, async {
        let mut ready = 0;
        while ready < sites {
            if let WatchEvent::Modified(site) = events.next().await.expect("an event").expect("no error")
                && site.ready() == "True"
            {
                ready += 1;
            }
        }
        start.elapsed()
    })
    .await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn thousands_of_sites_are_published_in_the_process_and_over_the_network() {
    let sites = std::env::var("KINDSMITH_SITES").map_or(200, |sites| sites.parse().expect("a number"));
    let tell =
        |way: &str, took: Duration| println!("{sites} sites {way}: {:.0}/s", f64::from(sites) / took.as_secs_f64());
    let first = server().await;
    tell("in the process", publish(&first, first.kube_client(), sites).await);
    drop(first);
    let second = server().await;
    tell("over TLS", publish(&second, over_tls(&second).await, sites).await);
}
