//! A round: connections on several threads run a scenario's operations until the time is over.
//!
//! Each thread has its own runtime, so that an answer wakes no other thread: what the client spends is not left for the server.
use std::{
    num::NonZero,
    sync::{
        Arc, Barrier,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    thread,
    time::Duration,
};

use tokio::{runtime, task::JoinSet, time::timeout_at};

use crate::{
    Outcome,
    client::{Connection, Failed},
    measure::Measure,
    scenario::{Position, Scenario, Worker},
    schedule::Schedule,
    target::Target,
};

/// How long answers may arrive after the end of a round.
const GRACE: Duration = Duration::from_secs(10);
/// The pause of a connection after an error that is not an answer.
const PAUSE: Duration = Duration::from_millis(10);

/// The load of a round.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Load {
    pub(crate) connections: usize,
    /// Concurrent operations on each connection of HTTP/2.
    pub(crate) streams: usize,
    /// Operations a second of an open loop; none in a closed loop.
    pub(crate) rate: Option<f64>,
    pub(crate) duration: Duration,
    /// Objects to read.
    pub(crate) objects: usize,
    /// Watchers of every change, in `fanout`.
    pub(crate) watchers: usize,
    /// Whether clients read slowly. They then give up at the end of the round.
    pub(crate) slow: bool,
}

/// One round of a scenario.
#[derive(Clone)]
pub(crate) struct Round {
    pub(crate) target: Arc<Target>,
    pub(crate) scenario: &'static Scenario,
    pub(crate) load: Load,
    /// Distinguishes the objects of this round from those of others.
    pub(crate) run: Arc<str>,
    /// Successful operations so far.
    pub(crate) progress: Arc<AtomicU64>,
}

impl Round {
    /// Runs the round. Fails only if a connection cannot be opened.
    pub(crate) fn run(&self) -> Outcome<Measure> {
        let cores = thread::available_parallelism().map_or(1, NonZero::get);
        let threads = cores.min(self.load.connections).max(1);
        let schedule = Arc::new(Schedule::new(self.load.duration, self.load.rate));
        let begin = Begin { barrier: Barrier::new(threads), failed: AtomicBool::new(false) };
        let mut whole = Measure::new();
        thread::scope(|scope| {
            let spawn = |index| {
                let (schedule, begin) = (&schedule, &begin);
                scope.spawn(move || self.thread((index..self.load.connections).step_by(threads), schedule, begin))
            };
            let running: Vec<_> = (0..threads).map(spawn).collect();
            for thread in running {
                whole.add(&thread.join().map_err(|_| "a thread of the load tool panicked")??);
            }
            Outcome::Ok(())
        })?;
        whole.unsent = schedule.unsent();
        whole.elapsed = schedule.start().elapsed();
        Ok(whole)
    }

    /// The connections of one thread.
    fn thread(
        &self,
        indices: impl Iterator<Item = usize> + Clone,
        schedule: &Arc<Schedule>,
        begin: &Begin,
    ) -> Outcome<Measure> {
        let runtime = runtime::Builder::new_current_thread().enable_all().build()?;
        let first = indices.clone().next() == Some(0);
        let opened = runtime.block_on(self.open(indices));
        if opened.is_err() {
            begin.failed.store(true, Ordering::Release);
        }
        // Also after an error, because the other threads wait here.
        begin.barrier.wait();
        let workers = opened?;
        if begin.failed.load(Ordering::Acquire) {
            return Ok(Measure::new());
        }
        schedule.start();
        thread::scope(|scope| {
            if first {
                scope.spawn(|| schedule.release());
            }
            runtime.block_on(async {
                let mut tasks = JoinSet::new();
                for worker in workers {
                    tasks.spawn(self.clone().work(worker, schedule.clone()));
                }
                let mut whole = Measure::new();
                for measure in tasks.join_all().await {
                    whole.add(&measure);
                }
                Ok(whole)
            })
        })
    }

    async fn open(&self, indices: impl Iterator<Item = usize>) -> Outcome<Vec<Worker>> {
        let mut workers = Vec::new();
        for index in indices {
            let connection = Connection::open(&self.target, self.load.slow).await?;
            for stream in 1..self.load.streams {
                let stream_index = index + stream * self.load.connections;
                let shared = connection.stream().ok_or("--streams needs --http 2")?;
                workers.push(Worker::new(shared, stream_index));
            }
            workers.push(Worker::new(connection, index));
        }
        Ok(workers)
    }

    /// Runs operations one after the other until the round ends.
    async fn work(self, mut worker: Worker, schedule: Arc<Schedule>) -> Measure {
        let mut measure = Measure::new();
        let give_up = schedule.end() + if self.load.slow { Duration::ZERO } else { GRACE };
        while let Some(turn) = schedule.next().await {
            let objects = self.load.objects as u64;
            let position =
                Position { run: &self.run, number: turn.number, worker: worker.index, objects, due: turn.due };
            match timeout_at(give_up.into(), worker.operate(self.scenario, &position)).await {
                Ok(Ok(bytes)) => {
                    measure.succeeded(turn.due.elapsed(), bytes);
                    self.progress.fetch_add(1, Ordering::Relaxed);
                }
                Ok(Err(failed)) => {
                    // A server that is gone refuses connections at once, and would be asked thousands of times a second.
                    if matches!(failed, Failed::Broken(_)) {
                        tokio::time::sleep(PAUSE).await;
                    }
                    measure.failed(failed);
                }
                Err(_) if self.load.slow => break,
                Err(_) => {
                    measure.failed(Failed::Broken(format!("no answer within {} s after the end", GRACE.as_secs())));
                    break;
                }
            }
        }
        measure
    }
}

/// Lets the threads of a round wait until all connections are open.
struct Begin {
    barrier: Barrier,
    /// Whether a connection could not be opened.
    failed: AtomicBool,
}
