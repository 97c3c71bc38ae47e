//! The members and servers of a run, and what is done to them.
use std::{fs, io::Write, os::unix::fs::OpenOptionsExt, path::PathBuf, time::Duration};

use tokio::time::{Instant, sleep};

use crate::{
    Outcome,
    client::Target,
    etcd::{self, Member, Status},
    network::{Link, Node, make_bridges},
    plan::{Fault, Who},
    program::Program,
};

/// The port of every server, on the loopback address of its namespace.
const PORT: u16 = 8080;
/// The first node number of servers; members begin with 1.
const FIRST_SERVER: u8 = 10;

/// What to run.
#[derive(Clone, Debug)]
pub(crate) struct Shape {
    pub(crate) members: u8,
    pub(crate) servers: u8,
    pub(crate) etcd: String,
    pub(crate) server: PathBuf,
    /// Arguments of the server: `{listen}`, `{tokens}`, `{data}` and `{etcd}` are replaced.
    pub(crate) arguments: String,
    pub(crate) folder: PathBuf,
}

/// A server in its namespace.
pub(crate) struct Server {
    node: Node,
    program: Program,
}

/// The state of a process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Process {
    #[default]
    Runs,
    Stopped,
    Down,
}

/// Why a node is not healthy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Harm {
    process: Process,
    store_cut: bool,
    peers_cut: bool,
}

/// The members and servers.
pub(crate) struct Cluster {
    pub(crate) members: Vec<Member>,
    servers: Vec<Server>,
    member_harm: Vec<Harm>,
    server_harm: Vec<Harm>,
    pub(crate) token: String,
    /// Servers that ended by themselves.
    pub(crate) ended: Vec<String>,
}

impl Cluster {
    /// Starts everything.
    pub(crate) fn start(shape: &Shape) -> Outcome<Self> {
        make_bridges()?;
        let token = format!("token-{}", std::process::id());
        let tokens = shape.folder.join("tokens.csv");
        let mut file = fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(tokens)?;
        file.write_all(format!("{token},admin,admin,\"system:masters\"\n").as_bytes())?;
        let members = (1..=shape.members).map(|number| Member::new(&shape.etcd, number, shape.members, &shape.folder));
        let members = members.collect::<Outcome<Vec<_>>>()?;
        let servers = (0..shape.servers).map(|number| server(shape, number));
        let servers = servers.collect::<Outcome<Vec<_>>>()?;
        let (member_harm, server_harm) = (vec![Harm::default(); members.len()], vec![Harm::default(); servers.len()]);
        let mut cluster = Self { members, servers, member_harm, server_harm, token, ended: Vec::new() };
        for member in &mut cluster.members {
            member.program.start()?;
        }
        for server in &mut cluster.servers {
            server.program.start()?;
        }
        Ok(cluster)
    }

    pub(crate) fn targets(&self) -> Outcome<Vec<Target>> {
        self.servers.iter().map(|server| Ok(Target::Inside(server.node.dialer(PORT)?))).collect()
    }

    /// Starts servers again that ended by themselves, as a supervisor would.
    pub(crate) fn supervise(&mut self) -> Outcome<()> {
        for (server, harm) in self.servers.iter_mut().zip(&self.server_harm) {
            if let Some(status) = server.program.ended().filter(|_| harm.process != Process::Down) {
                self.ended.push(format!("{} ended by itself: {status}", server.program.name));
                server.program.start()?;
            }
        }
        Ok(())
    }

    /// Which servers run and reach etcd.
    pub(crate) fn healthy_servers(&self) -> Vec<bool> {
        self.server_harm.iter().map(|harm| *harm == Harm::default()).collect()
    }

    /// True if a majority of members runs, joined, and servers reach one of them.
    pub(crate) fn has_quorum(&self) -> bool {
        let serves = |harm: &&Harm| harm.process == Process::Runs && !harm.peers_cut;
        let serving: Vec<_> = self.member_harm.iter().filter(serves).collect();
        self.members.is_empty() || serving.len() * 2 > self.members.len() && serving.iter().any(|harm| !harm.store_cut)
    }

    /// Waits until members that serve answer a read of a quorum, at most this long.
    pub(crate) async fn await_quorum(&self, within: Duration) -> bool {
        let start = Instant::now();
        while !self.members.is_empty() {
            for (member, harm) in self.members.iter().zip(&self.member_harm) {
                if *harm == Harm::default() && member.read().await.is_ok() {
                    return true;
                }
            }
            if start.elapsed() > within {
                return false;
            }
            sleep(Duration::from_millis(20)).await;
        }
        true
    }

    /// The states of the members that answer.
    pub(crate) async fn statuses(&self) -> Vec<Option<Status>> {
        let mut all = Vec::new();
        for (member, harm) in self.members.iter().zip(&self.member_harm) {
            let reached = harm.process == Process::Runs && !harm.store_cut;
            all.push(if reached { member.status().await.ok() } else { None });
        }
        all
    }

    async fn choose(&self, who: Who) -> Vec<usize> {
        let count = self.members.len();
        let leader = self.statuses().await.iter().position(|s| s.is_some_and(|status| status.leads)).unwrap_or(0);
        match who {
            Who::Leader => vec![leader],
            Who::Follower => vec![(leader + 1) % count],
            Who::Two => vec![leader, (leader + 1) % count],
            Who::All => (0..count).collect(),
        }
    }

