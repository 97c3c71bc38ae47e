//! The builder: what a server serves, where it keeps it, who may use it.

use std::{
    convert::Infallible,
    io::{self, Write},
    path::Path,
    sync::Arc,
    time::Duration,
};

use axum::{extract::Request, response::IntoResponse};
use tokio::sync::Notify;

use super::{
    Limits, Result, Shutdown,
    access::Users,
    controllers::Controller,
    listen::{self, Entrance, Ready},
    load::{Core, Keep},
    stop,
    tls::CertificateFiles,
};
use crate::{
    auth::{Authenticate, Authorize},
    handlers::{self, Client, Object, RequestContext, Subresource},
    http::Service,
    kind::{
        Kind,
        reader::Transformer,
        resource::{Stored, Unstored},
    },
    verbs::Admission,
};

/// A named health check.
pub(super) struct Check {
    pub name: String,
    pub of_readiness: bool,
    pub is_well: Box<dyn Fn() -> bool + Send + Sync>,
}

/// Wraps the service in a layer.
type AddLayer = Box<dyn FnOnce(Service) -> Service + Send>;

/// What [`Builder::metrics`] keeps.
type RegisterMetrics = Box<dyn FnOnce(&prometheus::Registry) -> prometheus::Result<()> + Send>;

/// Builds a server: which kinds it serves, where it keeps objects, who may use it.
///
/// Without more than kinds and a data directory the server is safe to run: TLS under an authority of its own, an admin
/// token and a kubeconfig in the data directory, and nothing for those who have no token.
#[must_use = "a builder does nothing until `build` or `serve` is called"]
pub struct Builder {
    pub(super) core: Core,
    pub(super) users: Users,
    pub(super) limits: Limits,
    pub(super) version: Option<String>,
    pub(super) checks: Vec<Check>,
    pub(super) layers: Vec<AddLayer>,
    pub(super) controllers: Vec<Controller>,
    pub(super) builtin_controllers: bool,
    pub(super) entrance: Entrance,
    pub(super) stop_within: Duration,
    pub(super) metrics: Vec<RegisterMetrics>,
}

impl Builder {
    pub(super) fn new() -> Self {
        Self {
            core: Core::default(),
            users: Users::default(),
            limits: Limits::default(),
            version: None,
            checks: Vec::new(),
            layers: Vec::new(),
            controllers: Vec::new(),
            builtin_controllers: true,
            entrance: Entrance::default(),
            stop_within: Duration::from_secs(30),
            metrics: Vec::new(),
        }
    }

    /// Serves a kind declared in Rust, beside the kinds every control plane needs, such as Namespace and `ConfigMap`
    /// (see [`Builder::without_builtins`]). Of a kind in several versions, each version is given, in any order: also the one that is stored, and
    /// those that are declared `unserved`.
    pub fn kind<R: Stored>(self) -> Self {
        self.model(R::kind())
    }

    /// Serves a kind given as data.
    pub fn model(mut self, kind: Kind) -> Self {
        self.entrance.samples.kinds.push(kind);
        self
    }

    /// Serves a virtual kind, one declared `unstored`: a POST asks the handler, and what it gives back is the answer.
    ///
    /// The handler is an async function of the object and the [`RequestContext`]; what it gets has been decoded strictly,
    /// defaulted and validated. See [`handlers`].
    pub fn virtual_kind<R, F, Fut>(mut self, handler: F) -> Self
    where
        R: Object + Unstored,
        F: Fn(R, RequestContext) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = handlers::Result<R>> + Send + 'static,
    {
        let kind = self.core.handlers.virtual_kind(handler);
        self.model(kind)
    }

    /// Serves a subresource of a kind that is served: an action, an object computed from its parent, a stream, or a
    /// connection. See [`handlers`].
    pub fn subresource<K: Object>(mut self, name: &'static str, subresource: Subresource<K>) -> Self {
        self.core.handlers.subresource(name, subresource);
        self
    }

    /// Keeps objects in this directory, durably. It also holds the server's certificate authority, the admin's token and
    /// the kubeconfig. It is made where it is missing, for its owner only (0700). One that is there keeps its mode, and is
    /// refused if it belongs to another user than this one and root, if users outside its group or a group that this
    /// process is not in can write it, or if it has files but no store.
    pub fn data_dir(mut self, path: impl AsRef<Path>) -> Self {
        self.core.keep = Keep::Disk(path.as_ref().to_owned());
        self
    }

    /// Keeps objects in memory: they are gone when the server ends.
    pub fn memory(mut self) -> Self {
        self.core.keep = Keep::Memory;
        self
    }

    /// Knows users by the tokens in this file, a line `token,user,uid,"group,group"` each, and makes no admin's token
    /// and no kubeconfig of its own. Members of the group `system:masters` may do everything.
    ///
    /// The file is read again within a few seconds after it changes, and at once after SIGHUP. One that cannot be used
    /// is reported in the log, and the tokens read before stay valid.
    pub fn token_file(mut self, path: impl AsRef<Path>) -> Self {
        self.users.token_file = Some(path.as_ref().to_owned());
        self
    }

