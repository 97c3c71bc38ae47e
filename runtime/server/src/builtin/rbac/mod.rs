//! Roles and bindings (`rbac.authorization.k8s.io`): the kinds, what they must be, that users grant only what they have, and the
//! defaults. `auth::roles` evaluates them.
use std::{future::ready, sync::Arc};

use crate::{
    Resource as _,
    auth::roles::Roles,
    kind::{
        Kind,
        binding::{DocumentHooks, Hook, HookContext, HookFuture},
        model::NameRule,
    },
    registry::ResourceEntry,
    schema::Document,
    verbs::Verbs,
};

pub(super) mod aggregation;
mod bootstrap;
mod check;
mod declared;
mod declared_kinds;
mod guard;
#[cfg(test)]
mod tests;

pub(crate) use bootstrap::bootstrap;
pub use declared::{AggregationRule, ClusterRole, ClusterRoleBinding, Role, RoleBinding};
pub(crate) use guard::Guard;

pub use crate::auth::roles::{PolicyRule, RoleRef, Subject};

/// The kinds of roles and bindings.
pub(super) fn kinds() -> [Kind; 4] {
    let role = |kind: Kind| {
        kind.with(|_, version, binding| {
            if let Some(rules) = Arc::make_mut(&mut version.schema).properties.get_mut("rules") {
                rules.omit_empty = false;
            }
            binding.add_hooks(Arc::new(NullRules));
        })
    };
    [role(ClusterRole::kind()), ClusterRoleBinding::kind(), role(Role::kind()), RoleBinding::kind()]
}

/// A role without rules says so, as in Go.
struct NullRules;

impl DocumentHooks for NullRules {
    fn runs(&self, hook: Hook) -> bool {
        hook == Hook::Defaults
    }

    fn set_defaults<'a>(&'a self, object: &'a mut Document, _: HookContext<'a>) -> HookFuture<'a, ()> {
        if let Some(fields) = object.as_object_mut() {
            fields.entry("rules").or_insert(Document::Null);
        }
        Box::pin(ready(Ok(())))
    }
}

/// A kind of roles or bindings, if the server has it from here. One of the same name from documents has neither the names nor the
/// checks that a policy needs.
fn served(api: &Verbs, kind: &Kind) -> Option<Arc<ResourceEntry>> {
    let found = api.registry.resource(&kind.group_resource())?;
    (found.kind.shared.name_rule == NameRule::PathSegment).then_some(found)
}

/// The roles and bindings of a server: its objects, or the defaults where it does not serve these kinds.
pub(crate) fn roles(api: &Verbs) -> Roles {
    let found = kinds().map(|kind| served(api, &kind));
    let [Some(cluster_roles), Some(cluster_bindings), Some(roles), Some(bindings)] = found else {
        return Roles::fixed();
    };
    Roles::following([cluster_roles, cluster_bindings, roles, bindings].map(|resource| resource.objects.clone()))
}
