//! A server inside a test: one line of code, a free port, a memory store, stopped on drop. It runs on a separate thread
//! and runtime, so that a test may block and may use any runtime. It has a clock that the test can move, and faults.
mod clocked;

use std::{
    convert::Infallible,
    fs,
    path::{Path, PathBuf},
    sync::Arc,
    thread::JoinHandle,
    time::Duration,
};

use serde_json::Value;
use tokio::{
    runtime,
    sync::{oneshot, watch},
};

use super::{App, Result, builder::Builder, listen};
use crate::{
    auth::User,
    handlers::Client,
    http::{self, Answer, Caller, FaultLayer, Faults, Service},
    kind::{Kind, resource::Stored},
    meta::{Time, time::clock::Clock},
    storage::Store,
    verbs::Verbs,
};

/// Builds a [`TestServer`].
#[must_use = "a builder does nothing until `start` is called"]
pub struct TestBuilder {
    builder: Builder,
    /// Where it listens, if it does.
    address: Option<String>,
}

impl TestBuilder {
    pub(super) fn new() -> Self {
        Self::of(Builder::new().memory())
    }

    /// A test of a server that a program has built. It has no store of its own yet.
    pub(super) fn of(builder: Builder) -> Self {
        let builder = builder.http().stop_within(Duration::from_secs(10));
        Self { builder, address: Some("127.0.0.1:0".into()) }
    }

    /// Serves a kind declared in Rust.
    pub fn kind<R: Stored>(self) -> Self {
        self.configure(Builder::kind::<R>)
    }

    /// Serves a kind given as data.
    pub fn model(self, kind: Kind) -> Self {
        self.configure(|builder| builder.model(kind))
    }

    /// Stores objects in a directory, for tests that restart a server.
    pub fn data_dir(self, path: impl AsRef<Path>) -> Self {
        self.configure(|builder| builder.data_dir(path))
    }

    /// Uses TLS, like a server outside tests; [`TestServer::authority`] is the file to trust.
    pub fn tls(mut self) -> Self {
        self.builder.entrance.plain_http = false;
        self
    }

    /// Listens on a given port instead of a free one, for tests that restart a server.
    pub fn port(mut self, port: u16) -> Self {
        self.address = Some(format!("127.0.0.1:{port}"));
        self
    }

    /// Listens on no port: only clients in the process reach the server.
    pub fn without_listener(mut self) -> Self {
        self.address = None;
        self
    }

    /// Changes any other setting of the server.
    pub fn configure(mut self, change: impl FnOnce(Builder) -> Builder) -> Self {
        self.builder = change(self.builder);
        self
    }

    /// Starts the server and waits until it is ready.
    ///
    /// # Panics
    /// If the server cannot start.
    pub async fn start(self) -> TestServer {
        match self.try_start().await {
            Ok(server) => server,
            Err(error) => panic!("the test server cannot start: {error}"),
        }
    }

    /// Starts the server and waits until it is ready.
    ///
    /// # Errors
    /// Like [`Builder::serve`].
    pub async fn try_start(self) -> Result<TestServer> {
        let (ready, started) = oneshot::channel();
        let (stop, stopped) = oneshot::channel();
        let layer = FaultLayer::default();
        let (faults, clock) = (layer.faults.clone(), layer.clock.clone());
        let thread = std::thread::Builder::new()
            .name("test-server".into())
            .spawn(move || {
                let clock = layer.clock.clone();
                clock.enter_thread();
                let runtime = runtime::Builder::new_multi_thread()
                    .worker_threads(2)
                    .thread_name("test-server")
                    .on_thread_start(move || clock.enter_thread())
                    .enable_all()
                    .build()
                    .expect("the system has threads left for a test");
                runtime.block_on(self.run(layer, ready, stopped))
            })
            .expect("the system has threads left for a test");
        match started.await {
            Ok(about) => Ok(TestServer { about, faults, clock, stop: Some(stop), thread: Some(thread) }),
            // It never listened.
            Err(_) => match thread.join() {
                Ok(Err(error)) => Err(error),
                Ok(Ok(())) => unreachable!("a server that ends well has listened"),
                Err(panic) => std::panic::resume_unwind(panic),
            },
        }
    }