    /// Speaks plain HTTP, on loopback addresses only. Tokens are asked for all the same. kubectl sends none without TLS,
    /// so this is for load tests and tools.
    pub fn http(mut self) -> Self {
        self.entrance.plain_http = true;
        self
    }

    /// Another host name or address that clients know the server by; its certificate is for these, too.
    pub fn host_name(mut self, name: impl Into<String>) -> Self {
        self.entrance.names.push(name.into());
        self
    }

    /// Uses a certificate with its chain, and its key, from PEM files, in place of certificates of the server's own. They
    /// are read again within a few seconds after they change; what cannot be used is reported in the log, and the
    /// certificate read before stays valid.
    ///
    /// The kubeconfig then names no certificate authority, so that clients trust those of their system, and its URL has
    /// the first [host name](Builder::host_name), if there is one.
    pub fn certificate(mut self, certificate: impl AsRef<Path>, key: impl AsRef<Path>) -> Self {
        let (certificate, key) = (certificate.as_ref().to_owned(), key.as_ref().to_owned());
        self.entrance.certificate = Some(CertificateFiles { certificate, key });
        self
    }

    /// Another way to say who asks, beside tokens and the authenticators that were added before. They are asked in this
    /// order, and the first that knows the user decides. Users whom one of them knows are in `system:authenticated`. A
    /// request is anonymous if none of them knows its user and none has refused its credentials.
    pub fn authenticator(mut self, authenticator: impl Authenticate) -> Self {
        self.users.authenticators.push(Box::new(authenticator));
        self
    }

    /// Another way to say what users may do. Members of `system:masters` may do everything, everyone may read health and
    /// version, and authenticated users the discovery documents; on all else the authorizers are asked in the order in which
    /// they were added, and the first that allows or denies decides. Where none does, the request is denied.
    pub fn authorizer(mut self, authorizer: impl Authorize) -> Self {
        self.users.authorizers.push(Box::new(authorizer));
        self
    }

    /// A step of admission, which may change or refuse writes; steps run in the order in which they were added.
    pub fn admission(mut self, step: impl Admission + 'static) -> Self {
        self.core.admission.push(Arc::new(step));
        self
    }

    /// Stores objects through a transformer, such as one that encrypts them.
    pub fn transformer(mut self, transformer: impl Transformer + 'static) -> Self {
        self.core.transformer = Some(Arc::new(transformer));
        self
    }

    /// Wraps everything that the server answers in a layer, outside of those that were added before, as axum's
    /// `Router::layer` does. A layer that authenticates users by itself puts an `Arc<`[`User`](crate::auth::User)`>` into the
    /// request's extensions.
    pub fn layer<L, S>(mut self, layer: L) -> Self
    where
        L: tower::Layer<Service, Service = S> + Send + 'static,
        S: tower::Service<Request, Response: IntoResponse, Error: Into<Infallible>, Future: Send>,
        S: Clone + Send + Sync + 'static,
    {
        self.layers.push(Box::new(move |service| service.layer(layer)));
        self
    }

