//! Rules, whom they are bound to, and what they allow.
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{
    ApiType,
    auth::{Attributes, User},
    meta::go,
};

/// The group of roles and bindings.
pub(crate) const GROUP: &str = "rbac.authorization.k8s.io";
/// Stands for everything of its sort.
const ALL: &str = "*";
/// The prefix of the names of service accounts as users: `system:serviceaccount:<namespace>:<name>`.
const SERVICE_ACCOUNT: &str = "system:serviceaccount:";

/// PolicyRule holds information that describes a policy rule, but does not contain information about who the rule applies to
/// or which namespace the rule applies to.
#[derive(ApiType, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "messages", derive(crate::Message))]
#[serde(rename_all = "camelCase")]
pub struct PolicyRule {
    /// A list of verbs that apply to all the resources of this rule. `*` represents all verbs.
    #[serde(default)]
    #[api(proto = 1, list = atomic)]
    pub verbs: Vec<String>,
    /// The name of the API group that contains the resources. If several API groups are specified, any action requested
    /// against one of the enumerated resources in any API group will be allowed. The empty text represents the core API group,
    /// and `*` represents all API groups.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[api(proto = 2, list = atomic)]
    pub api_groups: Vec<String>,
    /// A list of resources this rule applies to. `*` represents all resources.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[api(proto = 3, list = atomic)]
    pub resources: Vec<String>,
    /// An optional white list of names that the rule applies to. An empty list means that everything is allowed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[api(proto = 4, list = atomic)]
    pub resource_names: Vec<String>,
    /// A set of partial URLs that a user should have access to. `*`s are allowed, but only as the full, final step in the path.
    /// Since non-resource URLs are not namespaced, this field is only applicable for ClusterRoles referenced from a
    /// ClusterRoleBinding. Rules can either apply to API resources (such as `pods` or `secrets`) or non-resource URL paths (such as
    /// `/api`), but not both.
    #[serde(default, rename = "nonResourceURLs", skip_serializing_if = "Vec::is_empty")]
    #[api(proto = 5, list = atomic)]
    pub non_resource_urls: Vec<String>,
}

/// Subject contains a reference to the object or user identities a role binding applies to.
#[derive(ApiType, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "messages", derive(crate::Message))]
#[serde(rename_all = "camelCase")]
pub struct Subject {
    /// The kind of object being referenced: `User`, `Group` or `ServiceAccount`.
    #[serde(default)]
    #[api(proto = 1)]
    pub kind: String,
    /// The API group of the referenced subject. Defaults to the empty text for ServiceAccount subjects, and to
    /// `rbac.authorization.k8s.io` for User and Group subjects.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[api(proto = 2)]
    pub api_group: String,
    /// The name of the object being referenced.
    #[serde(default)]
    #[api(proto = 3)]
    pub name: String,
    /// The namespace of the referenced object. If the kind is non-namespaced, such as User or Group, and this value is not empty,
    /// the authorizer should report an error.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[api(proto = 4)]
    pub namespace: String,
}

/// RoleRef contains information that points to the role being used.
#[derive(ApiType, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "messages", derive(crate::Message))]
#[serde(rename_all = "camelCase")]
pub struct RoleRef {
    /// The group for the resource being referenced.
    #[serde(default)]
    #[api(proto = 1)]
    pub api_group: String,
    /// The kind of resource being referenced.
    #[serde(default)]
    #[api(proto = 2)]
    pub kind: String,
    /// The name of the resource being referenced.
    #[serde(default)]
    #[api(proto = 3)]
    pub name: String,
}

impl PolicyRule {
    /// True if the rule allows a request.
    pub(super) fn allows(&self, request: &Attributes<'_>) -> bool {
        let Attributes { verb, group, resource, subresource, name, path, .. } = *request;
        if !has_or_all(&self.verbs, verb) {
            return false;
        }
        if resource.is_empty() {
            return self.non_resource_urls.iter().any(|url| url_covers(url, path));
        }
        has_or_all(&self.api_groups, group)
            && self.resources.iter().any(|rule| resource_covers(rule, resource, subresource))
            && (self.resource_names.is_empty() || has(&self.resource_names, name))
    }
}

/// The rule without what is empty, as kube-apiserver's messages show it.
impl fmt::Display for PolicyRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts = [
            ("APIGroups", &self.api_groups),
            ("Resources", &self.resources),
            ("NonResourceURLs", &self.non_resource_urls),
            ("ResourceNames", &self.resource_names),
            ("Verbs", &self.verbs),
        ];
        let shown = parts.into_iter().filter(|(_, texts)| !texts.is_empty());
        let shown: Vec<String> = shown.map(|(name, texts)| format!("{name}:{}", quoted(texts))).collect();
        write!(f, "{{{}}}", shown.join(", "))
    }
}

/// A list as Go prints it with `%q`.
pub(crate) fn quoted(texts: &[String]) -> String {
    let quoted: Vec<String> = texts.iter().map(|text| go::quoted(text)).collect();
    format!("[{}]", quoted.join(" "))
}

impl Subject {
    /// True if a user is the subject of a binding in a namespace, which is empty for the cluster.
    pub(super) fn is(&self, user: &User, namespace: &str) -> bool {
        match self.who(namespace) {
            Some(Who::User(name)) => user.name == name,
            Some(Who::Account { namespace, name }) => {
                let account = user.name.strip_prefix(SERVICE_ACCOUNT).and_then(|account| account.split_once(':'));
                account == Some((namespace, name))
            }
            Some(Who::Group(name)) => user.is_in(name),
            None => false,
        }
    }

    /// Whom it means in a binding of a namespace; `None` for unknown kinds, and for an account without a namespace.
    pub(super) fn who<'a>(&'a self, namespace: &'a str) -> Option<Who<'a>> {
        match &*self.kind {
            "User" => Some(Who::User(&self.name)),
            "Group" => Some(Who::Group(&self.name)),
            "ServiceAccount" => {
                let namespace = if self.namespace.is_empty() { namespace } else { &self.namespace };
                (!namespace.is_empty()).then_some(Who::Account { namespace, name: &self.name })
            }
            _ => None,
        }
    }
}

/// Whom a subject means.
pub(super) enum Who<'a> {
    User(&'a str),
    Group(&'a str),
    Account { namespace: &'a str, name: &'a str },
}

/// True if a list has a text.
pub(super) fn has(texts: &[String], text: &str) -> bool {
    texts.iter().any(|one| one == text)
}

/// True if a list has a text, or stands for all.
pub(super) fn has_or_all(texts: &[String], text: &str) -> bool {
    texts.iter().any(|one| one == ALL || one == text)
}

/// True if the resource of a rule covers a resource, or a subresource of it: by name, or as `*/status`.
pub(super) fn resource_covers(rule: &str, resource: &str, subresource: &str) -> bool {
    if rule == ALL {
        return true;
    }
    if subresource.is_empty() {
        return rule == resource;
    }
    let parts = rule.split_once('/');
    parts.is_some_and(|(of, sub)| sub == subresource && (of == ALL || of == resource))
}

/// True if the URL of a rule covers a path, or a URL of another rule: a `*` at the end stands for any rest.
pub(super) fn url_covers(rule: &str, path: &str) -> bool {
    rule == path || (rule.ends_with('*') && path.starts_with(rule.trim_end_matches('*')))
}
