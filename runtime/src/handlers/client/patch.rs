//! Patches of objects and of their status.
use serde::Serialize;
use serde_json::json;

use super::{
    Objects,
    typed::{answered, typed},
};
use crate::{
    codec,
    handlers::{Object, Refusal, Result},
    schema::Document,
    verbs::{self, Request},
};

/// A patch: what is sent, and how it is meant. `P` is what serializes to the patch: a `serde_json::Value`, or the kind's type.
#[derive(Clone, Debug)]
pub enum Patch<P> {
    /// Server-side apply: all that the field manager wants to own. Creates the object where there is none. apiVersion,
    /// kind and the name may be left out.
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
    /// 404, except from an apply; 409 where an apply would change what others own and is not forced, or where a
    /// resourceVersion in the patch is not the newest; 415 for a type of patch that the kind does not take; 422 for what the
    /// patch makes of the object.
    pub async fn patch<P: Serialize + Sync>(&self, name: &str, patch: &Patch<P>) -> Result<K> {
        self.patch_at(&self.request(name, "")?, patch).await
    }

    /// Changes the status of an object.
    ///
    /// # Errors
    /// As [`Objects::patch`].
    pub async fn patch_status<P: Serialize + Sync>(&self, name: &str, patch: &Patch<P>) -> Result<K> {
        self.patch_at(&self.request(name, "status")?, patch).await
    }

    async fn patch_at<P: Serialize + Sync>(&self, request: &Request, patch: &Patch<P>) -> Result<K> {
        let kind = &request.served.kind;
        typed(&self.patched(request, patch, (&kind.group_version.to_string(), &kind.kind)).await?)
    }

    /// What a patch makes of an object of an apiVersion and kind.
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
        answered(self.api().patch(request, patch, &self.client.options).await?.answer)
    }
}

/// Gives members that an object does not have.
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
