//! A server from start to stop. The start goes from the store up: store, cache, kinds, the objects every server has,
//! controllers, and only then the port. The stop goes the other way.

use std::{
    io,
    net::SocketAddr,
    sync::Arc,
    time::{Duration, SystemTime},
};

use tokio::{
    net::{TcpListener, TcpSocket},
    sync::{Notify, watch},
    task::{JoinHandle, spawn_blocking},
    time::timeout,
};
use tokio_rustls::TlsAcceptor;

use super::{
    Error, Result,
    access::{self, Access},
    builder::{Builder, Keep, Ready},
    connections, first_run,
    state::StateDir,
    tls::Authority,
};
use crate::{
    builtin::{self, Controllers},
    cache::{self, Cache},
    handlers::{Handlers, Pending},
    http::{self, App, Health, Service},
    kind::{Kind, Registry, by_resource},
    meta::Revision,
    storage::{Embedded, Memory, Options, Store},
    verbs::Api,
};

/// Connections that may wait to be accepted: hundreds of clients come back at once when a server starts again.
const BACKLOG: u32 = 1024;

/// A server that listens.
pub(super) struct Running {
    address: SocketAddr,
    url: String,
    admin_token: Option<String>,
    commands: String,
    api: Arc<Api>,
    handlers: Arc<Handlers>,
    service: Service,
    health: Health,
    controllers: Option<Controllers>,
    stop: watch::Sender<bool>,
    accepting: JoinHandle<()>,
    read_now: Arc<Notify>,
    following: Option<JoinHandle<()>>,
    // Last, so that a temporary folder outlives what uses it.
    state: StateDir,
}

impl Running {
    /// Starts a server at an address.
    pub async fn start(mut builder: Builder, address: SocketAddr) -> Result<Self> {
        if builder.plain_http && !address.ip().is_loopback() {
            return Err(Error::PlainHttp(address));
        }
        check_clock(SystemTime::now())?;
        let state = match &builder.keep {
            Keep::Unsaid => return Err(Error::NoStore),
            Keep::Memory => StateDir::temporary()?,
            Keep::Disk(path) => StateDir::open(path)?,
        };
        let kinds = std::mem::take(&mut builder.kinds);
        let handlers = std::mem::take(&mut builder.handlers);
        let (api, handlers) = load(&builder.keep, &state, builder.limits.clone(), kinds.clone(), handlers).await?;
        // Only now is the directory locked, and no other server makes the same files.
        let Access { authenticator, authorizer, admin_token, mut token_file } = access::of(&mut builder, &state)?;
        builtin::bootstrap(&api).await.map_err(Error::Bootstrap)?;
        let controllers = builder.controllers.then(|| Controllers::start(api.clone()));

        let store = api.store.clone();
        let damaged = Arc::clone(&store);
        let health = Health::default()
            .with_readiness("store", move || store.health().refuses_writes.is_none())
            .with_note(move || damage(&*damaged));
        let service = Service::new(Arc::new(App {
            api: api.clone(),
            handlers: handlers.clone(),
            authenticator,
            authorizer,
            health: health.clone(),
            version: http::VersionInfo::default(),
            limits: http::Limits::default(),
        }));
        let (listener, address) = listen(address)?;
        let host = if address.ip().is_unspecified() { "localhost".to_owned() } else { address.ip().to_string() };
        let host = if host.contains(':') { format!("[{host}]") } else { host };
        let scheme = if builder.plain_http { "http" } else { "https" };
        let url = format!("{scheme}://{host}:{}", address.port());
        let tls = if builder.plain_http {
            None
        } else {
            let authority = Authority::open(&state)?;
            if let (Some(token), Some(file)) = (&admin_token, &mut token_file) {
                let authority_pem = authority.certificate_pem().to_owned();
                let kubeconfig = first_run::Kubeconfig { url: url.clone(), authority_pem };
                kubeconfig.write(state.files(), token)?;
                file.set_kubeconfig(kubeconfig);
            }
            Some(TlsAcceptor::from(Arc::new(authority.server_config(address, &builder.names)?)))
        };
        let commands = match admin_token {
            Some(_) => first_run::commands(&state, &url, &kinds, &builder),
            None => String::new(),
        };
        let read_now = Arc::new(Notify::new());
        let following = token_file.map(|file| file.follow(Arc::clone(&read_now)));
        let (stop, stopping) = watch::channel(false);
        let accepting =
            tokio::spawn(connections::accept(listener, tls, service.clone(), connections::Limits::default(), stopping));
        tracing::info!(url, data = %state.path().display(), revision = %api.cache.revision(), "listening");
        Ok(Self {
            address,
            url,
            admin_token,
            commands,
            api,
            handlers,
            service,
            health,
            controllers,
            stop,
            accepting,
            read_now,
            following,
            state,
        })
    }

    /// The base of every URL.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// The token of the admin that the server made, if it made one.
    pub fn admin_token(&self) -> Option<&str> {
        self.admin_token.as_deref()
    }

    /// Notified, it makes the server read its tokens again at once.
    pub fn read_now(&self) -> Arc<Notify> {
        Arc::clone(&self.read_now)
    }

    /// The folder with the server's certificate authority and kubeconfig.
    pub fn state(&self) -> &StateDir {
        &self.state
    }