    /// Runs the server until the sender of `stopped` is dropped.
    async fn run(
        mut self,
        layer: FaultLayer,
        ready: oneshot::Sender<About>,
        stopped: oneshot::Receiver<Infallible>,
    ) -> Result<()> {
        // Outside of all other layers.
        self.builder = self.builder.layer(layer.clone());
        self.builder.faults = Some(layer);
        let Some(address) = self.address else {
            let app = self.builder.build().await?;
            if ready.send(About::of(&app)).is_ok() {
                let _ = stopped.await;
            }
            app.stop().await;
            return Ok(());
        };
        let address = address.parse().expect("a test listens on 127.0.0.1 and a port");
        let (tell, mut told) = oneshot::channel();
        let app = self.builder.on_ready(move |ready| drop(tell.send(ready.clone()))).build().await?;
        let about = About::of(&app);
        let shutdown = async move {
            let url = told.try_recv().expect("the server listens").url;
            // The test has ended, so the server stops at once.
            if ready.send(About { url, ..about }).is_ok() {
                let _ = stopped.await;
            }
        };
        app.run(listen::bind(address)?, shutdown).await
    }
}

/// The properties of a test server.
struct About {
    url: String,
    token: String,
    api: Arc<Verbs>,
    service: Service,
    #[cfg(feature = "kube")]
    in_process: crate::kube::InProcess,
    authority: PathBuf,
    kubeconfig: PathBuf,
    /// The folder of its files, if they go with it.
    temporary: Option<PathBuf>,
    read_now: watch::Sender<()>,
}

impl About {
    /// Everything except the URL, which the listener determines.
    fn of(app: &App) -> Self {
        Self {
            url: String::new(),
            token: app.admin_token().unwrap_or_default().to_owned(),
            api: app.api.clone(),
            service: app.service(),
            #[cfg(feature = "kube")]
            in_process: app.in_process.clone(),
            authority: app.state.files.file("ca.crt"),
            kubeconfig: app.state.files.file("kubeconfig"),
            temporary: app.state.is_temporary().then(|| app.state.files.path().to_owned()),
            read_now: app.read_now.clone(),
        }
    }
}

/// A server inside a test. It stops on drop.
pub struct TestServer {
    about: About,
    faults: Faults,
    clock: Clock,
    stop: Option<oneshot::Sender<Infallible>>,
    thread: Option<JoinHandle<Result<()>>>,
}

impl TestServer {
    /// The faults that requests meet. Clients of [`TestServer::client`] send none, and meet none.
    pub fn faults(&self) -> &Faults {
        &self.faults
    }

    /// Moves the server's clock forward. It then runs on from there; the clocks of other servers and of the test stay as they are.
    ///
    /// The times that the server writes follow it (`creationTimestamp`, `deletionTimestamp`, `managedFields`, conditions), the ages
    /// that it shows, [`Time::now`] in the server's hooks, handlers and controllers, the expiry of tokens of service accounts, ends of
    /// grace periods, and lifetimes of objects in the store in memory, such as those of Events. Not so: tokio's timers, as in time limits
    /// of requests and in controllers that wait; clients' clocks, by which they judge leases; the bounds of history, for which there is
    /// [`Faults::gone`]; certificates and ID tokens; stores on disk and in etcd.
    pub fn advance(&self, by: Duration) {
        self.clock.advance(by);
    }

    /// The time on the server's clock.
    pub fn now(&self) -> Time {
        Time::from_timestamp(self.clock.timestamp())
    }

    /// The base of every URL, such as `http://127.0.0.1:40123`; empty if it does not listen.
    pub fn url(&self) -> &str {
        &self.about.url
    }

    /// The port.
    pub fn port(&self) -> u16 {
        let port = self.about.url.rsplit(':').next().and_then(|port| port.parse().ok());
        port.expect("a server's URL ends in its port")
    }

