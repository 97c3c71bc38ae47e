//! The schema of `metadata`, which is the same for all kinds and therefore not part of theirs.
use std::sync::LazyLock;

use super::{ApiType, Schema};
use crate::meta::ObjectMeta;

/// The schema of `metadata`.
pub static METADATA: LazyLock<Schema> = LazyLock::new(|| {
    ObjectMeta::DECLARATION.schema(true).expect("the declaration of ObjectMeta is part of this crate")
});
