//! The server's own listener: its address, its TLS, its startup messages, and its connections.

use std::{io, net::SocketAddr, path::PathBuf, sync::Arc};

use tokio::{
    net::{TcpListener, TcpSocket},
    sync::watch,
    task::JoinHandle,
};
use tokio_rustls::{TlsAcceptor, rustls::ServerConfig};

use super::{
    Error, Result,
    access::Admin,
    client_ca::ClientAuthorities,
    connections::{self, Limits},
    files::FileWatcher,
    first_run::{KUBECONFIG, Kubeconfig, Samples},
    state::StateDir,
    tls::{Authority, CertificateFiles},
};
use crate::{
    http::{PathPrefix, Service},
    tasks,
};

/// The backlog: hundreds of clients reconnect at once when a server restarts.
const BACKLOG: u32 = 1024;

/// Describes a server that listens; see [`Builder::on_ready`](super::Builder::on_ready).
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Ready {
    /// The address it listens on, with the actual port.
    pub address: SocketAddr,
    /// The base of every URL, such as `https://127.0.0.1:8080`.
    pub url: String,
    /// The kubeconfig, if one was written.
    pub kubeconfig: Option<PathBuf>,
    /// The sample commands.
    pub(super) commands: String,
}

impl Ready {
    /// Its message on standard output.
    pub(super) fn greeting(&self) -> String {
        format!("listening on {}\n{}", self.url, self.commands)
    }
}

/// A callback for a server that listens.
type OnReady = Box<dyn FnOnce(&Ready) + Send>;

/// The builder's settings for listening.
#[derive(Default)]
pub(super) struct Entrance {
    /// No TLS.
    pub plain_http: bool,
    /// The path below which the API is.
    pub path_prefix: Option<PathPrefix>,
    /// Further names for the certificate.
    pub names: Vec<String>,
    /// The user's certificate instead of the server's own.
    pub certificate: Option<CertificateFiles>,
    /// The authorities of client certificates.
    pub clients: Option<Arc<ClientAuthorities>>,
    /// Timeouts and numbers of clients.
    pub limits: Limits,
    /// The data for the printed commands.
    pub samples: Samples,
    /// Called in this order.
    pub on_ready: Vec<OnReady>,
}

/// The TLS configuration of a listener, if it uses TLS; the server's own certificate authority; and the files of the
/// certificate.
type Tls = (Option<ServerConfig>, Option<String>, Vec<FileWatcher>);

/// The connections of a listener.
pub(super) struct Connections {
    /// What its users are told.
    pub ready: Ready,
    stop: watch::Sender<bool>,
    accepting: JoinHandle<()>,
}

impl Entrance {
    /// Refuses plain HTTP where other machines could read the tokens.
    pub(super) fn check(&self, address: SocketAddr) -> Result<()> {
        if self.plain_http && !address.ip().is_loopback() { Err(Error::PlainHttp(address)) } else { Ok(()) }
    }

    /// Starts to accept connections. Also returns the files to watch.
    pub(super) fn open(
        mut self,
        listener: TcpListener,
        service: Service,
        state: &StateDir,
        admin: Option<&Admin>,
    ) -> Result<(Connections, Vec<FileWatcher>)> {
        let address = listener.local_addr().map_err(Error::Listener)?;
        self.check(address)?;
        // Connections inherit it, so it must be set before they are accepted.
        let buffer = connections::SEND_BUFFER as usize;
        rustix::net::sockopt::set_socket_send_buffer_size(&listener, buffer)
            .map_err(|error| Error::Listener(error.into()))?;
        let url = self.url(address);
        let (config, authority_pem, watchers) = self.tls(address, state)?;
        self.samples.own_authority = authority_pem.is_some();
        let mut kubeconfig = None;
        if let (Some(_), Some(admin)) = (&config, admin) {
            admin.write_kubeconfig(state, Kubeconfig { url: url.clone(), authority_pem })?;
            kubeconfig = Some(state.files.file(KUBECONFIG));
        }
        let commands = admin.map_or(String::new(), |_| self.samples.commands(state, &url));
        let service = match self.path_prefix {
            Some(prefix) => service.layer(prefix),
            None => service,
        };
        let (stop, stopping) = watch::channel(false);
        let tls = config.map(|config| TlsAcceptor::from(Arc::new(config)));
        let accepting = tasks::spawn(connections::accept(listener, tls, service, self.limits, stopping));
        let ready = Ready { address, url, kubeconfig, commands };
        Ok((Connections { ready, stop, accepting }, watchers))
    }

    fn tls(&mut self, address: SocketAddr, state: &StateDir) -> Result<Tls> {
        if self.plain_http {
            return Ok(Tls::default());
        }
        let clients = self.clients.take();
        let mut watchers = Vec::new();
        if let Some(files) = self.certificate.take() {
            let (config, certificate) = files.server_config(clients)?;
            watchers.push(certificate);
            return Ok((Some(config), None, watchers));
        }
        let authority = Authority::open(state)?;
        let authority_pem = authority.certificate_pem.clone();
        Ok((Some(authority.server_config(address, &self.names, clients)?), Some(authority_pem), watchers))
    }

    /// The base of every URL of a server at an address.
    fn url(&self, address: SocketAddr) -> String {
        let host = match address.ip() {
            // A user's certificate is for a name, not for an address.
            _ if self.certificate.is_some() && !self.names.is_empty() => self.names[0].clone(),
            ip if ip.is_unspecified() => "localhost".to_owned(),
            ip if ip.is_ipv6() => format!("[{ip}]"),
            ip => ip.to_string(),
        };
        let scheme = if self.plain_http { "http" } else { "https" };
        let path = self.path_prefix.as_ref().map_or("", PathPrefix::as_str);
        format!("{scheme}://{host}:{}{path}", address.port())
    }
}

impl Connections {
    /// Stops accepting connections, and notifies the open ones. The result waits until they have ended.
    pub(super) fn stop(self) -> impl Future<Output = ()> {
        // If accepting has already ended, there is no receiver.
        let _ = self.stop.send(true);
        async move {
            // If accepting failed, there still are connections.
            let _ = self.accepting.await;
            // Each connection holds a receiver until it has ended.
            self.stop.closed().await;
        }
    }
}

/// Resolves `host:port`.
pub(super) async fn resolve(given: &str) -> Result<SocketAddr> {
    let failed = |source| Error::Address { given: given.to_owned(), source };
    let none = || failed(io::Error::other("the host has no address"));
    tokio::net::lookup_host(given).await.map_err(failed)?.next().ok_or_else(none)
}

/// Listens on an address.
pub(super) fn bind(address: SocketAddr) -> Result<TcpListener> {
    let failed = |source: io::Error| match source.kind() {
        io::ErrorKind::AddrInUse => Error::PortInUse(address),
        _ => Error::Listen(address, source),
    };
    let socket = if address.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }.map_err(failed)?;
    // A restarted server finds connections of its last run in TIME_WAIT on its port.
    socket.set_reuseaddr(true).map_err(failed)?;
    socket.bind(address).map_err(failed)?;
    socket.listen(BACKLOG).map_err(failed)
}