    /// Runs a controller: an async function that gets a typed client, whose field manager has the controller's name, and a
    /// [`Shutdown`]. It is started when the store is loaded. When it fails or panics, it is started again, first after 200
    /// milliseconds, then after ever longer waits up to 30 seconds. When it returns `Ok`, it is done.
    ///
    /// At a stop, controllers end one after the other, the last one first: each is told by its `Shutdown`, finishes what it
    /// is doing and returns. In all they have half of the time that [`Builder::stop_within`] gives; then they are cut off.
    ///
    /// ```
    /// # use kindsmith::{Server, builtin::ConfigMap, handlers::{Client, Result}, meta::options::ListOptions, server::Shutdown};
    /// async fn count(client: Client, shutdown: Shutdown) -> Result<()> {
    ///     while !shutdown.is_requested() {
    ///         println!("{} config maps", client.of::<ConfigMap>("").list(&ListOptions::default()).await?.items.len());
    ///         tokio::select! {
    ///             () = tokio::time::sleep(std::time::Duration::from_secs(60)) => {}
    ///             () = shutdown.requested() => {}
    ///         }
    ///     }
    ///     Ok(())
    /// }
    ///
    /// let server = Server::builder().controller("count", count).memory();
    /// ```
    pub fn controller<F, Fut, E>(mut self, name: impl Into<String>, controller: F) -> Self
    where
        F: Fn(Client, Shutdown) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = std::result::Result<(), E>> + Send + 'static,
        E: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        self.controllers.push(Controller::new(name.into(), controller));
        self
    }

    /// Serves none of the built-in kinds, for programs that embed the server for kinds of their own.
    ///
    /// Without Namespace, namespaces are names only: an object may be in any, none is created before it, and none is
    /// deleted with what is in it. Namespaces with a life are one call away: `.kind::<builtin::Namespace>()` serves that kind
    /// alone, `default` and the other permanent ones included.
    pub fn without_builtins(mut self) -> Self {
        self.core.builtins = false;
        self
    }

    /// Runs none of the built-in controllers: a deleted namespace stays, terminating, until someone else empties it.
    pub fn without_builtin_controllers(mut self) -> Self {
        self.builtin_controllers = false;
        self
    }

    /// Changes the bounds of what the server uses.
    ///
    /// ```
    /// # use kindsmith::Server;
    /// let server = Server::builder().limits(|limits| {
    ///     limits.requests.body_bytes = 1 << 20;
    ///     limits.cache.window = 50_000;
    /// });
    /// ```
    pub fn limits(mut self, change: impl FnOnce(&mut Limits)) -> Self {
        change(&mut self.limits);
        self
    }

    /// What `/version` answers, such as `v1.33.0+library-2.1`. Clients read the numbers as the version of Kubernetes
    /// whose API they may expect: `kubectl version` warns if its own minor version is more than one away. Unless given,
    /// it is 1.36, the version whose answers this server gives.
    pub fn version(mut self, version: impl Into<String>) -> Self {
        self.version = Some(version.into());
        self
    }

    /// A check of the server's health, of this name, for `/healthz`, `/livez` and `/readyz`. It is called at each request
    /// for health, and must not block.
    pub fn health_check(self, name: impl Into<String>, is_well: impl Fn() -> bool + Send + Sync + 'static) -> Self {
        self.check(name.into(), false, is_well)
    }

    /// The same for `/readyz` alone: where it fails, requests should go elsewhere, and a restart would not help.
    pub fn readiness_check(self, name: impl Into<String>, is_well: impl Fn() -> bool + Send + Sync + 'static) -> Self {
        self.check(name.into(), true, is_well)
    }

    fn check(mut self, name: String, of_readiness: bool, is_well: impl Fn() -> bool + Send + Sync + 'static) -> Self {
        self.checks.push(Check { name, of_readiness, is_well: Box::new(is_well) });
        self
    }

    /// How long a stop waits for controllers and for requests in flight; 30 seconds unless given.
    pub fn stop_within(mut self, limit: Duration) -> Self {
        self.stop_within = limit;
        self
    }

    /// A manifest that the commands printed at the start apply.
    pub fn sample_manifest(mut self, path: impl AsRef<Path>) -> Self {
        self.entrance.samples.manifest = Some(path.as_ref().to_owned());
        self
    }

    /// One more of the commands that are printed at the start: a line for a shell, in which kubectl reaches the server.
    pub fn sample_command(mut self, line: impl Into<String>) -> Self {
        self.entrance.samples.commands.push(line.into());
        self
    }

    /// Shows further metrics at `/metrics`. The function is called once, when the server starts, with the registry that holds
    /// the server's own; names that are taken there cannot be registered, and an error keeps the server from starting.
    ///
    /// ```
    /// # use kindsmith::{Server, prometheus::IntCounter};
    /// let orders = IntCounter::new("shop_orders_total", "Orders that were placed.")?;
    /// let shown = orders.clone();
    /// let server = Server::builder().metrics(move |registry| registry.register(Box::new(shown)));
    /// orders.inc();
    /// # Ok::<(), kindsmith::prometheus::Error>(())
    /// ```
    pub fn metrics(
        mut self,
        register: impl FnOnce(&prometheus::Registry) -> prometheus::Result<()> + Send + 'static,
    ) -> Self {
        self.metrics.push(Box::new(register));
        self
    }

    /// Called once the server listens, after those that were given before.
    pub fn on_ready(mut self, tell: impl FnOnce(&Ready) + Send + 'static) -> Self {
        self.entrance.on_ready.push(Box::new(tell));
        self
    }

    /// Serves on `host:port` until a signal stops the process (SIGTERM or SIGINT), and then ends gracefully: watches
    /// end after a whole frame, requests in flight are answered, the store is closed. Port 0 picks a free one. SIGHUP
    /// makes the server read its tokens again at once. A second signal ends it without waiting.
    ///
    /// Prints `listening on https://HOST:PORT` as the first line of standard output, then commands to try. For another
    /// listener or another end, use [`Builder::build`] and [`App::run`](super::App::run).
    ///
    /// # Errors
    /// [`Error`](super::Error) where the server cannot start.
    pub async fn serve(mut self, address: &str) -> Result<()> {
        let mut signals = stop::signals();
        let address = listen::resolve(address).await?;
        self.entrance.check(address)?;
        // There may be no reader, which is no reason to stop.
        self.entrance.on_ready.insert(0, Box::new(|ready| drop(io::stdout().write_all(ready.greeting().as_bytes()))));
        let app = self.build().await?;
        let (read_now, first) = (app.read_now(), Notify::new());
        let signalled = async {
            signals.stop(&read_now).await;
            first.notify_one();
            // A second signal says that the person will not wait.
            signals.stop(&read_now).await;
        };
        tokio::select! {
            ended = app.run(listen::bind(address)?, first.notified()) => ended,
            () = signalled => {
                tracing::warn!("stopped without waiting for requests in flight");
                Ok(())
            }
        }
    }
}
