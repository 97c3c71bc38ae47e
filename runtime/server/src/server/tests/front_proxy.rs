//! A proxy in front: who is believed, and attacks with its headers.
use serde_json::json;

use super::over_tls::{Authority, Folder, who_am_i};
use crate::server::{FrontProxy, Server, TestServer};

const ROOT: [(&str, &str); 2] = [("X-Remote-User", "root"), ("X-Remote-Group", "system:masters")];

struct Scene {
    _folder: Folder,
    proxies: Authority,
    users: Authority,
    server: TestServer,
}

impl Scene {
    async fn new() -> Self {
        let (folder, proxies, users) = (Folder::new(), Authority::new("proxies"), Authority::new("users"));
        let proxy = FrontProxy::new(folder.write("proxies.crt", &proxies.pem)).allowed_name("front");
        let client_ca = folder.write("users.crt", &users.pem);
        let server = Server::test().tls().configure(|server| server.front_proxy(proxy).client_ca(client_ca));
        Self { _folder: folder, proxies, users, server: server.start().await }
    }
}

fn named(name: &str) -> impl Fn(&Result<(String, serde_json::Value), u16>) -> bool {
    move |answer| answer.as_ref().is_ok_and(|(found, _)| found == name)
}

#[tokio::test]
async fn the_proxy_names_the_user_with_all_groups_and_extra() {
    let Scene { proxies, server, .. } = &Scene::new().await;
    let headers = [
        ("x-remote-user", "ada"),
        ("X-Remote-Uid", "7"),
        ("X-Remote-Group", "a"),
        ("X-Remote-Group", "b, c"),
        ("X-Remote-Extra-Example.com%2Fscopes", "one"),
        ("X-Remote-Extra-Example.com%2Fscopes", "two"),
    ];
    let (name, user) = who_am_i(server, Some(&proxies.client("front", "x")), &headers).await.unwrap();
    assert_eq!((&*name, &user["uid"]), ("ada", &json!("7")));
    assert_eq!(user["groups"], json!(["a", "b, c", "system:authenticated"]));
    assert_eq!(user["extra"], json!({"example.com/scopes": ["one", "two"]}));
    let anonymous = [("x-remote-user", "system:anonymous"), ("x-remote-group", "system:unauthenticated")];
    let (name, user) = who_am_i(server, Some(&proxies.client("front", "x")), &anonymous).await.unwrap();
    assert_eq!((&*name, &user), ("system:anonymous", &json!(null)), "only authenticated users may ask for more");
    let token = format!("Bearer {}", server.token());
    let both = [("authorization", token.as_str()), ("x-remote-user", "ada")];
    let answer = who_am_i(server, Some(&proxies.client("front", "x")), &both).await;
    assert!(named("ada")(&answer), "the proxy counts before a token: {answer:?}");
}

#[tokio::test]
async fn headers_of_whoever_is_not_the_proxy_are_ignored() {
    let Scene { proxies, users, server, .. } = &Scene::new().await;
    let token = format!("Bearer {}", server.token());
    let with_token = [ROOT[0], ROOT[1], ("authorization", token.as_str())];
    let (wrong, foreign) = (proxies.client("other", "system:masters"), Authority::new("proxies").client("front", "x"));

    let answer = who_am_i(server, None, &ROOT).await;
    assert!(named("system:anonymous")(&answer), "without a certificate: {answer:?}");
    let answer = who_am_i(server, None, &with_token).await;
    assert!(named("admin")(&answer), "with a token alone: {answer:?}");
    let answer = who_am_i(server, Some(&users.client("eve", "readers")), &ROOT).await;
    assert!(named("eve")(&answer), "with a user's certificate: {answer:?}");
    let answer = who_am_i(server, Some(&users.client("front", "readers")), &ROOT).await;
    let (name, user) = answer.expect("a user may have the name of a proxy");
    assert_eq!((&*name, &user["groups"]), ("front", &json!(["readers", "system:authenticated"])));
    assert_eq!(who_am_i(server, Some(&wrong), &ROOT).await, Err(401), "with another common name");
    let answer = who_am_i(server, Some(&wrong), &with_token).await;
    assert!(named("admin")(&answer), "its token counts, its headers do not: {answer:?}");
    assert_eq!(who_am_i(server, Some(&foreign), &ROOT).await, Err(0), "the handshake fails");
}

#[tokio::test]
async fn certificates_of_proxies_sign_in_as_no_user() {
    let Scene { proxies, server, .. } = &Scene::new().await;
    for name in ["front", "root"] {
        assert_eq!(who_am_i(server, Some(&proxies.client(name, "system:masters")), &[]).await, Err(401), "{name}");
    }
    let group = [("x-remote-group", "system:masters"), ("x-remote-user", "")];
    assert_eq!(who_am_i(server, Some(&proxies.client("front", "system:masters")), &group).await, Err(401));
}

#[tokio::test]
async fn plain_http_and_a_file_without_authorities_are_refused() {
    let folder = Folder::new();
    let file = folder.write("none.crt", "nothing");
    let started = Server::test().tls().configure(|server| server.front_proxy(FrontProxy::new(&file))).try_start().await;
    let error = started.err().expect("it is refused").to_string();
    assert!(error.contains("none.crt") && error.contains("no certificate in PEM"), "{error}");
    let started = Server::test().configure(|server| server.front_proxy(FrontProxy::new(&file))).try_start().await;
    assert_eq!(started.err().unwrap().to_string(), "front_proxy() needs TLS: leave out http()");
    let every = FrontProxy { extra_header_prefixes: vec![String::new()], ..FrontProxy::new(&file) };
    let started = Server::test().tls().configure(|server| server.front_proxy(every)).try_start().await;
    assert_eq!(started.err().unwrap().to_string(), "front_proxy(): extra_header_prefixes: a prefix is empty");
}