    /// The admin token; empty if the test has its own users.
    pub fn token(&self) -> &str {
        &self.about.token
    }

    /// A typed client inside the process, which acts as the server itself.
    pub fn client(&self) -> Client {
        let backend = clocked::ClockedBackend { backend: self.about.api.clone(), clock: self.clock.clone() };
        Client::new(Arc::new(backend), "test")
    }

    /// The store behind the server, for tests in which it forgets its history.
    pub fn store(&self) -> &Arc<dyn Store> {
        &self.about.api.store
    }

    /// Sends a request as the admin with a JSON body, or without one for `Value::Null` (a PATCH is a JSON merge patch).
    /// Returns the status of the answer and its body.
    ///
    /// # Panics
    /// If the method or path is invalid.
    pub async fn call(&self, method: &str, path: &str, body: Value) -> (u16, Value) {
        let Answer { code, body, .. } = self.answer(method, path, body).await;
        (code, body)
    }

    /// Sends a request like [`TestServer::call`] as another user, to test authorization without a token.
    ///
    /// # Panics
    /// Like [`TestServer::call`].
    pub async fn call_as(&self, user: &User, method: &str, path: &str, body: Value) -> (u16, Value) {
        let Answer { code, body, .. } = self.answer_as(user, method, path, body).await;
        (code, body)
    }

    /// Sends a request like [`TestServer::call`], and returns the whole answer, with its warnings.
    ///
    /// # Panics
    /// Like [`TestServer::call`].
    pub async fn answer(&self, method: &str, path: &str, body: Value) -> Answer {
        http::call(&self.about.service, Caller::Token(self.token()), method, path, &body).await
    }

    /// Sends a request like [`TestServer::call_as`], and returns the whole answer, with its warnings.
    ///
    /// # Panics
    /// Like [`TestServer::call`].
    pub async fn answer_as(&self, user: &User, method: &str, path: &str, body: Value) -> Answer {
        http::call(&self.about.service, Caller::User(user), method, path, &body).await
    }

    /// The API as a service, without a socket.
    pub fn service(&self) -> Service {
        self.about.service.clone()
    }

    /// A kube-rs client of the server without a connection, which acts as the server itself.
    ///
    /// # Panics
    /// If there is no Tokio runtime.
    #[cfg(feature = "kube")]
    pub fn kube_client(&self) -> ::kube::Client {
        self.about.in_process.client(&self.about.service)
    }

    /// A kube-rs client of the server without a connection, which acts as a user: the server asks its authorizers whether the user may
    /// do what it requests. The user's name is the client's user agent.
    ///
    /// # Panics
    /// If there is no Tokio runtime.
    #[cfg(feature = "kube")]
    pub fn kube_client_as(&self, user: User) -> ::kube::Client {
        crate::kube::InProcess::client_of(&self.about.service, user, "default")
    }

    /// The certificate to trust, if the server uses TLS.
    pub fn authority(&self) -> &Path {
        &self.about.authority
    }

    /// A kubeconfig for the server, if it uses TLS.
    pub fn kubeconfig(&self) -> &Path {
        &self.about.kubeconfig
    }

    /// Makes the server read its token and certificate files again at once.
    pub fn reload(&self) {
        self.about.read_now.send_replace(());
    }

    /// Stops the server like a signal, and waits until it has stopped.
    pub fn stop(mut self) {
        self.end();
    }

    fn end(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            // The panic of the server's thread was already printed.
            let _ = thread.join();
        }
    }
}

impl Drop for TestServer {
    fn drop(&mut self) {
        let runtime = runtime::Handle::try_current().map(|handle| handle.runtime_flavor());
        // Tasks of this thread may hold watches of the server, and end only when the thread goes on.
        let is_awaited = matches!(runtime, Ok(runtime::RuntimeFlavor::CurrentThread));
        match &self.about.temporary {
            Some(folder) if is_awaited => {
                drop(self.stop.take());
                // The process may end before the server does.
                let _ = fs::remove_dir_all(folder);
            }
            _ => self.end(),
        }
    }
}
