//! Random requests over random roles and bindings, compared with the documented rules, written down as plainly as possible.
use proptest::{
    collection::vec,
    prelude::*,
    sample::{select, subsequence},
    test_runner::{Config, TestRunner},
};

use super::{
    policy::{BindingRules, RoleRules},
    *,
};

const USERS: [&str; 4] = ["ann", "bob", "system:serviceaccount:x:robot", "system:serviceaccount:y:robot"];
const GROUPS: [&str; 4] = ["dev", "ops", "system:serviceaccounts:x", "system:authenticated"];
const NAMESPACES: [&str; 3] = ["", "x", "y"];
const VERBS: [&str; 4] = ["get", "list", "delete", "*"];
const API_GROUPS: [&str; 3] = ["", "apps", "*"];
const RESOURCES: [&str; 7] = ["pods", "pods/log", "pods/*", "*/log", "books", "books/status", "*"];
const NAMES: [&str; 3] = ["a", "b", ""];
const URLS: [&str; 6] = ["/a", "/a/*", "/a/b", "/b*", "*", "/"];
const ROLES: [&str; 3] = ["one", "two", "three"];

/// A role or a binding by its place; the namespace is empty for the cluster.
#[derive(Clone, Debug)]
struct Placed<T> {
    namespace: &'static str,
    name: &'static str,
    what: T,
}

/// All roles and bindings.
#[derive(Clone, Debug)]
struct World {
    roles: Vec<Placed<Vec<PolicyRule>>>,
    bindings: Vec<Placed<(Vec<Subject>, RoleRef)>>,
}

#[derive(Clone, Debug)]
struct Question {
    user: User,
    verb: &'static str,
    group: &'static str,
    resource: &'static str,
    subresource: &'static str,
    namespace: &'static str,
    name: &'static str,
    path: &'static str,
}

impl Question {
    fn attributes(&self) -> Attributes<'_> {
        let Self { verb, group, resource, subresource, namespace, name, path, .. } = *self;
        let attributes = Attributes::new(&self.user, verb, path);
        if resource.is_empty() {
            return attributes;
        }
        Attributes { group, resource, subresource, namespace, name, ..attributes }
    }
}

fn texts(all: &'static [&'static str], least: usize) -> impl Strategy<Value = Vec<String>> {
    subsequence(all, least..=all.len().min(3)).prop_map(|some| some.into_iter().map(str::to_owned).collect())
}

fn rule() -> impl Strategy<Value = PolicyRule> {
    let verbs = || texts(&VERBS, 1);
    let names = prop_oneof![3 => Just(Vec::new()), 1 => texts(&NAMES[..2], 1)];
    let on_resources = (verbs(), texts(&API_GROUPS, 1), texts(&RESOURCES, 1), names).prop_map(
        |(verbs, api_groups, resources, resource_names)| PolicyRule {
            verbs,
            api_groups,
            resources,
            resource_names,
            ..PolicyRule::default()
        },
    );
    let on_urls = (verbs(), texts(&URLS, 1)).prop_map(|(verbs, non_resource_urls)| PolicyRule {
        verbs,
        non_resource_urls,
        ..PolicyRule::default()
    });
    prop_oneof![4 => on_resources, 1 => on_urls]
}

fn subject() -> impl Strategy<Value = Subject> {
    let named = |kind: &'static str, names: &'static [&'static str]| {
        select(names).prop_map(move |name| Subject {
            kind: kind.to_owned(),
            name: name.to_owned(),
            ..Subject::default()
        })
    };
    let account = select(&NAMESPACES[..]).prop_map(|namespace| Subject {
        kind: "ServiceAccount".to_owned(),
        name: "robot".to_owned(),
        namespace: namespace.to_owned(),
        ..Subject::default()
    });
    prop_oneof![named("User", &USERS), named("Group", &GROUPS), account]
}

fn placed<T: std::fmt::Debug + Clone>(what: impl Strategy<Value = T>) -> impl Strategy<Value = Placed<T>> {
    (select(&NAMESPACES[..]), select(&ROLES[..]), what).prop_map(|(namespace, name, what)| Placed {
        namespace,
        name,
        what,
    })
}

