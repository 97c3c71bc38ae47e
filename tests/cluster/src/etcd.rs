//! Members of etcd, and what is asked of them over their JSON gateway: status, compaction, defragmentation, leaders.
use std::path::Path;

use base64::{Engine, engine::general_purpose::STANDARD};
use hyper::Method;
use serde_json::{Value, json};

use crate::{
    Outcome,
    client::{Client, Target},
    network::{Link, Node},
    program::Program,
};

/// The URL at which servers reach a member, by its number from 1.
pub(crate) fn url(number: u8) -> String {
    format!("http://{}:2379", Link::Store.address(number))
}

fn peer_url(number: u8) -> String {
    format!("http://{}:2380", Link::Peers.address(number))
}

/// One member, in its namespace.
pub(crate) struct Member {
    pub(crate) node: Node,
    pub(crate) program: Program,
    address: String,
}

/// What a member says about the cluster.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Status {
    pub(crate) leads: bool,
    pub(crate) id: u64,
    pub(crate) revision: u64,
}

impl Member {
    /// Member `number` of `count`.
    pub(crate) fn new(etcd: &str, number: u8, count: u8, folder: &Path) -> Outcome<Self> {
        let name = format!("m{number}");
        let node = Node::new(&name, number, &[Link::Store, Link::Peers])?;
        let cluster: Vec<_> = (1..=count).map(|number| format!("m{number}={}", peer_url(number))).collect();
        let arguments = format!(
            "--name {name} --data-dir {} --listen-client-urls {url},http://127.0.0.1:2379 --advertise-client-urls {url} \
             --listen-peer-urls {peer} --initial-advertise-peer-urls {peer} --initial-cluster {} \
             --initial-cluster-state new --heartbeat-interval 100 --election-timeout 1000 --snapshot-count 2000",
            folder.join(&name).display(),
            cluster.join(","),
            url = url(number),
            peer = peer_url(number),
        );
        let arguments = arguments.split_whitespace().map(str::to_owned).collect();
        let make = node.command(etcd, arguments);
        let program = Program::new(name.clone(), folder.join(format!("{name}.log")), Box::new(make));
        Ok(Self { address: format!("{}:2379", node.address(Link::Store)), node, program })
    }

    async fn ask(&self, path: &str, body: Value) -> Outcome<Value> {
        let mut client = Client::new(Target::Address(self.address.clone()), None);
        match client.send(Method::POST, path, &body).await {
            Ok((200, answer)) => Ok(answer),
            Ok((status, answer)) => Err(format!("{path} at {}: {status}: {answer}", self.address).into()),
            Err(failed) => Err(format!("{path} at {}: {}", self.address, failed.reason).into()),
        }
    }

    pub(crate) async fn status(&self) -> Outcome<Status> {
        let answer = self.ask("/v3/maintenance/status", json!({})).await?;
        let number = |pointer: &str| answer.pointer(pointer).and_then(Value::as_str).and_then(|text| text.parse().ok());
        let id = number("/header/member_id").unwrap_or(0);
        let leads = id != 0 && number("/leader") == Some(id);
        Ok(Status { leads, id, revision: number("/header/revision").unwrap_or(0) })
    }

    /// A read that only a quorum can answer.
    pub(crate) async fn read(&self) -> Outcome<()> {
        self.ask("/v3/kv/range", json!({ "key": STANDARD.encode("any") })).await.map(drop)
    }

    pub(crate) async fn compact(&self, revision: u64) -> Outcome<()> {
        self.ask("/v3/kv/compaction", json!({ "revision": revision.to_string() })).await.map(drop)
    }

    pub(crate) async fn defragment(&self) -> Outcome<()> {
        self.ask("/v3/maintenance/defragment", json!({})).await.map(drop)
    }

    /// Only the leader can do that.
    pub(crate) async fn move_leader(&self, to: u64) -> Outcome<()> {
        let body = json!({ "targetID": to.to_string() });
        self.ask("/v3/maintenance/transfer-leadership", body).await.map(drop)
    }
}
