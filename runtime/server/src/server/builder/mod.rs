//! The builder: the served kinds, the storage, and the access.
mod access;
mod kinds;
mod stores;

use std::{convert::Infallible, path::Path, sync::Arc, time::Duration};

use axum_core::{extract::Request, response::IntoResponse};

use super::{
    Limits, Shutdown,
    access::Users,
    controllers::{Controller, ControllerContext},
    definition_files::DefinitionFiles,
    files::FileWatcher,
    installed_definitions::InstalledDefinitions,
    listen::{Entrance, Ready},
    stop::StopTimes,
    stores::StoreSettings,
};
use crate::{
    handlers::{self, Object, Pending, RequestContext, Subresource},
    http::{FaultLayer, PathPrefix, Service},
    kind::{
        Definition,
        hook::{self, Hooks},
        resource::{Stored, Unstored},
    },
    registry::reader::Transformer,
    verbs::{Admission, Plugin},
    webhook::Resolver,
};

/// A named health check.
pub(super) struct Check {
    pub name: String,
    pub of_readiness: bool,
    pub is_well: Box<dyn Fn() -> bool + Send + Sync>,
}

/// The builder's settings for kinds and storage.
#[derive(Default)]
#[expect(clippy::struct_excessive_bools, reason = "they are settings of their own")]
pub(super) struct Core {
    pub store: StoreSettings,
    /// True if the built-in kinds are not served.
    pub without_builtins: bool,
    /// True if roles and service accounts are not served, because a host has them.
    pub without_users: bool,
    /// What documents say of kinds that the program declares.
    pub replaced: Vec<Definition>,
    /// How long Events live, if it was changed. Zero for ever.
    pub event_lifetime: Option<Duration>,
    /// True if what `CustomResourceDefinition` objects define is served.
    pub definitions: bool,
    /// True if requests go on to the servers that `APIService` objects name.
    pub aggregation: bool,
    pub handlers: Pending,
    pub admission: Vec<Plugin>,
    pub transformer: Option<Arc<dyn Transformer>>,
    /// Finds the addresses of the services of webhooks.
    pub webhook_resolver: Option<Resolver>,
}

/// Wraps the service in a layer.
type AddLayer = Box<dyn FnOnce(Service) -> Service + Send>;

/// Follows a file once the service is made.
pub(super) type Follow = Box<dyn FnOnce(&Service) -> FileWatcher + Send>;

/// What [`Builder::metrics`] keeps.
pub(super) type RegisterMetrics = Box<dyn FnOnce(&prometheus::Registry) -> prometheus::Result<()> + Send>;

/// Builds a server: which kinds it serves, where it stores objects, who may use it.
///
/// With only kinds and a data directory the server is safe to run: it uses TLS with its own certificate authority,
/// stores an admin token and a kubeconfig in the data directory, and refuses requests without a token.
///
#[doc = include_str!("../docs/builder.md")]
#[must_use = "a builder does nothing until `build` or `serve` is called"]
pub struct Builder {
    pub(super) core: Core,
    /// What keeps the server from being built, a line each.
    pub(super) problems: Vec<String>,
    pub(super) users: Users,
    pub(super) limits: Limits,
    pub(super) version: Option<String>,
    pub(super) checks: Vec<Check>,
    pub(super) layers: Vec<AddLayer>,
    pub(super) controllers: Vec<Controller>,
    pub(super) builtin_controllers: bool,
    pub(super) entrance: Entrance,
    pub(super) stop: StopTimes,
    pub(super) metrics: Vec<RegisterMetrics>,
    pub(super) definition_files: DefinitionFiles,
    pub(super) installed: InstalledDefinitions,
    /// Further files to follow, which change a service.
    pub(super) followed: Vec<Follow>,
    /// The faults and the clock of a test, for clients in the process, which have no other layers.
    pub(super) faults: Option<FaultLayer>,
}

impl Builder {
    pub(super) fn new() -> Self {
        Self {
            core: Core::default(),
            problems: Vec::new(),
            users: Users::default(),
            limits: Limits::default(),
            version: None,
            checks: Vec::new(),
            layers: Vec::new(),
            controllers: Vec::new(),
            builtin_controllers: true,
            entrance: Entrance::default(),
            stop: StopTimes::default(),
            metrics: Vec::new(),
            definition_files: DefinitionFiles::default(),
            installed: InstalledDefinitions::default(),
            followed: Vec::new(),
            faults: None,
        }
    }

