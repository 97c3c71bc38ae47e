//! A loaded server that answers requests: in the process, under another program's listener, or on its own listener. It
//! stops in this order: listener, controllers, watches, running requests, store.

use std::{mem, sync::Arc};

use tokio::{
    net::TcpListener,
    sync::watch,
    task::JoinSet,
    time::{Instant, sleep, timeout_at},
};

use super::{
    Result,
    access::Admin,
    controllers,
    files::FileWatcher,
    listen::{Connections, Entrance},
    state::StateDir,
    stop::StopTimes,
};
use crate::{
    builtin,
    handlers::{Client, Handlers},
    http::{Health, Service},
    tasks,
    verbs::Verbs,
};

/// A loaded server: its store is open, its controllers run, and requests are answered.
///
/// [`App::run`] serves it on a listener. To serve it inside another program, nest [`App::service`] and call
/// [`App::stop`] when that program stops. Dropping it without a stop cancels its controllers; acknowledged writes are
/// durable nevertheless.
///
/// ```no_run
/// # async fn embed() -> Result<(), Box<dyn std::error::Error>> {
/// let app = kindsmith::Server::builder().data_dir("./data").build().await?;
/// let router = axum::Router::new()
///     .route("/", axum::routing::get(|| async { "a page" }))
///     .nest_service("/k8s", app.service());
/// let listener = tokio::net::TcpListener::bind("127.0.0.1:8080").await?;
/// let stopping = async {
///     let _ = tokio::signal::ctrl_c().await;
///     app.stop().await;
/// };
/// axum::serve(listener, router).with_graceful_shutdown(stopping).await?;
/// # Ok(())
/// # }
/// ```
pub struct App {
    pub(super) api: Arc<Verbs>,
    pub(super) handlers: Arc<Handlers>,
    pub(super) service: Service,
    /// The service of kube-rs's clients in the process.
    #[cfg(feature = "kube")]
    pub(super) in_process: crate::kube::InProcess,
    pub(super) health: Health,
    /// The builder's controllers.
    pub(super) controllers: controllers::ControllerTasks,
    /// The built-in controllers.
    pub(super) builtin: builtin::Controllers,
    /// Tasks that read changed files; ended on drop.
    pub(super) file_watchers: JoinSet<()>,
    /// Notifying this makes the server read its files again.
    pub(super) read_now: watch::Sender<()>,
    pub(super) admin: Option<Admin>,
    pub(super) entrance: Entrance,
    pub(super) stop: StopTimes,
    // Dropped last, so that a temporary folder outlives its users.
    pub(super) state: StateDir,
}

impl App {
    /// A typed client inside the process, which acts as the server itself.
    pub fn client(&self) -> Client {
        Client::new(self.api.clone(), "kindsmith")
    }

    /// The whole API as a [tower service](tower_service::Service). Clones share everything. It answers until the stop, on any runtime that
    /// lives as long as the one on which the app was built.
    ///
    /// Authentication is the same as on the server's own listener: tokens and the builder's authenticators. The
    /// protection of connections (TLS, slow and silent clients, their number) belongs to the listener, and therefore to
    /// the program in which this is nested.
    pub fn service(&self) -> Service {
        self.service.clone()
    }

    /// A kube-rs client of the server without a connection, which acts as the server itself: it needs no token and may
    /// do everything. kube's `Api`, `watcher` and `Controller` run over it unchanged.
    ///
    /// # Panics
    /// If there is no Tokio runtime.
    #[cfg(feature = "kube")]
    pub fn kube_client(&self) -> ::kube::Client {
        self.in_process.client(&self.service)
    }

    /// The admin token at startup, if the server created one. It is stored in the data directory as `admin.token`.
    pub fn admin_token(&self) -> Option<&str> {
        self.admin.as_ref().map(|admin| admin.token.as_str())
    }

    /// Makes the server read changed tokens and certificates at once instead of within seconds.
    pub fn reload(&self) {
        self.read_now.send_replace(());
    }

    pub(super) fn follow(&mut self, files: FileWatcher) {
        self.file_watchers.spawn(tasks::boxed(files.follow(self.read_now.subscribe())));
    }

    /// Follows files, and what a host publishes.
    pub(super) fn follow_all(&mut self, files: Vec<FileWatcher>, host: Option<tasks::BoxFuture<()>>) {
        for files in files {
            self.follow(files);
        }
        if let Some(host) = host {
            self.file_watchers.spawn(host);
        }
    }

    /// Serves on a listener until `shutdown` completes, and then stops like [`App::stop`]: after the delay of
    /// [`Builder::stop_delay`](super::Builder::stop_delay) no new connections, watches
    /// end after a complete frame, and running requests are answered. Uses TLS unless the builder has `http()`.
    ///
    /// # Errors
    /// If the certificate or the kubeconfig cannot be created, or if plain HTTP is requested on an address that is not
    /// loopback.
    pub async fn run(mut self, listener: TcpListener, shutdown: impl Future<Output = ()>) -> Result<()> {
        let mut entrance = mem::take(&mut self.entrance);
        let on_ready = mem::take(&mut entrance.on_ready);
        let (connections, files) = entrance.open(listener, self.service.clone(), &self.state, self.admin.as_ref())?;
        for files in files {
            self.follow(files);
        }
        tracing::info!(
            url = connections.ready.url,
            data = %self.state.files.path().display(),
            revision = %self.api.cache.revision(),
            "listening"
        );
        // After the log has it, because the callee may end the process.
        for tell in on_ready {
            tell(&connections.ready);
        }
        shutdown.await;
        self.stop_with(Some(connections)).await;
        Ok(())
    }

    /// Stops the server. The builder's controllers end one after the other in reverse order, watches end after a
    /// complete frame, running requests are answered, the built-in controllers end, and the store is closed. The
    /// builder's `stop_within` limits the time for all of this except closing the store. Clones of the service refuse later writes;
    /// another server can use the data directory once they and all clients are dropped.
    pub async fn stop(self) {
        self.stop_with(None).await;
    }

    async fn stop_with(mut self, connections: Option<Connections>) {
        tracing::info!("stopping");
        self.health.stop();
        if connections.is_some() {
            sleep(self.stop.delay).await;
        }
        self.api.registry.webhooks().stop();
        let ended = connections.map(Connections::stop);
        // Before the watches end: a controller that watches ends because of its `Shutdown`. Requests are still
        // answered.
        let end = Instant::now() + self.stop.within;
        self.controllers.stop(self.stop.within / 2).await;
        self.api.cache.close();
        self.handlers.open.stop();
        let connections = async {
            if let Some(ended) = ended {
                ended.await;
            }
        };
        let requests = async {
            self.service.idle().await;
            #[cfg(feature = "kube")]
            self.in_process.idle().await;
        };
        let ended = async { tokio::join!(connections, self.handlers.open.ended(), requests) };
        if timeout_at(end, ended).await.is_err() {
            tracing::warn!(seconds = self.stop.within.as_secs(), "some requests were not finished in time");
        }
        self.file_watchers.abort_all();
        if timeout_at(end, self.builtin.stop()).await.is_err() {
            tracing::warn!("the built-in controllers did not end in time, and were cut off");
        }
        let store = self.api.store.clone();
        tasks::blocking(move || store.close()).await.expect("closing the store does not panic");
        tracing::info!("stopped");
    }
}
