//! The builder: what a server serves, where it keeps it, who may use it.

use std::{
    io::{self, Write},
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use tokio::sync::Notify;

use super::{
    Result,
    listen::{self, Entrance, Ready},
    stop,
};
use crate::{
    auth::{Authenticate, Authorize},
    cache,
    handlers::{self, Object, Pending, RequestContext, Subresource},
    kind::{
        Kind,
        resource::{Stored, Unstored},
    },
};

/// Where objects are kept.
#[derive(Clone)]
pub(super) enum Keep {
    /// Not said yet.
    Unsaid,
    /// In memory.
    Memory,
    /// In a directory.
    Disk(PathBuf),
}

/// Builds a server: which kinds it serves, where it keeps objects, who may use it.
///
/// Without more than kinds and a data directory the server is safe to run: TLS under an authority of its own, an admin
/// token and a kubeconfig in the data directory, and nothing for those who have no token.
#[must_use = "a builder does nothing until `build` or `serve` is called"]
pub struct Builder {
    pub(super) handlers: Pending,
    pub(super) keep: Keep,
    pub(super) entrance: Entrance,
    pub(super) token_file: Option<PathBuf>,
    pub(super) authenticator: Option<Arc<dyn Authenticate>>,
    pub(super) authorizer: Option<Arc<dyn Authorize>>,
    pub(super) controllers: bool,
    pub(super) limits: cache::Limits,
    pub(super) stop_within: Duration,
}

impl Builder {
    pub(super) fn new() -> Self {
        Self {
            handlers: Pending::default(),
            keep: Keep::Unsaid,
            entrance: Entrance::default(),
            token_file: None,
            authenticator: None,
            authorizer: None,
            controllers: true,
            limits: cache::Limits::default(),
            stop_within: Duration::from_secs(30),
        }
    }

    /// Serves a kind declared in Rust. The kinds every control plane needs, such as Namespace and `ConfigMap`, are
    /// always served. Of a kind in several versions, each version is given, in any order: also the one that is stored, and
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
        let kind = self.handlers.virtual_kind(handler);
        self.model(kind)
    }

    /// Serves a subresource of a kind that is served: an action, an object computed from its parent, a stream, or a
    /// connection. See [`handlers`].
    pub fn subresource<K: Object>(mut self, name: &'static str, subresource: Subresource<K>) -> Self {
        self.handlers.subresource(name, subresource);
        self
    }

    /// Keeps objects in this directory, durably. It also holds the server's certificate authority, the admin's token and
    /// the kubeconfig. It is made where it is missing, for its owner only (0700). One that is there keeps its mode, and is
    /// refused if it belongs to another user than this one and root, if users outside its group or a group that this
    /// process is not in can write it, or if it has files but no store.
    pub fn data_dir(mut self, path: impl AsRef<Path>) -> Self {
        self.keep = Keep::Disk(path.as_ref().to_owned());
        self
    }

    /// Keeps objects in memory: they are gone when the server ends.
    pub fn memory(mut self) -> Self {
        self.keep = Keep::Memory;
        self
    }

    /// Knows users by the tokens in this file, a line `token,user,uid,"group,group"` each, and makes no admin's token
    /// and no kubeconfig of its own. Members of the group `system:masters` may do everything.
    ///
    /// The file is read again within a few seconds after it changes, and at once after SIGHUP. One that cannot be used
    /// is reported in the log, and the tokens read before stay valid.
    pub fn token_file(mut self, path: impl AsRef<Path>) -> Self {
        self.token_file = Some(path.as_ref().to_owned());
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

    /// Tells who asks, in place of tokens.
    pub fn authenticator(mut self, authenticator: impl Authenticate + 'static) -> Self {
        self.authenticator = Some(Arc::new(authenticator));
        self
    }

    /// Tells what they may do; without it `system:masters` may do everything, and others nothing.
    pub fn authorizer(mut self, authorizer: impl Authorize + 'static) -> Self {
        self.authorizer = Some(Arc::new(authorizer));
        self
    }

    /// Runs no controller: a deleted namespace stays, terminating, until someone else empties it.
    pub fn without_builtin_controllers(mut self) -> Self {
        self.controllers = false;
        self
    }

    /// How much of the past the cache keeps in memory for watches to resume from.
    pub fn cache_limits(mut self, limits: cache::Limits) -> Self {
        self.limits = limits;
        self
    }

    /// How long a stop waits for requests in flight; 30 seconds unless told.
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
        // Nobody may be there to read it, which is no reason to stop.
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
