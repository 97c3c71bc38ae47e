//! The reviews of access: whether a user may do something, and what the sender may do in a namespace.
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{
    ApiType, ObjectMeta, Resource, auth,
    kind::Policy,
    meta::{FieldSelectorRequirement, LabelSelectorRequirement},
};

/// How a review about a namespace differs from other kinds: the namespace need not exist.
#[derive(Clone, Copy, Debug)]
struct Local;

impl Policy for Local {
    fn needs_namespace(&self) -> bool {
        false
    }
}

/// SubjectAccessReview checks whether a user or group may perform an action. Nothing is stored.
#[derive(Resource, Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "messages", derive(crate::Message))]
#[resource(group = "authorization.k8s.io", version = "v1", cluster, builtin, unstored)]
pub struct SubjectAccessReview {
    /// Standard object's metadata. Must be empty.
    #[serde(default)]
    #[api(proto = 1)]
    pub metadata: ObjectMeta,
    /// The user and the action.
    #[serde(default)]
    #[api(proto = 2)]
    pub spec: SubjectAccessReviewSpec,
    /// The answer, filled in by the server: whether the action is allowed.
    #[serde(default)]
    #[api(proto = 3)]
    pub status: SubjectAccessReviewStatus,
}

/// LocalSubjectAccessReview checks whether a user or group may perform an action in one namespace. A role of that namespace
/// can therefore allow its creation. Nothing is stored.
#[derive(Resource, Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "messages", derive(crate::Message))]
#[resource(group = "authorization.k8s.io", version = "v1", builtin, unstored, policy = Local)]
pub struct LocalSubjectAccessReview {
    /// Standard object's metadata. Must be empty except for the namespace.
    #[serde(default)]
    #[api(proto = 1)]
    pub metadata: ObjectMeta,
    /// The user and the action, on a resource in the namespace of the request.
    #[serde(default)]
    #[api(proto = 2)]
    pub spec: SubjectAccessReviewSpec,
    /// The answer, filled in by the server: whether the action is allowed.
    #[serde(default)]
    #[api(proto = 3)]
    pub status: SubjectAccessReviewStatus,
}

/// SelfSubjectAccessReview checks whether the user that sends it may perform an action. Nothing is stored.
#[derive(Resource, Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "messages", derive(crate::Message))]
#[resource(group = "authorization.k8s.io", version = "v1", cluster, builtin, unstored)]
pub struct SelfSubjectAccessReview {
    /// Standard object's metadata. Must be empty.
    #[serde(default)]
    #[api(proto = 1)]
    pub metadata: ObjectMeta,
    /// The action.
    #[serde(default)]
    #[api(proto = 2)]
    pub spec: SelfSubjectAccessReviewSpec,
    /// The answer, filled in by the server: whether the action is allowed.
    #[serde(default)]
    #[api(proto = 3)]
    pub status: SubjectAccessReviewStatus,
}

/// SelfSubjectRulesReview lists the actions that the user that sends it may perform in a namespace. The list may be
/// incomplete. It is meant for user interfaces, which show or hide actions by it. Other programs should use
/// SubjectAccessReview. Nothing is stored.
#[derive(Resource, Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "messages", derive(crate::Message))]
#[resource(group = "authorization.k8s.io", version = "v1", cluster, builtin, unstored)]
pub struct SelfSubjectRulesReview {
    /// Standard object's metadata.
    #[serde(default)]
    #[api(proto = 1)]
    pub metadata: ObjectMeta,
    /// The namespace.
    #[serde(default)]
    #[api(proto = 2)]
    pub spec: SelfSubjectRulesReviewSpec,
    /// The answer, filled in by the server: the allowed actions.
    #[serde(default)]
    #[api(proto = 3)]
    pub status: SubjectRulesReviewStatus,
}

