//! The private network of a run: each member and server in a network namespace, joined by two bridges that can be cut
//! link by link. `store` joins servers and members, `peers` the members. The whole lies in the namespaces of this
//! process, so that it ends with it.
use std::{
    fs::{self, File},
    io,
    net::{IpAddr, Ipv4Addr, SocketAddr, TcpStream},
    os::fd::AsFd,
    process::{Child, Command, Stdio},
    sync::mpsc,
    thread,
    time::{Duration, Instant},
};

use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};
use tokio::sync::oneshot;

use crate::Outcome;

/// What can be cut off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Link {
    /// Between servers and members.
    Store,
    /// Among the members.
    Peers,
}

impl Link {
    fn bridge(self) -> &'static str {
        match self {
            Self::Store => "store",
            Self::Peers => "peers",
        }
    }

    fn subnet(self) -> u8 {
        match self {
            Self::Store => 1,
            Self::Peers => 2,
        }
    }

    /// The address of a node, or of this process for the number 0.
    pub(crate) fn address(self, number: u8) -> Ipv4Addr {
        Ipv4Addr::new(10, 77, self.subnet(), number + 1)
    }
}

fn run(program: &str, arguments: &str) -> Outcome<()> {
    let output = Command::new(program).args(arguments.split_whitespace()).stdin(Stdio::null()).output();
    let output = output.map_err(|error| format!("{program}: {error}; it is in the package iproute2 or util-linux"))?;
    if output.status.success() {
        return Ok(());
    }
    let errors = String::from_utf8_lossy(&output.stderr);
    Err(format!("{program} {arguments}: {}: {}", output.status, errors.trim()).into())
}

fn ip(arguments: &str) -> Outcome<()> {
    run("ip", arguments)
}

/// Makes the bridges, of which this process has the first address.
pub(crate) fn make_bridges() -> Outcome<()> {
    ip("link set lo up")?;
    for link in [Link::Store, Link::Peers] {
        let bridge = link.bridge();
        ip(&format!("link add {bridge} type bridge"))?;
        ip(&format!("addr add {}/24 dev {bridge}", link.address(0)))?;
        ip(&format!("link set {bridge} up"))?;
    }
    Ok(())
}

/// A network namespace with links to bridges.
pub(crate) struct Node {
    name: String,
    number: u8,
    /// A process that holds the namespace.
    holder: Child,
}

impl Node {
    /// Makes the namespace. Numbers begin with 1.
    pub(crate) fn new(name: &str, number: u8, links: &[Link]) -> Outcome<Self> {
        let mut command = Command::new("unshare");
        command.args(["--net", "sleep", "infinity"]).stdin(Stdio::null());
        let holder = command.spawn().map_err(|error| format!("unshare: {error}"))?;
        let node = Self { name: name.to_owned(), number, holder };
        node.await_namespace()?;
        let inside = |arguments: &str| run("nsenter", &format!("--net={} ip {arguments}", node.namespace()));
        inside("link set lo up")?;
        for link in links {
            let (bridge, holder) = (link.bridge(), node.holder.id());
            ip(&format!("link add {} type veth peer name {bridge} netns {holder}", node.port(*link)))?;
            inside(&format!("addr add {}/24 dev {bridge}", link.address(number)))?;
            inside(&format!("link set {bridge} up"))?;
            ip(&format!("link set {} up", node.port(*link)))?;
            node.join(*link)?;
        }
        Ok(node)
    }

    fn namespace(&self) -> String {
        format!("/proc/{}/ns/net", self.holder.id())
    }

    fn await_namespace(&self) -> Outcome<()> {
        let own = fs::read_link("/proc/self/ns/net")?;
        let start = Instant::now();
        while fs::read_link(self.namespace())? == own {
            if start.elapsed() > Duration::from_secs(10) {
                return Err(format!("the network namespace of {} was not made within 10 s", self.name).into());
            }
            thread::sleep(Duration::from_millis(1));
        }
        Ok(())
    }

    /// The end of a link at the bridge.
    fn port(&self, link: Link) -> String {
        format!("{}-{}", self.name, link.bridge())
    }

    /// The node's address on a link.
    pub(crate) fn address(&self, link: Link) -> Ipv4Addr {
        link.address(self.number)
    }

    /// Takes the link from its bridge. Packets are lost without an error, as in a network that is cut elsewhere.
    pub(crate) fn cut(&self, link: Link) -> Outcome<()> {
        ip(&format!("link set {} nomaster", self.port(link)))
    }

    /// Joins the link to its bridge again.
    pub(crate) fn join(&self, link: Link) -> Outcome<()> {
        ip(&format!("link set {} master {}", self.port(link), link.bridge()))
    }

    /// Makes commands in this namespace.
    pub(crate) fn command(&self, program: &str, arguments: Vec<String>) -> impl Fn() -> Command + Send + use<> {
        let (namespace, program) = (format!("--net={}", self.namespace()), program.to_owned());
        move || {
            let mut command = Command::new("nsenter");
            command.arg(&namespace).arg(&program).args(&arguments);
            command
        }
    }

    /// Connections to a port on the node's loopback address: no cut hinders them.
    pub(crate) fn dialer(&self, port: u16) -> Outcome<Dialer> {
        let namespace = File::open(self.namespace())?;
        let (requests, incoming) = mpsc::channel::<oneshot::Sender<io::Result<TcpStream>>>();
        let address = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), port);
        thread::Builder::new().name(format!("dial-{}", self.name)).spawn(move || {
            let moved = move_into_link_name_space(namespace.as_fd(), Some(LinkNameSpaceType::Network));
            for request in incoming {
                let dial = || {
                    moved.map_err(io::Error::from)?;
                    let stream = TcpStream::connect_timeout(&address, Duration::from_secs(1))?;
                    stream.set_nodelay(true)?;
                    stream.set_nonblocking(true)?;
                    Ok(stream)
                };
                // The client may have given up.
                let _ = request.send(dial());
            }
        })?;
        Ok(Dialer(requests))
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        let _ = self.holder.kill();
        let _ = self.holder.wait();
    }
}

/// Opens connections in a namespace: a socket stays in the one in which it was made.
#[derive(Clone)]
pub(crate) struct Dialer(mpsc::Sender<oneshot::Sender<io::Result<TcpStream>>>);

impl Dialer {
    pub(crate) async fn dial(&self) -> io::Result<tokio::net::TcpStream> {
        let (sender, receiver) = oneshot::channel();
        self.0.send(sender).map_err(|_| io::Error::other("the dialing thread has ended"))?;
        let stream = receiver.await.map_err(|_| io::Error::other("the dialing thread has ended"))??;
        tokio::net::TcpStream::from_std(stream)
    }
}