fn world() -> impl Strategy<Value = World> {
    let role_ref = (any::<bool>(), select(&ROLES[..])).prop_map(|(of_cluster, name)| RoleRef {
        api_group: GROUP.to_owned(),
        kind: if of_cluster { "ClusterRole" } else { "Role" }.to_owned(),
        name: name.to_owned(),
    });
    let roles = vec(placed(vec(rule(), 0..3)), 0..7);
    let bindings = vec(placed((vec(subject(), 0..3), role_ref)), 0..7);
    (roles, bindings).prop_map(|(mut roles, mut bindings)| {
        // One object has a name, and a binding of the cluster has a role of it.
        roles.sort_by_key(|role| (role.namespace, role.name));
        roles.dedup_by_key(|role| (role.namespace, role.name));
        bindings.sort_by_key(|binding| (binding.namespace, binding.name));
        bindings.dedup_by_key(|binding| (binding.namespace, binding.name));
        bindings.retain(|binding| !binding.namespace.is_empty() || binding.what.1.kind == "ClusterRole");
        World { roles, bindings }
    })
}

fn question() -> impl Strategy<Value = Question> {
    let user = (select(&USERS[..]), texts(&GROUPS, 0)).prop_map(|(name, groups)| User {
        name: name.to_owned(),
        groups,
        ..User::default()
    });
    let on = (
        select(&["", "pods", "books"][..]),
        select(&["", "log", "status"][..]),
        select(&["", "apps"][..]),
        select(&NAMESPACES[..]),
        select(&NAMES[..]),
    );
    (user, select(&VERBS[..3]), on, select(&["/a", "/a/b", "/a/b/c", "/b", "/bc", "/"][..])).prop_map(
        |(user, verb, (resource, subresource, group, namespace, name), path)| Question {
            user,
            verb,
            group,
            resource,
            subresource,
            namespace,
            name,
            path,
        },
    )
}

fn compiled(world: &World) -> Policy {
    let mut policy = Policy::default();
    for Placed { namespace, name, what: rules } in &world.roles {
        policy.put_role(namespace, name, RoleRules { rules: Some(rules.clone()) });
    }
    for Placed { namespace, name, what: (subjects, role_ref) } in &world.bindings {
        let binding = BindingRules { subjects: subjects.clone(), role_ref: role_ref.clone() };
        policy.put_binding(namespace, name, binding);
    }
    policy
}

/// What the documentation of Kubernetes says: a binding gives its subjects the rules of its role, in its namespace or everywhere.
fn documented(world: &World, question: &Question) -> bool {
    let here =
        |namespace: &str| namespace.is_empty() || (!question.resource.is_empty() && namespace == question.namespace);
    world.bindings.iter().filter(|binding| here(binding.namespace)).any(|binding| {
        let (subjects, role) = &binding.what;
        let of = if role.kind == "ClusterRole" { "" } else { binding.namespace };
        let found = world.roles.iter().find(|found| found.namespace == of && found.name == role.name);
        let bound = subjects.iter().any(|subject| is_bound(subject, binding.namespace, &question.user));
        bound && found.is_some_and(|role| role.what.iter().any(|rule| is_allowed(rule, question)))
    })
}

fn is_bound(subject: &Subject, namespace: &str, user: &User) -> bool {
    let namespace = if subject.namespace.is_empty() { namespace } else { &subject.namespace };
    match &*subject.kind {
        "User" => subject.name == user.name,
        "Group" => user.groups.contains(&subject.name),
        _ => !namespace.is_empty() && user.name == format!("system:serviceaccount:{namespace}:{}", subject.name),
    }
}

fn is_allowed(rule: &PolicyRule, question: &Question) -> bool {
    let lists = |list: &[String], text: &str| list.iter().any(|one| one == "*" || one == text);
    if !lists(&rule.verbs, question.verb) {
        return false;
    }
    if question.resource.is_empty() {
        return rule.non_resource_urls.iter().any(|url| match url.strip_suffix('*') {
            Some(beginning) => question.path.starts_with(beginning),
            None => question.path == url,
        });
    }
    let (mut wanted, mut any_of) = (question.resource.to_owned(), String::new());
    if !question.subresource.is_empty() {
        wanted = format!("{}/{}", question.resource, question.subresource);
        any_of = format!("*/{}", question.subresource);
    }
    lists(&rule.api_groups, question.group)
        && rule.resources.iter().any(|one| one == "*" || *one == wanted || *one == any_of)
        && (rule.resource_names.is_empty() || rule.resource_names.iter().any(|name| name == question.name))
}

