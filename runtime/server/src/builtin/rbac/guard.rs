//! Guards roles and bindings: users may grant only what they have themselves, unless a role allows them more by
//! the verbs `escalate` and `bind`.
use std::sync::{Arc, OnceLock, Weak};

use super::{ClusterRole, ClusterRoleBinding, Role, RoleBinding};
use crate::{
    ObjectMeta,
    auth::{
        Attributes, Authorize, Decision, User,
        roles::{GROUP, PolicyRule, RoleRef, Roles, cover, defaults, quoted},
    },
    kind::{
        Kind,
        hook::{self, Context, Hooks},
    },
    meta::{
        Operation, Status, go,
        refusal::{Refusal, Result},
        status::StatusDetails,
    },
};

/// Guards the writes of roles and bindings.
#[derive(Clone, Default)]
pub(crate) struct Guard(Arc<OnceLock<Granted>>);

/// Who may do what, as long as the server runs. Kinds hold their guard, and the cache holds kinds: with strong references neither
/// would ever be freed.
struct Granted {
    roles: Weak<Roles>,
    authorizer: Weak<dyn Authorize>,
}

/// Who may do what.
struct Access {
    roles: Arc<Roles>,
    authorizer: Arc<dyn Authorize>,
}

impl Guard {
    /// Adds it to the kinds that it guards.
    pub(crate) fn protect(&self, kinds: &mut [Kind]) {
        for kind in kinds.iter_mut().filter(|kind| kind.group_version.group == GROUP) {
            let hooks = match &*kind.names().kind {
                "Role" => hook::on_documents::<Role>(self.clone()),
                "ClusterRole" => hook::on_documents::<ClusterRole>(self.clone()),
                "RoleBinding" => hook::on_documents::<RoleBinding>(self.clone()),
                "ClusterRoleBinding" => hook::on_documents::<ClusterRoleBinding>(self.clone()),
                _ => continue,
            };
            *kind = kind.clone().with(|_, _, binding| binding.add_hooks(hooks));
        }
    }

    /// Says who may do what. Until then, only members of `system:masters` may write.
    pub(crate) fn allow(&self, roles: &Arc<Roles>, authorizer: &Arc<dyn Authorize>) {
        drop(self.0.set(Granted { roles: Arc::downgrade(roles), authorizer: Arc::downgrade(authorizer) }));
    }

    /// The access to check; `None` for who may do everything.
    fn access(&self, user: &User) -> Result<Option<Access>> {
        if user.is_in(User::MASTERS) {
            return Ok(None);
        }
        let granted = self.0.get().ok_or_else(|| Refusal::forbidden("the server is starting"))?;
        match (granted.roles.upgrade(), granted.authorizer.upgrade()) {
            (Some(roles), Some(authorizer)) => Ok(Some(Access { roles, authorizer })),
            _ => Err(Refusal::forbidden("the server is stopping")),
        }
    }

    /// Checks that a user may write a role with these rules.
    async fn may_grant<T>(
        &self,
        plural: &str,
        metadata: &ObjectMeta,
        rules: &[PolicyRule],
        context: &Context<'_, T>,
    ) -> Result<()> {
        let Some(access) = self.access(context.user)? else { return Ok(()) };
        // A new role has no name yet when the verb is checked.
        let name = if context.operation == Operation::Create { "" } else { &metadata.name };
        let escalate = Attributes {
            group: GROUP,
            version: "v1",
            resource: plural,
            namespace: &metadata.namespace,
            name,
            ..Attributes::new(context.user, "escalate", "")
        };
        if access.allows(&escalate).await {
            return Ok(());
        }
        access.has(context.user, &metadata.namespace, rules)
    }

    /// Checks that a user may bind a role.
    async fn may_bind<T>(
        &self,
        plural: &str,
        metadata: &ObjectMeta,
        role: &RoleRef,
        context: &Context<'_, T>,
    ) -> Result<()> {
        let Some(access) = self.access(context.user)? else { return Ok(()) };
        let resource = if role.kind == "ClusterRole" { "clusterroles" } else { "roles" };
        let namespace = &*metadata.namespace;
        let bind = Attributes {
            group: &role.api_group,
            resource,
            namespace,
            name: &role.name,
            ..Attributes::new(context.user, "bind", "")
        };
        if access.allows(&bind).await {
            return Ok(());
        }
        let policy = access.roles.policy();
        let rules = policy.rules_of(role, namespace).map_err(|missing| not_found(plural, &missing.name))?;
        access.has(context.user, namespace, rules)
    }
}

