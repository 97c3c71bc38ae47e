//! `ServiceAccount`: an identity for programs.
use crate::{
    Resource,
    kind::hook::Context,
    meta::{LocalObjectReference, ObjectMeta, ObjectReference},
};

/// An identity for programs in a namespace.
#[derive(Resource, Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "messages", derive(crate::Message))]
#[serde(rename_all = "camelCase")]
#[resource(group = "", version = "v1", shortname = "sa", builtin)]
#[resource(default = ServiceAccount::keep_names)]
#[resource(column("Secrets", with = ServiceAccount::count_secrets, description = "How many secrets are named"))]
pub struct ServiceAccount {
    /// Metadata of the object.
    #[serde(default)]
    #[api(proto = 1)]
    pub metadata: ObjectMeta,
    /// Secrets of the same namespace that programs under this identity may use.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[api(proto = 2, merge(key = name))]
    pub secrets: Vec<ObjectReference>,
    /// Secrets of the same namespace with which images are pulled.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[api(proto = 3)]
    pub image_pull_secrets: Vec<LocalObjectReference>,
    /// Whether programs are given a token of this identity.
    #[api(proto = 4)]
    pub automount_service_account_token: Option<bool>,
}

impl ServiceAccount {
    /// Secrets are of the same namespace, so that their name says all; the rest of a reference is dropped.
    fn keep_names(&mut self, _context: &Context<'_, Self>) {
        for secret in &mut self.secrets {
            *secret = ObjectReference { name: std::mem::take(&mut secret.name), ..ObjectReference::default() };
        }
    }

    fn count_secrets(&self) -> i64 {
        i64::try_from(self.secrets.len()).unwrap_or(i64::MAX)
    }
}
