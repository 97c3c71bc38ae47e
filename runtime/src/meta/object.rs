//! Metadata that every object and list has (API conventions, "Metadata").
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::time::Time;

/// `metadata` of an object. Empty values are not written.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ObjectMeta {
    /// The object's name, unique in its namespace.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// A prefix from which the server makes the name where none is given.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub generate_name: String,
    /// The namespace; empty for kinds of the cluster.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub namespace: String,
    /// The object's identity over all time; set by the server.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub uid: String,
    /// The revision that wrote this state; opaque to clients.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub resource_version: String,
    /// Counts changes of the desired state; set by the server.
    #[serde(skip_serializing_if = "is_zero")]
    pub generation: i64,
    /// When the object was created; set by the server.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub creation_timestamp: Option<Time>,
    /// When deletion was asked for; set by the server.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deletion_timestamp: Option<Time>,
    /// Seconds that the object was given to end; set by the server.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deletion_grace_period_seconds: Option<i64>,
    /// Labels, by which objects are selected.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<String, String>,
    /// Annotations, which tools keep with the object.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub annotations: BTreeMap<String, String>,
    /// The objects that this one depends on.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub owner_references: Vec<OwnerReference>,
    /// What must be done before the object may go.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub finalizers: Vec<String>,
    /// Which manager owns which field; kept by the server.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub managed_fields: Vec<ManagedFieldsEntry>,
}

impl ObjectMeta {
    /// Metadata with a name and nothing else.
    pub fn named(name: impl Into<String>) -> Self {
        Self { name: name.into(), ..Self::default() }
    }
}

/// One owner of an object; when its owners are gone, so is the object.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct OwnerReference {
    /// The owner's group and version.
    pub api_version: String,
    /// The owner's kind.
    pub kind: String,
    /// The owner's name.
    pub name: String,
    /// The owner's uid.
    pub uid: String,
    /// The owner manages this object; at most one does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub controller: Option<bool>,
    /// A foreground deletion of the owner waits for this object.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub block_owner_deletion: Option<bool>,
}

/// What one manager owns of an object.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ManagedFieldsEntry {
    /// The manager.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub manager: String,
    /// `Apply` or `Update`.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub operation: String,
    /// The version in whose terms the fields are named.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub api_version: String,
    /// When the manager last changed its fields.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time: Option<Time>,
    /// The form of `fieldsV1`; `FieldsV1` is the only one.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub fields_type: String,
    /// The set of fields, as it stands.
    #[serde(skip_serializing_if = "Option::is_none", rename = "fieldsV1")]
    pub fields_v1: Option<Value>,
    /// The subresource through which the fields were written.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub subresource: String,
}

/// The group, version and kind of an object, as it carries them on the wire.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct TypeMeta {
    /// The group and version, `apps/v1`, or the version alone in the core group.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub api_version: String,
    /// The kind.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub kind: String,
}

/// `metadata` of a list.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ListMeta {
    /// The revision at which the list holds.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub resource_version: String,
    /// The token that asks for the rest.
    #[serde(skip_serializing_if = "String::is_empty", rename = "continue")]
    pub continue_token: String,
    /// How many objects are left, where that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remaining_item_count: Option<i64>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it by reference")]
fn is_zero(number: &i64) -> bool {
    *number == 0
}