    fn cut(&mut self, members: Vec<usize>, store: bool, peers: bool) -> Outcome<()> {
        for index in members {
            if store {
                self.members[index].node.cut(Link::Store)?;
                self.member_harm[index].store_cut = true;
            }
            if peers {
                self.members[index].node.cut(Link::Peers)?;
                self.member_harm[index].peers_cut = true;
            }
        }
        Ok(())
    }

    fn kill_members(&mut self, members: Vec<usize>) {
        for index in members {
            self.members[index].program.kill();
            self.member_harm[index].process = Process::Down;
        }
    }

    fn kill_server(&mut self, index: usize) {
        self.servers[index].program.kill();
        self.server_harm[index].process = Process::Down;
    }

    /// Begins a fault.
    pub(crate) async fn inject(&mut self, fault: Fault) -> Outcome<()> {
        match fault {
            Fault::KillMembers(who) => {
                let members = self.choose(who).await;
                self.kill_members(members);
            }
            Fault::StopMembers(who) => {
                for index in self.choose(who).await {
                    self.members[index].program.stop()?;
                    self.member_harm[index].process = Process::Stopped;
                }
            }
            Fault::CutPeers(who) => {
                let members = self.choose(who).await;
                self.cut(members, false, true)?;
            }
            Fault::CutFromServers(who) => {
                let members = self.choose(who).await;
                self.cut(members, true, false)?;
            }
            Fault::CutMembers(who) => {
                let members = self.choose(who).await;
                self.cut(members, true, true)?;
            }
            Fault::KillServer(index) => self.kill_server(index),
            Fault::StopServer(index) => {
                self.servers[index].program.stop()?;
                self.server_harm[index].process = Process::Stopped;
            }
            Fault::CutServer(index) => {
                self.servers[index].node.cut(Link::Store)?;
                self.server_harm[index].store_cut = true;
            }
            Fault::KillEverything => {
                (0..self.servers.len()).for_each(|index| self.kill_server(index));
                self.kill_members((0..self.members.len()).collect());
            }
            Fault::MoveLeader => note(self.move_leader().await),
            Fault::Defragment => {
                for member in &self.members {
                    note(member.defragment().await);
                }
            }
        }
        Ok(())
    }

    /// Undoes all harm.
    pub(crate) fn heal(&mut self) -> Outcome<()> {
        for (member, harm) in self.members.iter_mut().zip(&mut self.member_harm) {
            heal(&member.node, &mut member.program, *harm)?;
            *harm = Harm::default();
        }
        for (server, harm) in self.servers.iter_mut().zip(&mut self.server_harm) {
            heal(&server.node, &mut server.program, *harm)?;
            *harm = Harm::default();
        }
        Ok(())
    }

    async fn move_leader(&self) -> Outcome<()> {
        let statuses = self.statuses().await;
        let leader = statuses.iter().position(|s| s.is_some_and(|status| status.leads));
        let follower = statuses.iter().flatten().find(|status| !status.leads && status.id != 0);
        match (leader, follower) {
            (Some(leader), Some(follower)) => self.members[leader].move_leader(follower.id).await,
            // An election is under way: the leader moves without us.
            _ => Ok(()),
        }
    }

    /// Compacts history up to some revisions before the newest; true if it did.
    pub(crate) async fn compact(&self, behind: u64) -> bool {
        let statuses = self.statuses().await;
        let newest = statuses.iter().flatten().map(|status| status.revision).max().unwrap_or(0);
        for (member, status) in self.members.iter().zip(&statuses) {
            if status.is_some() && newest > behind && member.compact(newest - behind).await.is_ok() {
                return true;
            }
        }
        false
    }
}

fn heal(node: &Node, program: &mut Program, harm: Harm) -> Outcome<()> {
    if harm.store_cut {
        node.join(Link::Store)?;
    }
    if harm.peers_cut {
        node.join(Link::Peers)?;
    }
    match harm.process {
        Process::Runs => Ok(()),
        Process::Stopped => program.go_on(),
        Process::Down => program.start(),
    }
}

fn server(shape: &Shape, number: u8) -> Outcome<Server> {
    let name = format!("s{number}");
    let links: &[Link] = if shape.members > 0 { &[Link::Store] } else { &[] };
    let node = Node::new(&name, FIRST_SERVER + number, links)?;
    let urls: Vec<_> = (1..=shape.members).map(etcd::url).collect();
    let data = shape.folder.join(&name);
    fs::create_dir_all(&data)?;
    let replaced = shape.arguments.replace("{listen}", &format!("127.0.0.1:{PORT}"));
    let replaced = replaced.replace("{tokens}", &shape.folder.join("tokens.csv").display().to_string());
    let replaced = replaced.replace("{data}", &data.display().to_string()).replace("{etcd}", &urls.join(","));
    let arguments: Vec<String> = replaced.split_whitespace().map(str::to_owned).collect();
    let make = node.command(&shape.server.display().to_string(), arguments);
    let make = move || {
        let mut command = make();
        command.current_dir(&data).env("TMPDIR", &data);
        command
    };
    let program = Program::new(name.clone(), shape.folder.join(format!("{name}.log")), Box::new(make));
    Ok(Server { node, program })
}

/// A member that has not started again yet after an earlier fault cannot do what it is asked.
fn note(done: Outcome<()>) {
    if let Err(error) = done {
        eprintln!("left out: {error}");
    }
}
