//! All roles and bindings, compiled for the authorizer: subjects index the bindings, which name the roles.
use std::{
    collections::{BTreeSet, HashMap},
    fmt,
    sync::Arc,
};

use serde::Deserialize;

use super::{
    GROUP,
    rule::{PolicyRule, RoleRef, Subject, Who},
};
use crate::{
    auth::{Attributes, Decision, PathRule, Reason, ResourceRule, Rules, User, reason::Explain},
    cache::{Object, Snapshot},
    meta::go,
};

/// A role, of which the authorizer needs the rules.
#[derive(Clone, Default, Deserialize)]
pub(crate) struct RoleRules {
    /// The rules; `None` counts as none.
    #[serde(default)]
    pub rules: Option<Vec<PolicyRule>>,
}

/// A binding, of which the authorizer needs whom it binds to which role.
#[derive(Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct BindingRules {
    /// Whom it binds.
    #[serde(default)]
    pub subjects: Vec<Subject>,
    /// The role.
    pub role_ref: RoleRef,
}

/// A binding by its place.
struct Binding {
    /// The namespace; empty for the cluster.
    namespace: Arc<str>,
    name: Arc<str>,
    subjects: Vec<Subject>,
    role: RoleRef,
}

/// Bindings with a subject, sorted by name.
type Bound = Arc<Vec<Arc<Binding>>>;

/// The roles and bindings of a namespace, or of the cluster.
#[derive(Clone, Default)]
struct Scope {
    roles: HashMap<Arc<str>, Arc<[PolicyRule]>>,
    bindings: HashMap<Arc<str>, Arc<Binding>>,
    /// The bindings by their users, and by their service accounts as users.
    users: HashMap<Arc<str>, Bound>,
    groups: HashMap<Arc<str>, Bound>,
}

/// The kinds of roles and bindings, in the order in which they are read.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sort {
    ClusterRole,
    ClusterRoleBinding,
    Role,
    RoleBinding,
}

const SORTS: [Sort; 4] = [Sort::ClusterRole, Sort::ClusterRoleBinding, Sort::Role, Sort::RoleBinding];

/// The states of `ClusterRole`, `ClusterRoleBinding`, `Role` and `RoleBinding` that a policy was compiled from.
pub(super) type States = [Snapshot; 4];

/// All roles and bindings. A clone shares what it can, so that a change costs about the size of its namespace.
#[derive(Clone, Default)]
pub(crate) struct Policy {
    cluster: Arc<Scope>,
    namespaces: HashMap<Arc<str>, Arc<Scope>>,
}

impl Policy {
    /// Adds a role of a namespace, or of the cluster.
    pub(super) fn put_role(&mut self, namespace: &str, name: &str, role: RoleRules) {
        self.scope(namespace).add_role(name, role);
    }

    /// Adds a binding of a namespace, or of the cluster.
    pub(super) fn put_binding(&mut self, namespace: &str, name: &str, binding: BindingRules) {
        self.scope(namespace).add_binding(namespace, name, binding);
    }

    /// The policy after the changes between two states.
    pub(super) fn after(&self, old: &States, new: &States) -> Self {
        let mut policy = self.clone();
        for ((sort, old), new) in SORTS.into_iter().zip(old).zip(new) {
            if old.is_same(new) {
                continue;
            }
            let (gone, come) = old.differences(new);
            for object in &gone {
                policy.scope(object.namespace()).remove(sort, object.name());
            }
            for object in &come {
                policy.scope(object.namespace()).add(sort, object);
            }
        }
        policy.namespaces.retain(|_, scope| !scope.is_empty());
        policy
    }

    /// A scope, to change it.
    fn scope(&mut self, namespace: &str) -> &mut Scope {
        let scope = match namespace {
            "" => &mut self.cluster,
            namespace => self.namespaces.entry(namespace.into()).or_default(),
        };
        Arc::make_mut(scope)
    }

