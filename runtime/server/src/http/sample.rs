//! Objects for the tests of this layer.

use std::sync::Arc;

use serde_json::{Value, json};

use crate::{
    cache::{DecodedValue, Object},
    kind::Kind,
    meta::Revision,
};

/// An object of a kind; the body has no type meta and no resourceVersion.
pub(super) fn object(kind: &Kind, key: &str, revision: u64, mut body: Value) -> Arc<Object> {
    let (namespace, name) = key.split_once('/').unwrap_or(("", key));
    let mut metadata = json!({"name": name});
    if !namespace.is_empty() {
        metadata["namespace"] = namespace.into();
    }
    let given = body.as_object_mut().expect("a body is an object").remove("metadata").unwrap_or_default();
    for (name, value) in given.as_object().into_iter().flatten() {
        metadata[name] = value.clone();
    }
    let rest = body.to_string();
    let comma = if rest == "{}" { "" } else { "," };
    let text = format!("{{\"metadata\":{metadata}{comma}{}", &rest[1..]);
    let decoded = DecodedValue::plain(Ok(text.as_str().into()));
    Arc::new(Object::compose(key, Revision(revision), &kind.type_meta(), decoded))
}
