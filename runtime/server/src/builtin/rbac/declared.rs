//! The kinds of roles and bindings.
use serde::{Deserialize, Serialize};

use super::check;
use crate::{
    ApiType, ObjectMeta, Resource,
    auth::roles::{GROUP, PolicyRule, RoleRef, Subject},
    kind::{Policy, hook::Context},
    meta::{FieldError, LabelSelector},
};

/// How Tables of roles differ from those of other kinds: they show times, and say their types.
#[derive(Clone, Copy, Debug)]
struct Roles;

impl Policy for Roles {
    fn prints_tables(&self) -> bool {
        false
    }

    fn shows_ages(&self) -> bool {
        false
    }
}

/// Role is a namespaced, logical grouping of PolicyRules that can be referenced as a unit by a RoleBinding.
#[derive(Resource, Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "messages", derive(crate::Message))]
#[resource(group = "rbac.authorization.k8s.io", version = "v1", builtin, names = path_segment, policy = Roles)]
#[resource(update_without_version, create_on_update, validate = Role::check)]
#[resource(column("Created At", path = metadata.creation_timestamp, description = "CreationTimestamp is a timestamp representing the server time when this object was created. It is not guaranteed to be set in happens-before order across separate operations. Clients may not set this value. It is represented in RFC3339 form and is in UTC.\n\nPopulated by the system. Read-only. Null for lists. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#metadata"))]
pub struct Role {
    /// Standard object's metadata.
    #[serde(default)]
    #[api(proto = 1)]
    pub metadata: ObjectMeta,
    /// Holds all the PolicyRules for this Role.
    #[serde(default)]
    #[api(proto = 2, nullable)]
    pub rules: Option<Vec<PolicyRule>>,
}

/// ClusterRole is a cluster level, logical grouping of PolicyRules that can be referenced as a unit by a RoleBinding or a
/// ClusterRoleBinding.
#[derive(Resource, Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "messages", derive(crate::Message))]
#[serde(rename_all = "camelCase")]
#[resource(group = "rbac.authorization.k8s.io", version = "v1", cluster, builtin, names = path_segment, policy = Roles)]
#[resource(update_without_version, create_on_update, validate = ClusterRole::check)]
#[resource(column("Created At", path = metadata.creation_timestamp, description = "CreationTimestamp is a timestamp representing the server time when this object was created. It is not guaranteed to be set in happens-before order across separate operations. Clients may not set this value. It is represented in RFC3339 form and is in UTC.\n\nPopulated by the system. Read-only. Null for lists. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#metadata"))]
pub struct ClusterRole {
    /// Standard object's metadata.
    #[serde(default)]
    #[api(proto = 1)]
    pub metadata: ObjectMeta,
    /// Holds all the PolicyRules for this ClusterRole.
    #[serde(default)]
    #[api(proto = 2, nullable)]
    pub rules: Option<Vec<PolicyRule>>,
    /// Describes how to build the rules for this ClusterRole. If it is set, then the rules are controller managed, and direct
    /// changes to them will be overwritten by the controller.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[api(proto = 3)]
    pub aggregation_rule: Option<AggregationRule>,
}

/// RoleBinding references a role, but does not contain it. It can reference a Role in the same namespace or a ClusterRole in
/// the global namespace. It adds who information via subjects and namespace information by which namespace it exists in.
#[derive(Resource, Clone, Debug, PartialEq)]
#[cfg_attr(feature = "messages", derive(crate::Message))]
#[serde(rename_all = "camelCase")]
#[resource(group = "rbac.authorization.k8s.io", version = "v1", builtin, names = path_segment)]
#[resource(update_without_version, create_on_update, default = RoleBinding::fill_in, validate = RoleBinding::check, no_age)]
#[resource(column("Role", with = RoleBinding::role, description = "RoleRef can reference a Role in the current namespace or a ClusterRole in the global namespace. If the RoleRef cannot be resolved, the Authorizer must return an error."))]
#[resource(column("Age", path = metadata.creation_timestamp, description = "CreationTimestamp is a timestamp representing the server time when this object was created. It is not guaranteed to be set in happens-before order across separate operations. Clients may not set this value. It is represented in RFC3339 form and is in UTC.\n\nPopulated by the system. Read-only. Null for lists. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#metadata"))]
#[resource(column("Users", with = RoleBinding::users, priority = 1, description = "Users in the roleBinding"))]
#[resource(column("Groups", with = RoleBinding::groups, priority = 1, description = "Groups in the roleBinding"))]
#[resource(column("ServiceAccounts", with = RoleBinding::accounts, priority = 1, description = "ServiceAccounts in the roleBinding"))]
pub struct RoleBinding {
    /// Standard object's metadata.
    #[serde(default)]
    #[api(proto = 1)]
    pub metadata: ObjectMeta,
    /// Holds references to the objects the role applies to.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[api(proto = 2, list = atomic)]
    pub subjects: Vec<Subject>,
    /// Can reference a Role in the current namespace or a ClusterRole in the global namespace. If the reference cannot be
    /// resolved, the authorizer returns an error. This field is immutable.
    #[api(proto = 3)]
    pub role_ref: RoleRef,
}