    /// The verbs, without HTTP.
    pub fn api(&self) -> &Arc<Api> {
        &self.api
    }

    /// The API as a service, without connections.
    pub fn service(&self) -> &Service {
        &self.service
    }

    /// What standard output says of it.
    pub fn greeting(&self) -> String {
        format!("listening on {}\n{}", self.url, self.commands)
    }

    /// What those hear who asked to be told.
    pub fn ready(&self) -> Ready {
        let kubeconfig = self.state.file(first_run::KUBECONFIG);
        let kubeconfig = kubeconfig.exists().then_some(kubeconfig);
        Ready { address: self.address, url: self.url.clone(), kubeconfig }
    }

    /// Stops: no new connections, watches end after a whole frame, requests in flight are answered (for as long as this
    /// may take), the store is closed.
    pub async fn stop(self, within: Duration) {
        tracing::info!("stopping");
        self.health.stop();
        // There is no receiver where accepting has ended by itself; then there is nothing left to tell.
        let _ = self.stop.send(true);
        self.api.cache.close();
        self.handlers.stop();
        // Where accepting failed, connections are there all the same.
        let _ = self.accepting.await;
        // Each connection holds a receiver until it has ended.
        if timeout(within, async { tokio::join!(self.stop.closed(), self.handlers.ended()) }).await.is_err() {
            tracing::warn!(seconds = within.as_secs(), "some requests were not finished in time");
        }
        if let Some(following) = self.following {
            following.abort();
        }
        if let Some(controllers) = self.controllers {
            controllers.stop().await;
        }
        let store = self.api.store.clone();
        spawn_blocking(move || store.close()).await.expect("closing the store does not panic");
        tracing::info!("stopped");
    }
}

/// From 1970 to the end of 9999, in UTC.
const END_OF_DATES: Duration = Duration::from_hours(70_389_528);

/// Refuses a clock that the `Date` header cannot show: connections would panic. Linux lets no clock be set before 1970 later.
fn check_clock(now: SystemTime) -> Result<()> {
    match now.duration_since(SystemTime::UNIX_EPOCH) {
        Ok(since) if since < END_OF_DATES => Ok(()),
        _ => Err(Error::Clock),
    }
}

/// Where the revisions of a new store begin: past the numbers that counts, ports and sizes in objects and messages have,
/// so that people and tools that compare answers tell a resourceVersion from them.
const ORIGIN: Revision = Revision(1_000);

/// Opens the store, loads the cache and registers the kinds. Both block on the disk, so they have a thread of their own.
async fn load(
    keep: &Keep,
    state: &StateDir,
    limits: cache::Limits,
    kinds: Vec<Kind>,
    handlers: Pending,
) -> Result<(Arc<Api>, Arc<Handlers>)> {
    let on_disk = matches!(keep, Keep::Disk(_));
    let path = state.path().to_owned();
    let load = move || {
        let store: Arc<dyn Store> = if on_disk {
            Arc::new(Embedded::open(path, Options { origin: ORIGIN, ..Options::default() }).map_err(Error::Store)?)
        } else {
            Arc::new(Memory::starting_after(ORIGIN))
        };
        let cache = Cache::new(store.clone(), limits);
        let registry = Arc::new(Registry::new(cache.clone()));
        let mut kinds: Vec<Kind> = builtin::kinds().into_iter().chain(kinds).collect();
        handlers.declare(&mut kinds).map_err(Error::Kind)?;
        for versions in by_resource(kinds) {
            registry.register(versions).map_err(Error::Kind)?;
        }
        let handlers = Arc::new(handlers.mount(&registry).map_err(Error::Kind)?);
        Ok((Api::new(registry, cache, store), handlers))
    };
    spawn_blocking(load).await.expect("loading the cache does not panic")
}

/// What `/readyz?verbose` says of damage. Anybody may ask, so that it names no object.
fn damage(store: &dyn Store) -> Option<String> {
    let count = store.health().damage.count;
    (count > 0).then(|| format!("store: {count} stored values are damaged and cannot be read; the log names them"))
}

fn listen(address: SocketAddr) -> Result<(TcpListener, SocketAddr)> {
    let failed = |source: io::Error| match source.kind() {
        io::ErrorKind::AddrInUse => Error::PortInUse(address),
        _ => Error::Listen(address, source),
    };
    let socket = if address.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }.map_err(failed)?;
    // A server that starts again finds connections of its last run still dying on its port.
    socket.set_reuseaddr(true).map_err(failed)?;
    socket.bind(address).map_err(failed)?;
    // Connections inherit it; it must be set before they are made.
    socket.set_send_buffer_size(connections::SEND_BUFFER).map_err(failed)?;
    let listener = socket.listen(BACKLOG).map_err(failed)?;
    let address = listener.local_addr().map_err(failed)?;
    Ok((listener, address))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_that_no_date_can_show_is_refused() {
        let second = Duration::from_secs(1);
        for now in [SystemTime::now(), SystemTime::UNIX_EPOCH, SystemTime::UNIX_EPOCH + END_OF_DATES - second] {
            check_clock(now).unwrap();
        }
        for now in [SystemTime::UNIX_EPOCH - second, SystemTime::UNIX_EPOCH + END_OF_DATES] {
            let error = check_clock(now).unwrap_err().to_string();
            assert!(error.contains("the system's clock"), "{error}");
        }
    }
}
