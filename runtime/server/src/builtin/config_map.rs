//! `ConfigMap`: configuration data for programs, as text and bytes by key.
use std::collections::BTreeMap;

use super::keys;
use crate::{
    Resource,
    kind::hook::Context,
    meta::{ByteString, FieldError, FieldErrorKind, FieldPath, ObjectMeta},
};

/// ConfigMap holds configuration data for programs to consume.
#[derive(Resource, Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "messages", derive(crate::Message))]
#[serde(rename_all = "camelCase")]
#[resource(group = "", version = "v1", shortname = "cm", builtin, update_without_version)]
#[resource(validate = ConfigMap::check)]
#[resource(column(
    "Data",
    with = ConfigMap::entries,
    description = "Data contains the configuration data. Each key must consist of alphanumeric characters, '-', '_' or '.'. \
                   Values with non-UTF-8 byte sequences must use the BinaryData field. The keys stored in Data must not \
                   overlap with the keys in the BinaryData field, this is enforced during validation process."
))]
pub struct ConfigMap {
    /// Standard object's metadata.
    #[serde(default)]
    #[api(proto = 1)]
    pub metadata: ObjectMeta,
    /// The configuration data. Each key must consist of alphanumeric characters, '-', '_' or '.'. Values with non-UTF-8
    /// byte sequences must use the `binaryData` field. The keys stored in `data` must not overlap with the keys in the
    /// `binaryData` field; this is enforced during validation.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[api(proto = 2)]
    pub data: BTreeMap<String, String>,
    /// The binary data. Each key must consist of alphanumeric characters, '-', '_' or '.'. `binaryData` can contain
    /// byte sequences that are not in the UTF-8 range. The keys stored in `binaryData` must not overlap with the keys
    /// in the `data` field; this is enforced during validation.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[api(proto = 3)]
    pub binary_data: BTreeMap<String, ByteString>,
    /// If set to true, ensures that the data stored in the ConfigMap cannot be updated; only object metadata can be
    /// modified. Once set to true, the field cannot be changed.
    #[api(proto = 4)]
    pub immutable: Option<bool>,
}

impl ConfigMap {
    fn entries(&self) -> i64 {
        i64::try_from(self.data.len() + self.binary_data.len()).unwrap_or(i64::MAX)
    }

    fn check(&self, context: &Context<'_, Self>) -> Vec<FieldError> {
        let (data, binary) = (FieldPath::new("data"), FieldPath::new("binaryData"));
        let mut errors = Vec::new();
        if let Some(old) = context.old() {
            let changed = [("data", self.data != old.data), ("binaryData", self.binary_data != old.binary_data)];
            errors.extend(keys::immutable(self.immutable, old.immutable, &changed));
        }
        for key in self.data.keys() {
            errors.extend(keys::check(key, &data));
            if self.binary_data.contains_key(key) {
                let given = FieldErrorKind::Invalid(key.as_str().into());
                errors.push(FieldError::new(&data.key(key), given, "duplicate of key present in binaryData"));
            }
        }
        errors.extend(self.binary_data.keys().flat_map(|key| keys::check(key, &binary)));
        let text: usize = self.data.values().map(String::len).sum();
        let bytes: usize = self.binary_data.values().map(|value| value.0.len()).sum();
        // kube-apiserver names no field here, which prints like this.
        errors.extend(keys::size(text + bytes, &FieldPath::new("[]")));
        errors
    }
}
