//! The fingerprint of a schema: equal for equal schemas, over builds and machines.
use super::Schema;

/// A hash of what decides how stored documents are read: types, fields, defaults; not descriptions.
pub fn fingerprint(_schema: &Schema) -> u64 {
    todo!()
}
