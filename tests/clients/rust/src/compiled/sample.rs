//! A kind with numbered fields of every type.

use std::collections::BTreeMap;

use kindsmith::{
    ApiType, ByteString, Condition, IntOrString, LabelSelector, Message, MicroTime, ObjectMeta, ObjectReference,
    Quantity, RawJson, Resource, Time,
};
use serde::{Deserialize, Serialize};

/// One of everything.
#[derive(Resource, Message, Clone, Debug, Default, PartialEq)]
#[resource(group = "sample.example.com", version = "v1")]
pub struct Sample {
    /// Standard object's metadata.
    #[api(proto = 1)]
    pub metadata: ObjectMeta,
    /// Types of fields.
    #[api(proto = 2)]
    pub spec: SampleSpec,
    /// An optional type.
    #[api(proto = 3)]
    pub note: Option<Note>,
}

/// Fields of every type.
#[derive(ApiType, Message, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SampleSpec {
    #[api(proto = 30)]
    pub text: String,
    #[serde(default)]
    #[api(proto = 2)]
    pub flags: Vec<bool>,
    #[api(proto = 3)]
    pub maybe: Option<String>,
    #[api(proto = 4)]
    pub count: i32,
    #[api(proto = 5)]
    pub long: Option<i64>,
    #[api(proto = 6)]
    pub on: bool,
    #[api(proto = 7)]
    pub colour: Colour,
    #[api(proto = 8)]
    pub bytes: ByteString,
    #[api(proto = 9)]
    pub at: Option<Time>,
    #[api(proto = 10)]
    pub exactly: Option<MicroTime>,
    #[api(proto = 11)]
    pub size: Quantity,
    #[api(proto = 12)]
    pub port: Option<IntOrString>,
    #[api(proto = 13)]
    pub raw: Option<RawJson>,
    #[serde(default)]
    #[api(proto = 14)]
    pub tags: Vec<String>,
    #[serde(default)]
    #[api(proto = 15)]
    pub numbers: Vec<i64>,
    #[serde(default)]
    #[api(proto = 16)]
    pub grid: Vec<Vec<i32>>,
    #[serde(default)]
    #[api(proto = 17)]
    pub by_name: BTreeMap<String, Part>,
    #[serde(default)]
    #[api(proto = 18)]
    pub words: BTreeMap<String, Vec<String>>,
    #[serde(default)]
    #[api(proto = 19)]
    pub parts: Vec<Part>,
    #[api(proto = 20)]
    pub selector: Option<LabelSelector>,
    #[api(proto = 21)]
    pub probe: Option<Probe>,
    #[serde(default)]
    #[api(proto = 22)]
    pub probes: Vec<Probe>,
    #[api(proto = 23)]
    pub reference: Option<ObjectReference>,
    #[api(proto = 24)]
    pub boxed: Box<Part>,
    #[serde(default)]
    #[api(proto = 25)]
    pub sizes: BTreeMap<String, Quantity>,
    #[serde(default)]
    #[api(proto = 26)]
    pub colours: Vec<Colour>,
    #[serde(default)]
    #[api(proto = 27, list = map(key = kind))]
    pub conditions: Vec<Condition>,
}

/// A struct in lists and maps.
#[derive(ApiType, Message, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Part {
    #[api(proto = 1)]
    pub name: String,
    #[api(proto = 2)]
    pub pages: Option<i32>,
}

/// An enumeration.
#[derive(ApiType, Message, Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Colour {
    #[default]
    Red,
    #[serde(rename = "dark-green")]
    Green,
}

/// A union.
#[derive(ApiType, Message, Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Probe {
    #[api(proto = 1)]
    Part(Part),
    #[api(proto = 3)]
    Http {
        #[api(proto = 2)]
        path: String,
        #[api(proto = 1)]
        port: Option<i32>,
    },
}

/// An optional struct that writes zeros like Go.
#[derive(ApiType, Message, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[api(proto_zeros)]
pub struct Note {
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[api(proto = 1)]
    pub text: String,
    #[api(proto = 2)]
    pub lines: Option<i32>,
}
