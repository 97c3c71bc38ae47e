//! `SelfSubjectReview` and `TokenReview`: who a request or a token belongs to.
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{ApiType, ObjectMeta, Resource, meta::user::User};

/// SelfSubjectReview returns the user that the server sees in the request that sends it. If the request impersonates a
/// user, it returns that user. Nothing is stored.
#[derive(Resource, Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "messages", derive(crate::Message))]
#[resource(group = "authentication.k8s.io", version = "v1", cluster, builtin, unstored)]
pub struct SelfSubjectReview {
    /// Standard object's metadata. The creation time is that of the answer.
    #[serde(default)]
    #[api(proto = 1)]
    pub metadata: ObjectMeta,
    /// The answer, filled in by the server.
    #[serde(default)]
    #[api(proto = 2)]
    pub status: SelfSubjectReviewStatus,
}

/// SelfSubjectReviewStatus is filled in by the server and sent back to the user.
#[derive(ApiType, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "messages", derive(crate::Message))]
#[serde(rename_all = "camelCase")]
#[api(proto_zeros)]
pub struct SelfSubjectReviewStatus {
    /// The attributes of the user that sends the request.
    #[serde(default)]
    #[api(proto = 1)]
    pub user_info: UserInfo,
}

/// TokenReview attempts to authenticate a token to a known user. Nothing is stored.
#[derive(Resource, Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "messages", derive(crate::Message))]
#[resource(group = "authentication.k8s.io", version = "v1", cluster, builtin, unstored)]
pub struct TokenReview {
    /// Standard object's metadata.
    #[serde(default)]
    #[api(proto = 1)]
    pub metadata: ObjectMeta,
    /// The token to authenticate.
    #[serde(default)]
    #[api(proto = 2)]
    pub spec: TokenReviewSpec,
    /// The answer, filled in by the server: whether the token can be authenticated.
    #[serde(default)]
    #[api(proto = 3)]
    pub status: TokenReviewStatus,
}

/// TokenReviewSpec describes the token to authenticate.
#[derive(ApiType, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "messages", derive(crate::Message))]
#[api(proto_zeros)]
pub struct TokenReviewSpec {
    /// The opaque bearer token.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[api(proto = 1)]
    pub token: String,
    /// The identifiers of the programs that accept the token. The token must be meant for at least one of them. If there
    /// are none, it must be meant for this server.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[api(proto = 2)]
    pub audiences: Vec<String>,
}

/// TokenReviewStatus is the result of authenticating the token.
#[derive(ApiType, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "messages", derive(crate::Message))]
#[api(proto_zeros)]
pub struct TokenReviewStatus {
    /// True if the token belongs to a known user.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[api(proto = 1)]
    pub authenticated: bool,
    /// The user that the token belongs to.
    #[serde(default)]
    #[api(proto = 2)]
    pub user: UserInfo,
    /// The audiences that both the request and the token name. A program that sent its own identifier as an audience
    /// should check that it is here.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[api(proto = 4)]
    pub audiences: Vec<String>,
    /// The reason why the token could not be authenticated.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[api(proto = 3)]
    pub error: String,
}

/// UserInfo holds the information about a user that authentication has found.
#[derive(ApiType, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "messages", derive(crate::Message))]
#[api(proto_zeros)]
pub struct UserInfo {
    /// The name that uniquely identifies this user among all active users.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[api(proto = 1)]
    pub username: String,
    /// A unique value that identifies this user across time. If the user is deleted and another user is added with the
    /// same name, they have different uids.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[api(proto = 2)]
    pub uid: String,
    /// The names of the groups that this user belongs to.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[api(proto = 3)]
    pub groups: Vec<String>,
    /// Further information that the authenticator provides, by key.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[api(proto = 4)]
    pub extra: BTreeMap<String, Vec<String>>,
}

impl From<&User> for UserInfo {
    fn from(user: &User) -> Self {
        let User { name, uid, groups, extra } = user.clone();
        Self { username: name, uid, groups, extra }
    }
}
