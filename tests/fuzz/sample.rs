//! A kind with a field of each type.
use std::collections::BTreeMap;

use kindsmith::{
    ApiType, ByteString, Condition, IntOrString, LabelSelector, MicroTime, ObjectMeta, ObjectReference, Quantity,
    RawJson, Resource, Time,
};
use serde::{Deserialize, Serialize};

/// A kind with a field of each type.
#[derive(Resource, Clone, Debug)]
#[resource(group = "fuzz.example.com", version = "v1", builtin, status)]
pub(crate) struct Sample {
    #[api(proto = 1)]
    pub metadata: ObjectMeta,
    #[api(proto = 2)]
    pub spec: SampleSpec,
    #[api(proto = 3)]
    pub status: Option<SampleStatus>,
}

#[derive(ApiType, Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SampleSpec {
    #[serde(default)]
    #[api(proto = 1)]
    pub text: String,
    #[api(proto = 2, default = 1, minimum = 0)]
    pub small: i32,
    #[api(proto = 3)]
    pub large: Option<i64>,
    #[api(proto = 4)]
    pub flag: Option<bool>,
    #[api(proto = 5)]
    pub quantity: Option<Quantity>,
    #[api(proto = 6)]
    pub port: Option<IntOrString>,
    #[api(proto = 7)]
    pub time: Option<Time>,
    #[api(proto = 8)]
    pub exact: Option<MicroTime>,
    #[api(proto = 9)]
    pub bytes: Option<ByteString>,
    #[api(proto = 10)]
    pub raw: Option<RawJson>,
    #[serde(default)]
    #[api(proto = 11, list = map(key = name), merge)]
    pub parts: Vec<Part>,
    #[serde(default)]
    #[api(proto = 12, list = set, merge)]
    pub tags: Vec<String>,
    #[serde(default)]
    #[api(proto = 13)]
    pub arguments: Vec<String>,
    #[serde(default)]
    #[api(proto = 14)]
    pub options: BTreeMap<String, String>,
    #[serde(default)]
    #[api(proto = 15)]
    pub nested: BTreeMap<String, Part>,
    #[api(proto = 16, retain_keys)]
    pub strategy: Option<Strategy>,
    #[api(proto = 17)]
    pub selector: Option<LabelSelector>,
    #[serde(default)]
    #[api(proto = 18, merge(key = name))]
    pub references: Vec<ObjectReference>,
    #[serde(default)]
    #[api(proto = 19, map = atomic)]
    pub whole: BTreeMap<String, i64>,
    #[serde(default)]
    #[api(proto = 20, list = map(key = host, key = port))]
    pub doors: Vec<Door>,
    #[api(proto = 21)]
    pub color: Option<Color>,
}

#[derive(ApiType, Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Part {
    #[api(proto = 1)]
    pub name: String,
    #[api(proto = 2)]
    pub note: Option<String>,
    #[serde(default)]
    #[api(proto = 3, list = set, merge)]
    pub tags: Vec<i64>,
    #[serde(default)]
    #[api(proto = 4)]
    pub limits: BTreeMap<String, Quantity>,
}

#[derive(ApiType, Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Door {
    #[api(proto = 1)]
    pub host: String,
    #[api(proto = 2, default = 80)]
    pub port: i32,
    #[api(proto = 3)]
    pub open: Option<bool>,
}

#[derive(ApiType, Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Strategy {
    #[serde(rename = "type")]
    #[api(proto = 1)]
    pub kind: Option<String>,
    #[api(proto = 2)]
    pub most: Option<IntOrString>,
}

#[derive(ApiType, Clone, Debug, Serialize, Deserialize)]
pub(crate) enum Color {
    Red,
    Green,
}

#[derive(ApiType, Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SampleStatus {
    #[api(proto = 1)]
    pub observed_generation: Option<i64>,
    #[serde(default)]
    #[api(proto = 2, list = map(key = kind), merge)]
    pub conditions: Vec<Condition>,
}
