//! The roles and bindings that every server has, by the names that they have in Kubernetes.
use std::borrow::Cow;

use super::{
    GROUP, Policy, PolicyRule, RoleRef, Subject,
    policy::{BindingRules, RoleRules},
};
use crate::auth::User;

/// A role of the cluster.
pub(crate) struct DefaultRole {
    /// Its name.
    pub name: Cow<'static, str>,
    /// Its rules; none if it gathers them.
    pub rules: Vec<PolicyRule>,
    /// True if it gathers the rules of the roles with the label for its name.
    pub gathers: bool,
    /// The role that gathers its rules; may be empty.
    pub gathered_by: &'static str,
}

/// A binding of the cluster, which has the name of its role.
pub(crate) struct DefaultBinding {
    /// The name of the binding and of the role.
    pub name: &'static str,
    /// The groups that have the role.
    pub groups: &'static [&'static str],
}

impl DefaultBinding {
    /// The groups as subjects.
    pub(crate) fn subjects(&self) -> Vec<Subject> {
        let group = |name: &&str| Subject {
            kind: "Group".to_owned(),
            api_group: GROUP.to_owned(),
            name: (*name).to_owned(),
            namespace: String::new(),
        };
        self.groups.iter().map(group).collect()
    }

    /// The role.
    pub(crate) fn role_ref(&self) -> RoleRef {
        RoleRef { api_group: GROUP.to_owned(), kind: "ClusterRole".to_owned(), name: self.name.to_owned() }
    }
}

/// A role whose rules another one gathers.
fn gathered(name: &'static str, gathered_by: &'static str, rules: Vec<PolicyRule>) -> DefaultRole {
    DefaultRole { name: name.into(), rules, gathers: false, gathered_by }
}

/// The default roles.
pub(crate) fn roles() -> Vec<DefaultRole> {
    let role = |name, rules| gathered(name, "", rules);
    let paths = [
        "/api",
        "/api/*",
        "/apis",
        "/apis/*",
        "/healthz",
        "/livez",
        "/openapi",
        "/openapi/*",
        "/readyz",
        "/version",
        "/version/",
    ];
    let mut roles = vec![
        role("cluster-admin", everything()),
        role("system:basic-user", own_reviews()),
        role("system:discovery", vec![on_urls(&["get"], &paths)]),
        role(
            "system:public-info-viewer",
            vec![on_urls(&["get"], &["/healthz", "/livez", "/readyz", "/version", "/version/"])],
        ),
        role(
            "system:auth-delegator",
            vec![
                on(&["create"], &["authentication.k8s.io"], &["tokenreviews"]),
                on(&["create"], &["authorization.k8s.io"], &["subjectaccessreviews"]),
            ],
        ),
        role(
            "system:service-account-issuer-discovery",
            vec![on_urls(
                &["get"],
                &[
                    "/.well-known/openid-configuration",
                    "/.well-known/openid-configuration/",
                    "/openid/v1/jwks",
                    "/openid/v1/jwks/",
                ],
            )],
        ),
    ];
    roles.extend(aggregated());
    roles
}

/// The roles for people, and what the built-in kinds add to them.
fn aggregated() -> Vec<DefaultRole> {
    let gathering = |name, gathered_by| DefaultRole { gathers: true, ..gathered(name, gathered_by, Vec::new()) };
    vec![
        gathering("admin", ""),
        gathering("edit", "admin"),
        gathering("view", "edit"),
        gathered(
            "system:aggregate-to-admin",
            "admin",
            vec![
                on(&["create"], &["authorization.k8s.io"], &["localsubjectaccessreviews"]),
                on(&[&READ[..], &WRITE[..]].concat(), &[GROUP], &["roles", "rolebindings"]),
            ],
        ),
        gathered(
            "system:aggregate-to-edit",
            "edit",
            vec![
                on(&READ, &[""], &["secrets"]),
                on(&["impersonate"], &[""], &["serviceaccounts"]),
                on(&WRITE, &[""], &["configmaps", "events", "secrets", "serviceaccounts"]),
                on(&["create"], &[""], &["serviceaccounts/token"]),
                on(&[&READ[..], &WRITE[..]].concat(), &["coordination.k8s.io"], &["leases"]),
            ],
        ),
        gathered(
            "system:aggregate-to-view",
            "view",
            vec![on(&READ, &[""], &["configmaps", "events", "namespaces", "namespaces/status", "serviceaccounts"])],
        ),
    ]
}

/// Verbs that read, and verbs that write.
const READ: [&str; 3] = ["get", "list", "watch"];
const WRITE: [&str; 5] = ["create", "delete", "deletecollection", "patch", "update"];

/// What users may ask about themselves.
fn own_reviews() -> Vec<PolicyRule> {
    vec![
        on(&["create"], &["authorization.k8s.io"], &["selfsubjectaccessreviews", "selfsubjectrulesreviews"]),
        on(&["create"], &["authentication.k8s.io"], &["selfsubjectreviews"]),
    ]
}

/// All verbs on all resources and URLs.
pub(crate) fn everything() -> Vec<PolicyRule> {
    vec![on(&["*"], &["*"], &["*"]), on_urls(&["*"], &["*"])]
}

/// The default bindings.
pub(crate) const BINDINGS: [DefaultBinding; 5] = [
    DefaultBinding { name: "cluster-admin", groups: &[User::MASTERS] },
    DefaultBinding { name: "system:basic-user", groups: &[User::AUTHENTICATED] },
    DefaultBinding { name: "system:discovery", groups: &[User::AUTHENTICATED] },
    DefaultBinding { name: "system:service-account-issuer-discovery", groups: &["system:serviceaccounts"] },
    DefaultBinding { name: "system:public-info-viewer", groups: &[User::AUTHENTICATED, User::UNAUTHENTICATED] },
];

/// The default roles and bindings as a policy.
pub(super) fn policy() -> Policy {
    let mut policy = Policy::default();
    for role in roles() {
        policy.put_role("", &role.name, RoleRules { rules: Some(role.rules) });
    }
    for binding in BINDINGS {
        let (subjects, role_ref) = (binding.subjects(), binding.role_ref());
        policy.put_binding("", binding.name, BindingRules { subjects, role_ref });
    }
    policy
}

/// Verbs on resources of groups.
pub(crate) fn on(verbs: &[&str], groups: &[&str], resources: &[&str]) -> PolicyRule {
    let [verbs, api_groups, resources] = [verbs, groups, resources].map(owned);
    PolicyRule { verbs, api_groups, resources, ..PolicyRule::default() }
}

fn on_urls(verbs: &[&str], urls: &[&str]) -> PolicyRule {
    PolicyRule { verbs: owned(verbs), non_resource_urls: owned(urls), ..PolicyRule::default() }
}

fn owned(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|&text| text.to_owned()).collect()
}
