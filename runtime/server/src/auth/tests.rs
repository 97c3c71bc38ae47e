//! Tokens, chains of authenticators, and refusals compared with recorded answers of kube-apiserver.
use std::sync::Arc;

use super::{authenticate::bearer, roles::Roles, *};

fn user(name: &str, groups: &[&str]) -> User {
    User { name: name.to_owned(), groups: groups.iter().map(|g| (*g).to_owned()).collect(), ..User::default() }
}

async fn who(chain: &Chain, credentials: Credentials<'_>) -> Result<Option<String>, Unauthenticated> {
    chain.authenticate(&credentials).await.map(|user| user.map(|u| u.name.clone()))
}

fn chain(csv: &str) -> Chain {
    let tokens = Tokens::from_csv(csv).expect("a good token file");
    Chain::new(vec![Box::new(tokens)]).or_anonymous()
}

#[tokio::test]
async fn tokens_name_users_and_unknown_tokens_are_refused() {
    let chain =
        chain("admintoken,admin,1,\"system:masters\"\nalicetoken,alice,2\nbobtoken,bob,3,\"viewers,auditors\"\n");
    assert_eq!(who(&chain, Credentials::token("admintoken")).await, Ok(Some("admin".to_owned())));
    assert_eq!(who(&chain, Credentials::token("bobtoken")).await, Ok(Some("bob".to_owned())));
    assert!(who(&chain, Credentials::token("admintoken2")).await.is_err());
    assert!(who(&chain, Credentials::token("admintoke")).await.is_err());
    assert!(who(&chain, Credentials::token("")).await.is_err());
    assert_eq!(who(&chain, Credentials::NONE).await, Ok(Some("system:anonymous".to_owned())));
}

#[test]
fn token_files_are_read_with_quotes_and_groups() {
    let tokens = Tokens::from_csv("# who\n\nt1, u1, 7, \"a, b\"\r\n\"t,2\",\"u\"\"2\",8\n").expect("a good file");
    let first = tokens.find("t1").expect("the first user");
    assert_eq!((first.name.as_str(), first.uid.as_str()), ("u1", "7"));
    assert_eq!(first.groups, ["a", "b", "system:authenticated"]);
    assert_eq!(tokens.find("t,2").expect("the second user").name, "u\"2");
    for (bad, line) in [("t,u", 1), ("t,u,1\nt,v,2", 2), (",u,1", 1), ("t,,1", 1), ("t,\"u,1", 1)] {
        assert_eq!(Tokens::from_csv(bad).err().map(|e| e.line), Some(line), "{bad:?}");
    }
}

#[test]
fn bearer_tokens_are_taken_from_the_header() {
    for (header, token) in [
        ("Bearer abc", Some("abc")),
        ("bearer  abc ", Some("abc")),
        ("Bearer", None),
        ("Bearer ", None),
        ("Basic abc", None),
        ("", None),
    ] {
        assert_eq!(bearer(header), token, "{header:?}");
    }
}

/// Knows one token, and answers after a while.
struct Slow;

impl Authenticate for Slow {
    fn authenticate<'a>(&'a self, credentials: &'a Credentials<'a>) -> Soon<'a, Identity> {
        Soon::later(async move {
            tokio::task::yield_now().await;
            Ok((credentials.token == Some("slow")).then(|| Arc::new(user("slow", &[]))))
        })
    }
}

/// Refuses everything.
struct Never;

impl Authenticate for Never {
    fn authenticate<'a>(&'a self, _: &'a Credentials<'a>) -> Soon<'a, Identity> {
        Soon::now(Err(Unauthenticated("never".to_owned())))
    }
}

#[tokio::test]
async fn a_chain_continues_after_errors_and_slow_answers() {
    let chain = Chain::new(vec![Box::new(Never), Box::new(Slow), Box::new(Tokens::admin("quick"))]);
    assert_eq!(who(&chain, Credentials::token("slow")).await, Ok(Some("slow".to_owned())));
    assert_eq!(who(&chain, Credentials::token("quick")).await, Ok(Some("admin".to_owned())));
    assert_eq!(who(&chain, Credentials::token("other")).await, Err(Unauthenticated("never".to_owned())));
    assert_eq!(who(&Chain::default(), Credentials::NONE).await, Ok(None));
}

fn asked<'a>(user: &'a User, verb: &'a str, resource: &'a str) -> Attributes<'a> {
    Attributes { version: "v1", resource, ..Attributes::new(user, verb, "/x") }
}

#[tokio::test]
async fn refusals_are_worded_as_the_api_does() {
    let alice = user("alice", &["system:authenticated"]);
    let base = asked(&alice, "list", "configmaps");
    let cases = [
        (base, "User \"alice\" cannot list resource \"configmaps\" in API group \"\" at the cluster scope"),
        (
            Attributes { namespace: "t", verb: "get", subresource: "status", group: "g", ..base },
            "User \"alice\" cannot get resource \"configmaps/status\" in API group \"g\" in the namespace \"t\"",
        ),
        (
            Attributes { resource: "", path: "/nonresource", verb: "get", ..base },
            "User \"alice\" cannot get path \"/nonresource\"",
        ),
    ];
    for (attributes, message) in cases {
        assert_ne!(Masters.authorize(&attributes).await, Decision::ALLOW);
        assert_eq!(attributes.to_string(), message);
    }
}

#[tokio::test]
async fn masters_may_do_everything_and_others_may_read_open_paths() {
    let roles = Union::new(vec![Box::new(Masters), Box::new(Roles::fixed())]);
    let (admin, alice) = (user("admin", &["system:masters"]), user("alice", &["system:authenticated"]));
    let anonymous = user("system:anonymous", &["system:unauthenticated"]);
    let may = async |attributes: Attributes<'_>| matches!(roles.authorize(&attributes).await, Decision::Allow(_));
    assert!(may(asked(&admin, "delete", "secrets")).await);
    let open = async |user, verb, path| may(Attributes { path, ..asked(user, verb, "") }).await;
    assert!(open(&anonymous, "get", "/version").await);
    assert!(open(&anonymous, "get", "/readyz").await);
    assert!(!open(&anonymous, "get", "/readyz/storage").await);
    assert!(!open(&anonymous, "get", "/versions").await);
    assert!(!open(&anonymous, "post", "/version").await);
    assert!(!open(&anonymous, "get", "/apis").await);
    assert!(open(&alice, "get", "/apis").await);
    assert!(open(&alice, "get", "/openapi/v3").await);
    assert!(!open(&alice, "get", "/nonresource").await);
    assert!(!open(&alice, "get", "/apissss").await);
}
