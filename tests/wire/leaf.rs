//! The kind that the wire tests write and watch.

use std::collections::BTreeMap;

use kindsmith::{ApiType, ObjectMeta, Resource};
use serde::{Deserialize, Serialize};

/// A leaf.
#[derive(Resource, Clone, Debug)]
#[resource(group = "wire.example.com", version = "v1", plural = "leaves", shortname = "lf", status)]
#[resource(scale(replicas = spec.veins, status = status.veins), selectable(spec.color))]
#[resource(column("Color", path = spec.color), column("Age", path = metadata.creation_timestamp))]
pub(crate) struct Leaf {
    pub metadata: ObjectMeta,
    pub spec: LeafSpec,
    pub status: Option<LeafStatus>,
}

/// The properties of a leaf.
#[derive(ApiType, Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct LeafSpec {
    /// Its color.
    #[api(default = Color::Green)]
    pub color: Color,
    /// The number of veins.
    #[api(default = 1, minimum = 0)]
    pub veins: i32,
    /// The number of the write that produced this state.
    pub write: Option<i64>,
    /// Notes by topic.
    #[api(max_properties = 8)]
    #[serde(default)]
    pub notes: BTreeMap<String, String>,
    /// The place where it was found.
    #[api(list = map(key = name))]
    #[serde(default)]
    pub places: Vec<Place>,
}

/// A color of leaves.
#[derive(ApiType, Clone, Debug, Serialize, Deserialize)]
pub(crate) enum Color {
    /// In spring.
    Green,
    /// In autumn.
    Red,
    /// Later in autumn.
    Brown,
}

/// A place.
#[derive(ApiType, Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Place {
    /// Its name.
    #[api(min_length = 1, pattern = "^[a-z]+$")]
    pub name: String,
}

/// The observed state of a leaf.
#[derive(ApiType, Clone, Debug, Serialize, Deserialize)]
pub(crate) struct LeafStatus {
    /// The number of veins counted.
    pub veins: Option<i32>,
}
