//! Secret: confidential bytes by key. Clients may write text instead of bytes, which is never read back.
use std::collections::BTreeMap;

use serde_json::json;

use super::keys;
use crate::{
    Resource,
    kind::hook::Context,
    meta::{ByteString, FieldError, FieldErrorKind, FieldPath, ObjectMeta},
};

/// Secret holds secret data of a certain type. The total size of the values in the `data` field must not exceed 1 MiB.
#[derive(Resource, Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "messages", derive(crate::Message))]
#[serde(rename_all = "camelCase")]
#[resource(group = "", version = "v1", builtin, update_without_version)]
#[resource(default = Secret::fill_in, validate = Secret::check, selectable(kind))]
#[resource(column("Type", path = kind, description = "The type of the secret data"))]
#[resource(column("Data", with = Secret::entries, description = "The number of keys of the secret data"))]
pub struct Secret {
    /// Standard object's metadata.
    #[serde(default)]
    #[api(proto = 1)]
    pub metadata: ObjectMeta,
    /// The secret data. Each key must consist of alphanumeric characters, '-', '_' or '.'. The serialized form of the
    /// secret data is a base64 encoded string, representing the arbitrary (possibly non-string) data value here.
    /// Described in RFC 4648, section 4.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[api(proto = 2)]
    pub data: BTreeMap<String, ByteString>,
    /// Used to facilitate programmatic handling of secret data. Some types require certain keys. The field cannot be
    /// changed. More info: <https://kubernetes.io/docs/concepts/configuration/secret/#secret-types>
    #[serde(rename = "type")]
    #[api(proto = 3, default = "Opaque")]
    pub kind: String,
    /// Specifies non-binary secret data in string form. It is provided as a write-only input field for convenience. All
    /// keys and values are merged into the `data` field on write, overwriting any existing values. The `stringData`
    /// field is never output when reading from the API.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[api(proto = 4)]
    pub string_data: BTreeMap<String, String>,
    /// If set to true, ensures that the data stored in the Secret cannot be updated; only object metadata can be
    /// modified. Once set to true, the field cannot be changed.
    #[api(proto = 5)]
    pub immutable: Option<bool>,
}

/// The keys that a type requires: all of the first list, and at least one of the second.
fn expected(kind: &str) -> (&'static [&'static str], &'static [&'static str]) {
    match kind {
        "kubernetes.io/dockercfg" => (&[".dockercfg"], &[]),
        "kubernetes.io/dockerconfigjson" => (&[".dockerconfigjson"], &[]),
        "kubernetes.io/basic-auth" => (&[], &["username", "password"]),
        "kubernetes.io/ssh-auth" => (&["ssh-privatekey"], &[]),
        "kubernetes.io/tls" => (&["tls.crt", "tls.key"], &[]),
        _ => (&[], &[]),
    }
}

impl Secret {
    fn entries(&self) -> i64 {
        i64::try_from(self.data.len()).unwrap_or(i64::MAX)
    }

    /// Moves `stringData` into `data`.
    fn fill_in(&mut self, _context: &Context<'_, Self>) {
        if self.kind.is_empty() {
            "Opaque".clone_into(&mut self.kind);
        }
        for (key, text) in std::mem::take(&mut self.string_data) {
            self.data.insert(key, ByteString(text.into_bytes()));
        }
    }

    fn check(&self, context: &Context<'_, Self>) -> Vec<FieldError> {
        let data = FieldPath::new("data");
        let mut errors = Vec::new();
        if let Some(old) = context.old() {
            if old.kind != self.kind {
                let given = FieldErrorKind::Invalid(json!(self.kind));
                errors.push(FieldError::new(&FieldPath::new("type"), given, "field is immutable"));
            }
            errors.extend(keys::immutable(self.immutable, old.immutable, &[("data", self.data != old.data)]));
        }
        errors.extend(self.data.keys().flat_map(|key| keys::check(key, &data)));
        errors.extend(keys::size(self.data.values().map(|value| value.0.len()).sum(), &data));
        errors.extend(self.check_type(&data));
        errors
    }

    /// Checks the keys and values that the type requires. Errors do not show values.
    fn check_type(&self, data: &FieldPath) -> Vec<FieldError> {
        let required = |path: &FieldPath| FieldError::new(path, FieldErrorKind::Required, "");
        let account = "kubernetes.io/service-account.name";
        if self.kind == "kubernetes.io/service-account-token" {
            let named = self.metadata.annotations.get(account).is_some_and(|name| !name.is_empty());
            let path = FieldPath::new("metadata").child("annotations").key(account);
            return if named { Vec::new() } else { vec![required(&path)] };
        }
        let (all, one) = expected(&self.kind);
        let missing = |key: &&&str| !self.data.contains_key(**key);
        let mut errors: Vec<FieldError> = all.iter().filter(missing).map(|key| required(&data.key(key))).collect();
        if !one.is_empty() && one.iter().all(|key| missing(&key)) {
            errors.extend(one.iter().map(|key| required(&data.key(key))));
        }
        for key in all.iter().filter(|key| key.starts_with(".docker")) {
            let value = self.data.get(*key);
            let why = value.and_then(|value| serde_json::from_slice::<serde::de::IgnoredAny>(&value.0).err());
            if let Some(why) = why {
                let given = FieldErrorKind::Invalid(json!("<secret contents redacted>"));
                errors.push(FieldError::new(&data.key(key), given, why.to_string()));
            }
        }
        errors
    }
}