/// Runs a property on so many values.
fn check<T: std::fmt::Debug>(times: u32, values: impl Strategy<Value = T>, property: impl Fn(T) -> bool) {
    let config = Config { cases: times, failure_persistence: None, ..Config::default() };
    TestRunner::new(config)
        .run(&values, |value| {
            prop_assert!(property(value));
            Ok(())
        })
        .unwrap();
}

#[test]
fn five_thousand_random_requests_are_decided_as_documented() {
    check(500, (world(), vec(question(), 10)), |(world, questions)| {
        let policy = compiled(&world);
        questions.iter().all(|question| {
            let decision = policy.decide(&question.attributes());
            matches!(decision, Decision::Allow(_)) == documented(&world, question)
        })
    });
}

#[test]
fn what_is_held_allows_all_that_is_granted_without_escalation() {
    check(2_000, (vec(rule(), 0..4), vec(rule(), 1..3), vec(question(), 20)), |(held, granted, questions)| {
        let escalates = !cover::missing(&held, &granted).is_empty();
        let allowed = |rules: &[PolicyRule], question| rules.iter().any(|rule| is_allowed(rule, question));
        escalates || questions.iter().all(|question| allowed(&held, question) || !allowed(&granted, question))
    });
    // A user with some rules may grant each of them.
    check(500, vec(rule(), 1..4), |held| cover::missing(&held, &held[..1]).is_empty());
}

#[test]
fn reasons_name_the_binding_and_its_first_subject() {
    let subject = |kind: &str, name: &str| Subject { kind: kind.into(), name: name.into(), ..Subject::default() };
    let mut policy = Policy::default();
    policy.put_role("", "reader", RoleRules { rules: Some(vec![defaults::on(&["get"], &[""], &["pods"])]) });
    let role_ref = RoleRef { api_group: GROUP.into(), kind: "ClusterRole".into(), name: "reader".into() };
    let subjects = vec![subject("Group", "dev"), subject("User", "ann"), subject("ServiceAccount", "robot")];
    policy.put_binding("x", "readers", BindingRules { subjects, role_ref: role_ref.clone() });
    let asked = |user: &User, namespace| {
        let attributes = Attributes { resource: "pods", namespace, ..Attributes::new(user, "get", "") };
        policy.decide(&attributes)
    };
    let by = |to: &str| {
        Decision::Allow(format!("RBAC: allowed by RoleBinding \"readers/x\" of ClusterRole \"reader\" to {to}").into())
    };
    assert_eq!(asked(&User::new("ann", &[]), "x"), by("User \"ann\""));
    assert_eq!(asked(&User::new("ann", &["dev"]), "x"), by("Group \"dev\""));
    assert_eq!(asked(&User::new("system:serviceaccount:x:robot", &[]), "x"), by("ServiceAccount \"robot/x\""));
    assert_eq!(asked(&User::new("ann", &[]), "y"), Decision::NO_OPINION);
    let gone = |name: &str| RoleRef { name: name.into(), ..role_ref.clone() };
    policy.put_binding("y", "a", BindingRules { subjects: vec![subject("User", "ann")], role_ref: gone("b") });
    policy.put_binding("y", "b", BindingRules { subjects: vec![subject("User", "ann")], role_ref: gone("a") });
    let missing = "RBAC: [clusterrole.rbac.authorization.k8s.io \"a\" not found, clusterrole.rbac.authorization.k8s.io \"b\" not found]";
    let attributes_of = User::new("ann", &[]);
    let attributes = Attributes { resource: "pods", namespace: "y", ..Attributes::new(&attributes_of, "get", "") };
    assert_eq!(policy.decide(&attributes), Decision::NoOpinion(missing.to_owned()));
}
