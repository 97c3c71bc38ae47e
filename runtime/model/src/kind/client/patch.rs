//! Patches of objects and of their status.
use serde::Serialize;
use serde_json::json;

use super::{Object, Objects, backend::Request, decode};
use crate::{
    codec,
    meta::{Refusal, refusal::Result},
    schema::Document,
};

/// A patch and its type. `P` serializes to the patch: a `serde_json::Value`, or the kind's type.
#[derive(Clone, Debug)]
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
        let api_version = request.resource.group_version().to_string();
        decode(&self.patched(request, patch, (&api_version, request.resource.kind)).await?)
    }

    /// Applies a patch to an object with an apiVersion and kind.
    pub(super) async fn patched<P: Serialize + Sync>(
        &self,
        request: &Request,
        patch: &Patch<P>,
        (api_version, kind): (&str, &str),
    ) -> Result<Document> {
        let document = |patch: &P| codec::from_typed(patch).map_err(Refusal::bad_request);
        let patch = match patch {
            Patch::Apply(config) => {
                let mut config = document(config)?;
                fill(&mut config, &[("apiVersion", api_version), ("kind", kind)]);
                if let Some(members) = config.as_object_mut() {
                    fill(members.entry("metadata").or_insert_with(|| json!({})), &[("name", &request.name)]);
                }
                Patch::Apply(config)
            }
            Patch::Json(patch) => Patch::Json(document(patch)?),
            Patch::Merge(patch) => Patch::Merge(document(patch)?),
            Patch::Strategic(patch) => Patch::Strategic(document(patch)?),
        };
        self.backend().patch(request, patch, &self.client.options).await
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