/// SubjectAccessReviewSpec describes a user and an action. Exactly one of `resourceAttributes` and
/// `nonResourceAttributes` must be set.
#[derive(ApiType, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "messages", derive(crate::Message))]
#[serde(rename_all = "camelCase")]
#[api(proto_zeros)]
pub struct SubjectAccessReviewSpec {
    /// An action on a resource.
    #[api(proto = 1)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resource_attributes: Option<ResourceAttributes>,
    /// An action on a path that is not a resource, such as `/metrics`.
    #[api(proto = 2)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub non_resource_attributes: Option<NonResourceAttributes>,
    /// The user to check. If only `user` is set and `groups` is not, the question is about a user without groups.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[api(proto = 3)]
    pub user: String,
    /// The groups to check.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[api(proto = 4)]
    pub groups: Vec<String>,
    /// Further information about the user, as its authenticator provides it.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[api(proto = 5)]
    pub extra: BTreeMap<String, Vec<String>>,
    /// The uid of the user.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[api(proto = 6)]
    pub uid: String,
}

/// SelfSubjectAccessReviewSpec describes an action. Exactly one of `resourceAttributes` and `nonResourceAttributes` must be
/// set.
#[derive(ApiType, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "messages", derive(crate::Message))]
#[serde(rename_all = "camelCase")]
pub struct SelfSubjectAccessReviewSpec {
    /// An action on a resource.
    #[api(proto = 1)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resource_attributes: Option<ResourceAttributes>,
    /// An action on a path that is not a resource, such as `/metrics`.
    #[api(proto = 2)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub non_resource_attributes: Option<NonResourceAttributes>,
}

/// SelfSubjectRulesReviewSpec names the namespace.
#[derive(ApiType, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "messages", derive(crate::Message))]
#[api(proto_zeros)]
pub struct SelfSubjectRulesReviewSpec {
    /// The namespace whose rules are listed. Required.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[api(proto = 1)]
    pub namespace: String,
}

/// ResourceAttributes describes an action on a resource, as authorizers see it.
#[derive(ApiType, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "messages", derive(crate::Message))]
#[serde(rename_all = "camelCase")]
#[api(proto_zeros)]
pub struct ResourceAttributes {
    /// The namespace of the action. Empty for cluster-scoped resources, and for actions in all namespaces.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[api(proto = 1)]
    pub namespace: String,
    /// The verb of the API, such as `get`, `list`, `watch`, `create`, `update`, `delete` or `patch`. `*` means all.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[api(proto = 2)]
    pub verb: String,
    /// The API group of the resource. `*` means all.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[api(proto = 3)]
    pub group: String,
    /// The API version of the resource. `*` means all.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[api(proto = 4)]
    pub version: String,
    /// The plural name of the resource. `*` means all.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[api(proto = 5)]
    pub resource: String,
    /// The subresource. Empty for the object itself.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[api(proto = 6)]
    pub subresource: String,
    /// The name of the object. Empty for all objects.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[api(proto = 7)]
    pub name: String,
    /// A limit on the fields of the objects. Actions that are only allowed with this limit are reported as not allowed.
    #[api(proto = 8)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub field_selector: Option<FieldSelectorAttributes>,
    /// A limit on the labels of the objects. Actions that are only allowed with this limit are reported as not allowed.
    #[api(proto = 9)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label_selector: Option<LabelSelectorAttributes>,
}

/// NonResourceAttributes describes an action on a path that is not a resource.
#[derive(ApiType, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "messages", derive(crate::Message))]
#[api(proto_zeros)]
pub struct NonResourceAttributes {
    /// The path of the URL.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[api(proto = 1)]
    pub path: String,
    /// The method of HTTP in lower case, such as `get`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[api(proto = 2)]
    pub verb: String,
}

/// FieldSelectorAttributes is a field selector, as text or as requirements. Only one of the two may be set.
#[derive(ApiType, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "messages", derive(crate::Message))]
#[serde(rename_all = "camelCase")]
#[api(proto_zeros)]
pub struct FieldSelectorAttributes {
    /// The selector as in the parameter `fieldSelector` of a request.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[api(proto = 1)]
    pub raw_selector: String,
    /// The requirements, all of which must hold.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[api(proto = 2)]
    pub requirements: Vec<FieldSelectorRequirement>,
}

