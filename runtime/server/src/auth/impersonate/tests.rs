//! Tests of who may impersonate whom.
use super::*;
use crate::auth::{Masters, Soon};

fn impersonation(name: &str, groups: &[&str]) -> Impersonation {
    let groups = groups.iter().map(|g| (*g).to_owned()).collect();
    Impersonation { user: User { name: name.to_owned(), groups, ..User::default() } }
}

#[test]
fn the_resulting_user_has_the_groups_of_its_kind() {
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
    ] {
        assert_eq!(impersonation(name, given).become_user().groups, groups, "{name} {given:?}");
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

async fn refusal(authorizer: &dyn Authorize, user: &User, impersonation: &Impersonation) -> Option<String> {
    let asked = Attributes {
        version: "v1",
        resource: "configmaps",
        namespace: "t",
        name: "mine",
        ..Attributes::new(user, "get", "/")
    };
    let on = Impersonation::on_verb(asked.verb);
    impersonation.allow(authorizer, &asked, &on).await.err().map(|(attributes, _)| attributes.to_string())
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
        Some("User \"bob\" cannot impersonate resource \"serviceaccounts\" in API group \"\" in the namespace \"ns\"")
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
