//! Tests of who may impersonate whom.
use super::*;
use crate::auth::{Masters, Soon};

fn impersonation(name: &str, groups: &[&str]) -> Impersonation {
    let groups = groups.iter().map(|g| (*g).to_owned()).collect();
    Impersonation { user: User { name: name.to_owned(), groups, ..User::default() } }
}

#[tokio::test]
async fn the_resulting_user_has_the_groups_of_its_kind() {
    let admin = impersonation("admin", &["system:masters"]).user;
    for (name, given, groups) in [
        ("alice", &[][..], &["system:authenticated"][..]),
        ("alice", &["a"], &["a", "system:authenticated"]),
        ("alice", &["system:unauthenticated"], &["system:unauthenticated"]),
        ("system:anonymous", &[], &["system:unauthenticated"]),
        (
            "system:serviceaccount:ns:sa",
            &[],
            &["system:serviceaccounts", "system:serviceaccounts:ns", "system:authenticated"],
        ),
        ("system:serviceaccount:ns:sa", &["a"], &["a", "system:authenticated"]),
        ("system:node:n1", &[], &["system:nodes", "system:authenticated"]),
        ("system:node:n1", &["a"], &["a", "system:authenticated"]),
    ] {
        let user = impersonate(&Masters, &admin, &impersonation(name, given), &LastWays::default()).await.unwrap();
        assert_eq!(user.groups, groups, "{name} {given:?}");
    }
}

/// Allows the listed requests, written as `verb resource[/subresource] [namespace/]name`.
struct Listed(&'static [&'static str]);

impl Authorize for Listed {
    fn authorize<'a>(&'a self, asked: &'a Attributes<'a>) -> Soon<'a, Decision> {
        let subresource = if asked.subresource.is_empty() { String::new() } else { format!("/{}", asked.subresource) };
        let namespace = if asked.namespace.is_empty() { String::new() } else { format!("{}/", asked.namespace) };
        let text = format!("{} {}{subresource} {namespace}{}", asked.verb, asked.resource, asked.name);
        let known = self.0.contains(&text.as_str());
        Soon::now(if known { Decision::ALLOW } else { Decision::NO_OPINION })
    }
}

async fn impersonate(
    authorizer: &dyn Authorize,
    sender: &User,
    impersonation: &Impersonation,
    last: &LastWays,
) -> Result<User, String> {
    let asked = Attributes {
        version: "v1",
        resource: "configmaps",
        namespace: "t",
        name: "mine",
        ..Attributes::new(sender, "get", "/")
    };
    let refuse = |attributes: &Attributes<'_>, decision: &Decision| match decision {
        Decision::Deny(why) => format!("{attributes}: {why}"),
        _ => attributes.to_string(),
    };
    impersonation.allow(authorizer, &asked, last, &refuse).await
}

async fn refusal(authorizer: &dyn Authorize, sender: &User, impersonation: &Impersonation) -> Option<String> {
    impersonate(authorizer, sender, impersonation, &LastWays::default()).await.err()
}

#[tokio::test]
async fn each_part_must_be_allowed() {
    let bob = impersonation("bob", &[]).user;
    let mut all = impersonation("alice", &["a", "b"]);
    all.user.extra.insert("scopes".to_owned(), vec!["view".to_owned()]);
    let old = Listed(&[
        "impersonate users alice",
        "impersonate groups a",
        "impersonate groups b",
        "impersonate userextras/scopes view",
    ]);
    assert_eq!(refusal(&old, &bob, &all).await, None);
    let account = impersonation("system:serviceaccount:ns:sa", &[]);
    assert_eq!(refusal(&Listed(&["impersonate serviceaccounts ns/sa"]), &bob, &account).await, None);
    assert_eq!(
        refusal(&old, &bob, &account).await.as_deref(),
        Some(
            "User \"bob\" cannot impersonate-on:serviceaccount:get resource \"configmaps\" in API group \"\" in the \
             namespace \"t\""
        )
    );
    let narrow = Listed(&["impersonate-on:user-info:get configmaps t/mine", "impersonate:user-info users alice"]);
    assert_eq!(refusal(&narrow, &bob, &impersonation("alice", &[])).await, None);
    assert!(refusal(&narrow, &bob, &impersonation("alice", &["a"])).await.is_some());
    assert!(refusal(&narrow, &bob, &impersonation("alice", &["system:masters"])).await.is_some());
}

#[tokio::test]
async fn masters_may_be_anyone_and_others_are_refused_as_recorded() {
    let admin = impersonation("admin", &["system:masters"]).user;
    let alice = impersonation("alice", &["system:authenticated"]).user;
    assert_eq!(refusal(&Masters, &admin, &impersonation("alice", &["x"])).await, None);
    assert_eq!(
        refusal(&Masters, &alice, &impersonation("admin", &[])).await.as_deref(),
        Some(
            "User \"alice\" cannot impersonate-on:user-info:get resource \"configmaps\" in API group \"\" in the \
             namespace \"t\""
        )
    );
}

