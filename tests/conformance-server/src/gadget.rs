//! Gadget, as the kit's `gadget.yaml` declares it.

use kindsmith::{ApiType, ObjectMeta, Resource};
use serde::{Deserialize, Serialize};

#[derive(Resource, Clone, Debug)]
#[resource(group = "conformance.example.com", version = "v1", cluster)]
#[api(rule = "size(self.metadata.name) <= 10", message = "name must be at most 10 characters")]
pub(super) struct Gadget {
    pub metadata: ObjectMeta,
    pub spec: GadgetSpec,
}

#[derive(ApiType, Clone, Debug, Serialize, Deserialize)]
#[api(
    rule = "self.min <= self.max",
    message = "min must be less than or equal to max",
    reason = FieldValueInvalid,
    field = min
)]
#[api(rule = "self.max >= oldSelf.max", message = "max may not shrink")]
pub(super) struct GadgetSpec {
    pub min: i32,
    pub max: i32,
    #[api(max_length = 20, pattern = "^[A-Z]{2}-[0-9]+$", rule = "self == oldSelf", message = "is immutable")]
    pub code: String,
    #[api(
        max_items = 8,
        items(max_length = 16),
        rule = "self.all(x, self.exists_one(y, x == y))",
        message = "names must be unique"
    )]
    #[serde(default)]
    pub names: Vec<String>,
}