/// LabelSelectorAttributes is a label selector, as text or as requirements. Only one of the two may be set.
#[derive(ApiType, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "messages", derive(crate::Message))]
#[serde(rename_all = "camelCase")]
#[api(proto_zeros)]
pub struct LabelSelectorAttributes {
    /// The selector as in the parameter `labelSelector` of a request.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[api(proto = 1)]
    pub raw_selector: String,
    /// The requirements, all of which must hold.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[api(proto = 2)]
    pub requirements: Vec<LabelSelectorRequirement>,
}

/// SubjectAccessReviewStatus is the answer to a review of access.
#[derive(ApiType, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "messages", derive(crate::Message))]
#[serde(rename_all = "camelCase")]
#[api(proto_zeros)]
pub struct SubjectAccessReviewStatus {
    /// True if the action is allowed.
    #[api(proto = 1, default = false, required)]
    pub allowed: bool,
    /// True if an authorizer denies the action, whatever other authorizers decide. If both `allowed` and `denied` are
    /// false, no authorizer has an opinion, and the action is not allowed either.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[api(proto = 4)]
    pub denied: bool,
    /// The reason why the action is allowed or denied. May be empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[api(proto = 2)]
    pub reason: String,
    /// An error that occurred while the access was checked. The answer may be correct nevertheless.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[api(proto = 3)]
    pub evaluation_error: String,
}

/// SubjectRulesReviewStatus lists the allowed actions.
#[derive(ApiType, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "messages", derive(crate::Message))]
#[serde(rename_all = "camelCase")]
#[api(proto_zeros)]
pub struct SubjectRulesReviewStatus {
    /// The allowed actions on resources. The order is not significant, and rules may overlap.
    #[serde(default)]
    #[api(proto = 1)]
    pub resource_rules: Vec<ResourceRule>,
    /// The allowed actions on paths that are not resources. The order is not significant, and rules may overlap.
    #[serde(default)]
    #[api(proto = 2)]
    pub non_resource_rules: Vec<NonResourceRule>,
    /// True if the lists may lack rules, for example because an authorizer cannot list its rules.
    #[api(proto = 3, default = false, required)]
    pub incomplete: bool,
    /// The reason why the lists may be incomplete.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[api(proto = 4)]
    pub evaluation_error: String,
}

/// ResourceRule lists actions on resources: each of the verbs on each of the resources.
#[derive(ApiType, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "messages", derive(crate::Message))]
#[serde(rename_all = "camelCase")]
pub struct ResourceRule {
    /// The verbs of the API. `*` means all.
    #[serde(default)]
    #[api(proto = 1)]
    pub verbs: Vec<String>,
    /// The API groups of the resources. `*` means all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[api(proto = 2)]
    pub api_groups: Vec<String>,
    /// The plural names of the resources. `*` means all, and `*/status` the subresource `status` of all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[api(proto = 3)]
    pub resources: Vec<String>,
    /// The names of the objects. Empty if all objects are meant.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[api(proto = 4)]
    pub resource_names: Vec<String>,
}

/// NonResourceRule lists actions on paths that are not resources: each of the verbs on each of the paths.
#[derive(ApiType, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "messages", derive(crate::Message))]
pub struct NonResourceRule {
    /// The methods of HTTP in lower case. `*` means all.
    #[serde(default)]
    #[api(proto = 1)]
    pub verbs: Vec<String>,
    /// The paths. `*` stands for the rest of a path, and is allowed at the end only.
    #[serde(default, rename = "nonResourceURLs", skip_serializing_if = "Vec::is_empty")]
    #[api(proto = 2)]
    pub non_resource_urls: Vec<String>,
}

impl From<auth::ResourceRule> for ResourceRule {
    fn from(rule: auth::ResourceRule) -> Self {
        let auth::ResourceRule { verbs, groups, resources, names } = rule;
        Self { verbs, api_groups: groups, resources, resource_names: names }
    }
}

impl From<auth::PathRule> for NonResourceRule {
    fn from(rule: auth::PathRule) -> Self {
        let auth::PathRule { verbs, paths } = rule;
        Self { verbs, non_resource_urls: paths }
    }
}