#[tokio::test]
async fn each_sort_of_user_has_a_narrow_way_of_its_own() {
    let bob = impersonation("bob", &[]).user;
    let account = impersonation("system:serviceaccount:ns:sa", &[]);
    let narrow = Listed(&[
        "impersonate-on:serviceaccount:get configmaps t/mine",
        "impersonate:serviceaccount serviceaccounts ns/sa",
    ]);
    assert_eq!(refusal(&narrow, &bob, &account).await, None);
    let with_group = impersonation("system:serviceaccount:ns:sa", &["a"]);
    assert!(refusal(&narrow, &bob, &with_group).await.is_some(), "its groups are its own");
    let node = impersonation("system:node:n1", &[]);
    let any = Listed(&["impersonate-on:arbitrary-node:get configmaps t/mine", "impersonate:arbitrary-node nodes n1"]);
    assert_eq!(refusal(&any, &bob, &node).await, None);
    let own = Listed(&["impersonate-on:associated-node:get configmaps t/mine", "impersonate:associated-node nodes *"]);
    assert!(refusal(&own, &bob, &node).await.is_some(), "bob is no account of a node");
    let mut agent = account.user.clone();
    agent.extra.insert("authentication.kubernetes.io/node-name".to_owned(), vec!["n1".to_owned()]);
    assert_eq!(refusal(&own, &agent, &node).await, None);
    assert!(refusal(&own, &agent, &impersonation("system:node:n2", &[])).await.is_some());
}

#[tokio::test]
async fn the_narrow_way_refuses_what_the_oldest_did_not() {
    let bob = impersonation("bob", &[]).user;
    let all = Listed(&[
        "impersonate-on:user-info:get configmaps t/mine",
        "impersonate:user-info users alice",
        "impersonate:user-info groups *",
        "impersonate:user-info userextras/* *",
        "impersonate:user-info userextras/example.com/team a",
    ]);
    let groups = |groups: &[&str]| impersonation("alice", groups);
    assert_eq!(refusal(&all, &bob, &groups(&["a", "b", "c", "d"])).await, None);
    assert!(refusal(&all, &bob, &groups(&["a"])).await.is_some(), "few groups are asked for one by one");
    for (group, why) in [("system:masters", "the system:masters group"), ("", "the empty string group")] {
        let refused = refusal(&all, &bob, &groups(&[group])).await.unwrap();
        assert!(refused.ends_with(&format!(": impersonating {why} is not allowed")), "{refused}");
    }
    let with = |key: &str, values: &[&str]| {
        let mut wanted = groups(&[]);
        wanted.user.extra.insert(key.to_owned(), values.iter().map(|&value| value.to_owned()).collect());
        wanted
    };
    assert_eq!(refusal(&all, &bob, &with("example.com/team", &["a"])).await, None);
    assert_eq!(refusal(&all, &bob, &with("example.com/other", &["a", "b", "c", "d"])).await, None);
    for (key, value, why) in [
        ("team", "a", "an invalid key in extra is not allowed: extra.key: Invalid value: \"team\": must be a domain"),
        (
            "Example.com/team",
            "a",
            "an invalid key in extra is not allowed: extra.key: Invalid value: \"Example.com\": a",
        ),
        (
            "example.com/a b",
            "a",
            "an invalid key in extra is not allowed: extra.key: Invalid value: \"a b\": Invalid p",
        ),
        ("example.com/team", "", "the empty string value in extra is not allowed"),
        ("", "a", "the empty string key in extra is not allowed"),
    ] {
        let refused = refusal(&all, &bob, &with(key, &[value])).await.unwrap();
        assert!(refused.contains(&format!(": impersonating {why}")), "{refused}");
    }
}

#[tokio::test]
async fn the_refusal_is_that_of_the_way_that_was_last_allowed() {
    let (bob, last) = (impersonation("bob", &[]).user, LastWays::default());
    let alice_only = Listed(&["impersonate users alice"]);
    let (alice, carol) = (impersonation("alice", &[]), impersonation("carol", &[]));
    let first = impersonate(&alice_only, &bob, &carol, &last).await.unwrap_err();
    assert!(first.contains("cannot impersonate-on:user-info:get resource"), "{first}");
    impersonate(&alice_only, &bob, &alice, &last).await.unwrap();
    let second = impersonate(&alice_only, &bob, &carol, &last).await.unwrap_err();
    assert!(second.contains("cannot impersonate resource \"users\""), "{second}");
}

#[test]
fn a_wish_without_a_name_is_shown_as_go_shows_it() {
    let mut wish = impersonation("", &["a", "b"]);
    wish.user.extra.insert("k".to_owned(), vec!["v".to_owned()]);
    assert_eq!(
        wish.to_string(),
        "&user.DefaultInfo{Name:\"\", UID:\"\", Groups:[]string{\"a\", \"b\"}, \
         Extra:map[string][]string{\"k\":[]string{\"v\"}}}"
    );
}