    /// The cluster, and the namespace of a request.
    fn scopes(&self, namespace: &str) -> impl Iterator<Item = &Scope> {
        let of_namespace = if namespace.is_empty() { None } else { self.namespaces.get(namespace) };
        [Some(&self.cluster), of_namespace].into_iter().flatten().map(|scope| &**scope)
    }

    /// The rules of a role that a binding of a namespace refers to; `Err` with what is missing.
    pub(crate) fn rules_of(&self, role: &RoleRef, namespace: &str) -> Result<&Arc<[PolicyRule]>, MissingRole> {
        let found = match &*role.kind {
            "ClusterRole" => self.cluster.roles.get(&*role.name),
            _ => self.namespaces.get(namespace).and_then(|scope| scope.roles.get(&*role.name)),
        };
        found.ok_or_else(|| MissingRole { kind: role.kind.to_lowercase(), name: role.name.clone() })
    }

    /// Whether a rule allows a request.
    pub(super) fn decide(&self, request: &Attributes<'_>) -> Decision {
        let mut missing = BTreeSet::new();
        for scope in self.scopes(request.namespace) {
            for binding in scope.of(request.user) {
                match self.rules_of(&binding.role, &binding.namespace) {
                    Ok(rules) if rules.iter().any(|rule| rule.allows(request)) => {
                        let subject = binding.subject(request.user);
                        return Decision::Allow(Reason::of(binding.clone(), subject));
                    }
                    Ok(_) => {}
                    Err(role) => {
                        missing.insert(role.to_string());
                    }
                }
            }
        }
        Decision::NoOpinion(joined(&missing).map(|missing| format!("RBAC: {missing}")).unwrap_or_default())
    }

    /// The rules that are bound to a user in a namespace, in the order of the names of their bindings, and what is missing.
    pub(crate) fn held_by(&self, user: &User, namespace: &str) -> (Vec<PolicyRule>, Option<String>) {
        let (mut held, mut missing) = (Vec::new(), BTreeSet::new());
        for scope in self.scopes(namespace) {
            let mut bindings: Vec<&Arc<Binding>> = scope.of(user).collect();
            bindings.sort_by(|a, b| a.name.cmp(&b.name));
            bindings.dedup_by(|a, b| Arc::ptr_eq(a, b));
            for binding in bindings {
                match self.rules_of(&binding.role, &binding.namespace) {
                    Ok(rules) => held.extend(rules.iter().cloned()),
                    Err(role) => {
                        missing.insert(role.to_string());
                    }
                }
            }
        }
        (held, joined(&missing))
    }

    /// The same as a list of what a user may do.
    pub(super) fn list(&self, user: &User, namespace: &str) -> Rules {
        let (held, missing) = self.held_by(user, namespace);
        let mut rules = Rules { errors: missing.into_iter().collect(), ..Rules::default() };
        for rule in held {
            let PolicyRule { verbs, api_groups, resources, resource_names, non_resource_urls } = rule;
            if !non_resource_urls.is_empty() {
                rules.paths.push(PathRule { verbs: verbs.clone(), paths: non_resource_urls });
            }
            if !resources.is_empty() {
                rules.resources.push(ResourceRule { verbs, groups: api_groups, resources, names: resource_names });
            }
        }
        rules
    }
}

impl Scope {
    fn is_empty(&self) -> bool {
        self.roles.is_empty() && self.bindings.is_empty()
    }

    /// The bindings of a user: by name, and by each group. One may come several times.
    fn of(&self, user: &User) -> impl Iterator<Item = &Arc<Binding>> {
        let by_name = self.users.get(&*user.name);
        let by_group = user.groups.iter().filter_map(|group| self.groups.get(&**group));
        by_name.into_iter().chain(by_group).flat_map(|bound| bound.iter())
    }

