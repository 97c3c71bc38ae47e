//! The builder's controllers: started in order once the store is loaded, restarted with growing delays after failures
//! and panics, and stopped in reverse order. If several servers share a store, the elected one runs them. `/metrics` and
//! `/readyz?verbose` show them.

mod context;
mod sight;

use std::{convert::Infallible, error::Error, pin::Pin, sync::Arc, time::Duration};

use tokio::{
    sync::watch,
    task::JoinSet,
    time::{Instant, sleep, timeout_at},
};

pub(super) use context::Host;
pub use context::{ControllerContext, Failures};
pub(super) use sight::show;

use super::Election;
use crate::{builtin, metrics::ControllerState, tasks};

/// The delay after the first failure. Each further delay is twice as long.
const FIRST_WAIT: Duration = Duration::from_millis(200);
/// The longest delay. A controller that ran for longer than this before it failed starts with the first delay again.
const LONGEST_WAIT: Duration = Duration::from_secs(30);

/// Notifies a controller that the server stops; see [`Builder::controller`](super::Builder::controller). Clones share
/// the state.
#[derive(Clone, Debug)]
pub struct Shutdown(watch::Receiver<bool>);

impl Shutdown {
    /// A notification by the sender of a channel.
    pub(super) fn by(stop: watch::Receiver<bool>) -> Self {
        Self(stop)
    }

    /// Completes when the controller must end: it should finish its current write and return.
    pub fn requested(&self) -> impl Future<Output = ()> + Send + Sync + 'static {
        let mut stop = self.0.clone();
        async move {
            // A dropped sender also stops it.
            let _ = stop.wait_for(|stopping| *stopping).await;
        }
    }

    /// True if the controller must end.
    pub fn is_requested(&self) -> bool {
        *self.0.borrow()
    }
}

/// The lease of the controllers that run once for all servers of a store.
const LEASE: &str = "kindsmith-controllers";

/// Says that this server leads, until it is dropped.
struct LeaderGuard(Arc<watch::Sender<bool>>);

impl LeaderGuard {
    fn begin(leads: Arc<watch::Sender<bool>>) -> Self {
        leads.send_replace(true);
        Self(leads)
    }
}

impl Drop for LeaderGuard {
    fn drop(&mut self) {
        self.0.send_replace(false);
    }
}

type Run = Pin<Box<dyn Future<Output = Result<(), Box<dyn Error + Send + Sync>>> + Send>>;

/// A controller that is not running yet.
#[derive(Clone)]
pub(super) struct Controller {
    state: Arc<ControllerState>,
    start: Arc<dyn Fn(ControllerContext, Shutdown) -> Run + Send + Sync>,
}

impl Controller {
    pub(super) fn new<F, Fut, E>(name: String, start: F) -> Self
    where
        F: Fn(ControllerContext, Shutdown) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<(), E>> + Send + 'static,
        E: Into<Box<dyn Error + Send + Sync>>,
    {
        let start = Arc::new(move |context, shutdown| {
            let run = start(context, shutdown);
            Box::pin(async move { run.await.map_err(Into::into) }) as Run
        });
        Self { state: Arc::new(ControllerState::new(name)), start }
    }

    /// A controller that runs others, and the server's own unless they are disabled, while this server leads. So they run once
    /// if several servers share a store. `leads` gets whether it does.
    pub(super) fn elected(others: Vec<Self>, own: bool, leads: watch::Sender<bool>, stop_within: Duration) -> Self {
        let leads = Arc::new(leads);
        Self::new("leader election".to_owned(), move |context, shutdown| {
            let (others, leads) = (others.clone(), leads.clone());
            async move {
                let lead = |shutdown: Shutdown| {
                    let (others, host, leads) = (others.clone(), context.host.clone(), leads.clone());
                    async move {
                        let _guard = LeaderGuard::begin(leads);
                        let others = ControllerTasks::start(others, &host);
                        let mut builtin = builtin::Controllers::default();
                        if own {
                            builtin.lead(&host.api);
                        }
                        shutdown.requested().await;
                        others.stop(stop_within).await;
                        builtin.stop().await;
                    }
                };
                Election::new(&context.client(), LEASE).run(&shutdown, lead).await;
                Ok::<_, Infallible>(())
            }
        })
    }

    /// Runs it repeatedly until it succeeds or must end.
    async fn supervise(self, context: ControllerContext, shutdown: Shutdown) {
        let (name, mut wait) = (self.state.name(), FIRST_WAIT);
        loop {
            let (start, context, own_shutdown) = (self.start.clone(), context.clone(), shutdown.clone());
            let (began, running) = (Instant::now(), self.state.begin());
            // A separate task, so that a panic ends only this run. The set cancels it on drop.
            let mut run = JoinSet::new();
            run.spawn(tasks::boxed(async move { start(context, own_shutdown).await }));
            let error = match run.join_next().await.expect("a task was spawned") {
                Ok(Ok(())) => {
                    tracing::info!(controller = name, "a controller has ended");
                    return;
                }
                Ok(Err(error)) => error.to_string(),
                Err(panicked) => panicked.to_string(),
            };
            drop(running);
            self.state.restart(&error);
            if began.elapsed() > LONGEST_WAIT {
                wait = FIRST_WAIT;
            }
            tracing::error!(controller = name, error, again_in = ?wait, "a controller failed");
            tokio::select! {
                () = shutdown.requested() => return,
                () = sleep(wait) => wait = LONGEST_WAIT.min(wait * 2),
            }
        }
    }
}

/// Running controllers, cancelled on drop.
pub(super) struct ControllerTasks(Vec<(String, watch::Sender<bool>, JoinSet<()>)>);

impl ControllerTasks {
    /// Starts them on the current runtime.
    pub(super) fn start(controllers: Vec<Controller>, host: &Host) -> Self {
        let start = |controller: Controller| {
            let (stop, stopping) = watch::channel(false);
            let (name, context) = (controller.state.name().to_owned(), ControllerContext::new(host, &controller.state));
            let mut task = JoinSet::new();
            task.spawn(tasks::boxed(controller.supervise(context, Shutdown(stopping))));
            (name, stop, task)
        };
        Self(controllers.into_iter().map(start).collect())
    }

    /// Ends them in reverse order, each after its current work. Controllers that exceed this total time are cancelled.
    pub(super) async fn stop(self, within: Duration) {
        let end = Instant::now() + within;
        for (name, stop, mut task) in self.0.into_iter().rev() {
            stop.send_replace(true);
            if timeout_at(end, task.join_next()).await.is_err() {
                tracing::warn!(controller = name, "a controller did not end in time, and was cut off");
            }
        }
    }
}
