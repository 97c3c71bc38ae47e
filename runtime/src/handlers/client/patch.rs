//! Patches of objects and of their status.
use serde::Serialize;
use serde_json::json;

use super::{
    Objects,
    typed::{answered, typed},
};
use crate::{
    codec,
    handlers::{Object, Refusal, Result, change},
    schema::Document,
    verbs::{self, Request},
};

/// A patch and its type. `P` serializes to the patch: a `serde_json::Value`, or the kind's type.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Patch<P> {
    /// Server-side apply: all fields that the field manager wants to own. Creates a missing object. apiVersion, kind
    /// and the name may be omitted.
    Apply(P),
    /// A JSON Patch: a list of operations (RFC 6902).
    Json(P),
    /// A JSON Merge Patch (RFC 7386).
    Merge(P),
    /// A strategic merge patch, for kinds that declare how their lists merge.
    Strategic(P),
}

impl<K: Object> Objects<K> {
    /// Changes an object.
    ///
    /// # Errors
    /// 404, except for an apply; 409 if an apply would change fields of other managers and is not forced, or if the
    /// patch has an outdated resourceVersion; 415 for a type of patch that the kind does not support; 422 for an
    /// invalid result.
    pub async fn patch<P: Serialize + Sync>(&self, name: &str, patch: &Patch<P>) -> Result<K> {
        self.patch_at(&self.one(name, "")?, patch).await
    }

    /// Changes the status of an object.
    ///
    /// # Errors
    /// Like [`Objects::patch`].
    pub async fn patch_status<P: Serialize + Sync>(&self, name: &str, patch: &Patch<P>) -> Result<K> {
        self.patch_at(&self.one(name, "status")?, patch).await
    }

    async fn patch_at<P: Serialize + Sync>(&self, request: &Request, patch: &Patch<P>) -> Result<K> {
        let kind = &request.served.kind;
        typed(&self.patched(request, patch, (&kind.group_version.to_string(), &kind.names().kind)).await?)
    }

    /// Applies a patch to an object with an apiVersion and kind.
    pub(super) async fn patched<P: Serialize + Sync>(
        &self,
        request: &Request,
        patch: &Patch<P>,
        (api_version, kind): (&str, &str),
    ) -> Result<Document> {
        let patch = match patch {
            Patch::Apply(config) => {
                let mut config = codec::from_typed(config).map_err(Refusal::bad_request)?;
                fill(&mut config, &[("apiVersion", api_version), ("kind", kind)]);
                if let Some(members) = config.as_object_mut() {
                    fill(members.entry("metadata").or_insert_with(|| json!({})), &[("name", &request.name)]);
                }
                verbs::Patch::Apply(config.into())
            }
            Patch::Json(patch) => verbs::Patch::Json(bytes(patch)?),
            Patch::Merge(patch) => verbs::Patch::Merge(bytes(patch)?),
            Patch::Strategic(patch) => verbs::Patch::Strategic(bytes(patch)?),
        };
        let patch = |request| {
            let patch = patch.clone();
            async move { Ok(self.api().patch(&request, patch, &self.client.options).await?) }
        };
        answered(change::following(self.api(), request, patch).await?.answer)
    }
}

/// Adds members that an object lacks.
fn fill(object: &mut Document, members: &[(&str, &str)]) {
    if let Some(object) = object.as_object_mut() {
        for (member, value) in members {
            object.entry(*member).or_insert_with(|| (*value).into());
        }
    }
}

fn bytes(patch: &impl Serialize) -> Result<bytes::Bytes> {
    serde_json::to_vec(patch).map(Into::into).map_err(|error| Refusal::bad_request(error.to_string()))
}