/// ClusterRoleBinding references a ClusterRole, but does not contain it. It can reference a ClusterRole in the global namespace,
/// and adds who information via subjects.
#[derive(Resource, Clone, Debug, PartialEq)]
#[cfg_attr(feature = "messages", derive(crate::Message))]
#[serde(rename_all = "camelCase")]
#[resource(group = "rbac.authorization.k8s.io", version = "v1", cluster, builtin, names = path_segment)]
#[resource(update_without_version, create_on_update, default = ClusterRoleBinding::fill_in, validate = ClusterRoleBinding::check, no_age)]
#[resource(column("Role", with = ClusterRoleBinding::role, description = "RoleRef can only reference a ClusterRole in the global namespace. If the RoleRef cannot be resolved, the Authorizer must return an error."))]
#[resource(column("Age", path = metadata.creation_timestamp, description = "CreationTimestamp is a timestamp representing the server time when this object was created. It is not guaranteed to be set in happens-before order across separate operations. Clients may not set this value. It is represented in RFC3339 form and is in UTC.\n\nPopulated by the system. Read-only. Null for lists. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#metadata"))]
#[resource(column("Users", with = ClusterRoleBinding::users, priority = 1, description = "Users in the clusterRoleBinding"))]
#[resource(column("Groups", with = ClusterRoleBinding::groups, priority = 1, description = "Groups in the clusterRoleBinding"))]
#[resource(column("ServiceAccounts", with = ClusterRoleBinding::accounts, priority = 1, description = "ServiceAccounts in the clusterRoleBinding"))]
pub struct ClusterRoleBinding {
    /// Standard object's metadata.
    #[serde(default)]
    #[api(proto = 1)]
    pub metadata: ObjectMeta,
    /// Holds references to the objects the role applies to.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[api(proto = 2, list = atomic)]
    pub subjects: Vec<Subject>,
    /// Can only reference a ClusterRole in the global namespace. If the reference cannot be resolved, the authorizer returns an
    /// error. This field is immutable.
    #[api(proto = 3)]
    pub role_ref: RoleRef,
}

/// AggregationRule describes how to locate ClusterRoles to aggregate into the ClusterRole.
#[derive(ApiType, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "messages", derive(crate::Message))]
#[serde(rename_all = "camelCase")]
pub struct AggregationRule {
    /// A list of selectors which will be used to find ClusterRoles and create the rules. If any of the selectors match, then the
    /// ClusterRole's permissions will be added.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[api(proto = 1, list = atomic)]
    pub cluster_role_selectors: Vec<LabelSelector>,
}

impl Role {
    fn check(&self, _: &Context<'_, Self>) -> Vec<FieldError> {
        check::rules(self.rules.as_deref().unwrap_or_default(), true)
    }
}

impl ClusterRole {
    fn check(&self, _: &Context<'_, Self>) -> Vec<FieldError> {
        let mut errors = check::rules(self.rules.as_deref().unwrap_or_default(), false);
        errors.extend(self.aggregation_rule.iter().flat_map(check::aggregation));
        errors
    }
}

impl RoleBinding {
    fn fill_in(&mut self, _: &Context<'_, Self>) {
        fill_in(&mut self.subjects, &mut self.role_ref);
    }

    fn check(&self, context: &Context<'_, Self>) -> Vec<FieldError> {
        let old = context.old().map(|old| &old.role_ref);
        check::binding(&self.subjects, &self.role_ref, old, &["Role", "ClusterRole"])
    }

    fn role(&self) -> String {
        role(&self.role_ref)
    }

    fn users(&self) -> String {
        named(&self.subjects, "User")
    }

    fn groups(&self) -> String {
        named(&self.subjects, "Group")
    }

    fn accounts(&self) -> String {
        named(&self.subjects, "ServiceAccount")
    }
}

impl ClusterRoleBinding {
    fn fill_in(&mut self, _: &Context<'_, Self>) {
        fill_in(&mut self.subjects, &mut self.role_ref);
    }

    fn check(&self, context: &Context<'_, Self>) -> Vec<FieldError> {
        let old = context.old().map(|old| &old.role_ref);
        check::binding(&self.subjects, &self.role_ref, old, &["ClusterRole"])
    }

    fn role(&self) -> String {
        role(&self.role_ref)
    }

    fn users(&self) -> String {
        named(&self.subjects, "User")
    }

    fn groups(&self) -> String {
        named(&self.subjects, "Group")
    }

    fn accounts(&self) -> String {
        named(&self.subjects, "ServiceAccount")
    }
}

/// The groups that clients leave out.
fn fill_in(subjects: &mut [Subject], role: &mut RoleRef) {
    let of_users = subjects.iter_mut().filter(|subject| matches!(&*subject.kind, "User" | "Group"));
    for group in of_users.map(|subject| &mut subject.api_group).chain([&mut role.api_group]) {
        if group.is_empty() {
            GROUP.clone_into(group);
        }
    }
}

/// The cell of a referenced role.
fn role(role: &RoleRef) -> String {
    format!("{}/{}", role.kind, role.name)
}

/// The cell of the subjects of a kind.
fn named(subjects: &[Subject], kind: &str) -> String {
    let names = subjects.iter().filter(|subject| subject.kind == kind).map(|subject| match kind {
        "ServiceAccount" => format!("{}/{}", subject.namespace, subject.name),
        _ => subject.name.clone(),
    });
    names.collect::<Vec<_>>().join(", ")
}
