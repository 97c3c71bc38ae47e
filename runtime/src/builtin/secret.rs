//! Secret: bytes by key that are not for everyone to see. Text may be written in place of bytes, and is never read back.
use std::collections::BTreeMap;

use serde_json::json;

use super::keys;
use crate::{
    Resource,
    kind::hook::Context,
    meta::{ByteString, FieldError, FieldErrorKind, FieldPath, ObjectMeta},
};

/// Secret data: bytes by key.
#[derive(Resource, Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "messages", derive(crate::Message))]
#[serde(rename_all = "camelCase")]
#[resource(group = "", version = "v1", builtin, update_without_version)]
#[resource(default = Secret::fill_in, validate = Secret::check, selectable(kind))]
#[resource(column("Type", path = kind, description = "What the data is for"))]
#[resource(column("Data", with = Secret::entries, description = "How many keys there are"))]
pub struct Secret {
    /// Metadata of the object.
    #[serde(default)]
    #[api(proto = 1)]
    pub metadata: ObjectMeta,
    /// Bytes by key, in base64.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[api(proto = 2)]
    pub data: BTreeMap<String, ByteString>,
    /// What the data is for; some types ask for certain keys. Cannot change.
    #[serde(rename = "type")]
    #[api(proto = 3, default = "Opaque")]
    pub kind: String,
    /// Text by key, which is moved into `data` when it is written; never read back.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[api(proto = 4)]
    pub string_data: BTreeMap<String, String>,
    /// Once true, neither this nor the data can change.
    #[api(proto = 5)]
    pub immutable: Option<bool>,
}

/// Keys that a type asks for: all of the first list, and one of the second.
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

    /// Moves text into the data.
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

    /// What the type asks for. Values are not shown.
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
