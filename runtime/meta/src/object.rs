//! Metadata of objects and lists (API conventions, "Metadata").
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{fields_v1::FieldsV1, time::Time};

/// `metadata` of an object. Empty values are omitted.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ObjectMeta {
    /// The name of the object. Unique within a namespace, not across namespaces.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// A prefix from which the server generates a unique name if `name` is empty.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub generate_name: String,
    /// The namespace; empty for cluster-scoped kinds.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub namespace: String,
    /// The object's unique identity over time and space. Set by the server.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub uid: String,
    /// The revision that wrote this state. Opaque to clients.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub resource_version: String,
    /// A sequence number of the desired state. Set by the server.
    #[serde(skip_serializing_if = "is_zero")]
    pub generation: i64,
    /// When the object was created; set by the server.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub creation_timestamp: Option<Time>,
    /// The time at which the object is to be deleted, once its deletion was requested. Set by the server.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deletion_timestamp: Option<Time>,
    /// The number of seconds that the object has to terminate gracefully. Set by the server.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deletion_grace_period_seconds: Option<i64>,
    /// Labels, used to organize and select objects.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<String, String>,
    /// Annotations: unstructured values that tools store with the object.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub annotations: BTreeMap<String, String>,
    /// The objects that this one depends on.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub owner_references: Vec<OwnerReference>,
    /// Identifiers of the tasks that must finish before the object is removed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub finalizers: Vec<String>,
    /// Which field manager owns which fields. Maintained by the server.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub managed_fields: Vec<ManagedFieldsEntry>,
}

impl ObjectMeta {
    /// Metadata with only a name.
    pub fn named(name: impl Into<String>) -> Self {
        Self { name: name.into(), ..Self::default() }
    }
}

/// An owner of an object. The garbage collector deletes an object after all its owners are gone.
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
    /// True if the owner is the managing controller. At most one owner is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub controller: Option<bool>,
    /// True if a foreground deletion of the owner must wait for this object.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub block_owner_deletion: Option<bool>,
}

/// The fields of an object that one manager owns.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ManagedFieldsEntry {
    /// The field manager.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub manager: String,
    /// `Apply` or `Update`.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub operation: String,
    /// The version of the object that the field set refers to.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub api_version: String,
    /// When the manager last changed its fields.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time: Option<Time>,
    /// The format of `fieldsV1`; only `FieldsV1` exists.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub fields_type: String,
    /// The field set in its JSON form.
    #[serde(skip_serializing_if = "Option::is_none", rename = "fieldsV1")]
    pub fields_v1: Option<FieldsV1>,
    /// The subresource through which the fields were written.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub subresource: String,
}

/// `metadata` of a list.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ListMeta {
    /// The revision of the list.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub resource_version: String,
    /// The token that requests the next page.
    #[serde(skip_serializing_if = "String::is_empty", rename = "continue")]
    pub continue_token: String,
    /// The number of remaining objects, if it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remaining_item_count: Option<i64>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it by reference")]
fn is_zero(number: &i64) -> bool {
    *number == 0
}
