//! The scenarios: a table of names, and the requests of each.
mod day;
pub(crate) mod fanout;
pub(crate) mod objects;
mod pages;
mod requests;
pub(crate) mod roles;

use std::time::Instant;

use crate::{
    Outcome,
    client::{Connection, Failed, Request},
};

/// A kind of load.
pub(crate) struct Scenario {
    pub(crate) name: &'static str,
    /// A description of one operation.
    pub(crate) about: &'static str,
    pub(crate) steps: Steps,
}

/// What an operation does.
pub(crate) enum Steps {
    /// One request, which depends on its position alone.
    One(fn(&Position) -> Request),
    /// The same by a user who may do only what roles say.
    ByRole(fn(&Position) -> Request),
    /// A list of all objects in pages.
    Pages,
    /// One change, which watchers receive. Latencies are those of the events.
    Fanout,
    /// A controller that reconciles a new object.
    Day,
}

/// The position of an operation in a round.
pub(crate) struct Position<'r> {
    /// Distinguishes the objects of this round from those of others.
    pub(crate) run: &'r str,
    /// Unique in the round.
    pub(crate) number: u64,
    /// Which of the concurrent clients this is.
    pub(crate) worker: usize,
    /// Objects to read.
    pub(crate) objects: u64,
    /// The time from which the latency counts.
    pub(crate) due: Instant,
}

const fn one(name: &'static str, about: &'static str, request: fn(&Position) -> Request) -> Scenario {
    Scenario { name, about, steps: Steps::One(request) }
}

const fn many(name: &'static str, about: &'static str, steps: Steps) -> Scenario {
    Scenario { name, about, steps }
}

/// All scenarios, in the order in which `all` runs them.
pub(crate) static ALL: [Scenario; 29] = [
    one("get", "get of a 2 KB ConfigMap", requests::get),
    one("get-any", "the same in any state (resourceVersion=0)", requests::get_any),
    one("get-protobuf", "get of a 2 KB ConfigMap in Protobuf", requests::get_protobuf),
    one("get-cbor", "the same in CBOR", requests::get_cbor),
    one("list-500", "list of 500 (limit=500)", requests::list_500),
    one("list-all", "list of all objects", requests::list_all),
    one("list-pretty", "the same as indented JSON", requests::list_pretty),
    one("list-yaml", "the same in YAML", requests::list_yaml),
    one("list-cbor", "the same in CBOR", requests::list_cbor),
    one("list-protobuf", "the same in Protobuf", requests::list_protobuf),
    one("list-table", "the same as a Table, as kubectl get asks for it", requests::list_table),
    one("list-metadata", "the same as PartialObjectMetadataList", requests::list_metadata),
    one("list-gzip", "the same in JSON, compressed", requests::list_gzip),
    one("list-label", "list of the tenth that a label selector matches", requests::list_label),
    one("list-label-none", "list by a label selector that matches nothing", requests::list_label_none),
    one("list-field", "list of the one that a field selector matches", requests::list_field),
    many("paging", "list of all objects in pages of 500", Steps::Pages),
    one("create", "create of a 2 KB ConfigMap", requests::create),
    one("create-plain", "create of a 2 KB object of a CustomResourceDefinition", requests::create_plain),
    one("create-ruled", "the same with ten rules in CEL", requests::create_ruled),
    one("update", "update (PUT) of a 2 KB ConfigMap", requests::update),
    one("patch-json", "change by JSON Patch", requests::patch_json),
    one("patch-merge", "change by JSON Merge Patch", requests::patch_merge),
    one("patch-strategic", "change by strategic merge patch", requests::patch_strategic),
    one("apply", "server-side apply that changes a 2 KB ConfigMap", requests::apply),
    one("apply-same", "server-side apply that changes nothing", requests::apply_same),
    many("fanout", "event of a change, as a watcher receives it", Steps::Fanout),
    many(
        "controller",
        "create, watch, apply of an owned object, patch, watch, deletes; now and then a Lease",
        Steps::Day,
    ),
    many(
        "get-by-role",
        "get by a service account, beside 1,000 roles and 5,000 bindings",
        Steps::ByRole(requests::get),
    ),
];

/// The scenarios of these names; all of them for `all`.
pub(crate) fn named(names: &[String]) -> Outcome<Vec<&'static Scenario>> {
    if names.iter().any(|name| name == "all") {
        return Ok(ALL.iter().collect());
    }
    let find = |name: &String| {
        let unknown = || {
            let all: Vec<_> = ALL.iter().map(|scenario| scenario.name).collect();
            format!("there is no scenario {name:?}; there are: all, {}", all.join(", "))
        };
        Ok(ALL.iter().find(|scenario| scenario.name == name).ok_or_else(unknown)?)
    };
    names.iter().map(find).collect()
}

/// One of the concurrent clients of a round.
pub(crate) struct Worker {
    connection: Connection,
    pub(crate) index: usize,
    /// The watch of a controller, once it has one.
    watch: Option<day::Watch>,
}

impl Worker {
    pub(crate) fn new(connection: Connection, index: usize) -> Self {
        Self { connection, index, watch: None }
    }

    /// Runs one operation; returns the bytes that were received.
    pub(crate) async fn operate(&mut self, scenario: &Scenario, position: &Position<'_>) -> Result<u64, Failed> {
        match scenario.steps {
            Steps::One(request) => Ok(self.connection.send(&request(position)).await?.length),
            Steps::ByRole(request) => {
                let request = Request { as_reader: true, ..request(position) };
                Ok(self.connection.send(&request).await?.length)
            }
            Steps::Fanout => Ok(self.connection.send(&fanout::change(position)).await?.length),
            Steps::Pages => pages::walk(&mut self.connection).await,
            Steps::Day => day::reconcile(&mut self.connection, &mut self.watch, position).await,
        }
    }
}
