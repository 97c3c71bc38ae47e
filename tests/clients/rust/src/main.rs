//! Runs the Rust client `kube` against the example server over TLS: the dynamic Api, the typed Api with the kinds' own
//! root types, refusals, built-in kinds, all of that in Protobuf, leader election, a reflector that survives stops
//! and kills of the server, and a server behind another one. Also compiles the Protobuf definitions that a server exports.
//!
//! ```text
//! cargo run --manifest-path tests/clients/rust/Cargo.toml -- --programs target/debug
//! cargo run --manifest-path tests/clients/rust/Cargo.toml -- --definitions FOLDER
//! ```
//!
//! Starts the program itself, in an empty folder. Prints `FAILED step: why` for each failed step, and ends with `N
//! passed, M failed`. Every step has a time limit.

mod behind;
mod builtin;
mod compiled;
mod dynamic;
mod election;
mod following;
mod kinds;
mod protobuf;
mod refused;
mod server;
mod typed;

use std::{
    path::{Path, PathBuf},
    process::ExitCode,
    sync::Arc,
    time::Duration,
};

use k8s_pb::api::{coordination::v1::Lease, core::v1::ConfigMap};
use kube::{Client, runtime::watcher};
use tokio::{sync::Mutex, time::timeout, try_join};

use crate::{election::Way, following::End, server::Server};

/// The error of a step; a failed assertion also counts.
type Failure = Box<dyn std::error::Error + Send + Sync>;

/// The maximum duration of a step. Only a server that has stopped answering reaches it.
const LIMIT: Duration = Duration::from_mins(2);

/// The number of passed and of failed steps.
#[derive(Default)]
struct Tally {
    passed: usize,
    failed: usize,
}

impl Tally {
    /// Runs a step in a separate task, so that a failed assertion ends only the step.
    async fn step(&mut self, name: &str, work: impl Future<Output = Result<(), Failure>> + Send + 'static) {
        let task = tokio::spawn(work);
        let stop = task.abort_handle();
        let why = match timeout(LIMIT, task).await {
            Ok(Ok(Ok(()))) => {
                self.passed += 1;
                return;
            }
            Ok(Ok(Err(failure))) => failure.to_string(),
            Ok(Err(panicked)) => panicked.to_string(),
            Err(_) => {
                stop.abort();
                format!("not done within {} s", LIMIT.as_secs())
            }
        };
        self.failed += 1;
        println!("FAILED {name}: {why}");
    }
}

#[tokio::main]
async fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let done = match arguments[..] {
        ["--programs", folder] => return against(Path::new(folder)).await,
        ["--definitions", folder] => compiled::export(Path::new(folder)),
        ["--contend", kubeconfig, way, lease, identity] => {
            election::contend(Path::new(kubeconfig), way, lease, identity).await
        }
        _ => Err("usage: client-check --programs FOLDER | --definitions FOLDER".into()),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("{why}");
            ExitCode::from(2)
        }
    }
}

/// All steps, against the programs of a folder.
async fn against(programs: &Path) -> ExitCode {
    let mut tally = Tally::default();
    let (kindsmith, pods) = (programs.join("kindsmith"), programs.join("pod-server"));
    tally.step("behind_another", async move { behind::through_the_front(&kindsmith, &pods).await }).await;
    let listen = |address: &str| ["--listen", address].map(str::to_owned).to_vec();
    match Server::start(&programs.join("library"), "library", listen).await {
        Ok(library) => check(&mut tally, library).await,
        Err(why) => {
            println!("FAILED start: {why}");
            tally.failed += 1;
        }
    }
    println!("{} passed, {} failed", tally.passed, tally.failed);
    ExitCode::from(u8::from(tally.failed > 0))
}

async fn check(tally: &mut Tally, library: Server) {
    let client = match library.client().await {
        Ok(client) => client,
        Err(why) => {
            println!("FAILED client: {why}");
            tally.failed += 1;
            return;
        }
    };
    tally.step("discovers", dynamic::discovers(client.clone())).await;
    tally.step("dynamic_reads", dynamic::creates_gets_and_lists(client.clone())).await;
    tally.step("dynamic_patches", dynamic::patches_and_replaces(client.clone())).await;
    tally.step("dynamic_deletes", dynamic::deletes(client.clone())).await;
    tally.step("typed_objects", typed::objects(client.clone())).await;
    tally.step("typed_status", typed::status(client.clone())).await;
    tally.step("typed_scale", typed::scale(client.clone())).await;
    tally.step("typed_entries", typed::entries(client.clone())).await;
    tally.step("typed_conditions", typed::conditions(client.clone())).await;
    tally.step("refusals", refused::reasons(client.clone())).await;
    tally.step("refusals_of_strangers", refused::strangers(library.config().await)).await;
    tally.step("config_maps", builtin::config_maps(client.clone())).await;
    tally.step("leases", builtin::leases(client.clone())).await;
    in_protobuf(tally, client.clone()).await;
    tally.step("elections", elections(client, library.kubeconfig())).await;

    let library = Arc::new(Mutex::new(library));
    let listing = || watcher::Config::default().page_size(7);
    let streaming = || watcher::Config::default().streaming_lists();
    for (name, config, ends) in [
        ("follows-through-a-stop", listing(), vec![End::Stop]),
        ("follows-through-a-kill", listing(), vec![End::Kill]),
        ("follows-through-all-with-streaming-lists", streaming(), vec![End::Stop, End::Kill, End::Kill]),
    ] {
        tally.step(name, following::through(library.clone(), name, config, ends)).await;
    }
    tally.step("ends_well", async move { library.lock().await.end().await }).await;
}

async fn in_protobuf(tally: &mut Tally, client: Client) {
    tally.step("protobuf_config_maps", protobuf::objects::<ConfigMap>(client.clone())).await;
    tally.step("protobuf_leases", protobuf::objects::<Lease>(client.clone())).await;
    tally.step("protobuf_watches_config_maps", protobuf::watches::<ConfigMap>(client.clone())).await;
    tally.step("protobuf_watches_leases", protobuf::watches::<Lease>(client.clone())).await;
    tally.step("protobuf_refusals", protobuf::refusals(client.clone())).await;
    tally.step("protobuf_of_any_kind", protobuf::of_any_kind(client)).await;
    tally.step("protobuf_definitions", compiled::definitions()).await;
}

/// Both at once, because most of the time is spent waiting.
async fn elections(client: Client, kubeconfig: PathBuf) -> Result<(), Failure> {
    let holds = |way| election::holds(client.clone(), kubeconfig.clone(), way);
    try_join!(holds(Way::Update), holds(Way::Apply))?;
    Ok(())
}
