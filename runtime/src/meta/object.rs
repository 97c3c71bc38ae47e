//! Metadata that every object has.

/// `metadata` of an object (API conventions, "Metadata").
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct ObjectMeta {}

/// One owner of an object.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct OwnerReference {}