    /// Adds a plugin of [admission](Admission), which may change or refuse requests. Plugins run in the order in which they
    /// were added.
    pub fn admission(mut self, plugin: impl Admission) -> Self {
        self.core.admission.push(Plugin::new(plugin));
        self
    }

    /// Wraps the whole service in a layer, outside of those added before, like axum's `Router::layer`. A layer that
    /// authenticates users puts an `Arc<`[`User`](crate::auth::User)`>` into the request's extensions.
    ///
    #[doc = include_str!("../docs/layer.md")]
    pub fn layer<L, S>(mut self, layer: L) -> Self
    where
        L: tower_layer::Layer<Service, Service = S> + Send + 'static,
        S: tower_service::Service<Request, Response: IntoResponse, Error: Into<Infallible>, Future: Send>,
        S: Clone + Send + Sync + 'static,
    {
        self.layers.push(Box::new(move |service| service.layer(layer)));
        self
    }

    /// Runs a controller: an async function with a [`ControllerContext`], which has clients in the controller's name, and
    /// a [`Shutdown`]. It starts when the store is loaded. If it fails or panics, it is restarted, first after 200
    /// milliseconds, then with growing delays up to 30 seconds. If it returns `Ok`, it is done.
    ///
    /// When the server stops, controllers end one after the other in reverse order: each gets its `Shutdown`, finishes
    /// its work and returns. Together they have half of the time of [`Builder::stop_within`]; then they are cancelled. If
    /// several servers share a store, the elected one runs them.
    ///
    /// `/metrics` shows for each controller whether it runs, how often it was restarted, and its failures to reconcile
    /// single objects, which it reports to [`Failures`](super::Failures). `/readyz?verbose` shows the last error.
    ///
    #[doc = include_str!("../docs/controller.md")]
    pub fn controller<F, Fut, E>(mut self, name: impl Into<String>, controller: F) -> Self
    where
        F: Fn(ControllerContext, Shutdown) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = std::result::Result<(), E>> + Send + 'static,
        E: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        self.controllers.push(Controller::new(name.into(), controller));
        self
    }

    /// Runs no built-in controllers: a deleted namespace stays terminating until another controller empties it.
    pub fn without_builtin_controllers(mut self) -> Self {
        self.builtin_controllers = false;
        self
    }

    /// Changes the server's limits.
    ///
    /// ```
    /// # use kindsmith::Server;
    /// let server = Server::builder().limits(|limits| {
    ///     limits.requests.body_bytes = 1 << 20;
    ///     limits.cache.history_bytes = 64 << 20;
    /// });
    /// ```
    pub fn limits(mut self, change: impl FnOnce(&mut Limits)) -> Self {
        change(&mut self.limits);
        self
    }

    /// The answer of `/version`, such as `v1.33.0+library-2.1`. Clients interpret the numbers as the version of
    /// Kubernetes whose API is served: `kubectl version` warns if its own minor version differs by more than one. The
    /// default is 1.36, the version that this server follows.
    pub fn version(mut self, version: impl Into<String>) -> Self {
        self.version = Some(version.into());
        self
    }

    /// A named health check for `/healthz`, `/livez` and `/readyz`. It runs for each health request, and must not
    /// block.
    ///
    #[doc = include_str!("../docs/health_check.md")]
    pub fn health_check(self, name: impl Into<String>, is_well: impl Fn() -> bool + Send + Sync + 'static) -> Self {
        self.check(name.into(), false, is_well)
    }

    /// A named health check for `/readyz` only, for faults that a restart would not fix: clients should use another
    /// server. Otherwise like [`Builder::health_check`].
    pub fn readiness_check(self, name: impl Into<String>, is_well: impl Fn() -> bool + Send + Sync + 'static) -> Self {
        self.check(name.into(), true, is_well)
    }

    fn check(mut self, name: String, of_readiness: bool, is_well: impl Fn() -> bool + Send + Sync + 'static) -> Self {
        self.checks.push(Check { name, of_readiness, is_well: Box::new(is_well) });
        self
    }

    /// How long a stop waits for controllers and running requests; 30 seconds by default.
    pub fn stop_within(mut self, limit: Duration) -> Self {
        self.stop.within = limit;
        self
    }

    /// How long a server that stops is not ready, as `/readyz` says, but still accepts connections and answers requests, so that
    /// load balancers can notice; not at all by default. It comes before the time of [`Builder::stop_within`].
    pub fn stop_delay(mut self, delay: Duration) -> Self {
        self.stop.delay = delay;
        self
    }

    /// Follows a file, whose changes may change the service.
    #[cfg(feature = "settings")]
    pub(in crate::server) fn follow(mut self, follow: impl FnOnce(&Service) -> FileWatcher + Send + 'static) -> Self {
        self.followed.push(Box::new(follow));
        self
    }

    /// Serves the API below this path, such as `/library`, on the server's own listener, as behind a proxy that passes several servers on.
    /// Health checks are at the root, too. The service of an [`App`](super::App) has no prefix: the program in which it is nested says where.
    ///
    /// [`Builder::build`] returns an error if it is no plain path.
    pub fn path_prefix(mut self, path: impl AsRef<str>) -> Self {
        match PathPrefix::parse(path.as_ref()) {
            Ok(prefix) => self.entrance.path_prefix = Some(prefix).filter(|prefix| !prefix.as_str().is_empty()),
            Err(problem) => self.problems.push(format!("the path prefix: {problem}")),
        }
        self
    }

    /// A manifest for the commands that are printed at startup.
    pub fn sample_manifest(mut self, path: impl AsRef<Path>) -> Self {
        self.entrance.samples.manifest = Some(path.as_ref().to_owned());
        self
    }

    /// Another command to print at startup: a shell line in which kubectl uses the server.
    pub fn sample_command(mut self, line: impl Into<String>) -> Self {
        self.entrance.samples.commands.push(line.into());
        self
    }

    /// Shows further metrics at `/metrics`. The function is called once, when the server starts, with the registry that holds
    /// the server's own; names that are taken there cannot be registered, and an error keeps the server from starting.
    ///
    #[doc = include_str!("../docs/metrics.md")]
    pub fn metrics(
        mut self,
        register: impl FnOnce(&prometheus::Registry) -> prometheus::Result<()> + Send + 'static,
    ) -> Self {
        self.metrics.push(Box::new(register));
        self
    }

    /// A callback for the time when the server listens. Several callbacks are called in the order in which they were
    /// added.
    pub fn on_ready(mut self, tell: impl FnOnce(&Ready) + Send + 'static) -> Self {
        self.entrance.on_ready.push(Box::new(tell));
        self
    }

    /// Serves a kind declared in Rust, in addition to the built-in kinds such as Namespace and `ConfigMap` (see
    /// [`Builder::without_builtins`]). For a kind with several versions, add every version in any order, including the
    /// storage version and those declared `unserved`.
    pub fn kind<R: Stored>(self) -> Self {
        self.model(R::kind())
    }

    /// Serves a kind declared in Rust with [`Hooks`]: the user's code that runs in its writes, with state. Hooks that the
    /// declaration names run first.
    pub fn kind_with<R: Stored + Object>(self, hooks: impl Hooks<R>) -> Self {
        self.model(R::kind().with(|_, _, binding| binding.add_hooks(hook::on_documents(hooks))))
    }

    /// Serves a virtual kind, which is declared `unstored`: a POST calls the handler, whose result is the answer.
    ///
    /// The handler is an async function of the object and the [`RequestContext`]. The object was strictly decoded,
    /// defaulted and validated. [`handlers`] has an example.
    pub fn virtual_kind<R, F, Fut>(mut self, handler: F) -> Self
    where
        R: Object + Unstored,
        F: Fn(R, RequestContext) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = handlers::Result<R>> + Send + 'static,
    {
        let kind = self.core.handlers.virtual_kind(handler);
        self.model(kind)
    }

    /// Serves a subresource of a served kind: an action, an object computed from its parent, a stream, or a connection.
    ///
    #[doc = include_str!("../docs/subresource.md")]
    pub fn subresource<K: Object>(mut self, name: &'static str, subresource: Subresource<K>) -> Self {
        self.core.handlers.subresource(name, subresource);
        self
    }
}
