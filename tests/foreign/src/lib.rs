//! Types as another project has them: they implement `schemars::JsonSchema` and serde's traits, and use what serde and schemars
//! offer.
use std::{
    collections::{BTreeMap, BTreeSet},
    net::IpAddr,
};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Where requests go.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Backend {
    /// The name of the backend.
    #[schemars(length(min = 1, max = 63), regex(pattern = r"^[a-z-]+$"))]
    pub name: String,
    /// The port.
    pub port: u16,
    /// The share of the requests.
    pub weight: Option<u32>,
    /// Where it listens.
    pub address: Option<IpAddr>,
    /// How it is watched.
    pub check: Option<Check>,
    /// How much it takes.
    #[serde(default)]
    pub limit: Limit,
    /// How it is spoken to.
    #[serde(default)]
    pub protocol: Protocol,
    /// What is added to requests.
    #[serde(default)]
    pub headers: BTreeMap<String, String>,
    /// Where it runs.
    #[serde(default)]
    pub zones: BTreeSet<String>,
    /// How long it may take.
    #[serde(flatten)]
    pub timeouts: Timeouts,
}

/// How long things may take.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Timeouts {
    /// Until it is connected.
    pub connect_seconds: Option<u8>,
    /// Until it answers.
    pub answer_seconds: Option<u8>,
}

/// How a backend is spoken to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
pub enum Protocol {
    /// HTTP/1.1.
    #[default]
    Http,
    /// HTTP/2, for gRPC.
    Grpc,
}

/// How a backend is watched: with a tag inside.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(tag = "type")]
pub enum Check {
    /// A request.
    Http {
        /// Its path.
        path: String,
        /// The answers that count.
        codes: Option<Vec<u16>>,
    },
    /// A connection.
    Tcp {
        /// The port, if it is another one.
        port: Option<u16>,
    },
    /// A program.
    Exec(Program),
}

/// A program that runs.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct Program {
    /// Its name and arguments.
    pub command: Vec<String>,
}

/// How much a backend takes: without a tag.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum Limit {
    /// A number of requests.
    Requests(u32),
    /// A share of all, such as `50%`.
    Share(String),
}

impl Default for Limit {
    fn default() -> Self {
        Self::Requests(100)
    }
}

/// What is done with a request: with a tag outside.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Action {
    /// To a backend.
    Forward(Backend),
    /// To another place.
    Redirect {
        /// The place.
        to: String,
    },
}

/// A tree of paths.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct Route {
    /// The beginning of the paths.
    pub prefix: String,
    /// What is done with requests that no route below takes.
    pub action: Option<Action>,
    /// The routes below.
    #[serde(default)]
    pub routes: Vec<Route>,
}

// The blocks of code in the documentation of the derive, one of which has such types.
#[cfg(doctest)]
#[doc = include_str!("../../../macros/src/docs/api_type.md")]
struct ApiType;
