//! The builder: the served kinds, the storage, and the access.

use std::{
    convert::Infallible,
    io::{self, Write},
    path::Path,
    sync::Arc,
    time::Duration,
};

use axum_core::{extract::Request, response::IntoResponse};
use serde::Serialize;
use tokio::sync::{Notify, watch};

use super::{
    Error, Limits, Result, Shutdown,
    access::Users,
    controllers::Controller,
    definition_files::DefinitionFiles,
    listen::{self, Entrance, Ready},
    load::Core,
    stop,
    tls::CertificateFiles,
};
use crate::{
    crd::{self, WebhookService},
    handlers::{self, Client, Object, RequestContext, Subresource},
    http::Service,
    kind::{
        Kind,
        hook::{self, Hooks},
        policy::Custom,
        resource::{Stored, Unstored},
    },
    registry::reader::Transformer,
    verbs::{Admission, Plugin},
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

/// Builds a server: which kinds it serves, where it stores objects, who may use it.
///
/// With only kinds and a data directory the server is safe to run: it uses TLS with its own certificate authority,
/// stores an admin token and a kubeconfig in the data directory, and refuses requests without a token.
///
#[doc = include_str!("docs/builder.md")]
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
    pub(super) stop_within: Duration,
    pub(super) metrics: Vec<RegisterMetrics>,
    pub(super) definition_files: DefinitionFiles,
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
            stop_within: Duration::from_secs(30),
            metrics: Vec::new(),
            definition_files: DefinitionFiles::default(),
        }
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

    /// Serves a kind given as data. [`Builder::build`] reports what is wrong with it.
    pub fn model(mut self, kind: Kind) -> Self {
        self.problems.extend(kind.version.problems(&kind.shared).iter().map(str::to_owned));
        self.entrance.samples.kinds.push(kind);
        self
    }

    /// Serves the kinds that CustomResourceDefinitions define: the text of a manifest, as YAML or JSON, or one definition as
    /// a value, such as `CustomResourceExt::crd()` of the crate `kube` gives. See [`crd`].
    ///
    /// [`Builder::build`] returns the errors of the definitions. Warnings are logged.
    ///
    #[doc = include_str!("docs/crd.md")]
    pub fn crd(mut self, manifest: impl Serialize) -> Self {
        match crd::of_value(&manifest) {
            Ok(manifest) => {
                manifest.warnings.0.iter().for_each(|warning| tracing::warn!("{warning}"));
                let kinds = manifest.definitions.iter().flat_map(|defined| defined.definition.kinds(&Custom));
                self.entrance.samples.kinds.extend(kinds);
            }
            Err(report) => self.problems.push(report.to_string()),
        }
        self
    }

    /// Finds the addresses of services that convert objects (`conversion.webhook.clientConfig.service`): a host and a port, such
    /// as `10.0.0.7:9443`. For `None`, and without this, DNS resolves `NAME.NAMESPACE.svc`. The certificate must be for
    /// `NAME.NAMESPACE.svc` in any case.
    pub fn webhook_services(
        mut self,
        find: impl Fn(&WebhookService) -> Option<String> + Send + Sync + 'static,
    ) -> Self {
        self.core.webhook_resolver = Some(Arc::new(find));
        self
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
    #[doc = include_str!("docs/subresource.md")]
    pub fn subresource<K: Object>(mut self, name: &'static str, subresource: Subresource<K>) -> Self {
        self.core.handlers.subresource(name, subresource);
        self
    }

    /// Uses plain HTTP, on loopback addresses only. Tokens are still required. kubectl sends none without TLS, so this
    /// is for load tests and tools.
    pub fn http(mut self) -> Self {
        self.entrance.plain_http = true;
        self
    }

    /// Another host name or address of the server, for its certificate.
    pub fn host_name(mut self, name: impl Into<String>) -> Self {
        self.entrance.names.push(name.into());
        self
    }

    /// Uses a certificate chain and its key from PEM files instead of the server's own certificates. The files are read
    /// again within a few seconds after a change. If they are invalid, the server logs an error and keeps the previous
    /// certificate.
    ///
    /// The kubeconfig then contains no certificate authority, so that clients trust those of their system, and its URL
    /// has the first [host name](Builder::host_name), if there is one.
    pub fn certificate(mut self, certificate: impl AsRef<Path>, key: impl AsRef<Path>) -> Self {
        let (certificate, key) = (certificate.as_ref().to_owned(), key.as_ref().to_owned());
        self.entrance.certificate = Some(CertificateFiles { certificate, key });
        self
    }

    /// Adds a plugin of [admission](Admission), which may change or refuse requests. Plugins run in the order in which they
    /// were added.
    pub fn admission(mut self, plugin: impl Admission) -> Self {
        self.core.admission.push(Plugin::new(plugin));
        self
    }

    /// Stores objects through a transformer, such as one that encrypts them.
    pub fn transformer(mut self, transformer: impl Transformer + 'static) -> Self {
        self.core.transformer = Some(Arc::new(transformer));
        self
    }

    /// Wraps the whole service in a layer, outside of those added before, like axum's `Router::layer`. A layer that
    /// authenticates users puts an `Arc<`[`User`](crate::auth::User)`>` into the request's extensions.
    ///
    #[doc = include_str!("docs/layer.md")]
    pub fn layer<L, S>(mut self, layer: L) -> Self
    where
        L: tower_layer::Layer<Service, Service = S> + Send + 'static,
        S: tower_service::Service<Request, Response: IntoResponse, Error: Into<Infallible>, Future: Send>,
        S: Clone + Send + Sync + 'static,
    {
        self.layers.push(Box::new(move |service| service.layer(layer)));
        self
    }

    /// Runs a controller: an async function with a typed client, whose field manager is the controller's name, and a
    /// [`Shutdown`]. It starts when the store is loaded. If it fails or panics, it is restarted, first after 200
    /// milliseconds, then with growing delays up to 30 seconds. If it returns `Ok`, it is done.
    ///
    /// When the server stops, controllers end one after the other in reverse order: each gets its `Shutdown`, finishes
    /// its work and returns. Together they have half of the time of [`Builder::stop_within`]; then they are cancelled.
    ///
    #[doc = include_str!("docs/controller.md")]
    pub fn controller<F, Fut, E>(mut self, name: impl Into<String>, controller: F) -> Self
    where
        F: Fn(Client, Shutdown) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = std::result::Result<(), E>> + Send + 'static,
        E: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        self.controllers.push(Controller::new(name.into(), controller));
        self
    }

    /// Serves no built-in kinds, for programs that embed the server for their own kinds.
    ///
    /// Without Namespace, namespaces are only names: an object may be in any namespace, and namespaces are neither
    /// created nor deleted. `.kind::<builtin::Namespace>()` serves only that kind, including `default` and the other
    /// permanent namespaces.
    pub fn without_builtins(mut self) -> Self {
        self.core.without_builtins = true;
        self
    }

    /// How long an Event lives after its last write, in both groups that serve it: one hour by default, like
    /// kube-apiserver's `--event-ttl`. Zero keeps Events until they are deleted.
    pub fn event_lifetime(mut self, lifetime: Duration) -> Self {
        self.core.event_lifetime = Some(lifetime);
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
    #[doc = include_str!("docs/health_check.md")]
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
        self.stop_within = limit;
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
    #[doc = include_str!("docs/metrics.md")]
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

    /// Serves on `host:port` until a signal stops the process (SIGTERM or SIGINT), and then stops gracefully: watches
    /// end after a complete frame, running requests are answered, and the store is closed. Port 0 chooses a free port.
    /// SIGHUP makes the server read its tokens again at once. A second signal ends the process without waiting.
    ///
    /// Prints `listening on https://HOST:PORT` as the first line of standard output, then sample commands. For another
    /// listener or another way to stop, use [`Builder::build`] and [`App::run`](super::App::run).
    ///
    /// # Errors
    /// [`Error`] if the server cannot start.
    pub async fn serve(mut self, address: &str) -> Result<()> {
        let mut signals = stop::signals();
        let address = listen::resolve(address).await?;
        self.entrance.check(address)?;
        // Standard output may be closed, which is no reason to stop.
        self.entrance.on_ready.insert(0, Box::new(|ready| drop(io::stdout().write_all(ready.greeting().as_bytes()))));
        let nothing_to_read = watch::Sender::new(());
        let app = tokio::select! {
            built = self.build() => match built {
                Err(Error::Exported) => return Ok(()),
                built => built?,
            },
            // No request was answered yet.
            () = signals.stop(&nothing_to_read) => return Ok(()),
        };
        let (read_now, first) = (app.read_now.clone(), Notify::new());
        let signalled = async {
            signals.stop(&read_now).await;
            first.notify_one();
            // A second signal means that the user does not want to wait.
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