impl Access {
    async fn allows(&self, attributes: &Attributes<'_>) -> bool {
        matches!(self.authorizer.authorize(attributes).await, Decision::Allow(_))
    }

    /// Checks that roles give a user all of these rules in a namespace.
    fn has(&self, user: &User, namespace: &str, rules: &[PolicyRule]) -> Result<()> {
        let (held, error) = self.roles.policy().held_by(user, namespace);
        let missing = cover::missing(&held, rules);
        if missing.is_empty() {
            return Ok(());
        }
        let (name, groups) = (go::quoted(&user.name), quoted(&user.groups));
        let error = error.map(|error| format!("; resolution errors: [{error}]")).unwrap_or_default();
        Err(Refusal::forbidden(format!(
            "user {name} (groups={groups}) is attempting to grant RBAC permissions not currently held:\n{}{error}",
            missing.join("\n")
        )))
    }
}

/// 404 about a role, which kube-apiserver takes for one of the written resource.
fn not_found(plural: &str, name: &str) -> Refusal {
    let message = format!("{plural}.{GROUP} {} not found", go::quoted(name));
    let (name, group, kind) = (name.to_owned(), GROUP.to_owned(), plural.to_owned());
    let details = StatusDetails { name, group, kind, ..StatusDetails::default() };
    Status::failure(404, "NotFound", message, Some(details)).into()
}

/// True if only what garbage collection writes differs: owners and finalizers.
fn only_lets_go<T: Clone + PartialEq>(new: &T, old: Option<&T>, metadata: impl Fn(&mut T) -> &mut ObjectMeta) -> bool {
    let Some(old) = old else { return false };
    let [new, old] = [new, old].map(|object| {
        let mut object = object.clone();
        let metadata = metadata(&mut object);
        metadata.owner_references.clear();
        metadata.finalizers.clear();
        metadata.managed_fields.clear();
        metadata.resource_version.clear();
        object
    });
    new == old
}

impl Hooks<Role> for Guard {
    async fn admit(&self, role: &Role, context: &Context<'_, Role>) -> Result<()> {
        if context.operation == Operation::Delete || only_lets_go(role, context.old(), |role| &mut role.metadata) {
            return Ok(());
        }
        self.may_grant("roles", &role.metadata, role.rules.as_deref().unwrap_or_default(), context).await
    }
}

impl Hooks<ClusterRole> for Guard {
    async fn admit(&self, role: &ClusterRole, context: &Context<'_, ClusterRole>) -> Result<()> {
        if context.operation == Operation::Delete || only_lets_go(role, context.old(), |role| &mut role.metadata) {
            return Ok(());
        }
        self.may_grant("clusterroles", &role.metadata, role.rules.as_deref().unwrap_or_default(), context).await?;
        let aggregates = |role: &ClusterRole| role.aggregation_rule.is_some();
        if !aggregates(role) && !context.old().is_some_and(aggregates) {
            return Ok(());
        }
        // It may gather anything, and undo what others take away.
        let all = defaults::everything();
        let why = "must have cluster-admin privileges to use the aggregationRule";
        self.may_grant("clusterroles", &role.metadata, &all, context).await.map_err(|_| Refusal::forbidden(why))
    }
}

impl Hooks<RoleBinding> for Guard {
    async fn admit(&self, binding: &RoleBinding, context: &Context<'_, RoleBinding>) -> Result<()> {
        if context.operation == Operation::Delete
            || only_lets_go(binding, context.old(), |binding| &mut binding.metadata)
        {
            return Ok(());
        }
        self.may_bind("rolebindings", &binding.metadata, &binding.role_ref, context).await
    }
}

impl Hooks<ClusterRoleBinding> for Guard {
    async fn admit(&self, binding: &ClusterRoleBinding, context: &Context<'_, ClusterRoleBinding>) -> Result<()> {
        if context.operation == Operation::Delete
            || only_lets_go(binding, context.old(), |binding| &mut binding.metadata)
        {
            return Ok(());
        }
        self.may_bind("clusterrolebindings", &binding.metadata, &binding.role_ref, context).await
    }
}
