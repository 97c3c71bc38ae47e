//! `ServiceAccount`: an identity for programs.
use crate::{
    Resource,
    kind::hook::Context,
    meta::{LocalObjectReference, ObjectMeta, ObjectReference},
};

/// ServiceAccount provides an identity for programs that can be authenticated and authorized.
#[derive(Resource, Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "messages", derive(crate::Message))]
#[serde(rename_all = "camelCase")]
#[resource(group = "", version = "v1", shortname = "sa", builtin, returns_deleted)]
#[resource(default = ServiceAccount::keep_names)]
#[resource(column("Secrets", with = ServiceAccount::count_secrets, description = "The number of secrets that the account refers to"))]
pub struct ServiceAccount {
    /// Standard object's metadata.
    #[serde(default)]
    #[api(proto = 1)]
    pub metadata: ObjectMeta,
    /// A list of the secrets in the same namespace that programs running as this ServiceAccount are allowed to use.
    /// More info: <https://kubernetes.io/docs/concepts/configuration/secret>
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[api(proto = 2, merge(key = name))]
    pub secrets: Vec<ObjectReference>,
    /// A list of references to secrets in the same namespace to use for pulling images for programs that run as this
    /// ServiceAccount. They differ from `secrets`, which programs can read. More info:
    /// <https://kubernetes.io/docs/concepts/containers/images/#specifying-imagepullsecrets-on-a-pod>
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[api(proto = 3)]
    pub image_pull_secrets: Vec<LocalObjectReference>,
    /// Indicates whether programs running as this service account should have an API token automatically mounted. Can
    /// be overridden for each program.
    #[api(proto = 4)]
    pub automount_service_account_token: Option<bool>,
}

impl ServiceAccount {
    /// Secrets are in the same namespace, so only their names are kept.
    fn keep_names(&mut self, _context: &Context<'_, Self>) {
        for secret in &mut self.secrets {
            *secret = ObjectReference { name: std::mem::take(&mut secret.name), ..ObjectReference::default() };
        }
    }

    fn count_secrets(&self) -> i64 {
        i64::try_from(self.secrets.len()).unwrap_or(i64::MAX)
    }
}
