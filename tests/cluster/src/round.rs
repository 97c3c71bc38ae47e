//! One round: a namespace of its own, clients and watchers, the faults of its seed, and the judgement.
use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use hyper::Method;
use kindsmith_tests::Random;
use serde_json::json;
use tokio::{
    task::JoinHandle,
    time::{Instant, sleep},
};

use crate::{
    Outcome,
    availability::{Phase, Verdict, judge},
    check::{Violation, check},
    client::{Client, Target},
    cluster::Cluster,
    history::History,
    plan::{Beside, Step},
    record::Recorder,
    watcher::Watching,
    work::{OBJECTS, Shared, Worker},
};

/// Clients that move from server to server, beside one that stays at each.
const ROAMING: usize = 3;
const WATCHERS: usize = 4;
/// How long etcd itself may take until a quorum answers.
const QUORUM_WITHIN: Duration = Duration::from_secs(20);
/// How long the servers are given to answer again. Later than what is allowed, so that lateness is measured.
const CALM_WITHIN: Duration = Duration::from_secs(8);

/// What a round found.
pub(crate) struct Finding {
    pub(crate) history: History,
    pub(crate) violations: Vec<Violation>,
    pub(crate) verdict: Verdict,
    /// Faults of other kinds: no quorum, watchers that do not arrive.
    pub(crate) troubles: Vec<String>,
    pub(crate) compactions: usize,
}

struct Round<'a> {
    cluster: &'a mut Cluster,
    shared: Arc<Shared>,
    phases: Vec<Phase>,
    troubles: Vec<String>,
    compactions: usize,
}

/// Creates the round's namespace on any server.
async fn make_namespace(targets: &[Target], token: &str, name: &str) -> Outcome<()> {
    let start = Instant::now();
    let body = json!({ "apiVersion": "v1", "kind": "Namespace", "metadata": { "name": name } });
    let mut last = String::new();
    while start.elapsed() < Duration::from_mins(1) {
        for target in targets {
            let mut client = Client::new(target.clone(), Some(token));
            match client.send(Method::POST, "/api/v1/namespaces", &body).await {
                Ok((200..=299 | 409, _)) => return Ok(()),
                Ok((status, body)) => last = format!("{status}: {body}"),
                Err(failed) => last = failed.reason,
            }
        }
        sleep(Duration::from_millis(100)).await;
    }
    Err(format!("no server created the namespace {name} within a minute: {last}").into())
}

impl Round<'_> {
    /// Begins a phase; its quorum is awaited where there should be one.
    async fn phase(&mut self, cause: String) {
        let (from, healthy) = (self.shared.recorder.now(), self.cluster.healthy_servers());
        self.phases.push(Phase { from, cause: cause.clone(), healthy, quorum: None });
        if self.cluster.has_quorum() {
            if self.cluster.await_quorum(QUORUM_WITHIN).await {
                let quorum = Some(self.shared.recorder.now());
                self.phases.last_mut().expect("one was pushed").quorum = quorum;
            } else {
                self.troubles.push(format!("etcd had no quorum within {} s after {cause}", QUORUM_WITHIN.as_secs()));
            }
        }
    }

    /// Waits until the healthy servers answer without failures.
    async fn calm(&mut self) -> Outcome<()> {
        let Some(Phase { healthy, quorum: Some(quorum), .. }) = self.phases.last() else { return Ok(()) };
        let servers: Vec<_> = (0..healthy.len()).filter(|server| healthy[*server]).collect();
        let (quorum, start) = (*quorum, Instant::now());
        while start.elapsed() < CALM_WITHIN && !self.shared.recorder.is_calm(&servers, quorum) {
            self.cluster.supervise()?;
            sleep(Duration::from_millis(20)).await;
        }
        Ok(())
    }

    async fn pause(&mut self, lasts: Duration) -> Outcome<()> {
        let start = Instant::now();
        while start.elapsed() < lasts {
            self.cluster.supervise()?;
            sleep(Duration::from_millis(50)).await;
        }
        Ok(())
    }

    async fn fault(&mut self, step: &Step) -> Outcome<()> {
        self.cluster.inject(step.fault).await?;
        self.phase(format!("{:?}", step.fault)).await;
        self.pause(step.lasts).await?;
        if step.settles {
            self.calm().await?;
        }
        if let Beside::Compact(behind) = step.beside {
            self.compactions += usize::from(self.cluster.compact(behind).await);
        }
        self.cluster.heal()?;
        self.phase(format!("healed {:?}", step.fault)).await;
        if step.heals {
            self.calm().await?;
        }
        Ok(())
    }

    /// Ends the clients, reads everything once more on every server, and waits for the watchers.
    async fn finish(&mut self, clients: Vec<JoinHandle<()>>, watchers: Vec<JoinHandle<()>>) -> Outcome<()> {
        self.shared.quiet.store(true, Ordering::Relaxed);
        for client in clients {
            client.await?;
        }
        // Writes without an answer may still be under way.
        sleep(Duration::from_millis(300)).await;
        for server in 0..self.shared.targets.len() {
            let mut reader = Worker::new(&self.shared, 200 + server, server, false, Random::from_seed(0));
            for object in OBJECTS {
                reader.get(object.to_owned()).await;
            }
            reader.list(2).await;
            reader.list(0).await;
        }
        let (start, recorder) = (Instant::now(), &self.shared.recorder);
        while !recorder.watchers_have_all(WATCHERS) && start.elapsed() < Duration::from_secs(5) {
            sleep(Duration::from_millis(20)).await;
        }
        self.shared.done.store(true, Ordering::Relaxed);
        for watcher in watchers {
            watcher.await?;
        }
        Ok(())
    }
}

/// Runs one round.
pub(crate) async fn run(
    cluster: &mut Cluster,
    targets: &[Target],
    name: &str,
    seed: u64,
    steps: &[Step],
    stale_reads: bool,
) -> Outcome<Finding> {
    make_namespace(targets, &cluster.token, name).await?;
    let shared = Arc::new(Shared {
        recorder: Recorder::new(),
        targets: targets.to_owned(),
        token: cluster.token.clone(),
        path: format!("/api/v1/namespaces/{name}/configmaps"),
        stale_reads,
        quiet: AtomicBool::new(false),
        done: AtomicBool::new(false),
    });
    let mut random = Random::from_seed(seed);
    let servers = targets.len();
    let clients = (0..servers + ROAMING).map(|number| {
        let worker = Worker::new(&shared, number, number % servers, number >= servers, random.fork());
        tokio::spawn(worker.run())
    });
    let clients = clients.collect();
    let watchers = (0..WATCHERS).map(|number| tokio::spawn(Watching::new(&shared, number, random.fork()).run()));
    let watchers = watchers.collect();
    let mut round = Round { cluster, shared: shared.clone(), phases: vec![], troubles: vec![], compactions: 0 };
    round.phase("the beginning".into()).await;
    round.calm().await?;
    for step in steps {
        round.fault(step).await?;
    }
    round.finish(clients, watchers).await?;
    let verdict = judge(&round.phases, &shared.recorder.answers());
    let (troubles, compactions) = (round.troubles, round.compactions);
    let history = shared.recorder.take();
    let violations = check(&history);
    Ok(Finding { history, violations, verdict, troubles, compactions })
}

/// Lines of logs that no server may write, whatever fails.
pub(crate) fn panics(log: &str) -> Vec<String> {
    log.lines().filter(|line| line.contains("panicked at")).map(str::to_owned).collect()
}
