//! Roles for the kinds of a group: view, edit and admin, which Kubernetes' roles of these names take in by their aggregation labels.
//!
//! - `view` reads objects and subresources, but opens no connections, and reads no Secrets.
//! - `edit` also creates, changes and deletes objects, and uses subresources. It does not write the status, which is the controller's.
//! - `admin` may do everything.
//!
//! A kind may leave reading or writing to a higher one of these roles, or to none.
//!
//! Kinds of the cluster get roles of their own without the labels. Kubernetes' roles are bound in namespaces, and must not grant more.

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    endpoints,
    kind::{
        UserRole, Verb,
        model::{Scope, Shared, Version},
    },
};

/// The label by which a role becomes part of Kubernetes' role, up to the name of that role.
pub const AGGREGATE_TO: &str = "rbac.authorization.k8s.io/aggregate-to-";

/// A role of the cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Role {
    /// Its name.
    pub name: String,
    /// The role of Kubernetes that takes it in: `view`, `edit` or `admin`; `None` for kinds of the cluster.
    pub part_of: Option<&'static str>,
    /// Its rules; at least one.
    pub rules: Vec<Rule>,
}

/// Verbs on resources of a group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    /// The group.
    pub group: String,
    /// The resources, and subresources as `books/status`.
    pub resources: Vec<String>,
    /// The verbs, sorted.
    pub verbs: Vec<&'static str>,
}

/// True if a role may use a verb on an endpoint.
fn allows(role: UserRole, kind: &Shared, endpoint: &endpoints::Endpoint, verb: Verb) -> bool {
    let reads = matches!(verb, Verb::Get | Verb::List | Verb::Watch);
    let writes_status = !reads && matches!(endpoint.subresource.as_str(), "status" | "finalize");
    let is_secret = kind.group.is_empty() && kind.names.plural == "secrets";
    let least = match (reads && !endpoint.connects, is_secret) {
        (true, true) => Some(UserRole::Edit),
        (true, false) => kind.roles.read,
        (false, _) => kind.roles.write,
    };
    least.is_some_and(|least| least <= role) && (!writes_status || role == UserRole::Admin)
}

/// A kind in a served version.
pub type Served<'k> = (&'k Shared, &'k Version);

/// The roles of each group: those for namespaced kinds, then those for kinds of the cluster.
pub fn of<'k>(kinds: impl IntoIterator<Item = Served<'k>>) -> BTreeMap<&'k str, Vec<Role>> {
    let mut groups: BTreeMap<&str, Vec<Served<'_>>> = BTreeMap::new();
    for kind in kinds {
        groups.entry(&kind.0.group).or_default().push(kind);
    }
    groups.into_iter().map(|(group, kinds)| (group, roles(group, &kinds))).collect()
}

fn roles(group: &str, kinds: &[Served<'_>]) -> Vec<Role> {
    let name_of_group = if group.is_empty() { "core" } else { group };
    let mut roles = Vec::new();
    for (scope, infix) in [(Scope::Namespaced, ""), (Scope::Cluster, "cluster-")] {
        let of_scope: Vec<_> = kinds.iter().copied().filter(|(shared, _)| shared.scope == scope).collect();
        for role in UserRole::ALL {
            let (name, rules) = (role.as_str(), rules(group, &of_scope, role));
            if !rules.is_empty() {
                let part_of = (scope == Scope::Namespaced).then_some(name);
                roles.push(Role { name: format!("{name_of_group}-{infix}{name}"), part_of, rules });
            }
        }
    }
    roles
}

/// The rules of a role. Resources with the same verbs share one.
fn rules(group: &str, kinds: &[Served<'_>], role: UserRole) -> Vec<Rule> {
    let mut allowed: Vec<(String, BTreeSet<&'static str>)> = Vec::new();
    for (shared, version) in kinds {
        for endpoint in endpoints::of(shared, version) {
            let plural = &shared.names.plural;
            let resource = match endpoint.subresource.as_str() {
                "" => plural.clone(),
                subresource => format!("{plural}/{subresource}"),
            };
            let verbs = endpoint.verbs.iter().filter(|verb| allows(role, shared, &endpoint, **verb));
            let verbs: BTreeSet<&'static str> = verbs.map(|verb| verb.as_str()).collect();
            match allowed.iter_mut().find(|(known, _)| *known == resource) {
                Some((_, known)) => known.extend(verbs),
                None => allowed.push((resource, verbs)),
            }
        }
    }
    let mut rules: Vec<(BTreeSet<&'static str>, Vec<String>)> = Vec::new();
    for (resource, verbs) in allowed.into_iter().filter(|(_, verbs)| !verbs.is_empty()) {
        match rules.iter_mut().find(|(known, _)| *known == verbs) {
            Some((_, resources)) => resources.push(resource),
            None => rules.push((verbs, vec![resource])),
        }
    }
    let rule = |(verbs, resources): (BTreeSet<&'static str>, _)| {
        let verbs = verbs.into_iter().collect();
        Rule { group: group.to_owned(), resources, verbs }
    };
    rules.into_iter().map(rule).collect()
}
