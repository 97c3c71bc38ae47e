//! Tests of tokens: whose they are, for how long, and for whom.
use rcgen::KeyPair;
use serde_json::json;

use super::{
    claims::{BoundObject, ObjectReference},
    *,
};
use crate::builtin::tests::Inside;

fn key() -> SigningKey {
    SigningKey::from_pkcs8(&KeyPair::generate().unwrap().serialize_der()).unwrap()
}

/// A server with the account `robot` in `default`, and claims of that account.
async fn with_robot() -> (Inside, Accounts, Claims) {
    let inside = Inside::new().await;
    let robot = inside.create("serviceaccounts", "default", json!({"metadata": {"name": "robot"}})).await.unwrap();
    let accounts = Accounts::new(&inside.api, AccountKeys::new(vec![key()]).unwrap()).unwrap();
    let now = Time::now().parts().0;
    let claims = Claims {
        namespace: "default".to_owned(),
        account: ObjectReference {
            name: "robot".to_owned(),
            uid: robot["metadata"]["uid"].as_str().unwrap().to_owned(),
        },
        bound: None,
        audiences: vec![ISSUER.to_owned()],
        issued: now,
        expires: now + 600,
        id: "1".to_owned(),
    };
    (inside, accounts, claims)
}

/// The name of a token's user for this server; `None` if the token is not one of ours.
async fn whose(accounts: &Accounts, token: &str) -> Result<Option<String>, String> {
    let found = accounts.authenticate(&Credentials::token(token)).await;
    found.map(|user| user.map(|user| user.name.clone())).map_err(|why| why.0)
}

#[tokio::test]
async fn a_token_is_that_of_its_account_while_that_exists() {
    let (inside, accounts, claims) = with_robot().await;
    let token = accounts.sign(&claims);
    for _ in 0..2 {
        let user = accounts.authenticate(&Credentials::token(&token)).await.unwrap().unwrap();
        assert_eq!((&*user.name, &user.uid), ("system:serviceaccount:default:robot", &claims.account.uid));
        let groups = ["system:serviceaccounts", "system:serviceaccounts:default", "system:authenticated"];
        assert_eq!(user.groups, groups);
        assert_eq!(user.extra["authentication.kubernetes.io/credential-id"], ["JTI=1"]);
    }
    let request = inside.request("serviceaccounts", "default", "robot");
    inside.merge(&request, json!({"metadata": {"labels": {"a": "b"}}})).await.unwrap();
    assert!(whose(&accounts, &token).await.unwrap().is_some(), "it is the same account");
    inside.delete("serviceaccounts", "default", "robot").await;
    assert!(whose(&accounts, &token).await.unwrap_err().ends_with("its account is gone"));
    inside.create("serviceaccounts", "default", json!({"metadata": {"name": "robot"}})).await.unwrap();
    assert!(whose(&accounts, &token).await.is_err(), "another account has its name");
}

#[tokio::test]
async fn tokens_of_others_and_forged_ones_are_no_accounts() {
    let (_inside, accounts, claims) = with_robot().await;
    for token in ["", "nope", "a.b.c", "eyJhbGciOiJFUzI1NiJ9.eyJpc3MiOiJqb2UifQ.AAAA"] {
        assert_eq!(whose(&accounts, token).await, Ok(None), "{token}");
    }
    let forged = key().sign(&claims.to_json());
    assert!(whose(&accounts, &forged).await.unwrap_err().contains("no key has the id"));
    let mut other = claims.to_json();
    other["sub"] = "system:serviceaccount:kube-system:robot".into();
    let keys = accounts.state.load();
    assert!(whose(&accounts, &keys.keys.signing.sign(&other)).await.unwrap_err().ends_with("it lacks claims"));
}

#[tokio::test]
async fn a_token_is_valid_for_its_time_and_its_audiences() {
    let (_inside, accounts, claims) = with_robot().await;
    let now = claims.issued;
    for (issued, expires, why) in [
        (now - 7200, now - 3600, Some("it has expired")),
        (now + 3600, now + 7200, Some("it is not valid yet")),
        (now + 30, now + 7200, None),
        (now - 7200, now - 30, None),
    ] {
        let token = accounts.sign(&Claims { issued, expires, ..claims.clone() });
        let found = whose(&accounts, &token).await;
        match why {
            None => assert!(found.is_ok_and(|user| user.is_some()), "{issued}"),
            Some(why) => assert!(found.unwrap_err().ends_with(why), "{issued}"),
        }
    }
    let token = accounts.sign(&Claims { audiences: vec!["vault".to_owned()], ..claims });
    assert!(whose(&accounts, &token).await.unwrap_err().ends_with("it is meant for others"));
    let to_vault = Credentials { audiences: &["bank", "vault"], ..Credentials::token(&token) };
    assert!(accounts.authenticate(&to_vault).await.unwrap().is_some());
    let to_bank = Credentials { audiences: &["bank"], ..Credentials::token(&token) };
    assert!(accounts.authenticate(&to_bank).await.is_err());
}

#[tokio::test]
async fn a_bound_token_ends_with_its_object() {
    let (inside, accounts, claims) = with_robot().await;
    let secret = inside.create("secrets", "default", json!({"metadata": {"name": "s"}})).await.unwrap();
    let uid = secret["metadata"]["uid"].as_str().unwrap().to_owned();
    let object = ObjectReference { name: "s".to_owned(), uid };
    let token = accounts.sign(&Claims { bound: Some(BoundObject { kind: "Secret".to_owned(), object }), ..claims });
    assert!(whose(&accounts, &token).await.unwrap().is_some());
    inside.delete("secrets", "default", "s").await;
    assert!(whose(&accounts, &token).await.unwrap_err().ends_with("the object that it is bound to is gone"));
    inside.create("secrets", "default", json!({"metadata": {"name": "s"}})).await.unwrap();
    assert!(whose(&accounts, &token).await.unwrap_err().ends_with("is another one by now"));
}

#[tokio::test]
async fn old_keys_check_tokens_until_they_go() {
    let (_inside, accounts, claims) = with_robot().await;
    let [first, second] = [(); 2].map(|()| KeyPair::generate().unwrap().serialize_der());
    let keys = |ders: &[&Vec<u8>]| {
        AccountKeys::new(ders.iter().map(|der| SigningKey::from_pkcs8(der).unwrap()).collect()).unwrap()
    };
    accounts.replace_keys(keys(&[&first]));
    let token = accounts.sign(&claims);
    assert!(whose(&accounts, &token).await.unwrap().is_some());
    accounts.replace_keys(keys(&[&second, &first]));
    let newer = accounts.sign(&claims);
    assert_ne!(UnverifiedToken::read(&token).unwrap().key_id(), UnverifiedToken::read(&newer).unwrap().key_id());
    assert!(whose(&accounts, &token).await.unwrap().is_some() && whose(&accounts, &newer).await.unwrap().is_some());
    accounts.replace_keys(keys(&[&second]));
    assert!(whose(&accounts, &token).await.is_err(), "also one that was known");
    assert!(whose(&accounts, &newer).await.unwrap().is_some());
}
