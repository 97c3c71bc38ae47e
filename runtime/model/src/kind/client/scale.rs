//! The scale of objects: their desired and actual number of replicas.
use serde::{Deserialize, Serialize};

use super::{Object, Objects, Patch, decode, encode};
use crate::meta::{ObjectMeta, refusal::Result};

/// autoscaling/v1 Scale.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Scale {
    /// The object's name, namespace, uid, creation time and resourceVersion.
    pub metadata: ObjectMeta,
    /// The desired state.
    pub spec: ScaleSpec,
    /// The observed state.
    pub status: ScaleStatus,
}

/// The desired number of replicas.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ScaleSpec {
    /// The desired number of replicas.
    pub replicas: i32,
}

/// The actual number of replicas.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ScaleStatus {
    /// The actual number of replicas.
    pub replicas: i32,
    /// The label selector of the replicas; empty if the kind has none.
    pub selector: String,
}

const TYPE_META: (&str, &str) = ("autoscaling/v1", "Scale");

impl<K: Object> Objects<K> {
    /// The scale of an object.
    ///
    /// # Errors
    /// 404, also for kinds without a scale subresource.
    pub async fn get_scale(&self, name: &str) -> Result<Scale> {
        self.get_at(&self.one(name, "scale")?).await
    }

    /// Replaces the scale of an object. Its resourceVersion, if set, is a precondition.
    ///
    /// # Errors
    /// Like [`Objects::replace`].
    pub async fn replace_scale(&self, name: &str, scale: &Scale) -> Result<Scale> {
        let mut document = encode(scale)?;
        document["apiVersion"] = TYPE_META.0.into();
        document["kind"] = TYPE_META.1.into();
        decode(&self.updated(&self.one(name, "scale")?, document).await?)
    }

    /// Changes the scale of an object.
    ///
    /// # Errors
    /// Like [`Objects::patch`].
    pub async fn patch_scale<P: Serialize + Sync>(&self, name: &str, patch: &Patch<P>) -> Result<Scale> {
        decode(&self.patched(&self.one(name, "scale")?, patch, TYPE_META).await?)
    }
}
