//! Gadget, as the kit's `gadget.yaml` declares it, without its CEL rules.

use kindsmith::{ApiType, ObjectMeta, Resource};
use serde::{Deserialize, Serialize};

#[derive(Resource, Clone, Debug)]
#[resource(group = "conformance.example.com", version = "v1", cluster)]
pub(super) struct Gadget {
    pub metadata: ObjectMeta,
    pub spec: GadgetSpec,
}

#[derive(ApiType, Clone, Debug, Serialize, Deserialize)]
pub(super) struct GadgetSpec {
    pub min: i32,
    pub max: i32,
    #[api(max_length = 20, pattern = "^[A-Z]{2}-[0-9]+$")]
    pub code: String,
    #[api(max_items = 8, items(max_length = 16))]
    #[serde(default)]
    pub names: Vec<String>,
}