    /// Adds what an object says. One that cannot be read allows nothing.
    fn add(&mut self, sort: Sort, object: &Object) {
        let (namespace, name, json) = (object.namespace(), object.name(), object.json_bytes());
        if matches!(sort, Sort::ClusterRole | Sort::Role) {
            if let Ok(role) = serde_json::from_slice(json) {
                self.add_role(name, role);
            }
        } else if let Ok(binding) = serde_json::from_slice(json) {
            self.add_binding(namespace, name, binding);
        }
    }

    fn add_role(&mut self, name: &str, role: RoleRules) {
        self.roles.insert(name.into(), role.rules.unwrap_or_default().into());
    }

    fn add_binding(&mut self, namespace: &str, name: &str, binding: BindingRules) {
        let BindingRules { subjects, role_ref: role } = binding;
        let binding = Arc::new(Binding { namespace: namespace.into(), name: name.into(), subjects, role });
        self.each_index(&binding, |bound| {
            if let Err(at) = bound.binary_search_by(|other| other.name.cmp(&binding.name)) {
                bound.insert(at, binding.clone());
            }
        });
        self.bindings.insert(binding.name.clone(), binding);
    }

    fn remove(&mut self, sort: Sort, name: &str) {
        if matches!(sort, Sort::ClusterRole | Sort::Role) {
            self.roles.remove(name);
        } else if let Some(binding) = self.bindings.remove(name) {
            self.each_index(&binding, |bound| bound.retain(|other| !Arc::ptr_eq(other, &binding)));
        }
    }

    /// Changes the lists of each subject of a binding.
    fn each_index(&mut self, binding: &Binding, mut change: impl FnMut(&mut Vec<Arc<Binding>>)) {
        for subject in &binding.subjects {
            let (index, key) = match subject.who(&binding.namespace) {
                Some(Who::User(name)) => (&mut self.users, name.into()),
                Some(Who::Account { namespace, name }) => {
                    (&mut self.users, User::service_account_name(namespace, name).into())
                }
                Some(Who::Group(name)) => (&mut self.groups, name.into()),
                None => continue,
            };
            let key: Arc<str> = key;
            let bound = index.entry(key.clone()).or_default();
            change(Arc::make_mut(bound));
            if bound.is_empty() {
                index.remove(&key);
            }
        }
    }
}

impl Binding {
    /// The position of the first subject that is a user.
    fn subject(&self, user: &User) -> usize {
        self.subjects.iter().position(|subject| subject.is(user, &self.namespace)).unwrap_or_default()
    }
}

/// Says which binding allows something, and to whom.
impl Explain for Binding {
    fn explain(&self, subject: usize, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (binding, place) = if self.namespace.is_empty() {
            ("ClusterRoleBinding", String::new())
        } else {
            ("RoleBinding", format!("/{}", self.namespace))
        };
        let RoleRef { kind, name, .. } = &self.role;
        let (place, name) = (go::quoted(&format!("{}{place}", self.name)), go::quoted(name));
        write!(f, "RBAC: allowed by {binding} {place} of {kind} {name}")?;
        let Some(subject) = self.subjects.get(subject) else { return Ok(()) };
        let name = match subject.who(&self.namespace) {
            Some(Who::Account { namespace, name }) => format!("{name}/{namespace}"),
            _ => subject.name.clone(),
        };
        write!(f, " to {} {}", subject.kind, go::quoted(&name))
    }
}

/// A role that a binding refers to and that does not exist.
#[derive(Debug)]
pub(crate) struct MissingRole {
    kind: String,
    /// Its name.
    pub name: String,
}

impl fmt::Display for MissingRole {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{GROUP} {} not found", self.kind, go::quoted(&self.name))
    }
}

/// Several errors as one, as Go prints them.
fn joined(errors: &BTreeSet<String>) -> Option<String> {
    let errors: Vec<&str> = errors.iter().map(String::as_str).collect();
    match *errors {
        [] => None,
        [one] => Some(one.to_owned()),
        _ => Some(format!("[{}]", errors.join(", "))),
    }
}
