//! Tests of tokens in Secrets.
use std::{fmt::Write, time::Duration};

use serde_json::{Value, json};

use crate::{
    Server,
    handlers::{Refusal, Result},
    server::TestServer,
    verbs::admission::{Admission, Attributes},
};

const SECRETS: &str = "/api/v1/namespaces/default/secrets";
const ACCOUNTS: &str = "/api/v1/namespaces/default/serviceaccounts";

async fn server() -> TestServer {
    let server = Server::test().start().await;
    let (code, created) = server.call("POST", ACCOUNTS, json!({"metadata": {"name": "robot"}})).await;
    assert_eq!(code, 201, "{created}");
    server
}

fn secret(account: &str) -> Value {
    let annotations = json!({"kubernetes.io/service-account.name": account});
    json!({"metadata": {"name": "of-robot", "annotations": annotations}, "type": "kubernetes.io/service-account-token"})
}

/// Waits until the Secret is as expected.
async fn until(server: &TestServer, is_expected: impl Fn(u16, &Value) -> bool) -> Value {
    for _ in 0..1_000 {
        let (code, found) = server.call("GET", &format!("{SECRETS}/of-robot"), Value::Null).await;
        if is_expected(code, &found) {
            return found;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("the Secret does not become what it should be");
}

async fn filled(server: &TestServer) -> (Value, String) {
    let found = until(server, |code, found| code == 200 && found["data"]["token"].is_string()).await;
    let token = crate::meta::ByteString::from_base64(found["data"]["token"].as_str().unwrap()).unwrap();
    (found, String::from_utf8(token.0).unwrap())
}

/// The user of a token; `None` if it is refused.
async fn whose(server: &TestServer, token: &str) -> Option<Value> {
    let review = json!({"apiVersion": "authentication.k8s.io/v1", "kind": "TokenReview", "spec": {"token": token}});
    let (_, review) = server.call("POST", "/apis/authentication.k8s.io/v1/tokenreviews", review).await;
    let status = &review["status"];
    (status["authenticated"] == true).then(|| status["user"].clone())
}

#[tokio::test]
async fn a_secret_of_an_account_is_filled_and_its_token_is_valid_while_it_holds_it() {
    let server = server().await;
    server.call("POST", SECRETS, secret("robot")).await;
    let (found, token) = filled(&server).await;
    let (_, robot) = server.call("GET", &format!("{ACCOUNTS}/robot"), Value::Null).await;
    let uid = &robot["metadata"]["uid"];
    assert_eq!(&found["metadata"]["annotations"]["kubernetes.io/service-account.uid"], uid);
    assert_eq!(found["data"]["namespace"], "ZGVmYXVsdA==");
    let user = whose(&server, &token).await.unwrap();
    assert_eq!((&user["username"], &user["uid"]), (&json!("system:serviceaccount:default:robot"), uid));

    // Another token, the label of those that are not accepted, and a new token instead of a lost one.
    let path = format!("{SECRETS}/of-robot");
    server.call("PATCH", &path, json!({"data": {"token": "b3RoZXI="}})).await;
    assert_eq!(whose(&server, &token).await, None);
    server.call("PATCH", &path, json!({"data": {"token": null}})).await;
    let (_, again) = filled(&server).await;
    assert!(whose(&server, &again).await.is_some());
    let invalid = json!({"metadata": {"labels": {"kubernetes.io/legacy-token-invalid-since": "2026-01-01"}}});
    server.call("PATCH", &path, invalid).await;
    assert_eq!(whose(&server, &again).await, None);
}

#[tokio::test]
async fn a_secret_goes_with_its_account() {
    let server = server().await;
    server.call("POST", SECRETS, secret("robot")).await;
    let (_, token) = filled(&server).await;
    server.call("DELETE", &format!("{ACCOUNTS}/robot"), Value::Null).await;
    assert_eq!(whose(&server, &token).await, None);
    until(&server, |code, _| code == 404).await;
    // One of an account that there never was, and one of an account that has another uid by now.
    server.call("POST", SECRETS, secret("nobody")).await;
    until(&server, |code, _| code == 404).await;
    server.call("POST", ACCOUNTS, json!({"metadata": {"name": "robot"}})).await;
    let mut old = secret("robot");
    old["metadata"]["annotations"]["kubernetes.io/service-account.uid"] = "another".into();
    server.call("POST", SECRETS, old).await;
    until(&server, |code, _| code == 404).await;
}

#[tokio::test]
async fn forged_tokens_of_secrets_are_refused() {
    let server = server().await;
    server.call("POST", SECRETS, secret("robot")).await;
    let (_, token) = filled(&server).await;
    let [header, claims, signature] = token.split('.').collect::<Vec<_>>()[..] else { panic!("{token}") };
    let mut forged = vec![format!("{header}.{claims}."), format!("{header}.{claims}.{}", &signature[1..])];
    let mut other = String::new();
    write!(other, "{header}.{}.{signature}", claims.replace(char::is_numeric, "x")).unwrap();
    forged.push(other);
    for forged in forged {
        assert_eq!(whose(&server, &forged).await, None);
    }
}

/// Refuses all changes of one Secret.
struct Locks;

impl Admission for Locks {
    async fn validate(&self, attributes: &Attributes<'_>, _: &Value) -> Result<()> {
        let is_locked = attributes.resource == "secrets" && attributes.name == "locked" && attributes.old.is_some();
        if is_locked { Err(Refusal::forbidden("it is locked")) } else { Ok(()) }
    }
}

#[tokio::test]
async fn a_secret_that_cannot_be_written_keeps_no_other_waiting() {
    let server = Server::test().configure(|server| server.admission(Locks)).start().await;
    assert_eq!(server.call("POST", ACCOUNTS, json!({"metadata": {"name": "robot"}})).await.0, 201);
    let mut locked = secret("robot");
    locked["metadata"]["name"] = "locked".into();
    assert_eq!(server.call("POST", SECRETS, locked).await.0, 201);
    let start = std::time::Instant::now();
    for _ in 0..8 {
        assert_eq!(server.call("POST", SECRETS, secret("robot")).await.0, 201);
        filled(&server).await;
        assert_eq!(server.call("DELETE", &format!("{SECRETS}/of-robot"), Value::Null).await.0, 200);
    }
    // The wait after a failure is a second at least, so that this would take eight.
    assert!(start.elapsed() < Duration::from_secs(5), "{:?}", start.elapsed());
}
